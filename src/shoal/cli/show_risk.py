"""The risk figures of a table, for the eye."""

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.console import counted, indented, safe
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.risk.minimal_uniques import MinimalUniques
    from shoal.risk.population import PopulationUniques
    from shoal.risk.reidentification import Reidentification

SHOWN = 5
NAMES = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "slide-negative-binomial": "slid negative binomial",
}


def picked_out(found: "Reidentification") -> RenderableType:
    """The three attackers in three lines."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("")
    limit = f"above {found.threshold * 100:g} %"
    for heading in ("highest", "average", limit):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, risk in (("prosecutor", found.prosecutor), ("journalist", found.journalist)):
        table.add_row(name, *map(percent, (risk.highest, risk.average, risk.above)))
    table.add_row("marketer", "", percent(found.marketer), "")
    words = (
        "counted in a population table"
        if found.basis == "population"
        else "without a population table all three count in the table itself"
    )
    return Group(
        table,
        Text(),
        Text(words, style="dim"),
        Text("docs/risk.md says what these mean", style="dim"),
    )


def in_population(found: "PopulationUniques") -> RenderableType:
    """What the rule says, and each estimator."""
    if found.dankar is None or found.share is None:
        return Text("Cannot be estimated: the table has no rows.")
    if found.chosen == "counted":
        return Text(
            f"{found.dankar:,.0f} of {found.population:,} people ({percent(found.share)}) are alone "
            "with their values: the table holds them all, so they were counted."
        )
    head = Text(
        f"About {found.dankar:,.0f} of {found.population:,} people ({percent(found.share)}) are "
        f"alone with their values, if the table holds {percent(found.fraction)} of them."
    )
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    for field, name in NAMES.items():
        value = getattr(found, field.replace("-", "_"))
        mark = ", by Dankar's rule the one to use" if field == found.chosen else ""
        shown = "cannot be estimated" if value is None else f"{value:,.0f}"
        table.add_row(Text.assemble(name, (mark, "dim")), shown)
    return Group(head, Text(), indented(table))


def singling_out(found: "MinimalUniques") -> RenderableType:
    """The sets with most minimal sample uniques, and each column's part in them."""
    most = counted(found.largest_size, "column")
    if not found.total:
        return Text(f"No set of up to {most} singles a row out.")
    head = Text(f"{counted(found.rows, 'row')} stand alone on some set of up to {most}:")
    sets = Table.grid(padding=(0, 2))
    sets.add_column(justify="right", no_wrap=True)
    sets.add_column()
    for one in found.sets[:SHOWN]:
        sets.add_row(f"{one.count:,}", ", ".join(map(safe, one.columns)))
    rest = len(found.sets) - SHOWN
    more = [Text(f"  and {counted(rest, 'other set')}", style="dim")] if rest > 0 else []
    parts = sorted(found.columns.items(), key=lambda one: -one[1])
    words = ", ".join(f"{safe(name)} {percent(share)}" for name, share in parts if share)
    return Group(head, indented(sets), *more, Text(), Text(f"Part of them: {words}"))
