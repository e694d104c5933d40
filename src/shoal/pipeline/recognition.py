"""The recognition rate of every group and row, where a policy asks for it."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from shoal.metrics.base import Parts
from shoal.metrics.recognition_rate import RecognitionRate, group_rates, row_rates
from shoal.policy import Policy
from shoal.release import RecognitionReport

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Recognised:
    """The rates of one sensitive column, by input row."""

    group: npt.NDArray[np.int32]
    """(n_rows,) negative where a row is suppressed."""
    groups: npt.NDArray[np.float64]
    rows: npt.NDArray[np.float64] | None

    def report(self, origin: npt.NDArray[np.int64]) -> RecognitionReport:
        """As the published table has its rows; `origin` are the input rows behind these."""
        group = self.group[origin]
        seen, first = np.unique(group[group >= 0], return_index=True)
        seen = seen[np.argsort(first)]
        place = np.full(len(self.groups) + 1, -1, np.int64)  # the last one stands for suppressed
        place[seen] = np.arange(len(seen))
        if self.rows is None:
            return RecognitionReport(tuple(self.groups[seen].tolist()), None, None)
        return RecognitionReport(
            tuple(self.groups[seen].tolist()),
            tuple(self.rows[origin].tolist()),
            tuple(place[group].tolist()),
        )


def recognised(policy: Policy, parts: Parts) -> dict[str, Recognised]:
    """Per sensitive column; none unless the policy asks, or where columns are treated apart."""
    asked = [metric for metric in policy.metrics if isinstance(metric, RecognitionRate)]
    if not asked or asked[0].per == "table" or len(parts.groupings) != 1:
        return {}
    group = by_row(parts, parts.groupings[0].group)
    return {
        name: Recognised(
            group,
            group_rates(parts, name),
            by_row(parts, row_rates(parts, name)) if asked[0].per == "row" else None,
        )
        for name in policy.sensitive
    }


def by_row(parts: Parts, values: npt.NDArray[T]) -> npt.NDArray[T]:
    """From canonical rows to input rows."""
    found = np.empty_like(values)
    found[parts.cells.rows] = values
    return found
