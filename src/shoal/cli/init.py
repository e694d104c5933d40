"""`shoal init`: a policy to start from."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import guarded
from shoal.cli.options import (
    Encoding,
    Engine,
    Force,
    Json,
    Memory,
    Quote,
    Separator,
    TableOrFolder,
    csv_options,
    where_again,
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

    The draft runs as it is, but was made from names and counts alone: read it before you trust
    it.
    """
    from shoal.cli.console import out, print_json
    from shoal.progress import displayed

    with displayed(True) as progress:
        from shoal.risk.draft import write_draft

        options = csv_options(separator, quote, encoding)
        draft = write_draft(
            table,
            output,
            force=force,
            engine=engine,
            memory=memory,
            options=options,
            progress=progress,
        )
    if json:
        print_json({"input": str(table), "policy": str(output), "roles": draft.roles})
    else:
        from shoal.cli.render.inspection import show_draft

        show_draft(out(), draft.inspection, table, output, where_again(engine, memory))
