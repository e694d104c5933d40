"""Print lists of methods, models, metrics and presets, and descriptions of single ones."""

from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.api import PresetEntry
from shoal.cli.console import out, print_json
from shoal.cli.render.page import block, indented

if TYPE_CHECKING:
    from shoal.api import Entry, Listing

REQUIRED = "required"


def print_listing(listing: "Listing", one: bool, json: bool) -> None:
    """Print a whole list, or the description of its only entry."""
    if json:
        print_json(listing.entries[0].to_dict() if one else listing.to_dict())
    elif one:
        console = out()
        console.print()
        block(console, _description(listing.kind, listing.entries[0]))
    else:
        show_list(out(), listing)


def show_list(console: Console, listing: "Listing") -> None:
    """Print a line or two for each entry."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for entry in listing.entries:
        summary = Text(entry.summary)
        if entry.on_request:
            summary.append(" Only on request.", style="dim")
        table.add_row(entry.name, summary)
    console.print()
    block(console, table)
    for problem in listing.not_available:
        block(console, Text(f"Not available: {problem}", style="yellow"))
    block(console, Text(f"`shoal {listing.kind} NAME` describes one of them.", style="dim"))


def _description(kind: str, entry: "Entry") -> RenderableType:
    parts: list[RenderableType] = [Text(entry.name, style="bold")]
    for paragraph in entry.text.split("\n\n"):
        parts += [Text(), Text(paragraph)]
    if isinstance(entry, PresetEntry):
        parts += _preset(entry)
    parts += [Text(), Text(_usage(kind, entry), style="dim")]
    for option in entry.options:
        default = option.default if option.default == REQUIRED else f"default {option.default}"
        head = Text.assemble((option.name, "bold"), f": {option.type}; ", (default, "dim"))
        parts += [Text(), head, indented(Text(option.text), 4)]
    return Group(*parts)


def _preset(entry: PresetEntry) -> list[RenderableType]:
    """Return what a preset checks and what it leaves to a person, with its sources."""
    texts = {
        "What it requires and checks": entry.asks,
        "To be judged by a person": entry.to_judge,
        "Sources": entry.sources,
    }
    parts: list[RenderableType] = []
    for title, sentences in texts.items():
        lines = Table.grid(padding=(0, 1))
        for sentence in sentences:
            lines.add_row("-", sentence)
        parts += [Text(), Text(title, style="bold"), lines]
    return parts


def _usage(kind: str, entry: "Entry") -> str:
    """Return how a policy names it."""
    if kind == "methods":
        return f"In a policy: `method: {entry.name}`."
    if kind == "presets":
        return f"In a policy: `preset: {entry.name}`."
    if kind == "models":
        needed = (option.name for option in entry.options if option.default == REQUIRED)
        return f"In the constraints of a policy: {{{', '.join(f'{name}: ..' for name in needed)}}}."
    if entry.on_request:
        return (
            f"It takes long, so it is measured only on request: `metrics: [{entry.name}]` in a "
            f"policy, or `shoal run --metric {entry.name}`."
        )
    return "It is measured for every release."
