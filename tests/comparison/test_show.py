"""The summary on a terminal, letter by letter."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from shoal.cli.render.comparison import show_comparison
from shoal.comparison.outcome import Outcome
from shoal.comparison.ranking import times
from shoal.errors import format_memory, format_seconds
from tests.comparison.comparisons import ONE_K, POLICY, TWO_K, comparison, done

WIDE = """
  people.csv: 10,000 rows; k = 5, 10 instead of the k of every k constraint

    method                 loss  exact   risk  worst groups suppr.   time
    k = 5
  ➜ k-clustering         16.8 % 30.0 % 14.7 % 22.0 %  1,234      0  1.9 s
  ● least-loss-partition 19.9 % 30.0 %  8.5 % 12.8 %  1,234      0 0.39 s
    mondrian*            22.2 % 30.0 % 11.9 % 17.8 %  1,234      0 0.04 s

    k = 10
    k-clustering         20.0 % 30.0 %  9.0 % 13.5 %  1,234 <0.1 %  120 s
  ● bottom-up            21.0 % 30.0 %  6.0 %  9.0 %  1,234      0 12 min
  ● least-loss-partition 22.8 % 30.0 %  4.8 %  7.2 %  1,234      0 0.50 s
    mondrian*            26.7 % 30.0 %  6.8 % 10.2 %  1,234      0 0.10 s

  ➜ recommended; ● no other run has both less loss and less risk; * the
  policy's own method; loss: of the information, in bits
  (relative-non-uniform-entropy); exact: of the cells in quasi columns; risk:
  the chance to pick a person's row, on average, and at worst.

  Take k-clustering
    k-clustering keeps the most information at k = 5: it loses 16.8 % of the
    information, in 1.9 s; the runner-up, least-loss-partition, would lose
    19.9 %, in 0.39 s.
    The policy's own method, mondrian, loses 22.2 % of the information: 32 %
    more.

  Without a result
    optimal, k = 10: failed
      Its process was ended by SIGKILL.
    bottom-up, k = 5: over budget
      Stopped after 10 seconds.
    optimal, k = 5: infeasible
      No combination of levels will do.
    classfly: cannot
      Honours k alone, but the policy also asks for l. Use another.
    l-clustering: cannot
      Asks for k = 5.

  Written
    out/c.html
    out/c.json
"""

NARROW = """
  people.csv: 10,000 rows; k = 5, 10 instead of the k of
  every k constraint

     method                  loss   exact    risk    time
     k = 5
  ➜  k-clustering          16.8 %  30.0 %  14.7 %   1.9 s
  ●  least-loss-partition  19.9 %  30.0 %   8.5 %  0.39 s
     mondrian*             22.2 %  30.0 %  11.9 %  0.04 s

     k = 10
     k-clustering          20.0 %  30.0 %   9.0 %   120 s
  ●  bottom-up             21.0 %  30.0 %   6.0 %  12 min
  ●  least-loss-partition  22.8 %  30.0 %   4.8 %  0.50 s
     mondrian*             26.7 %  30.0 %   6.8 %  0.10 s

  ➜ recommended; ● no other run has both less loss and
  less risk; * the policy's own method; loss: of the
  information, in bits (relative-non-uniform-entropy);
  exact: of the cells in quasi columns; risk: the chance
  to pick a person's row, on average.

  Take k-clustering
    k-clustering keeps the most information at k = 5: it
    loses 16.8 % of the information, in 1.9 s; the
    runner-up, least-loss-partition, would lose 19.9 %,
    in 0.39 s.
    The policy's own method, mondrian, loses 22.2 % of
    the information: 32 % more.

  Without a result
    optimal, k = 10: failed
      Its process was ended by SIGKILL.
    bottom-up, k = 5: over budget
      Stopped after 10 seconds.
    optimal, k = 5: infeasible
      No combination of levels will do.
    classfly: cannot
      Honours k alone, but the policy also asks for l.
      Use another.
    l-clustering: cannot
      Asks for k = 5.

  Written
    out/c.html
    out/c.json
"""


def shown(found, width=80, written=(), **options):
    file = io.StringIO()
    console = Console(file=file, width=width, markup=False, highlight=False, **options)
    show_comparison(console, replace(found, outputs=tuple(written)))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


@pytest.mark.parametrize(("width", "text"), [(80, WIDE), (60, NARROW)])
def test_the_summary_letter_by_letter(width, text):
    written = [Path("out/c.html"), Path("out/c.json")]
    assert shown(TWO_K, width, written).strip() == text.strip()


@pytest.mark.parametrize("width", [32, 40, 51, 52, 59, 77, 78, 100])
@pytest.mark.parametrize("found", [ONE_K, TWO_K])
def test_the_summary_fits_any_width(width, found):
    text = shown(found, width)
    assert max(map(len, text.splitlines())) <= width
    for words in ("16.8 %", "mondrian*", "Take "):
        assert words in text


def test_one_k_needs_no_headings_and_no_empty_column():
    text = shown(ONE_K)
    assert "people.csv: 10,000 rows, k = 5\n" in text
    assert "  k = 5\n" not in text
    assert "suppr." not in text


def test_nothing_finished():
    text = shown(comparison([Outcome("mondrian", 5, "infeasible", "Too much was asked.")]))
    assert "No method finished" in text
    assert "mondrian: infeasible\n      Too much was asked." in text
    assert "Take" not in text


def test_warnings_are_told():
    assert "Warning: The separator was guessed." in shown(
        replace(ONE_K, warnings=("The separator was guessed.",))
    )


def test_anatomy_is_told_by_risk():
    policy = POLICY.replace_keys(publish="anatomy", constraints=[{"l": 2, "of": "disease"}])
    runs = [done("bottom-up", None, 0.0, 0.6), done("mondrian", None, 0.0, 0.5)]
    text = " ".join(shown(comparison(runs, ks=(None,), policy=policy)).split())
    assert text.index("mondrian*") < text.index("bottom-up")
    assert "how often the best guess at a sensitive value is right" in text
    assert "●" not in text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0001, "0.01 s"), (0.994, "0.99 s"), (0.996, "1.0 s"), (99.6, "100 s"), (601, "10 min")],
)
def test_seconds(seconds, words):
    assert format_seconds(seconds) == words


@pytest.mark.parametrize(
    ("memory", "words"),
    [(0, "<1 MB"), (1_000_000, "1 MB"), (999_400_000, "999 MB"), (2_340_000_000, "2.3 GB")],
)
def test_memory(memory, words):
    assert format_memory(memory) == words


def test_ratios():
    assert times(1.3) == "30 % more"
    assert times(2.0) == "2.0 times as much"
