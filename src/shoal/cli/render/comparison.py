"""Print a comparison: a table of methods, the recommendation, and what has no result."""

from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import (
    NARROW,
    block,
    indented,
    lines,
    print_warnings,
    safe,
    section,
    wrapped,
)
from shoal.errors import format_seconds, percent

if TYPE_CHECKING:
    from shoal.api import Comparison, Figures

WIDE = 78
"""From this width on every figure has its column."""


def show_comparison(console: Console, found: "Comparison") -> None:
    """Print a comparison."""
    console.print()
    block(console, _head(found))
    if found.done:
        block(console, _table(console, found))
        block(console, Text(_legend(console, found), style="dim"))
    _recommend(console, found)
    _unfinished(console, found)
    print_warnings(console, found.warnings)
    if found.outputs:
        lines(console, "Written", [str(path) for path in found.outputs])


def _head(found: "Comparison") -> Text:
    name = safe(found.name) or "the table"
    words = Text.assemble((name, "bold"), f": {found.rows:,} rows")
    if found.ks != (None,) and not found.replaced:
        words.append(f", k = {found.ks[0]:,}")
    if found.replaced:
        ks = ", ".join(f"{k:,}" for k in found.ks)
        words.append(f"; k = {ks} instead of the k of every k constraint")
    if found.has_own_figure:
        target = f" of {safe(found.by.target)}" if found.by.target else ""
        words.append(f"; by {found.by.name}{target}")
    return words


def _table(console: Console, found: "Comparison") -> Table:
    """Return a line for each method that finished, by k, the best first."""
    shown = _columns(console, found)
    gap = 1 if len(shown) > 6 else 2
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True, min_width=1)
    table.add_column("method", overflow="fold")
    for heading in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    levels = [(k, runs) for k in found.ks if (runs := found.ranked(k))]
    for place, (k, runs) in enumerate(levels):
        if len(levels) > 1:
            if place:
                table.add_row()
            table.add_row("", Text(f"k = {k:,}", style="dim"))
        for one in runs:
            assert one.figures is not None
            cells = _cells(one.figures)
            if found.has_own_figure:
                cells[found.by.heading] = found.by.shown(one)
            own = "*" if one.method == found.method else ""
            marks = _mark(console, one is found.chosen, one in found.frontier and not found.by_risk)
            style = "bold" if one is found.chosen else ""
            table.add_row(marks, f"{one.method}{own}", *(cells[h] for h in shown), style=style)
    return table


def _columns(console: Console, found: "Comparison") -> list[str]:
    """Return the columns that fit the terminal."""
    if console.width >= WIDE:
        some = any(one.figures and one.figures.suppressed_rows for one in found.done)
        hidden = ["suppr."] if some else []
        own = [found.by.heading, "loss"] if found.has_own_figure else ["loss", "exact"]
        return [*own, "risk", "worst", "groups", *hidden, "time"]
    if found.has_own_figure:
        return [found.by.heading, "risk", "time"] if console.width >= NARROW else [found.by.heading]
    if console.width >= NARROW:
        return ["loss", "exact", "risk", "time"]
    return ["loss", "risk", "time"] if console.width >= NARROW - 8 else ["loss", "time"]


def _cells(figures: "Figures") -> dict[str, str]:
    return {
        "loss": percent(figures.loss),
        "exact": percent(figures.exact),
        "risk": percent(figures.risk.average),
        "worst": percent(figures.risk.highest),
        "groups": f"{figures.groups:,}",
        "suppr.": percent(figures.suppressed_share) if figures.suppressed_rows else "0",
        "time": format_seconds(figures.seconds),
    }


def _mark(console: Console, chosen: bool, frontier: bool) -> Text:
    best, edge = (">", "o") if console.options.ascii_only else ("➜", "●")
    if chosen:
        return Text(best, style="green")
    return Text(edge if frontier else "", style="cyan")


def _legend(console: Console, found: "Comparison") -> str:
    best, edge = (">", "o") if console.options.ascii_only else ("➜", "●")
    parts = [f"{best} recommended"]
    if not found.by_risk:
        both = f"is better in {found.by.noun} and in risk" if found.has_own_figure else ""
        parts.append(f"{edge} no other run {both or 'has both less loss and less risk'}")
    if any(one.method == found.method for one in found.done):
        parts.append("* the policy's own method")
    shown = _columns(console, found)
    if found.has_own_figure:
        parts.append(f"{found.by.heading}: {safe(found.by.words)}")
        if guessing := found.by.guessing(found.done[0]):
            parts.append(f"baseline: {guessing}")
    if found.by.is_loss and not found.by_risk:
        cells = "; exact: of the cells in quasi columns" if "exact" in shown else ""
        parts.append(f"loss: of the information, in bits ({found.by.name}){cells}")
    elif "loss" in shown and not found.by_risk:
        parts.append("loss: of the information, in bits")
    if "risk" in shown:
        what = "the chance to pick a person's row"
        if found.by_risk:
            what = "how often the best guess at a sensitive value is right"
        worst = ", and at worst" if "worst" in shown else ""
        parts.append(f"risk: {what}, on average{worst}")
    return "; ".join(parts) + "."


def _recommend(console: Console, found: "Comparison") -> None:
    chosen = found.recommended
    if chosen is None:
        section(console, "No method finished", Text("The reasons are below."))
        return
    words = [chosen.reason, *filter(None, (chosen.own, chosen.further))]
    body = Group(*(wrapped(console, safe(each)) for each in words))
    section(console, f"Take {chosen.method}", body)


def _unfinished(console: Console, found: "Comparison") -> None:
    parts: list[RenderableType] = []
    for line in found.unfinished:
        where = f", {line.where}" if line.where else ""
        head = Text.assemble((", ".join(line.methods), "bold"), f"{where}: {line.status}")
        parts += [head, indented(Text(safe(line.reason), style="dim"))]
    if parts:
        section(console, "Without a result", Group(*parts))
