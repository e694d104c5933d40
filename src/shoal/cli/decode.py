"""`shoal decode`: turn the labels of a release into values to compute with."""

from typing import Annotated, Any

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import Force, Json, PolicyFile, ReleaseFile, with_reading
from shoal.errors import InputError


@guarded
@with_reading
def decode(
    release: ReleaseFile,
    policy: PolicyFile,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The file to write, or the address of a database's table.",
        ),
    ],
    numbers: Annotated[
        str,
        typer.Option(
            metavar="FORM",
            help="Numbers and dates as midpoint, bounds, interval, expected, sample or label.",
        ),
    ] = "midpoint",
    categories: Annotated[
        str,
        typer.Option(
            metavar="FORM",
            help="Sets and hierarchy nodes as label, list, indicators, shares or sample.",
        ),
    ] = "label",
    form: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="COLUMN=FORM",
            help="The form of one column, as in age=bounds; may be repeated.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of drawn values.")] = 0,
    force: Force = False,
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Turn the labels of a release into values to compute with.

    Numbers and dates become the middle of their range, and other labels stay, unless options say
    otherwise. Only the release and its policy are read. Columns of drawn values are named so:
    age_sampled.
    """
    found = api.decode_file(
        api.command_line_place(release),
        policy,
        api.command_line_place(output),
        numbers=numbers,  # type: ignore[arg-type]
        categories=categories,  # type: ignore[arg-type]
        forms=_forms(form or []),  # type: ignore[arg-type]
        seed=seed,
        force=force,
        read=read,
        progress=True,
    )
    if json:
        print_json(found.to_dict())
    else:
        from shoal.cli.render.decoding import show_decoding

        show_decoding(out(), found)


def _forms(given: list[str]) -> dict[str, str]:
    """Return the forms of columns; a name may have an equals sign in it, a form has none."""
    pairs = [one.rpartition("=") for one in given]
    for (name, _, form), text in zip(pairs, given, strict=True):
        if not name or not form:
            raise InputError(f"--as {text}: write a column and its form, as in --as age=bounds.")
    return {name: form for name, _, form in pairs}
