"""The parts of what commands print: blocks, sections, marks, numbers and safe names."""

import math
import re
import shlex
import textwrap
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

NARROW = 60
"""Below this terminal width less is shown side by side."""
NO_BREAK = "\0"
"""Marks a space at which no line ends."""


def indented(body: RenderableType, by: int = 2) -> Padding:
    """Indent on both sides."""
    return Padding(body, (0, by), expand=False)


def block(console: Console, body: RenderableType) -> None:
    """Print a part of a page, followed by an empty line."""
    console.print(indented(body))
    console.print()


def section(console: Console, title: str, body: RenderableType) -> None:
    """Print a part of a page under a title."""
    block(console, Group(Text(title, style="bold"), indented(body)))


def lines(console: Console, title: str, texts: Iterable[str]) -> None:
    """Print paths or commands under a title, unbroken so that they can be copied."""
    console.print(Text(f"  {title}", style="bold"))
    for text in texts:
        console.print(Text(f"    {safe(text)}"), soft_wrap=True)
    console.print()


def print_warnings(console: Console, warnings: Iterable[str]) -> None:
    """Print the warnings of a result."""
    for warning in warnings:
        message(console, f"Warning: {warning}", "yellow")


def message(console: Console, text: str, style: str = "") -> None:
    """Print a note: its first line, and any others below it, indented."""
    first, *others = (Text(safe(line.strip()), style=style) for line in text.split("\n"))
    block(console, Group(first, *(indented(line) for line in others)))


def command(*words: object) -> str:
    """Return a command as one would type it."""
    return shlex.join(str(word) for word in words)


def safe(name: str) -> str:
    """Return a name without characters that could control the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)


def wrapped(console: Console, words: str, indent: int = 8) -> Text:
    """Return lines that never begin with a percent sign or a unit."""
    joined = re.sub(r"(?<=\d) (?=%|s\b|min\b)|(?<=k) (?==)|(?<==) (?=\d)", NO_BREAK, words)
    broken = textwrap.wrap(joined, max(console.width - indent, 20), break_on_hyphens=False)
    return Text("\n".join(broken).replace(NO_BREAK, " "))


def tick(console: Console, holds: bool) -> Text:
    """Return a mark for what holds, or for what does not."""
    marks = ("no", "yes") if console.options.ascii_only else ("✘", "✔")
    return Text(marks[holds], style="green" if holds else "bold red")


def figure(number: float) -> str:
    """Return a model's figure; `none` if none holds."""
    return f"{number:g}" if math.isfinite(number) else "none"


def counted(count: int, noun: str) -> str:
    """Return `1 row`, `2,000 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
