"""What workers do for every screen: open a table, show its rows, make releases of it.

A screen with work of its own has its tasks in a module of its own, such as `attack_task.py`: functions
of `Tables`, a progress callback and plain arguments, which return plain values.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal import api
from shoal.progress import ProgressCallback, ProgressEvent
from shoal.studio.figures import Figures, figures_of
from shoal.studio.worker import Tables

SAMPLE_ROWS = 2_000
"""Rows of the sample that follows a moving thumb."""


@dataclass(frozen=True)
class Opened:
    """What is known of a table once it is read."""

    columns: tuple[str, ...]
    rows: int
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class PolicyText:
    """A policy as a worker reads it."""

    text: str
    name: str
    folder: str

    def read(self) -> "api.Policy":
        """The policy."""
        return api.read_policy(self.text, name=self.name, folder=self.folder)


def open_table(tables: Tables, report: ProgressCallback, place: str) -> Opened:
    """Read a table and keep it."""
    if tables.place != place:
        tables.place, tables.table, tables.sample = place, None, None
        tables.kept.clear()
    report(ProgressEvent("read", 0.0))
    prepared = tables.opened()
    table = prepared.table()
    return Opened(tuple(table.column_names), table.num_rows, prepared.warnings)


def page_of_rows(
    tables: Tables, report: ProgressCallback, start: int, count: int
) -> list[dict[str, Any]]:
    """A page of the table."""
    del report
    return tables.opened().rows(start, count)


def whole_figures(tables: Tables, report: ProgressCallback, policy: PolicyText) -> Figures:
    """The figures of a release of the whole table, written, read back and verified."""
    prepared = tables.opened()
    release = prepared.release(policy.read(), report)
    return figures_of(release, sampled=None, read_back=True, encodings=prepared.encodings)


def sample_of(tables: Tables, policy: "api.Policy") -> "api.Prepared":
    """The sample, drawn again where the policy says otherwise how the file is written."""
    options = policy.read.file
    if tables.sample is None or tables.kept.get("sample read as") != options:
        whole = tables.opened()
        whole.table(options)
        tables.sample = whole.sample(SAMPLE_ROWS)
        tables.kept["sample read as"] = options
    return tables.sample


def sample_figures(tables: Tables, report: ProgressCallback, policy: PolicyText) -> Figures:
    """The figures of a release of a sample of the table."""
    wanted = policy.read()
    sample = sample_of(tables, wanted)
    release = sample.release(wanted, report, read_back=False)
    whole = release.rows == tables.opened().table().num_rows
    return figures_of(
        release,
        sampled=None if whole else release.rows,
        read_back=False,
        encodings=sample.encodings,
    )


def draft(tables: Tables, report: ProgressCallback, place: str, target: str) -> None:
    """Write a draft of a policy."""
    del tables
    api.draft_policy(place, Path(target), progress=report)
