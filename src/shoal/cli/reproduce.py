"""`shoal reproduce`: the experiments of a paper, run again."""

from pathlib import Path
from typing import Annotated

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Force, Json


@guarded
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The paper: classfly-plus, l-clustering, personalised or flexible-partition.",
        ),
    ],
    adult: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The Adult table, a file or its folder, as the UCI archive or ARX ship it; "
            "a similar table is generated if not given.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use less data, for about a minute.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Where to write; shoal-NAME if not given."
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Run the experiments of a paper again, and compare the results with its claims.

    Writes a page with everything (index.html), and each figure as a drawing (SVG) and as a table
    (CSV). A full run takes minutes; how many is shown at the start.
    """
    folder = output or Path(f"shoal-{name}")
    minutes = api.expected_minutes(name, quick)
    expected = "a minute" if minutes == 1 else f"{minutes:g} minutes"
    typer.echo(f"This takes about {expected} on two cores.", err=True)
    found = api.reproduce(name, adult=adult, quick=quick, folder=folder, force=force, progress=True)
    if json:
        print_json({**found.to_dict(), "folder": str(folder)})
    else:
        from shoal.cli.render.reproduction import show_reproduction

        show_reproduction(out(), found, folder)
