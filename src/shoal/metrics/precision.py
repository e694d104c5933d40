"""Precision: how little the values had to climb."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.encoding.grouping import Spans
from shoal.metrics.base import AdditiveMetric, Node, ReleaseView, Sums, Totals


@dataclass(frozen=True)
class Precision(AdditiveMetric):
    """Precision: 1 minus the mean share of its hierarchy that a cell has climbed; 1 is the raw table.

    A suppressed cell counts as climbed to the top. Needs a hierarchy for every quasi-identifier.

    Source: Sweeney, "Achieving k-anonymity privacy protection using generalization and
    suppression", 2002.
    """

    high_is_good: ClassVar[bool] = True
    only_worsens: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """Per column with a hierarchy, the share of it that its cells have climbed."""
        return column_climbs(view)

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """The mean over all cells, or None where some column has no hierarchy."""
        if len(sums) < len(totals.domains):
            return None
        return sum(1 - climbed / totals.n_rows for climbed in sums.values()) / len(sums)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        kept, n = int(node.sizes.sum()), node.cells.n_rows
        heights = [domain.hierarchy.height for domain in node.cells.domains if domain.hierarchy]
        climbed = [level / max(1, high) for level, high in zip(node.levels, heights, strict=True)]
        return 1 - sum(share * kept + n - kept for share in climbed) / (n * len(heights))


def column_precision(view: ReleaseView) -> dict[str, float]:
    """The precision of each column that has a hierarchy."""
    n = view.cells.n_rows
    return {name: 1 - climbed / n for name, climbed in column_climbs(view).items()}


def column_climbs(view: ReleaseView) -> Sums:
    """Per column with a hierarchy, over all rows, the share of it that each has climbed."""
    found = {}
    for grouping, spans in zip(view.groupings, view.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            domain = view.cells.domains[column]
            if domain.hierarchy is not None:
                starred = view.cells.n_rows - int(spans.sizes.sum())
                found[domain.name] = _climbed(spans, j, domain.hierarchy.height) + starred
    return found


def _climbed(spans: Spans, j: int, height: int) -> float:
    """Over all rows, the share of the hierarchy each has climbed."""
    return float((spans.levels[:, j] * spans.sizes).sum()) / max(1, height)
