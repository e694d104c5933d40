"""`shoal run`: from a table and a policy to a verified file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from shoal import api
from shoal.cli.console import guarded, out, print_json
from shoal.cli.options import (
    Engine,
    Force,
    Json,
    Memory,
    PolicyFile,
    ProgressForm,
    Seed,
    SeedFile,
    TableOrFolder,
    with_reading,
)
from shoal.cli.progress import progress_of

if TYPE_CHECKING:
    from shoal.api import MethodName, MetricName


@guarded
@with_reading
def run(
    table: TableOrFolder,
    policy: PolicyFile,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The release: .csv, .parquet or .arrow, or the address of a database's table.",
        ),
    ],
    force: Force = False,
    k: Annotated[
        int | None,
        typer.Option(min=1, help="A k in place of the policy's.", show_default=False),
    ] = None,
    seed: Seed = None,
    seed_file: SeedFile = None,
    show_seed: Annotated[
        bool, typer.Option("--show-seed", help="Print the seed; it is shown nowhere else.")
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A method in place of the policy's, with its default options.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another metric to measure; may be repeated.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Also write a report: .html with its certificate beside it, or .json alone.",
            show_default=False,
        ),
    ] = None,
    external_report: Annotated[
        Path | None,
        typer.Option(
            "--external-report",
            metavar="PATH",
            help="Also write a report for those who get the release: it says nothing of the table.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the private key: whose row is whose, where the policy has a person "
            "column. Never publish it.",
            show_default=False,
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write which label stands for which values, as .json, where columns have "
            "uniform labels; for `shoal apply`.",
            show_default=False,
        ),
    ] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            "--escape-formulas",
            help="Write texts that a spreadsheet would run with an apostrophe in front (CSV files).",
        ),
    ] = False,
    engine: Engine = "local",
    memory: Memory = None,
    progress: ProgressForm = "bar",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")] = False,
    json: Json = False,
    *,
    read: dict[str, Any],
) -> None:
    """Anonymise a table by a policy, and verify the release.

    The release appears only after it was read back and found to hold every guarantee. With
    `publish: anatomy` the tables of sensitive values appear beside it.
    """
    source, target = api.command_line_place(table), api.command_line_place(output)
    release = api.run(
        source,
        policy,
        target,
        k=k,
        method=cast("MethodName | None", method),
        metrics=cast("list[MetricName] | None", metric),
        seed=seed,
        seed_file=seed_file,
        report=report,
        external_report=external_report,
        key=key,
        mapping=mapping,
        force=force,
        formulas="escaped" if escape_formulas else None,
        engine=engine,
        memory=memory,
        read=read,
        progress=progress_of(progress, quiet),
    )
    if json:
        files = {
            "input": str(source),
            "policy": str(policy),
            "output": str(target),
            "sensitive_outputs": {
                name: str(path) for name, path in release.sensitive_outputs.items()
            },
            "report": [str(path) for path in release.reports],
            "key": None if release.key_output is None else str(release.key_output),
            "mapping": None if mapping is None else str(mapping),
        }
        # as text: many readers of JSON would round a number of so many digits
        shown = {"seed": str(release.seed)} if show_seed else {}
        print_json(release.to_dict() | files | shown)
    elif not quiet:
        from shoal.cli.render.release import show_mapping, show_release

        show_release(out(), release, show_seed)
        if mapping is not None:
            show_mapping(out(), mapping)
    elif show_seed:
        typer.echo(release.seed)
