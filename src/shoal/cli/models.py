"""`shoal models`: guarantees a policy can ask for."""

from typing import Annotated

import typer

from shoal.cli.guard import guarded
from shoal.cli.options import Json


@guarded
def models(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain this one.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the privacy models, or explain one."""
    from shoal.cli.listing import show_room

    show_room("models", name, json)
