"""`shoal metrics`: what a release is measured by."""

from typing import Annotated

import typer

from shoal.cli.guard import guarded
from shoal.cli.options import Json


@guarded
def metrics(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain this one.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the metrics, or explain one."""
    from shoal.cli.listing import show_room

    show_room("metrics", name, json)
