"""Metrics: one file each, named as in the report (`mean-ncp` is `mean_ncp.py`)."""
