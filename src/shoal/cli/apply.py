"""`shoal apply`: the labels of an earlier release for another table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Force, Json, ProgressForm, Table, with_reading
from shoal.cli.progress import progress_of


@guarded
@with_reading
def apply(
    mapping: Annotated[
        Path,
        typer.Argument(metavar="MAPPING", help="The .json file that `shoal run --mapping` wrote."),
    ],
    table: Table,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The release: .csv, .parquet or .arrow, or the address of a database's table.",
        ),
    ],
    together_with: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="RELEASE",
            help="An earlier release by the same mapping: verify both as one table, too.",
            show_default=False,
        ),
    ] = None,
    suppress: Annotated[
        bool,
        typer.Option(
            "--suppress",
            help="Leave out rows with values that have no label, and of classes that are too small.",
        ),
    ] = False,
    suppression: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="The same, up to this share of the rows, in place of the limit of the policy.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    progress: ProgressForm = "bar",
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Give the rows of another table the labels of an earlier release, and verify them.

    The release appears only after it was read back and found to hold every guarantee of the policy
    that the mapping holds.
    """
    source, target = api.command_line_place(table), api.command_line_place(output)
    release = api.apply(
        mapping,
        source,
        suppress=suppress,
        suppression=suppression,
        together_with=together_with,
        read=read,
        progress=progress_of(progress),
    )
    release.write(target, force=force)
    if json:
        files = {"mapping": str(mapping), "input": str(source), "output": str(target)}
        print_json(release.to_dict() | files)
    else:
        from shoal.cli.render.release import show_applied

        show_applied(out(), release, target)
