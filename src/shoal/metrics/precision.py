"""Precision: how little the values had to climb."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.cells.spans import Spans
from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class Precision:
    """Precision: 1 minus the mean share of its hierarchy that a cell has climbed; 1 is the raw table.

    A suppressed cell counts as climbed to the top. Needs a hierarchy for every quasi-identifier.

    Source: Sweeney, "Achieving k-anonymity privacy protection using generalization and
    suppression", 2002.
    """

    high_is_good: ClassVar[bool] = True
    only_worsens: ClassVar[bool] = True

    def measure(self, parts: Parts) -> float | None:
        """The mean over all cells, or None where some column has no hierarchy."""
        columns = column_precision(parts)
        if len(columns) < len(parts.cells.domains):
            return None
        return sum(columns.values()) / len(columns)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        kept, n = int(node.sizes.sum()), node.cells.n_rows
        heights = [domain.hierarchy.height for domain in node.cells.domains if domain.hierarchy]
        climbed = [level / max(1, high) for level, high in zip(node.levels, heights, strict=True)]
        return 1 - sum(share * kept + n - kept for share in climbed) / (n * len(heights))


def column_precision(parts: Parts) -> dict[str, float]:
    """The precision of each column that has a hierarchy."""
    found = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            if domain.hierarchy is not None:
                lost = _climbed(spans, j, domain.hierarchy.height) + (
                    parts.cells.n_rows - int(spans.sizes.sum())
                )
                found[domain.name] = 1 - lost / parts.cells.n_rows
    return found


def _climbed(spans: Spans, j: int, height: int) -> float:
    """Over all rows, the share of the hierarchy each has climbed."""
    return float((spans.levels[:, j] * spans.sizes).sum()) / max(1, height)
