"""`shoal criteria`: singling out, linkability and inference in a release."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Engine, Json, Memory, PolicyFile, ReleaseFile, with_reading


@guarded
@with_reading
def criteria(
    release: ReleaseFile,
    policy: PolicyFile,
    raw: Annotated[
        str | None,
        typer.Option(
            "--raw",
            metavar="INPUT",
            help="The raw table, whose people are linked to the release.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Count people with the private key that `shoal run --key` wrote.",
            show_default=False,
        ),
    ] = None,
    engine: Engine = "local",
    memory: Memory = None,
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Measure what opinion 05/2014 asks: singling out, linkability and inference.

    The opinion of the European data protection authorities sets no limits, so nothing fails here. Every
    figure comes with what it does not show.
    """
    place = api.command_line_place(release)
    found = api.criteria(
        place,
        policy,
        raw=None if raw is None else api.command_line_place(raw),
        key=key,
        engine=engine,
        memory=memory,
        read=read,
        progress=True,
    )
    if json:
        print_json({"release": str(place), **found.to_dict()})
    else:
        from shoal.cli.render.criteria import show_criteria

        show_criteria(out(), found)
