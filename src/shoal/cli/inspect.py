"""`shoal inspect`: what a table gives away as it is."""

from typing import Annotated

import typer

from shoal.cli.console import guarded
from shoal.cli.options import (
    Encoding,
    Engine,
    Json,
    Memory,
    Quote,
    Separator,
    TableOrFolder,
    Telling,
    csv_options,
    where_again,
)


@guarded
def inspect(
    table: TableOrFolder,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of a population that is in the table: estimates who is unique there.",
        ),
    ] = None,
    msu: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE", help="Find minimal sample uniques of up to so many columns together."
        ),
    ] = None,
    engine: Engine = "local",
    memory: Memory = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    telling: Telling = "bar",
    json: Json = False,
) -> None:
    """Show who stands out in a table, and suggest roles.

    Counts and column names only: no value of the table is shown.
    """
    from shoal.cli.console import out, print_json
    from shoal.cli.progress import progress_of
    from shoal.progress import displayed

    options = csv_options(separator, quote, encoding)
    with displayed(progress_of(telling)) as progress:
        from shoal.risk.inspection import inspect

        found = inspect(
            table,
            fraction=fraction,
            msu=msu,
            engine=engine,
            memory=memory,
            options=options,
            progress=progress,
        )
    if json:
        print_json({"input": str(table), **found.to_dict()})
    else:
        from shoal.cli.render.inspection import show_inspection

        show_inspection(out(), found, table, where_again(engine, memory))
