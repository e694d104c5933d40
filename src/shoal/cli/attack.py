"""`shoal attack`: try to find known people in a release."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Json, PolicyFile, ReleaseFile, with_reading


@guarded
@with_reading
def attack(
    release: ReleaseFile,
    policy: PolicyFile,
    known: Annotated[
        str,
        typer.Option(
            "--known",
            metavar="OTHER",
            help="What the attacker knows: a table of people, with one row each unless it has the "
            "person column.",
        ),
    ],
    raw: Annotated[
        str | None,
        typer.Option("--raw", metavar="INPUT", help="The raw table, to attack it for comparison."),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="COLUMN",
            help="Link on this column only; may be repeated, and may name a sensitive column.",
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="The private key of the release, to count people whose rows are found.",
        ),
    ] = None,
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Link a table of known people to a release, and count what is learnt about them.

    Tables are linked by the columns that both have, without sensitive ones: to a raw table by equal
    values, to the release by labels that cover the values and by equal plain values. Only counts
    are shown, never a value of a person.
    """
    published, people = api.command_line_place(release), api.command_line_place(known)
    original = None if raw is None else api.command_line_place(raw)
    found = api.attack(
        published,
        policy,
        known=people,
        raw=original,
        on=on,
        key=key,
        read=read,
        progress=True,
    )
    if json:
        files = {"release": published, "policy": policy, "known": people, "raw": original}
        named = {name: None if path is None else str(path) for name, path in files.items()}
        print_json({"files": named, **found.to_dict()})
    else:
        from shoal.cli.render.attack import show_attack

        show_attack(out(), found, people)
