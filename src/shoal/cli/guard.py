"""How errors reach the user: one line, the right exit code, no traceback and no one's values."""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

import typer

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
        from shoal.cli.console import print_json

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
