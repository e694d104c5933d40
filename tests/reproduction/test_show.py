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

  Of 4 claims: holds 1, does not hold 1, depends 1, cannot tell 1
    ✔ holds          The first loses least.
                     12.5 % less.
                     0.1 beside 0.2

    ✘ does not hold  The second is far faster than all the others wherever
                     the table is large.
                     It is slower.
                     at 2 of 10 sizes; it takes 3.1 times as long as the
                     first on most of the tables

    ? cannot tell    The third uses <no> memory.
                     Nothing measures it.
                     nothing

    ? depends        The fourth is best.
                     It holds with ranges alone.
                     0.1 to 0.3

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
    assert "cannot tell The third uses <no> memory. Nothing measures it. nothing" in words
