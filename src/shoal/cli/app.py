"""The `shoal` command.

Nothing heavy is imported here, so that `shoal --help` answers at once: `shoal.api` loads table
libraries only when a function is called.
"""

import sys
from itertools import pairwise
from typing import Annotated, Any, NoReturn

import typer

from shoal.allocation import share_one_arena
from shoal.cli.apply import apply
from shoal.cli.attack import attack
from shoal.cli.compare import compare
from shoal.cli.console import leave_no_image, report_usage, stopped
from shoal.cli.criteria import criteria
from shoal.cli.decode import decode
from shoal.cli.demo import demo
from shoal.cli.init import init
from shoal.cli.inspect import inspect
from shoal.cli.methods import methods
from shoal.cli.metrics import metrics
from shoal.cli.models import models
from shoal.cli.presets import presets
from shoal.cli.reproduce import reproduce
from shoal.cli.run import run
from shoal.cli.studio import studio
from shoal.cli.utility import utility
from shoal.cli.verify import verify
from shoal.interruption import interruptible
from shoal.version import __version__

app = typer.Typer(
    name="shoal",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help: loading Rich takes longer than everything else
    pretty_exceptions_enable=False,  # they show local variables, which may hold people's values
)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def shoal(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Publish the table, not the people.

    Start with `shoal demo`. For a table of your own: `shoal inspect TABLE` shows who stands out,
    `shoal init TABLE` drafts a policy, `shoal run TABLE POLICY -o RELEASE` makes the release.

    Exit codes: 0 success, 2 bad input or policy, 3 no release can meet the policy, 4 a release does
    not hold its guarantees.
    """


for command in (
    demo,
    studio,
    inspect,
    init,
    run,
    apply,
    verify,
    decode,
    utility,
    compare,
    attack,
    criteria,
    reproduce,
    methods,
    models,
    metrics,
    presets,
):
    app.command()(command)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    _replace_unprintable()
    arguments = sys.argv[1:]

    def work() -> Any:
        return app(arguments, prog_name="shoal", standalone_mode=False)

    try:
        leave_no_image()
        share_one_arena()
        code: Any = work() if _in_main_thread(arguments) else interruptible(work, stopped)
    except KeyboardInterrupt:
        code = stopped()
    except Exception as error:
        # Typer and Click give the class different names in different versions
        if not hasattr(error, "format_message"):
            raise
        code = report_usage(error, as_json="--json" in arguments)
    sys.exit(code if isinstance(code, int) else 0)


def _in_main_thread(arguments: list[str]) -> bool:
    """Whether a command handles signals itself: the studio's server does, and so does Spark."""
    words = [part for argument in arguments for part in argument.split("=", 1)]
    engines = [after for word, after in pairwise(words) if word == "--engine"]
    return arguments[:1] == ["studio"] or any(engine != "local" for engine in engines)


def _replace_unprintable() -> None:
    """Print a `?` for a character that the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")


if __name__ == "__main__":
    main()
