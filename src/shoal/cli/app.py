"""The `shoal` command.

Nothing heavy is imported here: `shoal --help` must answer at once, so every command imports what it
needs in its own body.
"""

import sys
from typing import Annotated, Any, NoReturn

import typer

from shoal.cli.attack import attack
from shoal.cli.compare import compare
from shoal.cli.console import report_usage, stopped
from shoal.cli.demo import demo
from shoal.cli.init import init
from shoal.cli.inspect import inspect
from shoal.cli.listing import methods, metrics, models
from shoal.cli.reproduce import reproduce
from shoal.cli.run import run
from shoal.cli.verify import verify

app = typer.Typer(
    name="shoal",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help: loading Rich would take longer than all the rest
    pretty_exceptions_enable=False,  # they show values of variables, and those may be people's
)


def _show_version(asked: bool) -> None:
    if asked:
        from shoal import __version__

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

    Exit codes: 0 done, 2 bad input or policy, 3 no release can meet the policy, 4 a release does
    not hold what was promised.
    """


for command in (
    demo,
    inspect,
    init,
    run,
    verify,
    compare,
    attack,
    reproduce,
    methods,
    models,
    metrics,
):
    app.command()(command)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    _never_choke_on_output()
    arguments = sys.argv[1:]
    try:
        code: Any = app(arguments, prog_name="shoal", standalone_mode=False)
    except KeyboardInterrupt:
        code = stopped()
    except Exception as error:
        # Typer and Click name the class differently from version to version
        if not hasattr(error, "format_message"):
            raise
        code = report_usage(error, as_json="--json" in arguments)
    sys.exit(code if isinstance(code, int) else 0)


def _never_choke_on_output() -> None:
    """A character that the terminal does not know becomes a `?` instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")


if __name__ == "__main__":
    main()
