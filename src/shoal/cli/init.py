"""`shoal init`: a policy to start from."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import (
    Engine,
    Force,
    Json,
    Memory,
    TableOrFolder,
    engine_options,
    with_reading,
)


@guarded
@with_reading
def init(
    table: TableOrFolder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="POLICY", help="Where to write the policy.")
    ] = Path("policy.yaml"),
    preset: Annotated[
        list[str] | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="Write this preset, such as cell-size-11; may be repeated. `shoal presets` lists them.",
            show_default=False,
        ),
    ] = None,
    undecided: Annotated[
        str | None,
        typer.Option(
            "--undecided",
            metavar="ROLE",
            help="Give all columns that would be left undecided this role: quasi, or identifier to "
            "leave them out.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    engine: Engine = "local",
    memory: Memory = None,
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Draft a commented policy for a table.

    The draft can be run at once, unless it leaves columns undecided, which stop a run until you choose
    their roles. But it comes from column names and counts alone: read it before you
    rely on it.
    """
    place = api.command_line_place(table)
    draft = api.draft_policy(
        place,
        output,
        presets=preset or (),
        undecided=cast(Any, undecided),
        force=force,
        engine=engine,
        memory=memory,
        read=read,
        progress=True,
    )
    if json:
        found = {key: value for key, value in draft.to_dict().items() if key != "text"}
        print_json({"input": str(place), "policy": str(output), **found})
    else:
        from shoal.cli.render.inspection import show_draft

        show_draft(out(), draft, place, output, engine_options(engine, memory))
