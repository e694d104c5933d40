"""Mondrian: cut the widest column in the middle while both halves hold."""

from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from shoal.methods.partition import (
    CutOrder,
    CuttableGroups,
    PartitionMethod,
    PartitionRule,
    RankedColumns,
    widest_sized,
)


@dataclass(frozen=True)
class Mondrian(PartitionMethod):
    """Mondrian: cut the widest column at its median while both halves hold.

    The field's usual baseline. Where the widest column cannot be cut, the next widest is tried. A
    strict cut lies on a value boundary, so that groups are disjoint boxes.

    Source: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006. By default a
    strict cut lies on the boundary nearest to the median, which makes more groups; `median: below` is
    the cut as published.
    """

    later_options: ClassVar[frozenset[str]] = frozenset({"median"})

    strict: bool = True
    """Whether rows with equal values stay on one side; if not, a cut makes two exact halves."""
    median: Literal["nearest", "below"] = "nearest"
    """Where a strict cut lies: at the value boundary nearest to the median, or right above the median,
    so that rows with the median itself lie below (as published)."""

    def partition_rule(self) -> PartitionRule:
        """Median cuts, the widest column first."""
        strict = strict_median if self.median == "nearest" else published_median
        return PartitionRule(strict if self.strict else relaxed_median, compares_losses=False)


def strict_median(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Equal values stay together: a cut leaves two disjoint boxes."""
    return RankedColumns(
        -groups.widths(),
        lambda numbers, column: groups.middle_cuts(numbers, column, min_rows),
    )


def published_median(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Values up to the median lie below, larger ones above."""
    return RankedColumns(
        -groups.widths(),
        lambda numbers, column: groups.median_cuts(numbers, column, min_rows),
    )


def relaxed_median(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Two halves, equal values on both sides; the odd row lies below."""
    return widest_sized(groups, groups.rows - groups.rows // 2)
