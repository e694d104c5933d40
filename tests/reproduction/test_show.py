"""The claims on a terminal, letter by letter."""

import io

import pytest
from rich.console import Console

from shoal.cli.render.reproduction import show_reproduction
from tests.reproduction.fixed import FOLDER, FOUND

SUMMARY = """
  A method: <what> it is about
  Somebody, 2005
  A made-up table like Adult, 45,222 rows, seed 0
  A quick run, on less data than the paper's.

  Of 3 claims: 1 held, 1 did not hold, 1 cannot tell
    ✔ held          The first loses least.
                    0.1 beside 0.2, 12.5 % less.

    ✘ did not hold  The second is far faster than all the others wherever
                    the table is large.
                    At 2 of 10 sizes; it takes 3.1 times as long as the
                    first on most of the tables.

    ? cannot tell   The third uses <no> memory.
                    Nothing here measures it.

  Note: The table is ours.

  Written: a page, and 3 figures as SVG and CSV
    out/index.html
"""


def shown(width: int) -> str:
    file = io.StringIO()
    show_reproduction(Console(file=file, width=width, markup=False, highlight=False), FOUND, FOLDER)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_the_claims_letter_by_letter() -> None:
    assert shown(80).strip("\n") == SUMMARY.strip("\n")


@pytest.mark.parametrize("width", [30, 59, 60, 120])
def test_the_claims_fit_any_width(width: int) -> None:
    lines = shown(width).splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    assert "cannot tell The third uses <no> memory. Nothing here measures it." in words
