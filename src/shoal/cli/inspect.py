"""`shoal inspect`: who stands out in a table."""

from typing import Annotated

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import (
    Encoding,
    Engine,
    Json,
    Memory,
    ProgressForm,
    Quote,
    Separator,
    TableOrFolder,
    engine_options,
)
from shoal.cli.progress import progress_of


@guarded
def inspect(
    table: TableOrFolder,
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
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    progress: ProgressForm = "bar",
    json: Json = False,
) -> None:
    """Show who stands out in a table, and suggest roles.

    Only counts and column names are shown, never a value of the table.
    """
    place = api.command_line_place(table)
    found = api.inspect(
        place,
        fraction=fraction,
        msu=msu,
        engine=engine,
        memory=memory,
        separator=separator,
        quote=quote,
        encoding=encoding,
        progress=progress_of(progress),
    )
    if json:
        print_json({"input": str(place), **found.to_dict()})
    else:
        from shoal.cli.render.inspection import show_inspection

        show_inspection(out(), found, place, engine_options(engine, memory))
