"""`shoal init`: a policy to start from."""

from pathlib import Path
from typing import Annotated

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import (
    Encoding,
    Engine,
    Force,
    Json,
    Memory,
    Quote,
    Separator,
    TableOrFolder,
    engine_options,
)


@guarded
def init(
    table: TableOrFolder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="POLICY", help="Where to write the policy.")
    ] = Path("policy.yaml"),
    force: Force = False,
    engine: Engine = "local",
    memory: Memory = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Draft a commented policy for a table.

    The draft can be run at once, but it comes from column names and counts alone: read it before you
    rely on it.
    """
    place = api.command_line_place(table)
    draft = api.draft_policy(
        place,
        output,
        force=force,
        engine=engine,
        memory=memory,
        separator=separator,
        quote=quote,
        encoding=encoding,
        progress=True,
    )
    if json:
        print_json({"input": str(place), "policy": str(output), "roles": draft.roles})
    else:
        from shoal.cli.render.inspection import show_draft

        show_draft(out(), draft, place, output, engine_options(engine, memory))
