"""Where a group may be cut, and what each cut would cost.

The loss of a cut is rows x label cost, summed over both sides. A scan along a column keeps the span
of every other column as it goes; a column whose span has reached the whole group's cannot change any
more and drops out of the scan, so on large groups a scan is little more than one pass.
"""

import numpy as np
import numpy.typing as npt

from shoal.kernels.costs import SET, Costs, label_cost
from shoal.kernels.front import Front, row_of
from shoal.kernels.jit import kernel, number

NEVER = np.iinfo(np.int64).max


@kernel
def group_spans(
    front: Front,
    costs: Costs,
    g: int,
    seen: npt.NDArray[np.int64],
    tag: int,
    span: npt.NDArray[np.int64],
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
def widths(front: Front, costs: Costs, begin: int, end: int, out: npt.NDArray[np.int64]) -> None:
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
    span: npt.NDArray[np.int64],
    seen: npt.NDArray[np.int64],
    tag: int,
    label: npt.NDArray[np.int64],
    running: npt.NDArray[np.int64],
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
    span: npt.NDArray[np.int64],
    seen: npt.NDArray[np.int64],
    tag: int,
    label: npt.NDArray[np.int64],
    below: npt.NDArray[np.int64],
    above: npt.NDArray[np.int64],
    loss: npt.NDArray[np.int64],
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
    least: npt.NDArray[np.int64],
    begin: int,
    end: int,
    column: npt.NDArray[np.int64],
    pieces: npt.NDArray[np.int64],
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
def count_boundaries(
    front: Front, least: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
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
    least: npt.NDArray[np.int64],
    groups: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    begin: int,
    end: int,
    column: npt.NDArray[np.int32],
    pieces: npt.NDArray[np.int32],
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
    groups: npt.NDArray[np.int64],
    column: npt.NDArray[np.int64],
    below: npt.NDArray[np.int64],
    pieces: npt.NDArray[np.int64],
    extra: npt.NDArray[np.int64],
) -> None:
    """Fill pieces and extra so that each named group has below[i] rows below, along column[i]."""
    for i in range(len(groups)):
        if column[i] >= 0:
            pieces[i], extra[i] = place_cut(front, groups[i], column[i], below[i])


@kernel
def sized_losses(
    front: Front,
    costs: Costs,
    below: npt.NDArray[np.int64],
    every: bool,
    begin: int,
    end: int,
    out: npt.NDArray[np.int64],
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
    groups: npt.NDArray[np.int64],
    column: npt.NDArray[np.int64],
    least: int,
    pieces: npt.NDArray[np.int64],
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
