"""The papers' experiments, run again: their figures, and what became of their claims."""
