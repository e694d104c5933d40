"""The evidence of a run: counts of the input and of the release, without rows."""
