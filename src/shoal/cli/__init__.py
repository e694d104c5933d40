"""The command line: each command parses, makes one call and shows what came back."""
