"""The same release from a table that no memory holds."""
