"""Where commands print, and how errors reach the user: one line, an exit code, no traceback."""

import functools
import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

from shoal.errors import ShoalError, ShoalWarning
from shoal.interruption import begin, is_committed, is_first_to_tell, is_stopping

if TYPE_CHECKING:
    from rich.console import Console

P = ParamSpec("P")

USAGE = 2
BUG = 1
INTERRUPTED = 130
DEBUG = "SHOAL_DEBUG"


def out() -> "Console":
    """Return standard output, without markup or highlighting: a column may be called `[bold]`."""
    from rich.console import Console  # loading it takes longer than `shoal --help`

    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False)


def print_json(data: Any) -> None:
    """Print one JSON document on standard output."""
    unicode = (sys.stdout.encoding or "ascii").lower().startswith("utf")
    typer.echo(json.dumps(data, indent=2, ensure_ascii=not unicode))


def guarded(body: Callable[P, None]) -> Callable[P, None]:
    """Wrap a command so that its errors are reported, as JSON with `--json`.

    Warnings are part of what a command prints, so Python's own output of them is switched off.
    """

    @functools.wraps(body)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        begin()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ShoalWarning)
                body(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(stopped()) from None
        except SystemExit:  # a signal during work in the main thread
            if is_committed():
                raise typer.Exit(stopped()) from None
            raise
        except (typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if is_stopping():  # what compiled code made of the interruption
                raise typer.Exit(stopped()) from None
            if os.environ.get(DEBUG):
                raise
            raise typer.Exit(_report(error, bool(kwargs.get("json")))) from None

    return command


def stopped() -> int:
    """Report that the user stopped the command; returns the exit code."""
    if is_committed():
        words, code = "Interrupted after everything was in place.", 0
    else:
        words, code = "Interrupted: no incomplete file is left behind.", INTERRUPTED
    if is_first_to_tell():
        print(words, file=sys.stderr)
    return code


def leave_no_image() -> None:
    """Let no image of this process, with the rows in it, be kept where a library crashes.

    Linux takes a limit of 1 for none at all, even where images go to a program, which 0 does not say.
    """
    if os.name == "nt" or os.environ.get(DEBUG):
        return
    resource = importlib.import_module("resource")
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (1 if most and sys.platform == "linux" else 0, most))


def report_usage(error: Any, as_json: bool) -> int:
    """Report a mistake in the command's arguments or options."""
    if as_json:
        _print(error.format_message(), "UsageError", USAGE, as_json)
    else:
        error.show()
    return int(error.exit_code)


def error_of(work: Callable[[], None]) -> dict[str, Any]:
    """Return the error that a function raises as JSON reports it, or nothing."""
    try:
        work()
    except ShoalError as error:
        return _as_data(str(error), type(error).__name__, error.exit_code)
    return {}


def _report(error: Exception, as_json: bool) -> int:
    if isinstance(error, ShoalError):
        return _print(str(error), type(error).__name__, error.exit_code, as_json)
    kind = type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return _print(f"{place}{error.strerror}.", kind, USAGE, as_json)
    # the text of an unexpected error may contain a value of the table, its type cannot
    words = (
        f"an unexpected error occurred ({kind}), which is a bug in Shoal. Nothing was published. "
        f"Run again with {DEBUG}=1 to see a traceback; it may show values of the table."
    )
    return _print(words, kind, BUG, as_json)


def _print(words: str, kind: str, exit_code: int, as_json: bool) -> int:
    if as_json:
        print_json(_as_data(words, kind, exit_code))
    else:
        print(_wrapped(f"Error: {words}"), file=sys.stderr)
    return exit_code


def _wrapped(words: str) -> str:
    """Return the text with lines broken between words, on a terminal."""
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
