"""Faults planted into the publisher or the writer on a cluster are found before a folder appears."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.engines import relational
from shoal.engines.fragments import Finish
from shoal.engines.full_domain import PublishRows
from shoal.engines.spark.session import SparkTables
from shoal.policy import Policy
from tests.out_of_core.session_runs import run_in
from tests.truth.test_planted import (
    COLUMNS,
    METHODS,
    Fault,
    changed,
    in_written_csv,
    policy,
    require_refused,
    source,
)

__all__ = ["source"]  # the fixture
TREES = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "town": {"role": "quasi", "hierarchy": {"mask": "right"}},
}
COVER, OTHERS = "the label does not cover", "are not those of the table"
Plant = Callable[[SparkTables, Path, pytest.MonkeyPatch], None]


def in_fragments(fault: Fault) -> Plant:
    class FaultyFinish(Finish):
        """Sent to the executors as it is, since it has no module there."""

        def __call__(self, rows: pa.Table) -> pa.Table:
            found = Finish.__call__(self, rows)
            out, sums = found.slice(0, len(found) - 1), found.slice(len(found) - 1)
            return pa.concat_tables([fault(out.combine_chunks()), sums])

    return lambda _, __, patch: patch.setattr(relational, "Finish", FaultyFinish)


def in_cells(fault: Fault) -> Plant:
    class FaultyRows(PublishRows):
        def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
            found = pa.Table.from_batches([PublishRows.__call__(self, batch)])
            found = found.sort_by("x")  # published rows first, since others may be changed in vain
            return fault(found).combine_chunks().to_batches()[0]

    return lambda _, __, patch: patch.setattr(relational, "PublishRows", FaultyRows)


def in_a_part(fault: Fault) -> Plant:
    def plant(session: SparkTables, _: Path, patch: pytest.MonkeyPatch) -> None:
        real = session.write

        def faulty(sql: str, target: Path, *more: Any) -> None:
            real(sql, target, *more)
            in_written_csv(fault)(max(target.glob("*.csv")))

        patch.setattr(session, "write", faulty)

    return plant


def after_it_was_verified(_: SparkTables, folder: Path, patch: pytest.MonkeyPatch) -> None:
    from shoal.pipeline import run as pipeline

    real = pipeline._release

    def later(*arguments: Any, **more: Any) -> Any:
        part = max(folder.glob(".out.csv.*/*.csv"))
        part.write_text(part.read_text().replace("i1", "i2"))
        return real(*arguments, **more)

    patch.setattr(pipeline, "_release", later)


FAULTS: dict[str, tuple[str, Plant, str]] = {
    "a label that does not cover": (METHODS[0], in_fragments(changed("q0", 0, "[1~2]")), COVER),
    "another sensitive cell": (METHODS[1], in_cells(changed("p1", 3, "i99")), OTHERS),
    "another cell in a file": (METHODS[0], in_a_part(changed("note", 3, "n99")), "digests"),
    "a file that is changed later": (METHODS[0], after_it_was_verified, "changed after it was"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_put_in_place(
    session: SparkTables,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    method, plant, named = FAULTS[fault]
    columns = COLUMNS | (TREES if method == METHODS[1] else {})
    # no guarantee of the policy is broken by a single row: the check of truth must find it
    asked = Policy.load(policy(method, columns=columns, constraints=[{"k": 1}]))
    target = source.with_name("out.csv")
    plant(session, source.parent, monkeypatch)
    text = require_refused(
        source.parent, lambda: run_in(session, source, asked, target, folders=True)
    )
    assert named in text
