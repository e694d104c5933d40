"""Inspect a file, write a draft beside it, attack a release."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.engines.files import LocalFiles
from shoal.engines.memory import refuse_folder
from shoal.engines.selection import LOCAL, is_out_of_core
from shoal.errors import InputError
from shoal.io.commit import replacing
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from shoal.policy.anatomy import group_name
from shoal.progress import Clock, ProgressCallback, ProgressEvent, ignore_event
from shoal.risk.draft import draft_policy, with_a_quasi
from shoal.risk.inspection import Inspection, inspect_table

if TYPE_CHECKING:  # it would load the compiler
    from shoal.risk.attack import Attack

DETECT = CsvOptions()


def inspect_file(
    path: Path,
    options: CsvOptions = DETECT,
    progress: ProgressCallback = ignore_event,
    fraction: float | None = None,
    msu: int | None = None,
    engine: str = LOCAL,
    memory: str | None = None,
) -> Inspection:
    """Inspect the table in a file; `progress` is told each step. See `inspect_table`.

    With another engine than `local`, or a memory limit, the table may be a folder of files and need
    not fit into memory.
    """
    clock = Clock(progress)
    if is_out_of_core(engine, memory):
        from shoal.risk.out_of_core import inspect_elsewhere

        return inspect_elsewhere(engine, memory, path, options, clock, fraction, msu)
    refuse_folder(path)
    with clock.step("read"):
        local = LocalFiles()
        settled, guessed = local.settle(path, options)
        table = local.read(path, settled)
        clock.rows = table.num_rows
    if table.num_rows == 0:
        raise InputError(f"{path} has column names but no rows: there is nothing to look at.")
    with clock.step("count"):
        return replace(inspect_table(table, fraction, msu), warnings=guessed)


def write_draft(
    path: Path,
    target: Path,
    options: CsvOptions = DETECT,
    force: bool = False,
    progress: ProgressCallback = ignore_event,
    engine: str = LOCAL,
    memory: str | None = None,
) -> Inspection:
    """Write a draft policy for the table in a file; gives what it is based on."""
    with replacing(target, force, path) as place:
        found = inspect_file(path, options, progress, engine=engine, memory=memory)
        place.path.write_text(draft_policy(found, path.name), encoding="utf-8")
        place.commit()
    # what is told is what was written: a quasi column may have been chosen
    return replace(found, columns=tuple(with_a_quasi(found) or found.columns))


def attack_file(
    release: Path,
    policy: Path,
    known: Path,
    raw: Path | None = None,
    options: CsvOptions = DETECT,
    progress: ProgressCallback = ignore_event,
) -> "Attack":
    """Attack a published file with the table in another, and the raw file too if it is given."""
    from shoal.engines.anatomy_release import require_files, sensitive_files
    from shoal.risk.attack import Tables, attack_tables

    engine, asked = LocalFiles(), Policy.load(policy)
    progress(ProgressEvent("read", 0.0))
    wanted = {*asked.quasi, *asked.sensitive}
    others = sensitive_files(release, asked)
    if others:
        wanted.add(group_name(asked))

    def opened(path: Path) -> tuple[pa.Table, list[str]]:
        settled, _ = engine.settle(path, options)
        names = engine.names(path, settled)
        # nothing shared is left to the attack to tell
        chosen = [name for name in names if name in wanted] or names
        return engine.read(path, settled, chosen), names

    published, held = opened(release)
    require_files(others)
    tables = Tables(
        published,
        {name: engine.read(path, engine.settle(path, options)[0]) for name, path in others.items()},
        opened(known)[0],
        None if raw is None else opened(raw)[0],
        held,
        str(known),
    )
    progress(ProgressEvent("link", 0.0))
    return attack_tables(tables, asked)
