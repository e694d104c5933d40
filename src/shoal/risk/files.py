"""Inspect a file, and write a draft beside it."""

from dataclasses import replace
from pathlib import Path

from shoal.engines.local import LocalEngine
from shoal.errors import InputError
from shoal.io.atomic import replacing
from shoal.io.csv_dialect import CsvOptions
from shoal.pipeline.clock import Watcher, nobody
from shoal.risk.draft import draft_policy, with_a_quasi
from shoal.risk.inspection import Inspection, inspect_table

DETECT = CsvOptions()


def inspect_file(
    path: Path, options: CsvOptions = DETECT, progress: Watcher = nobody
) -> Inspection:
    """Inspect the table in a file; `progress` is told each step."""
    engine = LocalEngine()
    progress("read", 0.0)
    settled, guessed = engine.settle(path, options)
    table = engine.read(path, settled)
    if table.num_rows == 0:
        raise InputError(f"{path} has column names but no rows: there is nothing to look at.")
    progress("count", 0.0)
    return replace(inspect_table(table), warnings=guessed)


def write_draft(
    path: Path,
    target: Path,
    options: CsvOptions = DETECT,
    force: bool = False,
    progress: Watcher = nobody,
) -> Inspection:
    """Write a draft policy for the table in a file; gives what it is based on."""
    with replacing(target, force, path) as place:
        found = inspect_file(path, options, progress)
        place.path.write_text(draft_policy(found, path.name), encoding="utf-8")
        place.commit()
    # what is told is what was written: a quasi column may have been chosen
    return replace(found, columns=tuple(with_a_quasi(found) or found.columns))
