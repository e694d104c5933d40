"""What an analyst can still do with a release: distributions, associations, counts and models."""
