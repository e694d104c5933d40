"""What the commands print: one file for each kind of result."""
