"""`shoal run`: from a table and a policy to a verified file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.console import guarded
from shoal.cli.options import (
    Encoding,
    Engine,
    Force,
    Json,
    Memory,
    PolicyFile,
    Quote,
    Separator,
    TableOrFolder,
    Telling,
    csv_options,
)


@guarded
def run(
    table: TableOrFolder,
    policy: PolicyFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The release: .csv, .parquet or .arrow."
        ),
    ],
    force: Force = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Instead of the policy's seed.", show_default=False),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Instead of the policy's method, with its own defaults.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Measure this too, beside the policy's metrics; may be repeated.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Write a report too: .html with its certificate beside it, or .json alone.",
            show_default=False,
        ),
    ] = None,
    engine: Engine = "local",
    memory: Memory = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    telling: Telling = "bar",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors alone.")] = False,
    json: Json = False,
) -> None:
    """Anonymise a table by a policy, and verify the result.

    The release appears only after it has been read back and found to hold every guarantee. With
    `publish: anatomy` the tables of sensitive values appear beside it.
    """
    from shoal.cli.console import out, print_json
    from shoal.cli.progress import progress_of
    from shoal.progress import displayed

    changes: dict[str, Any] = {"seed": seed, "method": method}
    given = {key: value for key, value in changes.items() if value is not None}
    with displayed(progress_of(telling, quiet)) as progress:
        from shoal.engines.anatomy_release import sensitive_files
        from shoal.io.output_names import report_files
        from shoal.pipeline.run import run as run_pipeline
        from shoal.plugins import name_of
        from shoal.policy import Policy

        asked = Policy.load(policy)
        if metric:
            known = {name_of(type(each)) for each in asked.metrics}
            new = [name for name in dict.fromkeys(metric) if name not in known]
            given["metrics"] = (*asked.metrics, *new)
        if given:
            asked = asked.replace_keys(**given)
        options = csv_options(separator, quote, encoding)
        release = run_pipeline(
            table,
            asked,
            output,
            options=options,
            force=force,
            report=report,
            progress=progress,
            engine=engine,
            memory=memory,
        )
        others = sensitive_files(output, asked)
        reports = report_files(report) if report else []
    if json:
        paths = {"input": table, "policy": policy, "output": output}
        written = {
            "sensitive_outputs": {name: str(path) for name, path in others.items()},
            "report": [str(path) for path in reports],
        }
        data = release.to_dict() | {name: str(path) for name, path in paths.items()}
        print_json(data | written)
    elif not quiet:
        from shoal.cli.render.release import show_release

        show_release(out(), release, output, others, reports)
