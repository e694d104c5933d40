"""`shoal init`: a policy to start from."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.guard import guarded
from shoal.cli.options import Encoding, Force, Json, Quote, Separator, Table, csv_options


@guarded
def init(
    table: Table,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="POLICY", help="Where to write the policy.")
    ] = Path("policy.yaml"),
    force: Force = False,
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
    from shoal.cli.progress import watching

    with watching() as progress:
        from shoal.risk.files import write_draft

        found = write_draft(table, output, csv_options(separator, quote, encoding), force, progress)
    if json:
        roles = {column.name: column.role for column in found.columns}
        print_json({"input": str(table), "policy": str(output), "roles": roles})
    else:
        from shoal.cli.show_inspection import show_draft

        show_draft(out(), found, table, output)
