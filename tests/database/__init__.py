"""Tables in databases: read, written, and safe whatever happens meanwhile."""
