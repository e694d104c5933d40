"""`shoal demo`: the whole way on a made-up hospital."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import guarded
from shoal.cli.options import Force, Json


@guarded
def demo(
    folder: Annotated[Path, typer.Option(help="Where the files go.")] = Path("shoal-demo"),
    rows: Annotated[int, typer.Option(min=1, help="How many patients to make up.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Other seeds make other patients.")] = 7,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make up a hospital table, anonymise it, verify it and report on it.

    Run it as often as you like: it replaces its own files. Where you have edited its policy, it
    asks for --force first.
    """
    from shoal.progress import ProgressEvent, displayed

    replace = force or _is_as_shipped(folder / "policy.yaml")
    target = folder / "release.csv"
    with displayed(True) as progress:
        from shoal.drawing.page import can_draw
        from shoal.io.output_names import report_files
        from shoal.pipeline.run import run
        from shoal.sample import write_sample

        progress(ProgressEvent("make up", 0.0))
        sample = write_sample(folder, rows, seed, force=replace)
        report = folder / "report.html" if can_draw() else None
        release = run(
            sample.table, sample.policy, target, force=replace, report=report, progress=progress
        )
        reports = report_files(report) if report else []
    if json:
        from shoal.cli.console import print_json

        files = {"table": sample.table, "policy": sample.policy, "output": target}
        data = release.to_dict() | {name: str(path) for name, path in files.items()}
        print_json(data | {"report": [str(path) for path in reports]})
    else:
        from shoal.cli.console import out
        from shoal.cli.render.demo import show_demo

        show_demo(out(), release, sample, target, reports)


def _is_as_shipped(policy: Path) -> bool:
    """Whether an earlier demo wrote this policy and nobody has touched it since."""
    from importlib.resources import files

    shipped = files("shoal.sample") / "policy.yaml"
    return policy.is_file() and policy.read_bytes() == shipped.read_bytes()
