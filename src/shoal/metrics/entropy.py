"""Non-uniform entropy: the bits that labels withhold, given how common values are."""

import math
from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats, Ints
from shoal.metrics.base import AdditiveMetric, Node, ReleaseView, Sums, Totals
from shoal.metrics.labels import rows_covered

LABELS, STARRED = "labels:", "starred:"
"""Before a column's name: the bits under its labels, and its suppressed cells."""


@dataclass(frozen=True)
class NonUniformEntropy(AdditiveMetric):
    """Non-uniform entropy: bits that the labels withhold, summed over all cells; 0 is the raw table.

    A cell costs log2(c / r): r rows of the table hold its raw value, c any value under its label. So
    a label that adds only rare values costs little. A suppressed cell covers the whole column: it
    costs log2(N / r), whether or not others are suppressed too.

    Source: De Waal and Willenborg, "Information loss through global recoding and local suppression",
    1999; Gionis and Tassa, "k-Anonymization with minimal loss of information", 2009, whose counts
    over the whole table also fit labels that overlap.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """The bits under each column's labels."""
        return _label_bits(view)

    def figure(self, sums: Sums, totals: Totals) -> float:
        """The sum, in bits."""
        return self._together([*_column_bits(sums, totals).values()])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return self._together(_node_bits(node))

    def _together(self, bits: list[tuple[float, float]]) -> float:
        return sum(lost for lost, _ in bits)


@dataclass(frozen=True)
class RelativeNonUniformEntropy(NonUniformEntropy):
    """Non-uniform entropy over that of a wholly suppressed table; 0 is the raw table, 1 nothing left.

    Source: Gionis and Tassa, "k-Anonymization with minimal loss of information", 2009.
    """

    def _together(self, bits: list[tuple[float, float]]) -> float:
        """The share; 0 where no column has two values."""
        most = sum(held for _, held in bits)
        return super()._together(bits) / most if most else 0.0


def column_information(sums: Sums, totals: Totals) -> dict[str, float]:
    """Per quasi-identifier, the share of its bits that is lost.

    The whole is their mean, weighed by these bits.
    """
    return {
        name: lost / held if held else 0.0
        for name, (lost, held) in _column_bits(sums, totals).items()
    }


def information_of_columns(view: ReleaseView) -> dict[str, float]:
    """The same of a release in one part."""
    return column_information(_label_bits(view), view.totals)


def _label_bits(view: ReleaseView) -> Sums:
    """Per quasi-identifier, over all published rows, the bits of who is under the label; and the
    suppressed rows."""
    bits: Sums = {}
    table = view.totals
    for grouping, spans in zip(view.groupings, view.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            domain = table.domains[column]
            under = rows_covered(domain, spans, j, table.rows_of_values[column])
            bits[LABELS + domain.name] = _labels(spans.sizes, under)
            bits[STARRED + domain.name] = view.cells.n_rows - int(spans.sizes.sum())
    return bits


def _column_bits(sums: Sums, totals: Totals) -> dict[str, tuple[float, float]]:
    """Per quasi-identifier the bits lost over all rows, and the bits there were to lose."""
    return {
        domain.name: _bits(rows, sums[LABELS + domain.name], int(sums[STARRED + domain.name]))
        for domain, rows in zip(totals.domains, totals.rows_of_values, strict=True)
        if LABELS + domain.name in sums
    }


def _node_bits(node: Node) -> list[tuple[float, float]]:
    """The same for a node of the lattice, column by column."""
    bits = []
    for j, (domain, level) in enumerate(zip(node.cells.domains, node.levels, strict=True)):
        assert domain.hierarchy is not None
        rows, kept = node.cells.rows_of_values[j], node.rows_at(j)
        under = np.bincount(domain.hierarchy.nodes[level], rows)[kept > 0]
        bits.append(_bits(rows, _labels(kept[kept > 0], under), node.suppressed_rows))
    return bits


def _labels(kept: Ints, under: Ints | Floats) -> float:
    """kept, under: published rows of each label, and the table's rows with a value under it."""
    return float((kept * np.log2(under)).sum())


def _bits(rows: Ints, labels: float, starred: int) -> tuple[float, float]:
    """rows: those of each value; labels: the bits under all labels; starred: suppressed rows."""
    n = int(rows.sum())
    held = rows[rows > 0]
    raw = float((held * np.log2(held)).sum())
    labels += starred * math.log2(n)
    # sums of rounded logarithms may end a hair below 0
    return max(0.0, labels - raw), max(0.0, n * math.log2(n) - raw)
