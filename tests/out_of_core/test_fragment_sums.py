"""The sums of fragments add up to the figures of a run in memory."""

import pickle
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding.cells import Cells, encode
from shoal.encoding.grouping import Grouping, spans_of
from shoal.engines.encode import EncodedTable
from shoal.engines.relational import FragmentSums, figures_of, fragment_sums
from shoal.metrics.base import Metric, ReleaseView
from shoal.models.requirement import Requirement
from shoal.policy import Policy

POLICY = Policy.load(
    {
        "columns": {
            "age": "quasi",
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "ill": "sensitive",
        },
        "constraints": [{"k": 3}],
        "method": "least-loss-partition",
        "target": "ill",
        "metrics": "query-error",
    }
)
N = 60
TABLE = pa.table(
    {
        "age": [i * 7 % 40 for i in range(N)],
        "zip": [f"0{i % 5}{i % 3}" for i in range(N)],
        "ill": [["flu", "cold", "rash", None][i * i % 4] for i in range(N)],
    }
)


def encoded_table_of(cells: Cells) -> EncodedTable:
    return EncodedTable(
        domains=cells.domains,
        sensitive_domains=cells.sensitive_domains,
        totals=cells.totals,
        rows_of_sensitive={},
        n_rows=cells.n_rows,
        rows_of_values=cells.rows_of_values,
        quasi=POLICY.quasi,
        sensitive=tuple(cells.sensitive),
        payload=("ill",),
        schema=pa.schema([("p0", pa.string())]),
        has_target=True,
    )


def sums_of(cells: Cells, groups: list[Grouping], measure: FragmentSums) -> list[str]:
    """Each group as a fragment of its own."""
    measure = pickle.loads(pickle.dumps(measure))
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)
    sums = []
    for grouping in groups:
        for number in range(grouping.n_groups):
            rows = grouping.group == number
            kept, counts = np.unique(cell[rows], return_counts=True)
            part = replace(
                cells,
                codes=cells.codes[kept],
                starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
                rows=cells.rows[rows],
                hashes=cells.hashes[rows],
                sensitive={name: codes[rows] for name, codes in cells.sensitive.items()},
            )
            one = Grouping(np.zeros(rows.sum(), np.int32), 1, grouping.columns)
            target = part.sensitive["ill"]
            parts = ReleaseView(part, (one,), (spans_of(part, one),), 0, one.group < 0, target)
            sums.append(measure(parts))
    return sums


def cells_and_groups() -> tuple[Cells, list[Grouping]]:
    quasi = {name: POLICY.column_spec(name) for name in POLICY.quasi}
    sensitive = {"ill": POLICY.column_spec("ill")}
    cells = encode(lambda n: TABLE.column(n).combine_chunks(), quasi, sensitive, [], 0)
    found = POLICY.method.group(cells, Requirement(POLICY.constraints), 0, lambda _: None)
    return cells, list(found)


def test_the_figures_are_those_of_a_run() -> None:
    release = shoal.anonymize(TABLE, POLICY)
    cells, groups = cells_and_groups()
    measure = fragment_sums(POLICY, encoded_table_of(cells))
    classes = release.findings[0].classes
    found = figures_of(POLICY, measure, sums_of(cells, groups, measure), classes)
    assert found.metrics.keys() == release.metrics.keys()
    for name, figure in release.metrics.items():
        expected = None if figure is None else pytest.approx(figure, rel=1e-9)
        assert found.metrics[name] == expected, name
    assert found.column_loss == pytest.approx(release.column_loss)
    assert found.column_information == pytest.approx(release.column_information)
    assert {n: c.precision for n, c in release.columns.items()} == pytest.approx(found.precision)
    assert {n: found.levels[n] for n in release.columns} == {
        n: c.levels for n, c in release.columns.items()
    }
    assert found.notes == ()


@dataclass(frozen=True)
class Strange(Metric):
    """A metric that no sums make."""

    high_is_good: ClassVar[bool] = True

    def measure(self, parts: ReleaseView) -> float:
        return float(len(parts.sizes))


def test_metrics_that_are_not_sums_are_noted() -> None:
    cells, groups = cells_and_groups()
    policy = POLICY.model_copy(update={"metrics": (Strange(),)})
    measure = fragment_sums(policy, encoded_table_of(cells))
    found = figures_of(policy, measure, sums_of(cells, groups, measure), None)
    (name,) = (name for name in found.metrics if name not in measure.metrics)
    assert found.metrics[name] is None
    assert found.metrics["average-class-size"] is None
    (note,) = found.notes
    assert note.startswith(f"Not measured on a table larger than memory: {name}.")
