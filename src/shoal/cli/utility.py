"""`shoal utility`: what a release is still good for."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Force, Json, PolicyFile, ReleaseFile, Table, with_reading


@guarded
@with_reading
def utility(
    table: Table,
    release: ReleaseFile,
    policy: PolicyFile,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Train models that predict this column, and test them on raw rows.",
            show_default=False,
        ),
    ] = None,
    query: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help='Count the rows by these columns, as in "sex, region"; may be repeated.',
            show_default=False,
        ),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(
            metavar="OTHER",
            help="Raw rows that have no part in the release, to test models on.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of drawn values and the split.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write a page: .html with .json beside it, or .json alone.",
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Compare analyses of a release with those of the raw table.

    Shows how far the distribution of every column and the association of every pair have changed, how
    far your own counts are off, and what models that are trained on the release are worth. These are
    figures of the raw table: keep them inside.
    """
    found = api.utility(
        api.command_line_place(table),
        api.command_line_place(release),
        policy,
        target=target,
        queries=query or (),
        held_out=None if held_out is None else api.command_line_place(held_out),
        seed=seed,
        output=output,
        force=force,
        read=read,
        progress=True,
    )
    if json:
        print_json(found.to_dict() | {"outputs": [str(path) for path in found.outputs]})
    else:
        from shoal.cli.render.utility import show_utility

        show_utility(out(), found)
