"""`shoal demo`: every step on a generated hospital table."""

from pathlib import Path
from typing import Annotated

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Force, Json


@guarded
def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the files.")] = Path("shoal-demo"),
    rows: Annotated[int, typer.Option(min=1, help="The number of patients.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed makes other patients.")] = 7,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generate a hospital table, anonymise it, verify it and report on it.

    It can be run any number of times: it replaces its own files. If you have edited its policy, it
    stops unless you add --force.
    """
    found = api.demo(folder, rows=rows, seed=seed, force=force, progress=True)
    if json:
        print_json(found.to_dict())
    else:
        from shoal.cli.render.demo import show_demo

        show_demo(out(), found)
