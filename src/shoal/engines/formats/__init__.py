"""Formats of files: one file per format, found by the registry of plug-ins."""
