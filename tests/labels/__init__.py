"""Forms of labels, and mappings."""
