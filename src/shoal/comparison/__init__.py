"""Methods side by side on one table and policy."""
