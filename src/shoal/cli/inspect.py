"""`shoal inspect`: who stands out in a table."""

from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import (
    Engine,
    Json,
    Memory,
    ProgressForm,
    TableOrFolder,
    engine_options,
    with_reading,
)
from shoal.cli.progress import progress_of


@guarded
@with_reading
def inspect(
    table: TableOrFolder,
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Count people, whose rows share a value of this column.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Estimate the risk in the population from these sampling weights.",
            show_default=False,
        ),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="The share of a population that is in the table, to estimate who is unique there.",
        ),
    ] = None,
    msu: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE", help="Find minimal sample uniques of up to this many columns."
        ),
    ] = None,
    engine: Engine = "local",
    memory: Memory = None,
    progress: ProgressForm = "bar",
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Show who stands out in a table, and suggest roles.

    Only counts and column names are shown, never a value of the table.
    """
    place = api.command_line_place(table)
    found = api.inspect(
        place,
        person=person,
        weight=weight,
        fraction=fraction,
        msu=msu,
        engine=engine,
        memory=memory,
        read=read,
        progress=progress_of(progress),
    )
    if json:
        print_json({"input": str(place), **found.to_dict()})
    else:
        from shoal.cli.render.inspection import show_inspection

        show_inspection(out(), found, place, engine_options(engine, memory))
