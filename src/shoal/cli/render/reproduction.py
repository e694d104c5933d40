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


STYLES = {True: "green", False: "bold red", None: "yellow"}
WIDEST = len("did not hold")


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
    """Return `Of 10 claims: 7 held, 2 did not hold`."""
    total = counted(len(found.result.claims), "claim")
    each = ", ".join(f"{count} {word}" for word, count in found.held.items() if count)
    return f"Of {total}: {each}"


def _claim(console: Console, claim: "Claim") -> RenderableType:
    mark = Text("?", STYLES[None]) if claim.held is None else tick(console, claim.held)
    outcome = Text(claim.outcome, style=STYLES[claim.held])
    text, ours = Text(safe(claim.text)), Text(safe(claim.found), style="dim")
    if console.width < NARROW:
        return Group(Text.assemble(mark, " ", outcome), indented(Group(text, ours)))
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(no_wrap=True, width=WIDEST + 2)
    row.add_column()
    row.add_row(Text.assemble(mark, " ", outcome), Group(text, ours))
    return row


def _with_space(parts: list[RenderableType]) -> list[RenderableType]:
    """Return the parts with empty lines between them."""
    return [each for part in parts for each in (part, Text())][:-1]
