"""The sample and the command line, as the tests of other commands have them."""

from tests.cli.conftest import sample, shoal

__all__ = ["sample", "shoal"]
