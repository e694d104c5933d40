"""The report for the person who signs a release: a page, and a certificate with the same content."""
