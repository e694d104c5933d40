"""`shoal compare`: several methods on one table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Force, Json, PolicyFile, Seed, Table, with_reading

INFEASIBLE = 3


@guarded
@with_reading
def compare(
    table: Table,
    policy: PolicyFile,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="The methods to compare; all of them if not given.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option(
            metavar="2,5,10",
            help="One or several k, in place of that of every k constraint.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Stop every run that takes longer.", show_default=False
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="CRITERION",
            help="What decides: a metric such as query-error, or accuracy of models; by default "
            "relative-non-uniform-entropy, the information lost.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that models predict.", show_default=False),
    ] = None,
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
    seed: Seed = None,
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Run several methods and recommend one.

    Shows how much detail each loses, how risky it leaves the table, and how much time and memory it
    takes. Every release is verified and then thrown away.
    """
    place = api.command_line_place(table)
    found = api.compare(
        place,
        policy,
        methods=methods,
        k=k,
        budget=budget,
        by=by,
        target=target,
        seed=seed,
        output=output,
        force=force,
        read=read,
        progress=True,
    )
    if json:
        files = {"input": str(place), "policy_file": str(policy)}
        outputs = [str(path) for path in found.outputs]
        print_json(found.to_dict() | files | {"outputs": outputs})
    else:
        from shoal.cli.render.comparison import show_comparison

        show_comparison(out(), found)
    if found.none_can:
        raise typer.Exit(INFEASIBLE)
