"""`shoal verify`: check what a release holds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import error_of, guarded, out, print_json
from shoal.cli.options import (
    Engine,
    Json,
    Memory,
    PolicyFile,
    ProgressForm,
    ReleaseFile,
    with_reading,
)
from shoal.cli.progress import progress_of


@guarded
@with_reading
def verify(
    release: ReleaseFile,
    policy: PolicyFile,
    engine: Engine = "local",
    memory: Memory = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check this certificate as well: the .json file of a report.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Count people with the private key that `shoal run --key` wrote.",
            show_default=False,
        ),
    ] = None,
    seed_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check the certificate's commitment to the seed with this private file.",
            show_default=False,
        ),
    ] = None,
    progress: ProgressForm = "bar",
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Check that a release holds the guarantees of its policy, and what else it holds.

    The file is read as anyone would read it, with the files beside it if the policy says
    `publish: anatomy`. The exit code is 4 if a guarantee does not hold.
    """
    found = api.verify(
        api.command_line_place(release),
        policy,
        certificate=certificate,
        key=key,
        seed_file=seed_file,
        engine=engine,
        memory=memory,
        read=read,
        progress=progress_of(progress),
    )
    if not json:
        from shoal.cli.render.verification import show_verification

        show_verification(out(), found)
        found.check()
        return
    failure = error_of(found.check)
    print_json(found.to_dict() | failure)
    if failure:
        raise typer.Exit(failure["exit_code"])
