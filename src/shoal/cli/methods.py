"""`shoal methods`: ways to put rows into groups."""

from typing import Annotated

import typer

from shoal.cli.guard import guarded
from shoal.cli.options import Json


@guarded
def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain this one.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the methods, or explain one."""
    from shoal.cli.listing import show_room

    show_room("methods", name, json)
