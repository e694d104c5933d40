"""Print singling out, linkability and inference, each with what it does not show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import block, message, safe, section
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.api import Criteria, Linkability

Rows = list[tuple[str, str]]


def show_criteria(console: Console, found: "Criteria") -> None:
    """Print the three questions."""
    console.print()
    block(console, Text(f"{found.published:,} published {found.units}"))
    out, link, infer = found.singling_out, found.linkability, found.inference

    def of_all(count: int) -> str:
        return f"{count:,} ({percent(count / found.published if found.published else 0)})"

    alone = [
        ("alone on quasi columns", of_all(out.alone_on_quasi)),
        ("alone with plain columns too", of_all(out.alone_with_plain)),
        ("alone on all columns, sensitive ones too", of_all(out.alone_with_all)),
        ("smallest class by quasi columns", _size(out.smallest_class)),
        ("guaranteed by the policy", _size(out.guaranteed)),
    ]
    _print(console, "Singling out: can somebody be isolated?", alone, out.limits)
    linked = [
        ("linked right on quasi columns", percent(link.linked_on_quasi)),
        ("linked right with plain columns too", percent(link.linked_with_plain)),
        *_across(link),
        ("linked by pseudonyms", ", ".join(map(safe, link.pseudonyms)) or "none"),
    ]
    if link.pinned is not None and link.known:
        share = percent(link.pinned / link.known)
        linked.append(("of the raw table, with one candidate", f"{link.pinned:,} ({share})"))
    _print(console, "Linkability: can records be put together?", linked, link.limits)
    inferred: Rows = [("not measured", infer.not_measured)] if infer.not_measured else []
    for name, one in infer.columns.items():
        known = max(1, one.known)
        inferred += [
            (
                f"{safe(name)} deduced, 9 in 10 sure",
                f"{one.likely:,} ({percent(one.likely / known)})",
            ),
            ("  for certain", f"{one.certain:,} ({percent(one.certain / known)})"),
            ("  with plain columns too", f"{one.likely_with_plain:,}"),
            (
                "  best guess in the class, and overall",
                f"{percent(one.best_guess)}, {percent(one.base_rate)}",
            ),
        ]
    if not inferred:
        inferred = [("no sensitive column", "nothing to infer")]
    _print(console, "Inference: can a sensitive value be deduced?", inferred, infer.limits)
    for note in found.notes:
        message(console, f"Note: {note}")


def _across(link: "Linkability") -> Rows:
    """Return how well two tables are linked through the release."""
    if link.linked_across is None:
        return []
    chance = f"{percent(link.linked_across)}, by chance {percent(link.by_chance)}"
    return [("two tables of half the columns, linked", chance)]


def _print(console: Console, title: str, rows: Rows, limits: Sequence[str]) -> None:
    table = Table.grid(padding=(0, 2))
    for name, figure in rows:
        table.add_row(name, figure)
    shown = Table.grid(padding=(0, 1))
    for sentence in limits:
        shown.add_row(Text("-", style="dim"), Text(sentence, style="dim"))
    body: list[RenderableType] = [table, Text("What this does not show:", style="dim"), shown]
    section(console, title, Group(*body))


def _size(size: int | None) -> str:
    return "none" if size is None else f"{size:,}"
