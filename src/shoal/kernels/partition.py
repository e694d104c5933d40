"""The open groups of a partition: where they may be cut, what each cut would lose, and cutting them.

A group is a run of pieces; a piece is a cell, or the part of a cell that fell to this group. All open
groups lie side by side in the same arrays. Each keeps its pieces sorted along every column at once: a
cut splits these lists without sorting again, so a level of the partition costs rows x columns whatever
the columns hold. For rules that look at one column at a time, groups are sorted along that column
alone, when it is looked at.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.jit import inlined, inner, kernel, number, truth
from shoal.kernels.labels import SET, Costs, label_cost

INSERTION = 32
"""Up to this many codes are sorted by insertion."""
NEVER = np.iinfo(np.int64).max
"""The loss of a cut that is not allowed, or not worth knowing."""


class OpenGroups(NamedTuple):
    """Groups that may still be cut; group g owns the pieces starts[g]..starts[g+1]."""

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
    at, for rules that look at one column at a time."""
    rows: Ints
    """(g,) rows of each group."""
    depth: Ints
    """(g,) how many cuts led here."""
    along_all: bool
    """Whether `order` has a row for every column."""


class Cuts(NamedTuple):
    """One cut per group: along `column`, before the piece (or value) at `position` of the group's order
    along it; `extra` rows of that piece go below too. column -1: there is no cut left to try;
    position -1: this column has none."""

    column: Ints
    position: Ints
    extra: Ints


@inlined
def row_of(groups: OpenGroups, column: int) -> int:
    """Which row of `order` is sorted along a column."""
    return column if groups.along_all else 0


@kernel
def stable_order(codes: Codes, order: Codes) -> None:
    """Write to `order` the positions of `codes`, sorted by code, equal codes in their order."""
    n = len(codes)
    low, high = codes[0], codes[0]
    for code in codes:
        low = min(low, code)
        high = max(high, code)
    if n <= INSERTION:
        for p in range(n):
            at = p
            while at > 0 and codes[order[at - 1]] > codes[p]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = p
    elif high - low > 4 * n:
        order[:] = np.argsort(codes, kind="mergesort")
    else:
        place = np.zeros(high - low + 2, np.int64)
        for code in codes:
            place[code - low + 1] += 1
        for value in range(high - low + 1):
            place[value + 1] += place[value]
        for p in range(n):
            order[place[codes[p] - low]] = p
            place[codes[p] - low] += 1


@kernel
def sort_along(groups: OpenGroups, numbers: Ints, column: Ints, begin: int, end: int) -> None:
    """Sort the pieces of each of the groups numbers[begin:end] along column[i], in the only order."""
    for i in range(begin, end):
        if column[i] >= 0:
            base, stop = groups.starts[numbers[i]], groups.starts[numbers[i] + 1]
            stable_order(groups.codes[base:stop, column[i]], groups.order[0, base:stop])


@kernel
def side_counts(groups: OpenGroups, cuts: Cuts) -> tuple[Ints, Ints]:
    """(g, 2) rows and pieces on each side of each group's cut; an uncut group has all below."""
    n = len(groups.rows)
    rows = np.zeros((n, 2), np.int64)
    pieces = np.zeros((n, 2), np.int64)
    for g in range(n):
        size = groups.starts[g + 1] - groups.starts[g]
        column = cuts.column[g]
        if column < 0:
            rows[g, 0] = groups.rows[g]
            pieces[g, 0] = size
            continue
        below = cuts.extra[g]
        order = groups.order[row_of(groups, column)]
        for at in range(groups.starts[g], groups.starts[g] + cuts.position[g]):
            below += groups.weight[groups.starts[g] + order[at]]
        rows[g, 0] = below
        rows[g, 1] = groups.rows[g] - below
        pieces[g, 0] = cuts.position[g] + (1 if cuts.extra[g] > 0 else 0)
        pieces[g, 1] = size - cuts.position[g]
    return rows, pieces


@kernel
def side_rows(groups: OpenGroups, numbers: Ints, cuts: Cuts) -> tuple[Codes, Ints]:
    """The canonical rows on both sides of the cuts of some groups: rows and (2n + 1,) starts.

    cuts[i] is that of the group numbers[i]; a group without a cut has no rows here.
    """
    total = 0
    for i in range(len(numbers)):
        if cuts.column[i] >= 0 and cuts.position[i] >= 0:
            total += groups.rows[numbers[i]]
    rows = np.empty(total, np.int32)
    starts = np.zeros(2 * len(numbers) + 1, np.int64)
    at = number(0)
    for i in range(len(numbers)):
        g = numbers[i]
        column, n_below = cuts.column[i], cuts.position[i]
        if column < 0 or n_below < 0:
            starts[2 * i + 1] = starts[2 * i + 2] = at
            continue
        base = groups.starts[g]
        order = groups.order[row_of(groups, column)]
        for t in range(groups.starts[g + 1] - base):
            piece = base + order[base + t]
            if t == n_below:
                at = _pour(groups, piece, number(0), number(cuts.extra[i]), rows, at)
                starts[2 * i + 1] = at
            skip = cuts.extra[i] if t == n_below else 0
            at = _pour(groups, piece, number(skip), number(groups.weight[piece]), rows, at)
        starts[2 * i + 2] = at
    return rows, starts


@inner
def _pour(groups: OpenGroups, piece: int, begin: int, end: int, rows: Codes, at: int) -> int:
    for row in range(begin, end):
        rows[at] = groups.first[piece] + row
        at += 1
    return at


class Plan(NamedTuple):
    """Where each side of each cut goes: among the next open groups, or to a finished one."""

    place: Ints
    """(g, 2) first piece of the side among the next open groups, or -1."""
    group: Ints
    """(g, 2) number of the finished group, where place is -1; -1 when there is no such side."""


@kernel
def advance(
    groups: OpenGroups,
    cuts: Cuts,
    plan: Plan,
    after: OpenGroups,
    group: Codes,
    begin: int,
    end: int,
) -> None:
    """Carry out the cuts of groups begin..end: fill the next ones and the rows of finished ones."""
    longest = 0
    for g in range(begin, end):
        longest = max(longest, groups.starts[g + 1] - groups.starts[g])
    share = np.empty((2, longest), np.int32)
    place = np.empty((2, longest), np.int32)
    spare = np.empty(longest + 1, np.int32)
    for g in range(begin, end):
        _weigh_sides(groups, cuts, g, share)
        for side in range(2):
            if plan.place[g, side] >= 0:
                _move_pieces(groups, g, side, share[side], plan.place[g, side], after, place[side])
                if groups.along_all:
                    _move_orders(
                        groups, g, share[side], plan.place[g, side], after, place[side], spare
                    )
            elif plan.group[g, side] >= 0:
                _finish(groups, g, side, share[side], plan.group[g, side], group)


@inner
def _weigh_sides(groups: OpenGroups, cuts: Cuts, g: int, share: Codes) -> None:
    """Rows of each piece that go to each side."""
    base = groups.starts[g]
    size = groups.starts[g + 1] - base
    column = cuts.column[g]
    if column < 0:
        for p in range(size):
            share[0, p], share[1, p] = groups.weight[base + p], 0
        return
    order = groups.order[row_of(groups, column)]
    for t in range(size):
        p = order[base + t]
        weight = groups.weight[base + p]
        below = weight
        if t >= cuts.position[g]:
            below = cuts.extra[g] if t == cuts.position[g] else 0
        share[0, p] = below
        share[1, p] = weight - below


@inner
def _move_pieces(
    groups: OpenGroups,
    g: int,
    side: int,
    share: Codes,
    to: int,
    after: OpenGroups,
    place: Codes,
) -> None:
    """Copy one side's pieces to the next open groups; place[p] is where piece p went, from `to` on."""
    base = groups.starts[g]
    n = 0
    for p in range(groups.starts[g + 1] - base):
        place[p] = n
        if share[p] > 0:
            at, piece = to + n, base + p
            for j in range(groups.codes.shape[1]):
                after.codes[at, j] = groups.codes[piece, j]
            # of a piece that is split the first ones are below
            after.first[at] = groups.first[piece] + (groups.weight[piece] - share[p]) * side
            after.weight[at] = share[p]
            n += 1


@inner
def _move_orders(
    groups: OpenGroups,
    g: int,
    share: Codes,
    to: int,
    after: OpenGroups,
    place: Codes,
    spare: Codes,
) -> None:
    """Keep one side's pieces in each column's order.

    Every piece is written and only those of this side are kept by moving on: no branch to mispredict.
    The room in between is spared, since a last write past the end would hit another group's.
    """
    base = groups.starts[g]
    size = groups.starts[g + 1] - base
    for j in range(groups.codes.shape[1]):
        n = 0
        for t in range(base, base + size):
            p = groups.order[j, t]
            spare[n] = place[p]
            n += share[p] > 0
        for i in range(n):
            after.order[j, to + i] = spare[i]


@inner
def _finish(
    groups: OpenGroups,
    g: int,
    side: int,
    share: Codes,
    number: int,
    group: Codes,
) -> None:
    """Write the number of a finished group to its rows."""
    base = groups.starts[g]
    for p in range(groups.starts[g + 1] - base):
        if share[p] > 0:
            row = groups.first[base + p] + (groups.weight[base + p] - share[p]) * side
            group[row : row + share[p]] = number


class Work(NamedTuple):
    """Working memory for walks along the columns of one group after another."""

    span: Ints
    """(3, d) the group's smallest and largest code and, for sets, its members."""
    label: Ints
    """(5, d) the label that grows during a walk: smallest code, largest code, members and cost of each
    column; then the columns in which it can still grow."""
    marks: Ints
    """For every code of every set: the last walk that met it."""
    walks: Ints
    """(1,) walks so far."""
    below: Ints
    """What the label of the first t + 1 pieces costs, from below."""
    above: Ints
    """The same from above."""
    width: Ints
    """(d,) what each column of the group's own label costs; -1 once the column has been looked at."""


@kernel
def work_for(groups: OpenGroups, costs: Costs, numbers: Ints, begin: int, end: int) -> Work:
    """Working memory for the groups numbers[begin:end]."""
    d = groups.codes.shape[1]
    longest = 0
    for i in range(begin, end):
        longest = max(longest, groups.starts[numbers[i] + 1] - groups.starts[numbers[i]])
    return Work(
        np.empty((3, d), np.int64),
        np.empty((5, d), np.int64),
        np.full(costs.seen[d], -1, np.int64),
        np.zeros(1, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(d, np.int64),
    )


@inner
def measure_group(groups: OpenGroups, costs: Costs, g: int, work: Work) -> None:
    """Fill in the span and the label cost of a group, column by column."""
    work.walks[0] += 1
    tag, seen = work.walks[0], work.marks
    for j in range(groups.codes.shape[1]):
        low, high, members = NEVER, -1, 0
        base = costs.seen[j]
        is_set = costs.kind[j] == SET
        for at in range(groups.starts[g], groups.starts[g + 1]):
            code = groups.codes[at, j]
            low = min(low, code)
            high = max(high, code)
            if is_set and seen[base + code] != tag:
                seen[base + code] = tag
                members += 1
        work.span[0, j] = low
        work.span[1, j] = high
        work.span[2, j] = members
        work.width[j] = label_cost(costs, j, low, high, members)


@kernel
def widths(
    groups: OpenGroups, costs: Costs, numbers: Ints, begin: int, end: int, out: Ints
) -> None:
    """out[i] (d,): what each column of the own label of the group numbers[i] costs."""
    work = work_for(groups, costs, numbers, begin, begin)
    for i in range(begin, end):
        measure_group(groups, costs, numbers[i], work)
        out[i] = work.width


@inner
def scan(
    groups: OpenGroups,
    costs: Costs,
    g: int,
    column: int,
    backward: bool,
    until: int,
    limit: int,
    work: Work,
) -> int:
    """Walk at most `until` pieces along a column, from below or from above, growing a label.

    Fills work.below or work.above. The loss of a cut is rows x label cost, summed over both sides. The
    spans of the columns grow along the walk; a column whose span has reached that of the whole group
    cannot change any more and drops out, so on large groups a walk is little more than one pass.

    A cut further on can only lose more on this side: the walk ends where that alone exceeds `limit`.
    Returns how many pieces were walked.
    """
    base, size = groups.starts[g], groups.starts[g + 1] - groups.starts[g]
    span, label, seen = work.span, work.label, work.marks
    running = work.above if backward else work.below
    low, high, members, cost, active = label[0], label[1], label[2], label[3], label[4]
    work.walks[0] += 1
    tag = work.walks[0]
    n_active = 0
    for j in range(groups.codes.shape[1]):
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
        p = base + groups.order[column, base + (size - 1 - t if backward else t)]
        a = 0
        while a < n_active:
            j = active[a]
            code = groups.codes[p, j]
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
        rows += groups.weight[p]
        # of the last piece perhaps only a part is on this side: it is not judged here
        if t < until - 1 and rows * total > limit:
            return t + 1
    return until


@inner
def boundary_losses(
    groups: OpenGroups,
    costs: Costs,
    g: int,
    column: int,
    least: int,
    limit: int,
    work: Work,
    loss: Ints,
) -> tuple[int, int]:
    """Losses of the cuts along a column, as far as they may be `limit` or less.

    loss[t] is the loss of cutting after the first t + 1 pieces, or NEVER where equal codes would be
    split or a side would have fewer than `least` rows. Returns the first and one past the last t filled
    in.
    """
    base, size = groups.starts[g], groups.starts[g + 1] - groups.starts[g]
    end = min(size - 1, scan(groups, costs, g, column, truth(False), size, limit, work))
    walked = scan(groups, costs, g, column, truth(True), size, limit, work)
    begin = max(0, size - 1 - walked)
    below, above = work.below, work.above
    rows = 0
    for t in range(end):
        p = base + groups.order[column, base + t]
        q = base + groups.order[column, base + t + 1]
        rows += groups.weight[p]
        loss[t] = NEVER
        rest = groups.rows[g] - rows
        if (
            t >= begin
            and groups.codes[p, column] != groups.codes[q, column]
            and rows >= least
            and rest >= least
        ):
            loss[t] = rows * below[t] + rest * above[size - 2 - t]
    return begin, end


@kernel
def best_boundaries(
    groups: OpenGroups,
    costs: Costs,
    numbers: Ints,
    least: Ints,
    begin: int,
    end: int,
    column: Ints,
    position: Ints,
) -> None:
    """The boundary with the least loss of each of the groups numbers[begin:end], both sides having at
    least least[i] rows; ties go to the first column, then to the lowest boundary; -1 for none."""
    work = work_for(groups, costs, numbers, begin, end)
    loss = np.empty_like(work.below)
    for i in range(begin, end):
        g = numbers[i]
        measure_group(groups, costs, g, work)
        best = number(NEVER)
        column[i] = position[i] = -1
        for _ in range(len(work.width)):
            # a cut of the widest column is often the best: the others are then given up early
            j = int(np.argmax(work.width))
            if work.width[j] < 0:
                break
            work.width[j] = -1
            if work.span[0, j] == work.span[1, j]:
                continue
            first, last = boundary_losses(groups, costs, g, j, least[i], best, work, loss)
            for t in range(first, last):
                if loss[t] < best or (loss[t] == best and best != NEVER and j < column[i]):
                    best = loss[t]
                    column[i] = j
                    position[i] = t + 1


@kernel
def count_boundaries(groups: OpenGroups, numbers: Ints, least: Ints) -> Ints:
    """(n,) how many boundaries each of some groups has."""
    counts = np.zeros(len(numbers), np.int64)
    for i in range(len(numbers)):
        g = numbers[i]
        base = groups.starts[g]
        for j in range(groups.codes.shape[1]):
            rows = 0
            for t in range(base, groups.starts[g + 1] - 1):
                p, q = base + groups.order[j, t], base + groups.order[j, t + 1]
                rows += groups.weight[p]
                if groups.codes[p, j] != groups.codes[q, j] and rows >= least[i]:
                    counts[i] += groups.rows[g] - rows >= least[i]
    return counts


@kernel
def rank_boundaries(
    groups: OpenGroups,
    costs: Costs,
    numbers: Ints,
    least: Ints,
    starts: Ints,
    begin: int,
    end: int,
    column: Codes,
    position: Codes,
) -> None:
    """All boundaries of the groups numbers[begin:end] by rising loss, then column, then position; those
    of numbers[i] go to starts[i]..starts[i+1]."""
    work = work_for(groups, costs, numbers, begin, end)
    loss = np.empty_like(work.below)
    for i in range(begin, end):
        g = numbers[i]
        measure_group(groups, costs, g, work)
        found = np.empty(starts[i + 1] - starts[i], np.int64)
        at = starts[i]
        for j in range(len(work.width)):
            if work.span[0, j] == work.span[1, j]:
                continue
            first, last = boundary_losses(
                groups, costs, g, number(j), least[i], number(NEVER), work, loss
            )
            for t in range(first, last):
                if loss[t] != NEVER:
                    found[at - starts[i]] = loss[t]
                    column[at] = j
                    position[at] = t + 1
                    at += 1
        order = np.argsort(found, kind="mergesort")
        column[starts[i] : at] = column[starts[i] : at][order]
        position[starts[i] : at] = position[starts[i] : at][order]


@inner
def place_cut(groups: OpenGroups, g: int, column: int, below: int) -> tuple[int, int]:
    """Position and extra rows that put exactly `below` rows below."""
    base = groups.starts[g]
    order = groups.order[row_of(groups, column)]
    t = 0
    while True:
        weight = groups.weight[base + order[base + t]]
        if weight > below:
            return t, below
        below -= weight
        t += 1
        if below == 0:
            return t, 0


@kernel
def sized_cuts(groups: OpenGroups, numbers: Ints, below: Ints, cuts: Cuts) -> None:
    """Fill in where to cut so that the group numbers[i] has below[i] rows below, along its column."""
    for i in range(len(numbers)):
        if cuts.column[i] >= 0:
            cuts.position[i], cuts.extra[i] = place_cut(
                groups, numbers[i], cuts.column[i], below[i]
            )


@kernel
def sized_losses(
    groups: OpenGroups,
    costs: Costs,
    numbers: Ints,
    below: Ints,
    every: bool,
    begin: int,
    end: int,
    out: Ints,
) -> None:
    """out[i] (d,): loss of cutting the group numbers[i] along each column with below[i] rows below.
    Unless `every` loss is wanted, those above the least may be NEVER."""
    work = work_for(groups, costs, numbers, begin, end)
    for i in range(begin, end):
        g = numbers[i]
        measure_group(groups, costs, g, work)
        size = groups.starts[g + 1] - groups.starts[g]
        limit = number(NEVER)
        for _ in range(len(work.width)):
            # a cut of the widest column is often the best: the others are then given up early
            j = int(np.argmax(work.width))
            work.width[j] = -1
            out[i, j] = NEVER
            t, extra = place_cut(groups, g, j, below[i])
            n = t + (1 if extra > 0 else 0)
            if scan(groups, costs, g, j, truth(False), n, limit, work) < n:
                continue
            under = below[i] * work.below[n - 1]
            n, left = size - t, limit - under if limit != NEVER else NEVER
            if scan(groups, costs, g, j, truth(True), n, left, work) < n:
                continue
            out[i, j] = under + (groups.rows[g] - below[i]) * work.above[n - 1]
            if not every:
                limit = min(limit, out[i, j])


@kernel
def middle_boundaries(groups: OpenGroups, numbers: Ints, least: int, cuts: Cuts) -> None:
    """Fill in the boundary nearest to the middle of the group numbers[i] along its column (the lower of
    two), or -1 when a side would have fewer than `least` rows."""
    for i in range(len(numbers)):
        cuts.position[i] = -1
        if cuts.column[i] < 0:
            continue
        g, j = numbers[i], cuts.column[i]
        base = groups.starts[g]
        order = groups.order[row_of(groups, j)]
        rows, nearest, taken = 0, NEVER, 0
        for t in range(groups.starts[g + 1] - base - 1):
            p = base + order[base + t]
            rows += groups.weight[p]
            far = abs(2 * rows - groups.rows[g])
            q = base + order[base + t + 1]
            if groups.codes[p, j] != groups.codes[q, j] and far < nearest:
                nearest, taken = far, rows
                cuts.position[i] = t + 1
        if taken < least or groups.rows[g] - taken < least:
            cuts.position[i] = -1


@kernel
def median_boundaries(groups: OpenGroups, numbers: Ints, least: int, cuts: Cuts) -> None:
    """Fill in the boundary right above the median of the group numbers[i] along its column (of two
    medians the lower), or -1 when a side would have fewer than `least` rows."""
    for i in range(len(numbers)):
        cuts.position[i] = -1
        if cuts.column[i] < 0:
            continue
        g, j = numbers[i], cuts.column[i]
        base = groups.starts[g]
        order = groups.order[row_of(groups, j)]
        rows = 0
        for t in range(groups.starts[g + 1] - base - 1):
            p, q = base + order[base + t], base + order[base + t + 1]
            rows += groups.weight[p]
            if 2 * rows >= groups.rows[g] and groups.codes[p, j] != groups.codes[q, j]:
                if rows >= least and groups.rows[g] - rows >= least:
                    cuts.position[i] = t + 1
                break


@kernel
def leaf_of_rows(
    rows: Ints,
    column: Ints,
    code: Ints,
    below: Ints,
    last: Ints,
    lasts: Ints,
) -> Ints:
    """(n,) the node of a tree of cuts that each row ends in.

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
