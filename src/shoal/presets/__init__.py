"""Presets: what an authority asks of a table, one file per source."""
