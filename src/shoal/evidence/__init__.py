"""What is kept of a run to show what it did: counts of the input and of the release, no rows."""
