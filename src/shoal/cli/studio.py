"""`shoal studio`: from a file to a release, in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from shoal import api
from shoal.cli.console import guarded


@guarded
def studio(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="The table: a file, or the address of a table in a database. Chosen in the studio if "
            "not given.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Argument(
            metavar="[POLICY]",
            help="The policy: a YAML file. Kept beside the table, and drafted, if not given.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="The port on 127.0.0.1.", show_default=False),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open no browser.")
    ] = False,
) -> None:
    """Open the studio: see and steer a release in the browser.

    It listens on this machine alone. The address that it prints works once; press Enter for another.
    Stop it with Ctrl-C: the policy is in its file after every step.
    """
    place = None if table is None else str(api.command_line_place(table))
    from shoal.studio.server import serve

    def ready(address: str) -> None:
        typer.echo(f"The studio is at {address}")

    try:
        serve(place, policy, port=port, browser=not no_browser, ready=ready)
    except KeyboardInterrupt:  # that is how it is stopped
        typer.echo("The studio was stopped. The policy is in its file, with every step.")
