"""Print what became of the columns of a release."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import block, counted, print_warnings, safe, section
from shoal.errors import listed

if TYPE_CHECKING:
    from shoal.api import Decoding

MOST_NAMES = 3
"""New columns that are named, of one column."""


def show_decoding(console: Console, found: "Decoding") -> None:
    """Print the file that was written, and a line per column."""
    console.print()
    size = f"{counted(found.rows, 'row')}, {counted(_columns(found), 'column')}"
    block(console, Text.assemble((safe(str(found.output)), "bold"), f": {size}"))
    section(console, "Columns", _table(found))
    if found.sampled:
        names = listed(map(safe, found.sampled), MOST_NAMES)
        verb = "holds" if len(found.sampled) == 1 else "hold"
        words = f"{names} {verb} values drawn at random (seed {found.seed}), not observed ones"
        block(console, Text(words, "yellow"))
    print_warnings(console, (*found.notes, *found.warnings))


def _columns(found: "Decoding") -> int:
    return sum(len(one.columns) for one in found.columns)


def _table(found: "Decoding") -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("column")
    table.add_column("labels", justify="right")
    table.add_column("as")
    table.add_column("becomes")
    for one in found.columns:
        new = [name for name in one.columns if name != one.name]
        names = f"{listed(map(safe, new), MOST_NAMES)}" if new else ""
        labels = f"{one.labels:,}" if one.labels else ""
        table.add_row(safe(one.name), labels, one.form, names)
    return table
