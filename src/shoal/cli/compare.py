"""`shoal compare`: methods side by side on one table."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import guarded
from shoal.cli.options import (
    Encoding,
    Force,
    Json,
    PolicyFile,
    Quote,
    Separator,
    Table,
    csv_options,
)

INFEASIBLE = 3


@guarded
def compare(
    table: Table,
    policy: PolicyFile,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Only these methods; else all of them.", show_default=False
        ),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option(
            metavar="2,5,10",
            help="Instead of the k of every k constraint, one after another.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Stop each run that takes longer.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="A page: .html with .json beside it, or .json alone.",
        ),
    ] = None,
    force: Force = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Instead of the policy's seed.", show_default=False),
    ] = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Run methods side by side, and recommend one.

    Shows what each loses, how risky it leaves the table, and what it takes. Every release is
    verified and then thrown away.
    """
    from shoal.cli.console import out, print_json
    from shoal.progress import displayed

    if output is not None:
        from shoal.comparison.page import check_output

        check_output(output, force, table)
    with displayed(True) as progress:
        from shoal.comparison.comparison import compare
        from shoal.policy import Policy

        asked = Policy.load(policy)
        if seed is not None:
            asked = asked.replace_keys(seed=seed)
        options = csv_options(separator, quote, encoding)
        found = compare(table, asked, methods, k, budget, progress, options)
    written = [] if output is None else found.write(output, force)
    if json:
        files = {"input": str(table), "policy_file": str(policy)}
        print_json(found.to_dict() | files | {"outputs": [str(path) for path in written]})
    else:
        from shoal.cli.render.comparison import show_comparison

        show_comparison(out(), found, written)
    if found.none_can:
        raise typer.Exit(INFEASIBLE)
