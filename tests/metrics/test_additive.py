"""A release measured in parts has the figures of the whole."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import plugins
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping, spans_of
from shoal.metrics.base import AdditiveMetric, ReleaseView, Totals, add_sums
from shoal.metrics.general_loss import GeneralLoss
from shoal.metrics.query_error import QueryError
from tests.examples import examples
from tests.metrics.test_metrics import Answer, groupings, parts_of

METRICS: dict[str, Any] = {
    name: metric()
    for name, metric in plugins.metrics().items()
    if issubclass(metric, AdditiveMetric)
}
METRICS |= {"query-error": QueryError(queries=8, columns=2, selectivity=0.3)}
METRICS |= {"general-loss-mean": GeneralLoss("mean")}


def some_rows(cells: Cells, chosen: np.ndarray) -> Cells:
    """The cells of some canonical rows."""
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)[chosen]
    kept, counts = np.unique(cell, return_counts=True)
    return replace(
        cells,
        codes=cells.codes[kept],
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rows=cells.rows[chosen],
        hashes=cells.hashes[chosen],
        sensitive={name: codes[chosen] for name, codes in cells.sensitive.items()},
    )


def some_groups(parts: ReleaseView, chosen: np.ndarray) -> ReleaseView:
    """A part of a release: whole groups, and some of the suppressed rows."""
    (grouping,) = parts.groupings
    cells, old = some_rows(parts.cells, chosen), grouping.group[chosen]
    numbers = np.unique(old[old >= 0])
    group = np.where(old < 0, -1, np.searchsorted(numbers, old)).astype(np.int32)
    found = Grouping(group, len(numbers), grouping.columns)
    target = None if parts.target is None else parts.target[chosen]
    spans = spans_of(cells, found)
    return ReleaseView(cells, (found,), (spans,), 0, group < 0, target, whole=parts.totals)


@examples(20)
@given(groupings(), st.data())
def test_sums_of_parts_add_up(answer: Answer, data: st.DataObject) -> None:
    table, group, target = answer
    parts = replace(
        parts_of(table, group, data.draw(st.sampled_from([None, target]))),
        published_classes=max(1, len(set(group))),
        weights=data.draw(st.sampled_from([None, {"c0": 2.5}])),
    )
    piece = data.draw(st.lists(st.integers(0, 2), min_size=7, max_size=7))
    of_row = np.array([piece[g] if g >= 0 else i % 3 for i, g in enumerate(group)])
    pieces = [some_groups(parts, of_row == i) for i in range(3) if (of_row == i).any()]
    for name, metric in METRICS.items():
        sums = add_sums(metric.sums(one) for one in pieces)
        figure, whole = metric.figure(sums, parts.totals), metric.measure(parts)
        assert (figure is None) == (whole is None), name
        if whole is not None:
            assert figure == pytest.approx(whole, rel=1e-9, abs=1e-9), name


def test_classes_that_nobody_counted_give_no_figure() -> None:
    metric = METRICS["average-class-size"]
    assert add_sums([{"most:rows": 2, "rows": 2}, {"most:rows": 3, "rows": 1}]) == {
        "most:rows": 3,
        "rows": 3,
    }
    assert metric.figure({"suppressed": 0}, Totals((), (), n_rows=5)) is None
