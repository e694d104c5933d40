"""Methods side by side on one table: what each costs, how risky it leaves the table, which to take."""
