"""Arguments and options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shoal.io.csv_dialect import CsvOptions

Table = Annotated[
    Path,
    typer.Argument(metavar="INPUT", help="The table: a CSV, Parquet or Arrow file."),
]
PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy: a YAML file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead, for machines.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]
Separator = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Between the fields of a CSV file; else found by looking."),
]
Quote = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Around fields of a CSV file; else found by looking."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of a CSV file, such as latin-1; else found by looking."),
]


def csv_options(separator: str | None, quote: str | None, encoding: str | None) -> "CsvOptions":
    """What was said about the CSV file."""
    from shoal.io.csv_dialect import CsvOptions

    return CsvOptions(separator=separator, quote=quote, encoding=encoding)
