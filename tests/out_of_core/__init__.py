"""Large tables: the same release from rows that no memory holds."""
