"""Print what the demo made, and what to try next."""

from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import NARROW, command, lines, safe, section
from shoal.cli.render.release import show_summary

if TYPE_CHECKING:
    from shoal.api import Demo, Release

SHOWN = ("age", "sex", "race", "zip", "education", "disease")
MOST = 6


def show_demo(console: Console, found: "Demo") -> None:
    """Print the release, some rows of it, the files, and some commands to try."""
    release, sample = found.release, found.sample
    target, reports = release.output, release.reports
    assert target is not None
    show_summary(console, release)
    if console.width >= NARROW:
        section(console, "Some columns of one published class", _one_class(release))
    files = Table.grid(padding=(0, 2))
    for path, what in (
        (sample.table, "the generated patients of a hospital"),
        (sample.policy, "what may be published, and why"),
        (sample.personal, "the same, with personal preferences"),
        (target, "the release"),
        *zip(reports, ("the report, for a browser", "its certificate"), strict=False),
    ):
        files.add_row(safe(str(path)), *([] if console.width < NARROW else [Text(what, "dim")]))
    section(console, "Files", files)
    table, policy = sample.table.name, sample.policy.name
    checked = f" --certificate {reports[-1].name}" if reports else ""
    commands = (
        command("cd", sample.table.parent),
        f"shoal inspect {table}",
        f"shoal run {table} {policy} -o other.csv --method mondrian",
        f"shoal run {table} {sample.personal.name} -o personal.csv",
        f"shoal verify {target.name} {policy}{checked}",
        f"shoal attack {target.name} {policy} --known {table} --raw {table}",
        f"shoal init {table} -o my-policy.yaml",
    )
    lines(console, "Try next", commands)


def _one_class(release: "Release[Any]") -> Table:
    """Return some columns of rows that share a label; these people are not real."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for name in SHOWN:
        table.add_column(name)
    rows = _rows_of_a_class(release)
    for row in rows[:MOST]:
        table.add_row(*("" if row[name] is None else str(row[name]) for name in SHOWN))
    return table


def _rows_of_a_class(release: "Release[Any]") -> list[dict[str, Any]]:
    """Return a small class from the middle of the table, where the rows of a class are adjacent."""
    rows = release.table.slice(release.table.num_rows // 2).to_pylist()
    classes = [
        list(alike)
        for _, alike in groupby(rows, lambda row: [row[name] for name in release.policy.quasi])
    ]
    # the first of them may begin before the middle
    shown = (each for each in classes[1:] if len(each) <= MOST and None not in each[0].values())
    return next(shown, classes[-1])
