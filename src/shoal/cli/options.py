"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

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
ReleaseFile = Annotated[Path, typer.Argument(metavar="RELEASE", help="The published file.")]
PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy: a YAML file.")]
PluginName = Annotated[
    str | None, typer.Argument(metavar="NAME", help="Describe this one.", show_default=False)
]
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
ProgressForm = Annotated[
    Literal["bar", "json"],
    typer.Option("--progress", help="Show progress as a bar on a terminal, or as lines of JSON."),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="A seed in place of the policy's.", show_default=False),
]
SeedFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep the seed in this private file: used if it exists, else written.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Separator = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="The separator of a CSV file; detected if not given."),
]
Quote = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="The quote of a CSV file; detected if not given."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The encoding of a CSV file, such as latin-1; detected if not given."
    ),
]


def engine_options(engine: str, memory: str | None) -> list[str]:
    """Return the options that choose the engine, for a command to show."""
    named = [] if engine == "local" else ["--engine", engine]
    return named if memory is None else [*named, "--memory", memory]
