"""Where things are printed: Rich on a terminal, plain text elsewhere, JSON for machines."""

import functools
import json
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec

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


# How errors reach the user: one line, the right exit code, no traceback and no one's values.


P = ParamSpec("P")

USAGE = 2
BUG = 1
INTERRUPTED = 130
DEBUG = "SHOAL_DEBUG"


def guarded(body: Callable[P, None]) -> Callable[P, None]:
    """A command whose errors are reported, as JSON if it was asked for JSON."""

    @functools.wraps(body)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            body(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(stopped()) from None
        except (typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            raise typer.Exit(_report(error, bool(kwargs.get("json")))) from None

    return command


def stopped() -> int:
    """Say that the user stopped the work; gives the exit code."""
    print("Interrupted: nothing half-written is left behind.", file=sys.stderr)
    return INTERRUPTED


def report_usage(error: Any, as_json: bool) -> int:
    """Report a mistake in the command's own words and options."""
    if as_json:
        _print(error.format_message(), "UsageError", USAGE, as_json)
    else:
        error.show()
    return int(error.exit_code)


def error_of(work: Callable[[], None]) -> dict[str, Any]:
    """What JSON says about the error that some work raises; nothing if it raises none."""
    from shoal.errors import ShoalError

    try:
        work()
    except ShoalError as error:
        return _as_data(str(error), type(error).__name__, error.exit_code)
    return {}


def _report(error: Exception, as_json: bool) -> int:
    from shoal.errors import ShoalError

    if isinstance(error, ShoalError):
        return _print(str(error), type(error).__name__, error.exit_code, as_json)
    kind = type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return _print(f"{place}{error.strerror}.", kind, USAGE, as_json)
    # the text of an unforeseen error may hold a value of the table, its type cannot
    words = (
        f"sorry, Shoal met something it did not foresee ({kind}). Nothing was published. "
        f"Run it again with {DEBUG}=1 to see where; the trace may show values of the table."
    )
    return _print(words, kind, BUG, as_json)


def _print(words: str, kind: str, exit_code: int, as_json: bool) -> int:
    if as_json:
        print_json(_as_data(words, kind, exit_code))
    else:
        print(_wrapped(f"Error: {words}"), file=sys.stderr)
    return exit_code


def _wrapped(words: str) -> str:
    """Lines broken between words where somebody reads them on a terminal."""
    if not sys.stderr.isatty():
        return words
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    lines = (
        textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
        for line in words.splitlines()
    )
    return "\n".join(lines)


def _as_data(words: str, kind: str, exit_code: int) -> dict[str, Any]:
    return {"error": words, "kind": kind, "exit_code": exit_code}
