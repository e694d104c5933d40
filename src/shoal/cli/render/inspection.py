"""What was found in a table before it is published, for the eye."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.console import block, counted, indented, lines, safe, section, typed
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.risk.inspection import ColumnReport, Inspection
if TYPE_CHECKING:
    from shoal.risk.assessment import Reidentification
    from shoal.risk.population import PopulationUniques
    from shoal.risk.uniqueness import MinimalUniques


WIDTHS = {"column": 0, "type": 76, "distinct": 50, "missing": 66, "unique": 0, "role": 0}
"""What is said of a column, and how wide a terminal must be for it."""
ROLE_STYLES = {
    "identifier": "red",
    "quasi": "yellow",
    "sensitive": "magenta",
    "plain": "",
    "preference": "cyan",
}


def show_inspection(
    console: Console, found: "Inspection", path: Path, where: Sequence[str] = ()
) -> None:
    """The columns, the suggested roles with their reasons, and who stands out."""
    size = f"{counted(found.rows, 'row')}, {counted(len(found.columns), 'column')}"
    console.print()
    block(console, Text.assemble((safe(path.name), "bold"), f": {size}"))
    block(console, _columns(console, found))
    section(console, "Suggested roles", _reasons(found))
    section(console, "Who stands out", _risk(found))
    if found.quasi:  # without one there is nothing to be picked out by
        section(console, "How likely a row is picked out", picked_out(found.risk))
        if found.population_uniques is not None:
            section(console, "In the population", in_population(found.population_uniques))
    if found.minimal_uniques is not None:
        title = "Smallest column sets that single somebody out (minimal)"
        section(console, title, singling_out(found.minimal_uniques))
    for warning in found.warnings:
        block(console, Text(f"Warning: {safe(warning)}", style="yellow"))
    lines(console, "Next", [typed("shoal", "init", path, *where)])


def show_draft(
    console: Console, found: "Inspection", table: Path, policy: Path, where: Sequence[str] = ()
) -> None:
    """Where the draft is, and what to do with it; `where`: options that say where to work."""
    by_role = {role: [c.name for c in found.columns if c.role == role] for role in ROLE_STYLES}
    console.print()
    lines(console, "Written", [str(policy)])
    roles = {role: Text(", ".join(map(safe, names))) for role, names in by_role.items() if names}
    section(console, "Suggested roles", _by_role(roles.items()))
    block(console, Text("They come from names and counts alone: check them in the file first."))
    release = f"{table.name.partition('.')[0]}-release.csv"
    lines(console, "Then", [typed("shoal", "run", table, policy, "-o", release, *where)])


def _columns(console: Console, found: "Inspection") -> RenderableType:
    """A line each; what matters least is left out where the terminal is narrow."""
    shown = [heading for heading, width in WIDTHS.items() if console.width >= width]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for heading in shown:
        numbers = heading in ("distinct", "missing", "unique")
        table.add_column(
            heading,
            justify="right" if numbers else "left",
            no_wrap=numbers,
            overflow="fold",
            min_width=None if numbers else 8,
        )
    for column in found.columns:
        cells = _cells(column, found.rows)
        table.add_row(*(cells[heading] for heading in shown))
    words = "unique: rows that stand alone among the quasi columns, and would not without this one"
    return Group(table, Text(), Text(words, style="dim"))


def _cells(column: "ColumnReport", rows: int) -> dict[str, Text]:
    caused = column.unique_caused
    return {
        "column": Text(safe(column.name)),
        "type": Text(column.type),
        "distinct": Text(f"{column.distinct:,}"),
        "missing": Text(percent(column.missing / rows) if column.missing else ""),
        "unique": Text("" if caused is None else percent(caused)),
        "role": _role(column),
    }


def _role(column: "ColumnReport") -> Text:
    role = Text(column.role, style=ROLE_STYLES[column.role])
    if column.role == "quasi":
        role.append(f", {column.treatment}", style="default")
    return role


def _reasons(found: "Inspection") -> RenderableType:
    """Columns with one role and reason share a line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for column in sorted(found.columns, key=lambda c: list(ROLE_STYLES).index(c.role)):
        groups.setdefault((column.role, column.reason), []).append(safe(column.name))
    return _by_role(
        (role, Text.assemble(", ".join(names), (f"\n{reason}", "dim")))
        for (role, reason), names in groups.items()
    )


def _by_role(texts: Iterable[tuple[str, Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for role, text in texts:
        table.add_row(Text(role, style=ROLE_STYLES[role]), text)
    return table


def _risk(found: "Inspection") -> RenderableType:
    if not found.quasi:
        return Text(
            "No column is suspected to be a quasi-identifier: name them yourself in a policy."
        )
    quasi = counted(len(found.quasi), "suspected quasi column")
    parts: list[RenderableType] = [
        Text(
            f"{found.unique_rows:,} of {counted(found.rows, 'row')} "
            f"({percent(found.unique_share)}) are unique on the {quasi}."
        )
    ]
    if found.keys:
        parts.append(Text(f"Every row has its own value in {', '.join(map(safe, found.keys))}."))
    return Group(*parts, *_sets(found))


def _sets(found: "Inspection") -> list[RenderableType]:
    searched = found.search
    enough = f"{searched.threshold:.0%}".replace("%", " %")
    if not searched.found:
        if not searched.largest_size:
            return []
        most = counted(searched.largest_size, "suspected quasi column")
        return [Text(f"No set of up to {most} makes {enough} of the rows unique."), *_bound(found)]
    size = len(searched.found[0].columns)
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for each in searched.found:
        table.add_row(percent(each.share), ", ".join(map(safe, each.columns)))
    rest = searched.sets_found - len(searched.found)
    more = [Text(f"  and {rest:,} more of this size", style="dim")] if rest else []
    columns = "One column alone makes" if size == 1 else f"{size} columns together make"
    head = f"{columns} at least {enough} of the rows unique:"
    return [Text(), Text(head), indented(table), *more, *_bound(found)]


def _bound(found: "Inspection") -> list[RenderableType]:
    if not found.search.bounded:
        return []
    tried, possible = found.search.tried, found.search.possible
    words = f"The search was cut short: {tried:,} of {possible:,} sets, the most telling first."
    return [Text(words, style="dim")]


# The risk figures of a table, for the eye.


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
