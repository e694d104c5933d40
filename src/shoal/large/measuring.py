"""Metrics of a release that no memory holds: sums where the rows are, figures here."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.cells.cells import Cells
from shoal.cells.grouping import SUPPRESSED, Grouping
from shoal.cells.spans import Spans
from shoal.metrics._losses import column_losses
from shoal.metrics.base import Additive, Metric, Parts, Sums, Whole, together

LOSSES = "column losses"
COUNTS = "counts"


@dataclass(frozen=True)
class Measure:
    """What is added up over the groups of a fragment, as text."""

    metrics: dict[str, Additive]
    whole: Whole

    def __call__(self, cells: Cells, grouping: Grouping, spans: Spans, rows: pa.Table) -> str:
        """The sums of every metric."""
        target = None
        if self.whole.has_target:
            target = rows["t"].to_numpy().astype(np.int32)[cells.rows]
        hidden = grouping.group == SUPPRESSED
        parts = Parts(
            cells,
            (grouping,),
            (spans,),
            0,
            hidden,
            target,
            weights=self.whole.weights,
            whole=self.whole,
        )
        found: dict[str, Sums] = {name: one.sums(parts) for name, one in self.metrics.items()}
        found[LOSSES] = column_losses(parts)
        found[COUNTS] = {"groups": grouping.n_groups, "suppressed": int(hidden.sum())}
        return json.dumps(found, default=_plain)


def _plain(number: np.generic) -> float:
    plain: float = number.item()
    return plain


def added(told: Iterable[str]) -> dict[str, Sums]:
    """The sums of all fragments."""
    parts = [json.loads(one) for one in told]
    names = {name for part in parts for name in part}
    return {name: together(part[name] for part in parts if name in part) for name in names}


def additive(metrics: Mapping[str, Metric]) -> dict[str, Additive]:
    """Those that can be measured in parts."""
    return {name: one for name, one in metrics.items() if isinstance(one, Additive)}


def figures(
    metrics: Mapping[str, Metric], sums: Mapping[str, Sums], whole: Whole
) -> dict[str, float | None]:
    """Every metric's figure; None for those that cannot be measured in parts."""
    return {
        name: one.figure(sums[name], whole) if isinstance(one, Additive) else None
        for name, one in metrics.items()
    }
