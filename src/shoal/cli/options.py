"""Arguments and options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from shoal.io.csv_dialect import CsvOptions

Table = Annotated[
    Path,
    typer.Argument(metavar="INPUT", help="The table: a CSV, Parquet or Arrow file."),
]
TableOrFolder = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="The table: a CSV, Parquet or Arrow file; with --engine or --memory also a folder of "
        "part files.",
    ),
]
PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy: a YAML file.")]
Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="local, spark, or the address of a master: spark://host:port."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Work on disk under this limit, such as 2GB; for the local engine.",
        show_default=False,
    ),
]
Telling = Annotated[
    Literal["bar", "json"],
    typer.Option(
        "--progress", help="How to show how far it is: a bar on a terminal, or lines of JSON."
    ),
]
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


def where_again(engine: str, memory: str | None) -> list[str]:
    """The options that say where to work, for a command to come."""
    named = [] if engine == "local" else ["--engine", engine]
    return named if memory is None else [*named, "--memory", memory]
