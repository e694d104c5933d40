"""The open groups of a partition, and cutting them.

A front holds every group that may still be cut, side by side. A group is a run of pieces; a piece is
a cell, or the part of a cell that fell to this group. Each group keeps its pieces sorted along every
column at once: a cut splits these lists without sorting again, so a level of the partition costs
rows x columns whatever the columns hold. A method that looks at one column at a time has its groups
sorted along that column alone, when it asks.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import inlined, kernel, number
from shoal.kernels.sorting import INSERTION, counting_order


class Front(NamedTuple):
    """Open groups; group g owns the pieces starts[g]..starts[g+1]."""

    starts: npt.NDArray[np.int64]
    """(g + 1,)"""
    codes: npt.NDArray[np.int32]
    """(pieces, d) canonical order inside a group."""
    first: npt.NDArray[np.int32]
    """(pieces,) the first canonical row of each piece."""
    weight: npt.NDArray[np.int32]
    """(pieces,) how many rows it has from there on."""
    order: npt.NDArray[np.int32]
    """(d, pieces) the pieces of each group (counted from the group's start) sorted along each column,
    equal codes in canonical order; or (1, pieces), sorted along the column each group is to be cut
    at, for methods that look at one column at a time."""
    rows: npt.NDArray[np.int64]
    """(g,) rows of each group."""
    depth: npt.NDArray[np.int64]
    """(g,) how many cuts led here."""
    along_all: bool
    """Whether `order` has a row for every column."""


class Cuts(NamedTuple):
    """One cut per group: below go the first `pieces` of the group's order along `column`, and `extra`
    rows of the next piece. column -1: no cut left to try; pieces -1: this column has none."""

    column: npt.NDArray[np.int64]
    pieces: npt.NDArray[np.int64]
    extra: npt.NDArray[np.int64]


def whole(
    codes: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    along_all: bool,
    depth: int = 0,
) -> Front:
    """The front that holds the whole table as one group; `sizes` are the columns' domain sizes.

    depth: how many cuts led to it, where it is but a part of a table.
    """
    n, d = codes.shape
    order = np.empty((d if along_all else 1, n), np.int32)
    if along_all:
        for j in range(d):
            counting_order(codes[:, j], int(sizes[j]), order[j])
    return Front(
        np.array([0, n], np.int64),
        codes,
        starts[:-1].astype(np.int32),
        np.diff(starts).astype(np.int32),
        order,
        np.array([starts[-1]], np.int64),
        np.full(1, depth, np.int64),
        along_all,
    )


@inlined
def row_of(front: Front, column: int) -> int:
    """Which row of `order` is sorted along a column."""
    return column if front.along_all else 0


@kernel
def sort_along(
    front: Front, groups: npt.NDArray[np.int64], column: npt.NDArray[np.int64], begin: int, end: int
) -> None:
    """Sort the pieces of groups[begin:end] along column[i] each, in the front's only order."""
    for i in range(begin, end):
        if column[i] < 0:
            continue
        base, stop = front.starts[groups[i]], front.starts[groups[i] + 1]
        codes = front.codes[base:stop, column[i]]
        order = front.order[0, base:stop]
        low, high = codes[0], codes[0]
        for code in codes:
            low = min(low, code)
            high = max(high, code)
        if stop - base > INSERTION and high - low <= 4 * (stop - base):
            counting_order(codes - low, high - low + 1, order)
        elif stop - base > INSERTION:
            order[:] = np.argsort(codes, kind="mergesort")
        else:
            for p in range(stop - base):
                at = p
                while at > 0 and codes[order[at - 1]] > codes[p]:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = p


@kernel
def side_counts(
    front: Front, cuts: Cuts, begin: int, end: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For groups begin..end, (n, 2) rows and pieces on each side of the cut; an uncut group has all
    below."""
    n = end - begin
    rows = np.zeros((n, 2), np.int64)
    pieces = np.zeros((n, 2), np.int64)
    for i in range(n):
        g = begin + i
        size = front.starts[g + 1] - front.starts[g]
        column = cuts.column[g]
        if column < 0:
            rows[i, 0] = front.rows[g]
            pieces[i, 0] = size
            continue
        below = cuts.extra[g]
        order = front.order[row_of(front, column)]
        for at in range(front.starts[g], front.starts[g] + cuts.pieces[g]):
            below += front.weight[front.starts[g] + order[at]]
        rows[i, 0] = below
        rows[i, 1] = front.rows[g] - below
        pieces[i, 0] = cuts.pieces[g] + (1 if cuts.extra[g] > 0 else 0)
        pieces[i, 1] = size - cuts.pieces[g]
    return rows, pieces


@kernel
def side_rows(
    front: Front, groups: npt.NDArray[np.int64], cuts: Cuts
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The canonical rows on both sides of each cut of the named groups: rows and (2n + 1,) starts.

    `cuts` is aligned with `groups`; a group without a cut has no rows here.
    """
    total = 0
    for i in range(len(groups)):
        if cuts.column[i] >= 0 and cuts.pieces[i] >= 0:
            total += front.rows[groups[i]]
    rows = np.empty(total, np.int32)
    starts = np.zeros(2 * len(groups) + 1, np.int64)
    at = number(0)
    for i in range(len(groups)):
        g = groups[i]
        column, n_below = cuts.column[i], cuts.pieces[i]
        if column < 0 or n_below < 0:
            starts[2 * i + 1] = starts[2 * i + 2] = at
            continue
        base = front.starts[g]
        order = front.order[row_of(front, column)]
        for t in range(front.starts[g + 1] - base):
            piece = base + order[base + t]
            if t == n_below:
                at = _pour(front, piece, number(0), number(cuts.extra[i]), rows, at)
                starts[2 * i + 1] = at
            skip = cuts.extra[i] if t == n_below else 0
            at = _pour(front, piece, number(skip), number(front.weight[piece]), rows, at)
        starts[2 * i + 2] = at
    return rows, starts


@kernel
def _pour(
    front: Front, piece: int, begin: int, end: int, rows: npt.NDArray[np.int32], at: int
) -> int:
    for row in range(begin, end):
        rows[at] = front.first[piece] + row
        at += 1
    return at


class Plan(NamedTuple):
    """Where each side of each cut goes: to a place in the next front, or to a finished group."""

    place: npt.NDArray[np.int64]
    """(g, 2) first piece of the side in the next front, or -1."""
    group: npt.NDArray[np.int64]
    """(g, 2) number of the finished group, where place is -1; -1 when there is no such side."""


@kernel
def advance(
    front: Front,
    cuts: Cuts,
    plan: Plan,
    after: Front,
    group: npt.NDArray[np.int32],
    begin: int,
    end: int,
) -> None:
    """Carry out the cuts of groups begin..end: fill the next front and the finished groups' rows."""
    longest = 0
    for g in range(begin, end):
        longest = max(longest, front.starts[g + 1] - front.starts[g])
    share = np.empty((2, longest), np.int32)
    place = np.empty((2, longest), np.int32)
    spare = np.empty(longest + 1, np.int32)
    for g in range(begin, end):
        _weigh_sides(front, cuts, g, share)
        for side in range(2):
            if plan.place[g, side] >= 0:
                _move_pieces(front, g, side, share[side], plan.place[g, side], after, place[side])
                if front.along_all:
                    _move_orders(
                        front, g, share[side], plan.place[g, side], after, place[side], spare
                    )
            elif plan.group[g, side] >= 0:
                _finish(front, g, side, share[side], plan.group[g, side], group)


@kernel
def _weigh_sides(front: Front, cuts: Cuts, g: int, share: npt.NDArray[np.int32]) -> None:
    """Rows of each piece that go to each side."""
    base = front.starts[g]
    size = front.starts[g + 1] - base
    column = cuts.column[g]
    if column < 0:
        share[0, :size] = front.weight[base : base + size]
        share[1, :size] = 0
        return
    order = front.order[row_of(front, column)]
    for t in range(size):
        p = order[base + t]
        weight = front.weight[base + p]
        below = weight
        if t >= cuts.pieces[g]:
            below = cuts.extra[g] if t == cuts.pieces[g] else 0
        share[0, p] = below
        share[1, p] = weight - below


@kernel
def _move_pieces(
    front: Front,
    g: int,
    side: int,
    share: npt.NDArray[np.int32],
    to: int,
    after: Front,
    place: npt.NDArray[np.int32],
) -> None:
    """Copy one side's pieces to the next front; place[p] is where piece p went, from `to` on."""
    base = front.starts[g]
    n = 0
    for p in range(front.starts[g + 1] - base):
        place[p] = n
        if share[p] > 0:
            at, piece = to + n, base + p
            for j in range(front.codes.shape[1]):
                after.codes[at, j] = front.codes[piece, j]
            # the rows of a parted piece: the first ones are below
            after.first[at] = front.first[piece] + (front.weight[piece] - share[p]) * side
            after.weight[at] = share[p]
            n += 1


@kernel
def _move_orders(
    front: Front,
    g: int,
    share: npt.NDArray[np.int32],
    to: int,
    after: Front,
    place: npt.NDArray[np.int32],
    spare: npt.NDArray[np.int32],
) -> None:
    """Keep one side's pieces in each column's order.

    Every piece is written and only those of this side are kept by moving on: no branch to mispredict.
    The room in between is spared, since a last write past the end would hit another group's.
    """
    base = front.starts[g]
    size = front.starts[g + 1] - base
    for j in range(front.codes.shape[1]):
        n = 0
        for t in range(base, base + size):
            p = front.order[j, t]
            spare[n] = place[p]
            n += share[p] > 0
        for i in range(n):
            after.order[j, to + i] = spare[i]


@kernel
def _finish(
    front: Front,
    g: int,
    side: int,
    share: npt.NDArray[np.int32],
    number: int,
    group: npt.NDArray[np.int32],
) -> None:
    """Write the number of a finished group to its rows."""
    base = front.starts[g]
    for p in range(front.starts[g + 1] - base):
        if share[p] > 0:
            row = front.first[base + p] + (front.weight[base + p] - share[p]) * side
            group[row : row + share[p]] = number
