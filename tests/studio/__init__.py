"""The studio: its server, its policy file, its workers and its pages."""
