"""`shoal inspect`: what a table gives away as it is."""

from shoal.cli.guard import guarded
from shoal.cli.options import Encoding, Json, Quote, Separator, Table, csv_options


@guarded
def inspect(
    table: Table,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Show who stands out in a table, and suggest roles.

    Counts and column names only: no value of the table is shown.
    """
    from shoal.cli.console import out, print_json
    from shoal.cli.progress import watching

    with watching() as progress:
        from shoal.risk.files import inspect_file

        found = inspect_file(table, csv_options(separator, quote, encoding), progress)
    if json:
        print_json({"input": str(table), **found.to_dict()})
    else:
        from shoal.cli.show_inspection import show_inspection

        show_inspection(out(), found, table)
