"""Where things are printed: Rich on a terminal, plain text elsewhere, JSON for machines."""

import json
import math
import shlex
import sys
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

NARROW = 60
"""On a terminal below this width less is shown beside each other."""


def out() -> Console:
    """Standard output. No markup and no guessing at colours: a column may be called `[bold]`."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False)


def indented(body: RenderableType, by: int = 2) -> Padding:
    """Moved to the right, and ending as early on the other side."""
    return Padding(body, (0, by), expand=False)


def block(console: Console, body: RenderableType) -> None:
    """Print a part of a page, with an empty line after it."""
    console.print(indented(body))
    console.print()


def section(console: Console, title: str, body: RenderableType) -> None:
    """Print a part of a page under a title."""
    block(console, Group(Text(title, style="bold"), indented(body)))


def lines(console: Console, title: str, words: Iterable[str]) -> None:
    """Print paths or commands under a title, unbroken so that they can be copied."""
    console.print(Text(f"  {title}", style="bold"))
    for each in words:
        console.print(Text(f"    {safe(each)}"), soft_wrap=True)
    console.print()


def typed(*words: object) -> str:
    """A command as one would type it."""
    return shlex.join(str(word) for word in words)


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    unicode = (sys.stdout.encoding or "ascii").lower().startswith("utf")
    typer.echo(json.dumps(data, indent=2, ensure_ascii=not unicode))


def safe(name: str) -> str:
    """A name without characters that could steer the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)


def tick(console: Console, holds: bool) -> Text:
    """A mark for what holds and one for what does not."""
    marks = ("no", "yes") if console.options.ascii_only else ("✘", "✔")
    return Text(marks[holds], style="green" if holds else "bold red")


def figure(number: float) -> str:
    """A model's figure; `none` where there is none that holds."""
    return f"{number:g}" if math.isfinite(number) else "none"


def counted(count: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
