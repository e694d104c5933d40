"""Arguments and options that several commands share."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Table = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="The table: a file (CSV, Excel, Stata, SPSS, Parquet, ...), or the address of a table or "
        "query in a database.",
    ),
]
TableOrFolder = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="The table: a file (CSV, Excel, Stata, SPSS, Parquet, ...), or the address of a table or "
        "query in a database; with --engine or --memory also a folder of part files.",
    ),
]
ReleaseFile = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE", help="The published file, or the address of a database's table."
    ),
]
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
READING: dict[str, Any] = {
    "separator": Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="The separator of a CSV file; detected if not given."),
    ],
    "quote": Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="The quote of a CSV file; detected if not given."),
    ],
    "encoding": Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The encoding of a CSV file, such as latin-1; detected if not given.",
        ),
    ],
    "header": Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV file names the columns; checked if not given.",
            show_default=False,
        ),
    ],
    "names": Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The names of all columns, in the order of the file."),
    ],
    "footer": Annotated[
        int | None,
        typer.Option(min=0, metavar="LINES", help="Lines at the end that are no rows: totals."),
    ],
    "sheet": Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name or number of a sheet of a workbook."),
    ],
    "skip": Annotated[
        int | None,
        typer.Option(min=0, metavar="ROWS", help="Rows of a workbook above the column names."),
    ],
    "labels": Annotated[
        bool | None,
        typer.Option(
            "--labels/--codes",
            help="Read values of files of statistics packages as their labels, or as codes.",
            show_default=False,
        ),
    ],
    "missing": Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Codes that stand for a missing value, such as NA,-9."),
    ],
    "decimal": Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="The decimal mark of numbers in texts: . or ,"),
    ],
    "thousands": Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="The mark between thousands of numbers in texts."),
    ],
    "dates": Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="The format of dates in texts, such as %d/%m/%Y."),
    ],
}
"""How a table is written: the keys of `read` in a policy, as options."""


def with_reading(body: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how a table is written.

    The command takes them together, as `read`: those that were given.
    """
    own = inspect.signature(body, eval_str=True).parameters
    kept = [one for name, one in own.items() if name != "read"]
    new = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in READING.items()
    ]

    @functools.wraps(body)
    def command(*args: Any, **kwargs: Any) -> None:
        given = {name: kwargs.pop(name, None) for name in READING}
        for name in ("names", "missing"):
            if given[name] is not None:
                given[name] = [each.strip() for each in given[name].split(",")]
        read = {name: value for name, value in given.items() if value is not None}
        body(*args, read=read, **kwargs)

    command.__dict__["__signature__"] = inspect.Signature([*kept, *new])
    command.__annotations__ = {one.name: one.annotation for one in (*kept, *new)}
    return command


def engine_options(engine: str, memory: str | None) -> list[str]:
    """Return the options that choose the engine, for a command to show."""
    named = [] if engine == "local" else ["--engine", engine]
    return named if memory is None else [*named, "--memory", memory]
