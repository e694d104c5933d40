"""Tables that no memory holds: one set of questions, asked in DuckDB or in Spark."""
