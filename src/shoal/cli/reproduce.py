"""`shoal reproduce`: a paper's experiments, run again."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import guarded
from shoal.cli.options import Force, Json


@guarded
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Which: classfly-plus, l-clustering, personalised or flexible-partition.",
        ),
    ],
    adult: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The Adult table, a file or its folder, as the UCI archive or ARX ship it; "
            "else a table like it is made up.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="On less data, in about a minute.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Where the files go; else shoal-NAME."
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Run a paper's experiments again: its figures, and what became of its claims.

    Writes a page with everything (index.html), and each figure as a drawing (SVG) and as a table
    (CSV). A full run takes minutes and says how many.
    """
    from shoal.progress import displayed
    from shoal.reproduction.run import experiment
    from shoal.reproduction.run import reproduce as run

    folder = output or Path(f"shoal-{name}")
    # asked for here, so that the time is told before the work and after mistakes in the name
    full = experiment(name).minutes
    minutes = 1 if quick else full
    expected = "a minute" if minutes == 1 else f"{minutes:g} minutes"
    typer.echo(f"This takes about {expected} on two cores.", err=True)
    with displayed(True) as progress:
        found = run(name, adult, quick, folder, progress, force=force)
    if json:
        from shoal.cli.console import print_json

        print_json({**found.to_dict(), "folder": str(folder)})
    else:
        from shoal.cli.console import out
        from shoal.cli.render.reproduction import show_reproduction

        show_reproduction(out(), found, folder)
