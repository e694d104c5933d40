"""Tables in databases of the user: PostgreSQL, SQLite and DuckDB."""
