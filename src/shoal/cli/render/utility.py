"""Print what a release is good for."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import block, counted, lines, print_warnings, safe, section
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.api import CountUtility, PredictionUtility, Utility

MOST_PAIRS = 5
"""Pairs of columns that are shown: those that changed most."""


def show_utility(console: Console, found: "Utility") -> None:
    """Print columns, pairs, counts and models."""
    console.print()
    name = safe(found.name) or "The release"
    block(
        console,
        Text.assemble(
            (name, "bold"),
            f": {counted(found.release_rows, 'published row')}, compared with "
            f"{found.raw_rows:,} raw ones",
        ),
    )
    if found.prediction is not None:
        section(console, f"Predicting {safe(found.prediction.target)}", _models(found.prediction))
        block(console, Text(_about(found.prediction), "dim"))
    section(console, "Distributions", _columns(found))
    words = (
        "differ: rows that would have to change (total variation); moved: Wasserstein distance, as "
    )
    block(console, Text(f"{words}a share of the column's range", "dim"))
    if found.pairs:
        section(console, "Pairs that changed most", _pairs(found))
        block(console, Text("association from 0 to 1 (Cramér's V)", "dim"))
    for one in found.counts:
        section(console, f"Counts by {', '.join(map(safe, one.columns))}", _counts(one))
        block(
            console,
            Text(
                f"{percent(one.total_variation)} of the rows are in another cell; half of the cells "
                f"with ten raw rows or more are off by at most {percent(one.median_error)}",
                "dim",
            ),
        )
    print_warnings(console, (*found.notes, *found.warnings))
    if found.outputs:
        lines(console, "Written", [str(path) for path in found.outputs])


def _empty(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left")
    return table


def _columns(found: "Utility") -> Table:
    table = _empty("column", "differ", "moved", "mean raw", "release")
    for one in found.columns:
        means = [_number(one.mean_raw), _number(one.mean_release)]
        moved = "" if one.wasserstein is None else percent(one.wasserstein)
        table.add_row(safe(one.column), percent(one.total_variation), moved, *means)
    return table


def _pairs(found: "Utility") -> Table:
    table = _empty("columns", "raw", "release", "change")
    strongest = sorted(found.pairs, key=lambda one: -abs(one.change))[:MOST_PAIRS]
    for one in strongest:
        names = f"{safe(one.first)}, {safe(one.second)}"
        table.add_row(names, f"{one.raw:.2f}", f"{one.release:.2f}", f"{one.change:+.2f}")
    return table


def _models(found: "PredictionUtility") -> Table:
    is_class = found.task == "classification"
    score = "accuracy" if is_class else "R²"
    more = ("AUC raw", "release") if is_class else ()
    table = _empty("model", f"{score} raw", "release", "lost", *more)
    for one in found.models:
        figures = [f"{one.raw:.3f}", f"{one.release:.3f}", f"{one.lost:+.3f}"]
        if is_class:
            figures += [_number(one.auc_raw, 3), _number(one.auc_release, 3)]
        table.add_row(one.learner, *figures)
    return table


def _about(found: "PredictionUtility") -> str:
    source = "the release" if found.held_out else "a release of three quarters of the table"
    words = f"trained on {counted(found.trained, 'row')} of {source}, "
    words += f"tested on {found.tested:,} raw rows"
    if found.task == "classification":
        words += f"; always the most frequent value: {found.baseline:.3f}"
    return words


def _counts(found: "CountUtility") -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in found.columns:
        table.add_column(safe(name), overflow="fold")
    table.add_column("raw", justify="right")
    table.add_column("release", justify="right")
    for one in found.shown:
        table.add_row(*map(safe, one.values), f"{one.raw:,}", f"{one.release:,.0f}")
    others = found.cells - len(found.shown)
    if others:
        blank = [""] * (len(found.columns) - 1)
        figures = [f"{found.rest.raw:,}", f"{found.rest.release:,.0f}"]
        table.add_row(f"{counted(others, 'other cell')}", *blank, *figures)
    return table


def _number(value: float | None, digits: int | None = None) -> str:
    if value is None:
        return ""
    return f"{value:.{digits}f}" if digits is not None else f"{value:,.5g}"
