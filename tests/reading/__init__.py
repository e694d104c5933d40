"""Awkward files: what is read of each, or the question that is asked."""
