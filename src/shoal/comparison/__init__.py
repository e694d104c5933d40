"""Methods side by side on one table: loss, risk and time of each, and which one to use."""
