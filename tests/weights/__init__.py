"""Survey weights."""
