"""`shoal attack`: try to find people in a release, as a stranger with another table would."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import guarded
from shoal.cli.options import Encoding, Json, PolicyFile, Quote, Separator, csv_options


@guarded
def attack(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The published file.")],
    policy: PolicyFile,
    known: Annotated[
        Path,
        typer.Option(
            "--known", metavar="OTHER", help="What the attacker knows: a table, a row per person."
        ),
    ],
    raw: Annotated[
        Path | None,
        typer.Option("--raw", metavar="INPUT", help="The raw table, attacked too for comparison."),
    ] = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Link a table about known people to a release, and show what is learnt about them.

    Links on the quasi columns that both tables have: to a raw table by equal values, to the
    release where its labels cover the values. Counts only: nobody's values are shown.
    """
    from shoal.cli.console import out, print_json
    from shoal.progress import displayed

    with displayed(True) as progress:
        from shoal.risk.attack import attack

        options = csv_options(separator, quote, encoding)
        found = attack(release, policy, known=known, raw=raw, options=options, progress=progress)
    if json:
        files = {"release": release, "policy": policy, "known": known, "raw": raw}
        named = {name: None if path is None else str(path) for name, path in files.items()}
        print_json({"files": named, **found.to_dict()})
    else:
        from shoal.cli.render.attack import show_attack

        show_attack(out(), found, known)
