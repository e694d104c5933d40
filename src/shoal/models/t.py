"""t-closeness: the sensitive values of every group are spread much as those of the whole table.

Three earth mover's distances tell how far the values of a group lie from those of the table. All
are 0 where the shares are the same and 1 at most. Only values that the table holds count as places
or steps.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.counts import Counts
from shoal.models.base import SensitiveModel
from shoal.models.shares import owners, sums, totals_of, with_value

EXACT = 1 << 62
"""Sums below this are made of whole numbers."""


@dataclass(frozen=True)
class T(SensitiveModel):
    """t-closeness: every group's sensitive values are at most t away from those of the whole table.

    Protects against learning much about a person beyond what the whole table says of everybody. Does
    not hide the whole table's shares, and a rare value may grow many times over within a small t.

    The distance is the earth mover's. Shares are taken of the rows that have a value; no t
    holds for a group without any.

    Source: Li, Li and Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity",
    2007.
    """

    t: Annotated[float, Field(ge=0, le=1)]
    """The largest distance, 0 to 1."""
    of: str
    """The sensitive column."""
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    """Between two values: all the same, by their places in the column's order, or by the height of
    their lowest common node in the column's hierarchy."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True
    compares_with_table: ClassVar[bool] = True

    @property
    def column_kind(self) -> str | None:
        """The order or hierarchy that the distance is computed from."""
        return None if self.distance == "equal" else self.distance

    @property
    def promises_nothing(self) -> bool:
        """With 1, the largest distance there is."""
        return self.t == 1

    def strengths(self, counts: Counts) -> Floats:
        """(g,) the distance of each group; infinite where no row of it has a value."""
        if not counts.n_groups:  # of no groups nothing is known, not even a hierarchy
            return np.zeros(0)
        return np.where(with_value(counts) > 0, DISTANCES[self.distance](counts), np.inf)

    @classmethod
    def examples(cls, column: str = "ill") -> Iterator[Self]:
        """Yield a few instances for tests."""
        for figure in (0, 0.15, 0.3, 0.5):
            yield from (cls(figure, column, d) for d in ("equal", "ordered", "hierarchical"))


def equal_distance(counts: Counts) -> Floats:
    """(g,) all values equally far apart: the share of rows that would have to change."""
    return _over(_surplus(counts, totals_of(counts)), counts, 1)


def hierarchical_distance(counts: Counts) -> Floats:
    """(g,) two values are as far apart as their lowest common node is high, the root being 1.

    The paper moves what it can under each node, from the leaves up, and pays the node's height. What
    must leave the nodes of a level pays one step more; so the sum is that of `equal_distance` over
    the levels below the root.
    """
    assert counts.domain is not None
    if not len(counts.values):  # no value is known, so there is no tree of them either
        return _over(np.zeros(counts.n_groups, np.int64), counts, 1)
    tree = counts.domain.hierarchy
    assert tree is not None, "the policy gives the column a hierarchy"
    moved = np.zeros(counts.n_groups, np.int64)
    for level in tree.nodes[:-1]:
        totals = np.bincount(level, totals_of(counts)).astype(np.int64)
        moved += _surplus(_climbed(counts, level), totals)
    return _over(moved, counts, max(1, tree.height))


def ordered_distance(counts: Counts) -> Floats:
    """(g,) two values are as far apart as their places in the order, the ends being 1 apart.

    That is the sum over the places of |share up to there in the group - in the table|, over the
    number of steps. Between two values of a group its own share stays and the table's only rises, so
    each such stretch is summed at once.
    """
    totals = totals_of(counts)
    held = totals > 0
    places = int(held.sum())
    rows, upto = with_value(counts), np.cumsum(totals[held])
    if places < 2 or not len(counts.values):
        return _over(np.zeros(counts.n_groups, np.int64), counts, 1)
    everyone = int(upto[-1])
    exact = places * everyone * int(rows.max(initial=1)) < EXACT
    before = np.append(0, np.cumsum(upto, dtype=np.int64 if exact else np.float64))
    owner, some = owners(counts), np.diff(counts.starts) > 0
    n = rows[owner]
    summed = np.append(0, np.cumsum(counts.counts))
    own = summed[1:] - summed[counts.starts[owner]]
    share = own * (everyone if exact else float(everyone))  # times n, as the table's below
    first = (np.cumsum(held) - 1)[counts.values]
    last = np.append(first[1:], places)
    last[counts.starts[1:][some] - 1] = places
    # the table's share is the smaller one up to here
    turn = np.clip(np.searchsorted(upto, share // np.maximum(n, 1), side="right"), first, last)
    below = share * (turn - first) - n * (before[turn] - before[first])
    above = n * (before[last] - before[turn]) - share * (last - turn)
    moved = sums(counts, below + above)
    moved[some] += rows[some] * before[first[counts.starts[:-1][some]]]
    return _over(moved, counts, places - 1)


DISTANCES = {
    "equal": equal_distance,
    "ordered": ordered_distance,
    "hierarchical": hierarchical_distance,
}


def _surplus(counts: Counts, totals: Ints) -> Ints:
    """(g,) what groups have more of some values than their part of the table, times all rows."""
    rows, everyone = with_value(counts), totals.sum()
    more = counts.counts * everyone - totals[counts.values] * rows[owners(counts)]
    return sums(counts, np.maximum(more, 0))


def _over(moved: Ints, counts: Counts, steps: int) -> Floats:
    """(g,) as a share of what could be moved at most; 1 where no row of the group has a value."""
    rows, everyone = with_value(counts), int(totals_of(counts).sum())
    exact = everyone * steps * int(rows.max(initial=1)) < EXACT
    most = rows * (everyone * steps if exact else float(everyone * steps))
    return np.where(rows > 0, moved / np.maximum(most, 1), 1.0)


def _climbed(counts: Counts, level: Codes) -> Counts:
    """The same groups, their values as nodes of a level."""
    nodes, owner = level[counts.values], owners(counts)
    new = np.ones(len(nodes), np.bool_)
    new[1:] = (nodes[1:] != nodes[:-1]) | (owner[1:] != owner[:-1])
    at = np.flatnonzero(new)
    starts = np.append(0, np.cumsum(new))[counts.starts]
    amounts = np.add.reduceat(counts.counts, at) if len(at) else counts.counts
    return Counts(counts.sizes, starts, nodes[at], amounts, totals=counts.totals)
