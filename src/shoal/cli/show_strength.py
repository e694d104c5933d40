"""What a release really holds, asked or not, for the eye."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.console import counted, figure, safe, section
from shoal.policy.rules import WORST_CASES

if TYPE_CHECKING:
    from shoal.verification.strength import Strength


SHORT = {"ordered": "by order", "hierarchical": "by tree"}
"""Distances in words that leave room."""
MARGINS = 8
LEGEND = (
    "A larger k, l or entropy-l is stronger, a smaller figure of any other model. "
    "none: no figure holds."
)


def show_strengths(console: Console, found: "Sequence[Strength]", quasi: Sequence[str]) -> None:
    """The figures of the whole release, then a line for each sensitive column."""
    if not found:
        return
    whole = ", ".join(f"{_name(one)} {figure(one.reached)}" for one in found if one.of is None)
    where, parts = " in groups", list[RenderableType]()  # of an Anatomy release
    if whole:
        where, parts = "", [Text(f"{whole} on {counted(len(quasi), 'quasi column')}"), Text()]
    columns = list(dict.fromkeys(one.of for one in found if one.of is not None))
    if columns:
        table = _wide(found, columns)
        if console.measure(table).maximum > console.width - MARGINS:
            table = _narrow(found)
        parts += [table, Text(), *(Text(each, style="dim") for each in _legend(found))]
    section(console, f"What it holds{where}, asked or not", Group(*parts))


def _legend(found: "Sequence[Strength]") -> list[str]:
    """What the figures mean, and why some places have none."""
    asked = {one.of: {each.model for each in found if each.of == one.of} for one in found if one.of}
    heard = [safe(of) for of, models in asked.items() if of and models <= set(WORST_CASES)]
    if not heard:
        return [LEGEND]
    return [LEGEND, f"Only l and alpha can be told of {', '.join(heard)}: wishes were heard there."]


def _wide(found: "Sequence[Strength]", columns: Sequence[str]) -> Table:
    """A line for each column, a place for each model."""
    models = list(dict.fromkeys(one.model for one in found))
    by_model = sorted(found, key=lambda one: models.index(one.model))
    names = list(dict.fromkeys(_name(one) for one in by_model if one.of is not None))
    reached = {(one.of, _name(one)): figure(one.reached) for one in found}
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", overflow="fold")
    for name in names:
        table.add_column(name.replace("by ", "by\n"), justify="right")
    for column in columns:
        table.add_row(safe(column), *(reached.get((column, name), "") for name in names))
    return table


def _narrow(found: "Sequence[Strength]") -> Table:
    table = Table.grid(padding=(0, 1))
    for one in found:
        if one.of is not None:
            table.add_row(f"{_name(one)} of {safe(one.of)}", figure(one.reached))
    return table


def _name(one: "Strength") -> str:
    return " ".join([one.model, *(SHORT.get(value, str(value)) for value in one.options.values())])
