"""Print what became of the claims of a paper."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import (
    NARROW,
    block,
    counted,
    indented,
    lines,
    message,
    safe,
    section,
    tick,
)

if TYPE_CHECKING:
    from shoal.api import Claim, Reproduction


STYLES = {
    "holds": "green",
    "does not hold": "bold red",
    "depends": "yellow",
    "cannot tell": "yellow",
}
WIDEST = max(map(len, STYLES))


def show_reproduction(console: Console, found: "Reproduction", folder: Path) -> None:
    """Print the claims with our figures, what to know about them, and where the files are."""
    about = [Text(found.title, style="bold"), Text(found.source, style="dim"), Text(found.data)]
    if found.quick:
        about.append(Text("A quick run, on less data than the paper's."))
    block(console, Group(*about))
    claims = [_claim(console, claim) for claim in found.result.claims]
    section(console, _counts(found), Group(*_with_space(claims)))
    for note in found.result.notes:
        message(console, f"Note: {note}")
    figures = counted(len(found.result.figures), "figure")
    lines(console, f"Written: a page, and {figures} as SVG and CSV", [str(folder / "index.html")])


def _counts(found: "Reproduction") -> str:
    """Return `Of 10 claims: holds 7, does not hold 3`."""
    total = counted(len(found.result.claims), "claim")
    each = ", ".join(f"{word} {count}" for word, count in found.verdicts.items() if count)
    return f"Of {total}: {each}"


def _claim(console: Console, claim: "Claim") -> RenderableType:
    style = STYLES[claim.verdict]
    decided = claim.verdict in ("holds", "does not hold")
    mark = tick(console, claim.verdict == "holds") if decided else Text("?", style)
    verdict = Text.assemble(mark, " ", Text(claim.verdict, style=style))
    words = Group(
        Text(safe(claim.text)), Text(safe(claim.reason)), Text(safe(claim.found), style="dim")
    )
    if console.width < NARROW:
        return Group(verdict, indented(words))
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(no_wrap=True, width=WIDEST + 2)
    row.add_column()
    row.add_row(verdict, words)
    return row


def _with_space(parts: list[RenderableType]) -> list[RenderableType]:
    """Return the parts with empty lines between them."""
    return [each for part in parts for each in (part, Text())][:-1]
