"""The open groups of a partition, and cutting them.

A front holds every group that may still be cut, side by side. A group is a run of pieces; a piece is
a cell, or the part of a cell that fell to this group. Each group keeps its pieces sorted along every
column at once: a cut splits these lists without sorting again, so a level of the partition costs
rows x columns whatever the columns hold. A method that looks at one column at a time has its groups
sorted along that column alone, when it asks.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.costs import SET, Costs, label_cost
from shoal.kernels.jit import inlined, kernel, number
from shoal.kernels.sorting import INSERTION, counting_order


class Front(NamedTuple):
    """Open groups; group g owns the pieces starts[g]..starts[g+1]."""

    starts: Ints
    """(g + 1,)"""
    codes: Codes
    """(pieces, d) canonical order inside a group."""
    first: Codes
    """(pieces,) the first canonical row of each piece."""
    weight: Codes
    """(pieces,) how many rows it has from there on."""
    order: Codes
    """(d, pieces) the pieces of each group (counted from the group's start) sorted along each column,
    equal codes in canonical order; or (1, pieces), sorted along the column each group is to be cut
    at, for methods that look at one column at a time."""
    rows: Ints
    """(g,) rows of each group."""
    depth: Ints
    """(g,) how many cuts led here."""
    along_all: bool
    """Whether `order` has a row for every column."""


class Cuts(NamedTuple):
    """One cut per group: below go the first `pieces` of the group's order along `column`, and `extra`
    rows of the next piece. column -1: no cut left to try; pieces -1: this column has none."""

    column: Ints
    pieces: Ints
    extra: Ints


def whole(
    codes: Codes,
    starts: Ints,
    sizes: Ints,
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
def sort_along(front: Front, groups: Ints, column: Ints, begin: int, end: int) -> None:
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
def side_counts(front: Front, cuts: Cuts, begin: int, end: int) -> tuple[Ints, Ints]:
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
def side_rows(front: Front, groups: Ints, cuts: Cuts) -> tuple[Codes, Ints]:
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
def _pour(front: Front, piece: int, begin: int, end: int, rows: Codes, at: int) -> int:
    for row in range(begin, end):
        rows[at] = front.first[piece] + row
        at += 1
    return at


class Plan(NamedTuple):
    """Where each side of each cut goes: to a place in the next front, or to a finished group."""

    place: Ints
    """(g, 2) first piece of the side in the next front, or -1."""
    group: Ints
    """(g, 2) number of the finished group, where place is -1; -1 when there is no such side."""


@kernel
def advance(
    front: Front,
    cuts: Cuts,
    plan: Plan,
    after: Front,
    group: Codes,
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
def _weigh_sides(front: Front, cuts: Cuts, g: int, share: Codes) -> None:
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
    share: Codes,
    to: int,
    after: Front,
    place: Codes,
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
    share: Codes,
    to: int,
    after: Front,
    place: Codes,
    spare: Codes,
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
    share: Codes,
    number: int,
    group: Codes,
) -> None:
    """Write the number of a finished group to its rows."""
    base = front.starts[g]
    for p in range(front.starts[g + 1] - base):
        if share[p] > 0:
            row = front.first[base + p] + (front.weight[base + p] - share[p]) * side
            group[row : row + share[p]] = number


# Where a group may be cut, and what each cut would cost.


NEVER = np.iinfo(np.int64).max


@kernel
def group_spans(
    front: Front,
    costs: Costs,
    g: int,
    seen: Ints,
    tag: int,
    span: Ints,
) -> None:
    """Fill span (3, d) with the group's smallest and largest code and, for sets, its members."""
    for j in range(front.codes.shape[1]):
        low, high, members = NEVER, -1, 0
        base = costs.seen[j]
        is_set = costs.kind[j] == SET
        for at in range(front.starts[g], front.starts[g + 1]):
            code = front.codes[at, j]
            low = min(low, code)
            high = max(high, code)
            if is_set and seen[base + code] != tag:
                seen[base + code] = tag
                members += 1
        span[0, j] = low
        span[1, j] = high
        span[2, j] = members


@kernel
def widths(front: Front, costs: Costs, begin: int, end: int, out: Ints) -> None:
    """out[g] (d,): what each column of the group's own label costs."""
    d = front.codes.shape[1]
    seen = np.full(costs.seen[d], -1, np.int64)
    span = np.empty((3, d), np.int64)
    for g in range(begin, end):
        group_spans(front, costs, g, seen, g, span)
        for j in range(d):
            out[g, j] = label_cost(costs, j, span[0, j], span[1, j], span[2, j])


@kernel
def scan(
    front: Front,
    costs: Costs,
    g: int,
    column: int,
    backward: bool,
    span: Ints,
    seen: Ints,
    tag: int,
    label: Ints,
    running: Ints,
    until: int,
    limit: int,
) -> int:
    """Walk at most `until` pieces along a column, from below or from above, growing a label.

    running[t] becomes the label cost of the first t + 1 pieces walked. A cut further on can only
    lose more on this side: the walk ends where that alone exceeds `limit`. Returns how many pieces
    were walked. `label` (5, d) is room to work in.
    """
    base, size = front.starts[g], front.starts[g + 1] - front.starts[g]
    low, high, members, cost, active = label[0], label[1], label[2], label[3], label[4]
    n_active = 0
    for j in range(front.codes.shape[1]):
        low[j] = NEVER
        high[j] = -1
        members[j] = 0
        cost[j] = 0
        if span[0, j] != span[1, j]:
            active[n_active] = j
            n_active += 1
    total = 0
    rows = 0
    for t in range(until):
        p = base + front.order[column, base + (size - 1 - t if backward else t)]
        a = 0
        while a < n_active:
            j = active[a]
            code = front.codes[p, j]
            if costs.kind[j] == SET:
                mark = costs.seen[j] + code
                if seen[mark] == tag:
                    a += 1
                    continue
                seen[mark] = tag
                members[j] += 1
                new = costs.cost[costs.base[j] + members[j]]
                full = members[j] == span[2, j]
            else:
                if low[j] <= code <= high[j]:
                    a += 1
                    continue
                low[j] = min(low[j], code)
                high[j] = max(high[j], code)
                new = label_cost(costs, j, low[j], high[j], 0)
                full = low[j] == span[0, j] and high[j] == span[1, j]
            total += new - cost[j]
            cost[j] = new
            if full:
                n_active -= 1
                active[a] = active[n_active]
            else:
                a += 1
        running[t] = total
        rows += front.weight[p]
        # of the last piece perhaps only a part is on this side: it is not judged here
        if t < until - 1 and rows * total > limit:
            return t + 1
    return until


@kernel
def boundary_losses(
    front: Front,
    costs: Costs,
    g: int,
    column: int,
    least: int,
    span: Ints,
    seen: Ints,
    tag: int,
    label: Ints,
    below: Ints,
    above: Ints,
    loss: Ints,
    limit: int,
) -> tuple[int, int]:
    """Losses of the cuts along a column, as far as they may be `limit` or less.

    loss[t] is the loss of cutting after the first t + 1 pieces, or NEVER where equal codes would part
    or a side would have fewer than `least` rows. Returns the first and one past the last t filled in.
    """
    base, size = front.starts[g], front.starts[g + 1] - front.starts[g]
    end = min(
        size - 1, scan(front, costs, g, column, False, span, seen, tag, label, below, size, limit)
    )
    walked = scan(front, costs, g, column, True, span, seen, tag + 1, label, above, size, limit)
    begin = max(0, size - 1 - walked)
    rows = 0
    for t in range(end):
        p = base + front.order[column, base + t]
        q = base + front.order[column, base + t + 1]
        rows += front.weight[p]
        loss[t] = NEVER
        rest = front.rows[g] - rows
        if (
            t >= begin
            and front.codes[p, column] != front.codes[q, column]
            and rows >= least
            and rest >= least
        ):
            loss[t] = rows * below[t] + rest * above[size - 2 - t]
    return begin, end


@kernel
def best_boundary(
    front: Front,
    costs: Costs,
    least: Ints,
    begin: int,
    end: int,
    column: Ints,
    pieces: Ints,
) -> None:
    """The boundary with the least loss for groups begin..end, both sides having at least least[g]
    rows; ties go to the first column, then to the lowest boundary. -1 where there is none."""
    d = front.codes.shape[1]
    longest = 0
    for g in range(begin, end):
        longest = max(longest, front.starts[g + 1] - front.starts[g])
    seen = np.full(costs.seen[d], -1, np.int64)
    span, label = np.empty((3, d), np.int64), np.empty((5, d), np.int64)
    below, above = np.empty(longest, np.int64), np.empty(longest, np.int64)
    loss = np.empty(longest, np.int64)
    width = np.empty(d, np.int64)
    tag = number(0)
    for g in range(begin, end):
        group_spans(front, costs, g, seen, tag, span)
        tag += 1
        best = number(NEVER)
        column[g] = -1
        pieces[g] = -1
        for j in range(d):
            width[j] = -1
            if span[0, j] != span[1, j]:
                width[j] = label_cost(costs, j, span[0, j], span[1, j], span[2, j])
        for _ in range(d):
            # a cut of the widest column is often the best: the others are then given up early
            j = int(np.argmax(width))
            if width[j] < 0:
                break
            width[j] = -1
            first, last = boundary_losses(
                front, costs, g, j, least[g], span, seen, tag, label, below, above, loss, best
            )
            tag += 2
            for t in range(first, last):
                if loss[t] < best or (loss[t] == best and best != NEVER and j < column[g]):
                    best = loss[t]
                    column[g] = j
                    pieces[g] = t + 1


@kernel
def count_boundaries(front: Front, least: Ints, groups: Ints) -> Ints:
    """(n,) how many boundaries each named group has."""
    counts = np.zeros(len(groups), np.int64)
    for i in range(len(groups)):
        g = groups[i]
        base = front.starts[g]
        for j in range(front.codes.shape[1]):
            rows = 0
            for t in range(base, front.starts[g + 1] - 1):
                p, q = base + front.order[j, t], base + front.order[j, t + 1]
                rows += front.weight[p]
                if front.codes[p, j] != front.codes[q, j] and rows >= least[g]:
                    counts[i] += front.rows[g] - rows >= least[g]
    return counts


@kernel
def rank_boundaries(
    front: Front,
    costs: Costs,
    least: Ints,
    groups: Ints,
    starts: Ints,
    begin: int,
    end: int,
    column: Codes,
    pieces: Codes,
) -> None:
    """All boundaries of groups[begin:end] by rising loss, then column, then place; those of groups[i]
    go to starts[i]..starts[i+1]."""
    d = front.codes.shape[1]
    longest = 0
    for i in range(begin, end):
        longest = max(longest, front.starts[groups[i] + 1] - front.starts[groups[i]])
    seen = np.full(costs.seen[d], -1, np.int64)
    span, label = np.empty((3, d), np.int64), np.empty((5, d), np.int64)
    below, above = np.empty(longest, np.int64), np.empty(longest, np.int64)
    loss = np.empty(longest, np.int64)
    tag, limit = number(0), number(NEVER)
    for i in range(begin, end):
        g = groups[i]
        group_spans(front, costs, g, seen, tag, span)
        tag += 1
        found = np.empty(starts[i + 1] - starts[i], np.int64)
        at = starts[i]
        for j in range(d):
            if span[0, j] == span[1, j]:
                continue
            first, last = boundary_losses(
                front, costs, g, j, least[g], span, seen, tag, label, below, above, loss, limit
            )
            tag += 2
            for t in range(first, last):
                if loss[t] != NEVER:
                    found[at - starts[i]] = loss[t]
                    column[at] = j
                    pieces[at] = t + 1
                    at += 1
        order = np.argsort(found, kind="mergesort")
        column[starts[i] : at] = column[starts[i] : at][order]
        pieces[starts[i] : at] = pieces[starts[i] : at][order]


@kernel
def place_cut(front: Front, g: int, column: int, below: int) -> tuple[int, int]:
    """Pieces and extra rows that put exactly `below` rows below."""
    base = front.starts[g]
    order = front.order[row_of(front, column)]
    t = 0
    while True:
        weight = front.weight[base + order[base + t]]
        if weight > below:
            return t, below
        below -= weight
        t += 1
        if below == 0:
            return t, 0


@kernel
def sized_cuts(
    front: Front,
    groups: Ints,
    column: Ints,
    below: Ints,
    pieces: Ints,
    extra: Ints,
) -> None:
    """Fill pieces and extra so that each named group has below[i] rows below, along column[i]."""
    for i in range(len(groups)):
        if column[i] >= 0:
            pieces[i], extra[i] = place_cut(front, groups[i], column[i], below[i])


@kernel
def sized_losses(
    front: Front,
    costs: Costs,
    below: Ints,
    every: bool,
    begin: int,
    end: int,
    out: Ints,
) -> None:
    """out[g] (d,): loss of cutting group g along each column with below[g] rows below; groups with
    below[g] = 0 are left out. Unless `every` loss is wanted, those above the least may be NEVER."""
    d = front.codes.shape[1]
    longest = 0
    for g in range(begin, end):
        longest = max(longest, front.starts[g + 1] - front.starts[g])
    seen = np.full(costs.seen[d], -1, np.int64)
    span, label = np.empty((3, d), np.int64), np.empty((5, d), np.int64)
    running = np.empty(longest, np.int64)
    width = np.empty(d, np.int64)
    tag = number(0)
    for g in range(begin, end):
        if below[g] == 0:
            continue
        group_spans(front, costs, g, seen, tag, span)
        size = front.starts[g + 1] - front.starts[g]
        limit = number(NEVER)
        for j in range(d):
            width[j] = label_cost(costs, j, span[0, j], span[1, j], span[2, j])
        for _ in range(d):
            # a cut of the widest column is often the best: the others are then given up early
            j = int(np.argmax(width))
            width[j] = -1
            tag += 2
            out[g, j] = NEVER
            t, extra = place_cut(front, g, j, below[g])
            n = t + (1 if extra > 0 else 0)
            if scan(front, costs, g, j, False, span, seen, tag - 1, label, running, n, limit) < n:
                continue
            under = below[g] * running[n - 1]
            n, left = size - t, limit - under if limit != NEVER else NEVER
            if scan(front, costs, g, j, True, span, seen, tag, label, running, n, left) < n:
                continue
            out[g, j] = under + (front.rows[g] - below[g]) * running[n - 1]
            if not every:
                limit = min(limit, out[g, j])
        tag += 1


@kernel
def middle_boundaries(
    front: Front,
    groups: Ints,
    column: Ints,
    least: int,
    pieces: Ints,
) -> None:
    """pieces[i]: the boundary of groups[i] along column[i] nearest to the middle (the lower of two),
    or -1 when a side would have fewer than `least` rows."""
    for i in range(len(groups)):
        pieces[i] = -1
        if column[i] < 0:
            continue
        g, j = groups[i], column[i]
        base = front.starts[g]
        order = front.order[row_of(front, j)]
        rows, nearest, taken = 0, NEVER, 0
        for t in range(front.starts[g + 1] - base - 1):
            p = base + order[base + t]
            rows += front.weight[p]
            far = abs(2 * rows - front.rows[g])
            q = base + order[base + t + 1]
            if front.codes[p, j] != front.codes[q, j] and far < nearest:
                nearest, taken = far, rows
                pieces[i] = t + 1
        if taken < least or front.rows[g] - taken < least:
            pieces[i] = -1


# In which part of a table that was cut and cut again a row lies.


@kernel
def walk(
    rows: Ints,
    column: Ints,
    code: Ints,
    below: Ints,
    last: Ints,
    lasts: Ints,
) -> Ints:
    """(n,) the node that each row ends in.

    rows: (n, w) what makes the canonical order. Per node: the column it is cut in, or -1; rows with a
    smaller code there go below, to the node `below`, the others to the next; of those with the same
    code the rows up to lasts[last] go below as well, none where `last` is -1.
    """
    n, width = rows.shape
    out = np.empty(n, np.int64)
    for i in range(n):
        node = np.int64(0)
        while column[node] >= 0:
            value = rows[i, column[node]]
            goes_below = value < code[node]
            if value == code[node] and last[node] >= 0:
                goes_below = True
                for j in range(width):
                    bound = lasts[last[node], j]
                    if rows[i, j] != bound:
                        goes_below = rows[i, j] < bound
                        break
            node = below[node] if goes_below else below[node] + 1
        out[i] = node
    return out
