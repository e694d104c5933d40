"""DuckDB: reading and writing files, counting classes, and tables larger than memory."""
