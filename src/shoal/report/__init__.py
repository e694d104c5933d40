"""The report for whoever must sign: a page, and the certificate with the same content."""
