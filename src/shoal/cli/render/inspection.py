"""Print what was found in a table before it is published, and the draft of a policy."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import (
    block,
    command,
    counted,
    indented,
    lines,
    print_warnings,
    safe,
    section,
)
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.api import (
        ColumnReport,
        Draft,
        EstimatedRisk,
        Inspection,
        MinimalUniques,
        PopulationUniques,
        Reidentification,
    )

FINDS = "anyone who looks for a person finds at least {} {}"
WIDTHS = {"column": 0, "type": 76, "distinct": 50, "missing": 66, "unique": 0, "role": 0}
"""The columns of the table, and the terminal width from which each is shown."""
ROLE_STYLES = {
    "identifier": "red",
    "person": "red",
    "quasi": "yellow",
    "sensitive": "magenta",
    "plain": "",
    "undecided": "bold yellow",
    "preference": "cyan",
    "weight": "cyan",
}
SETS_SHOWN = 5
ESTIMATORS = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "slide-negative-binomial": "slid negative binomial",
}


def show_inspection(
    console: Console, found: "Inspection", path: Path, where: Sequence[str] = ()
) -> None:
    """Print the columns, the suggested roles with their reasons, and who stands out."""
    whose = "" if found.people is None else f" of {_units(found)}"
    size = f"{counted(found.rows, 'row')}{whose}, {counted(len(found.columns), 'column')}"
    console.print()
    block(console, Text.assemble((safe(path.name), "bold"), f": {size}"))
    block(console, _columns(console, found))
    section(console, "How it was read", _readings(found))
    section(console, "Suggested roles", _reasons(found))
    if any(column.role == "sensitive" for column in found.columns):
        section(console, "Suggested constraints", _protections(found))
    if codes := [column for column in found.columns if column.likely_missing]:
        section(console, "Likely codes for missing values", _likely_missing(codes))
    section(console, "Who stands out", _risk(found))
    if found.quasi:  # without one nobody can be recognised
        section(console, "Re-identification risk", picked_out(found.risk))
        if found.estimated is not None:
            (weight,) = (column.name for column in found.columns if column.role == "weight")
            title = f"In the population, estimated from the weights of {safe(weight)}"
            section(console, title, by_weights(found.estimated))
        if found.population_uniques is not None:
            section(console, "In the population", in_population(found.population_uniques))
    if found.minimal_uniques is not None:
        title = "Minimal sample uniques: the smallest column sets that single out a row"
        section(console, title, singling_out(found.minimal_uniques))
    print_warnings(console, found.warnings)
    lines(console, "Next", [command("shoal", "init", path, *where)])


def show_draft(
    console: Console, draft: "Draft", table: Path, policy: Path, where: Sequence[str] = ()
) -> None:
    """Print where the draft is, and what to do with it; `where`: options that choose the engine."""
    by_role = {
        role: [name for name, given in draft.roles.items() if given == role] for role in ROLE_STYLES
    }
    console.print()
    lines(console, "Written", [str(policy)])
    roles = {role: Text(", ".join(map(safe, names))) for role, names in by_role.items() if names}
    section(console, "Suggested roles", _by_role(roles.items()))
    block(console, Text("They come from column names and counts alone: check them first."))
    if by_role["sensitive"]:
        shown = _protections(draft.inspection, bool(draft.presets))
        section(console, "Suggested constraints", shown)
    release = f"{table.name.partition('.')[0]}-release.csv"
    lines(console, "Then", [command("shoal", "run", table, policy, "-o", release, *where)])
    block(console, Text(safe(draft.left), style="bold yellow" if draft.undecided else ""))


def _columns(console: Console, found: "Inspection") -> RenderableType:
    """Return a line for each column; on a narrow terminal the least important figures are left out."""
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
    whose = _unit(found)
    legend = (
        f"unique: {whose} that are unique on all quasi columns, and would not be without this one"
    )
    return Group(table, Text(), Text(legend, style="dim"))


def _likely_missing(columns: "Sequence[ColumnReport]") -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=False)
    for column in columns:
        table.add_row(Text(safe(column.name)), Text(safe(", ".join(column.likely_missing))))
    note = "A policy lists them under the column, as in `missing: [NA]`."
    return Group(table, Text(), Text(note, style="dim"))


def _cells(column: "ColumnReport", rows: int) -> dict[str, Text]:
    caused = column.unique_caused
    return {
        "column": Text(safe(column.name)),
        "type": Text(column.type),
        "distinct": Text(f"{column.distinct:,}"),
        "missing": Text(_missing(column, rows)),
        "unique": Text("" if caused is None else percent(caused)),
        "role": _role(column),
    }


def _missing(column: "ColumnReport", rows: int) -> str:
    """The share of missing values; codes that are only likely to stand for one are listed below."""
    if column.missing:
        return percent(column.missing / rows)
    return "codes?" if column.likely_missing else ""


def _role(column: "ColumnReport") -> Text:
    role = Text(column.role, style=ROLE_STYLES[column.role])
    if column.role == "quasi":
        role.append(f", {column.treatment}", style="default")
    return role


def _reasons(found: "Inspection") -> RenderableType:
    """Return a line for each role and reason, with the columns that share them."""
    groups: dict[tuple[str, str], list[str]] = {}
    for column in sorted(found.columns, key=lambda c: list(ROLE_STYLES).index(c.role)):
        groups.setdefault((column.role, column.reason), []).append(safe(column.name))
    return _by_role(
        (role, Text.assemble(", ".join(names), (f"\n{reason}", "dim")))
        for (role, reason), names in groups.items()
    )


def _constraint(line: str, reason: str) -> list[RenderableType]:
    return [Text(line), indented(Text(reason, style="dim"))]


def _protections(found: "Inspection", from_presets: bool = False) -> RenderableType:
    """Return the constraints of a draft, with the reasons."""
    units = "rows" if found.people is None else "people"
    parts = _constraint(f"- {{k: {found.suggested_k}}}", FINDS.format(found.suggested_k, units))
    if from_presets:
        parts = []  # the presets ask for a k
    for column in found.columns:
        if column.role == "sensitive" and column.protection is not None:
            line = column.protection.line(safe(column.name))
            parts += _constraint(line, column.protection.reason)
    return Group(*parts)


def _readings(found: "Inspection") -> RenderableType:
    """Return a line for each type and reason, the questions last."""
    groups: dict[tuple[str, str], list[str]] = {}
    for column in found.columns:
        but = ", but for likely codes for missing values" if column.likely_missing else ""
        groups.setdefault((column.type, column.read_as + but), []).append(safe(column.name))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for (kind, reason), names in groups.items():
        table.add_row(kind, Text.assemble(", ".join(names), (f"\n{reason}", "dim")))
    parts: list[RenderableType] = [table]
    asked = [column for column in found.columns if column.question]
    for column in asked:
        answers = " or ".join(column.answers)
        words = f"{safe(column.name)}: {column.question}. Add to the policy: {answers}"
        parts += [Text(), Text(words, style="yellow")]
    return Group(*parts)


def _by_role(texts: Iterable[tuple[str, Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for role, text in texts:
        table.add_row(Text(role, style=ROLE_STYLES[role]), text)
    return table


def _risk(found: "Inspection") -> RenderableType:
    if not found.quasi:
        return Text("No column looks like a quasi-identifier: name them yourself in a policy.")
    quasi = counted(len(found.quasi), "suspected quasi column")
    parts: list[RenderableType] = [
        Text(
            f"{found.unique_rows:,} of {_units(found)} "
            f"({percent(found.unique_share)}) are unique on the {quasi}."
        )
    ]
    if found.rows_for_people:
        parts.append(Text(safe(found.rows_for_people)))
    if found.keys:
        parts.append(Text(f"Every row has its own value in {', '.join(map(safe, found.keys))}."))
    return Group(*parts, *_sets(found))


def _unit(found: "Inspection") -> str:
    return "rows" if found.people is None else "people"


def _units(found: "Inspection") -> str:
    """Return how many there are of what is counted."""
    if found.people is None:
        return counted(found.rows, "row")
    return f"{found.people:,} people"


def _sets(found: "Inspection") -> list[RenderableType]:
    searched = found.search
    enough = f"{searched.threshold:.0%}".replace("%", " %")
    if not searched.found:
        if not searched.largest_size:
            return []
        most = counted(searched.largest_size, "suspected quasi column")
        words = f"No set of up to {most} makes {enough} of the {_unit(found)} unique."
        return [Text(words), *_bound(found)]
    size = len(searched.found[0].columns)
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for each in searched.found:
        table.add_row(percent(each.share), ", ".join(map(safe, each.columns)))
    rest = searched.sets_found - len(searched.found)
    more = [Text(f"  and {rest:,} more of this size", style="dim")] if rest else []
    columns = "One column alone makes" if size == 1 else f"{size} columns together make"
    head = f"{columns} at least {enough} of the {_unit(found)} unique:"
    return [Text(), Text(head), indented(table), *more, *_bound(found)]


def _bound(found: "Inspection") -> list[RenderableType]:
    if not found.search.bounded:
        return []
    tried, possible = found.search.tried, found.search.possible
    text = f"The search was cut short: {tried:,} of {possible:,} sets, the most identifying first."
    return [Text(text, style="dim")]


def picked_out(found: "Reidentification") -> RenderableType:
    """Return the three attackers in three lines."""
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
        else "counted in the table itself, as there is no population table"
    )
    return Group(
        table,
        Text(),
        Text(words, style="dim"),
        Text('"Risk" in the documentation explains these figures', style="dim"),
    )


def by_weights(found: "EstimatedRisk") -> RenderableType:
    """Return the individual and global risk that sampling weights suggest."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_row("people that the table stands for", f"{found.population:,.0f}")
    table.add_row("fewest of them in a class", f"{found.smallest_class:,.1f}")
    table.add_row("highest individual risk", percent(found.highest))
    expected = f"{found.expected:,.2f} ({percent(found.share)})"
    table.add_row("re-identifications to expect", expected)
    note = 'an estimate (Benedetti and Franconi); "Survey weights" in the documentation explains it'
    return Group(table, Text(), Text(note, style="dim"))


def in_population(found: "PopulationUniques") -> RenderableType:
    """Return the estimate that Dankar's rule chooses, and each estimator."""
    if found.dankar is None or found.share is None:
        return Text("Cannot be estimated: the table has no rows.")
    if found.chosen == "counted":
        return Text(
            f"{found.dankar:,.0f} of {found.population:,} people ({percent(found.share)}) are unique: "
            "the table contains the whole population, so they were counted."
        )
    head = Text(
        f"About {found.dankar:,.0f} of {found.population:,} people ({percent(found.share)}) are "
        f"unique there, if the table contains {percent(found.fraction)} of them."
    )
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    for field, name in ESTIMATORS.items():
        value = getattr(found, field.replace("-", "_"))
        mark = ", chosen by Dankar's rule" if field == found.chosen else ""
        shown = "cannot be estimated" if value is None else f"{value:,.0f}"
        table.add_row(Text.assemble(name, (mark, "dim")), shown)
    return Group(head, Text(), indented(table))


def singling_out(found: "MinimalUniques") -> RenderableType:
    """Return the sets with most minimal sample uniques, and each column's share in them."""
    most = counted(found.largest_size, "column")
    if not found.total:
        return Text(f"No set of up to {most} singles out a row.")
    head = Text(f"{counted(found.rows, 'row')} are unique on some set of up to {most}:")
    sets = Table.grid(padding=(0, 2))
    sets.add_column(justify="right", no_wrap=True)
    sets.add_column()
    for one in found.sets[:SETS_SHOWN]:
        sets.add_row(f"{one.count:,}", ", ".join(map(safe, one.columns)))
    rest = len(found.sets) - SETS_SHOWN
    more = [Text(f"  and {counted(rest, 'other set')}", style="dim")] if rest > 0 else []
    parts = sorted(found.columns.items(), key=lambda one: -one[1])
    words = ", ".join(f"{safe(name)} {percent(share)}" for name, share in parts if share)
    return Group(head, indented(sets), *more, Text(), Text(f"Share of each column: {words}"))
