"""From groups to the text a reader sees, in an order that gives nothing away."""
