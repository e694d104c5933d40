"""What does the relational work; the only rooms with SQL."""
