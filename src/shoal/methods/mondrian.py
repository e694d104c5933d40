"""Mondrian: cut the widest column in the middle while both halves hold."""

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
    strict cut lies on the value boundary nearest to the median, so that groups are disjoint boxes.

    Source: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006.
    """

    strict: bool = True
    """Whether rows with equal values stay on one side; if not, a cut makes two exact halves."""

    def partition_rule(self) -> PartitionRule:
        """Median cuts, the widest column first."""
        return PartitionRule(
            strict_median if self.strict else relaxed_median, compares_losses=False
        )


def strict_median(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Equal values stay together: a cut leaves two disjoint boxes."""
    return RankedColumns(
        -groups.widths(),
        lambda numbers, column: groups.middle_cuts(numbers, column, min_rows),
    )


def relaxed_median(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Two halves, equal values on both sides; the odd row lies below."""
    return widest_sized(groups, groups.rows - groups.rows // 2)
