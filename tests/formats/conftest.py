"""The command line, for tests of files."""

from tests.cli.conftest import shoal as shoal
