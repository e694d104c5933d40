"""Refinement of groups: rows change their groups where labels then lose less.

A block of rows keeps, for every row, what the label of its group covers without it, so the cost of an
exchange is read from a table, column by column. All costs are whole numbers.

Changes are made at once. Where a requirement has to be asked as well, every group is changed once at
most until `take_back` has undone what was refused.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.kernels.jit import in_place, inlined, inner, mix, number, truth

NO_NEGATIVE_INDEX = True
"""See `kernels/lowering.py`."""
RANGE, SET, TREE, TABLE = 0, 1, 2, 3
"""How the loss of a label is found; TABLE: by its smallest and largest code."""
NONE = -1
REACH = 8
"""Rows on either side that a row is compared with."""
MOST_LOOKED = 32
"""Rows of a group that a row may change places with."""
DRAWS = 4096
"""Different draws of what an increase of the loss may be."""
MOVE, SWAP, CHAIN, DISSOLVE, SPLIT, RECUT, FORM = 0, 1, 2, 3, 4, 5, 6
KINDS = 7
MERGED = 6
"""Two groups are cut anew where they have fewer rows than so many times the fewest."""
FAR = int(np.iinfo(np.int64).max) >> 2
"""More than any loss."""
LOWEST, HIGHEST = int(np.iinfo(np.int32).min), int(np.iinfo(np.int32).max)
COLLECT, RELABEL, TAKE_BACK, EXCHANGE, JUDGE = 7, 8, 9, 10, 11
"""What else a block is asked to do."""
SPOTS = 1 << 32
"""More than there are rows of a block."""
NUMBER = 0
"""Places in `Block.log_end`: changes that wait for the requirement; and rows in them."""
ROWS = 1


class Losses(NamedTuple):
    """Per column, how the loss of a label is found."""

    how: Ints
    """(d,) RANGE, SET, TREE or TABLE."""
    size: Ints
    """(d,) number of codes."""
    base: Ints
    """(d,) where the column's part of `loss` begins."""
    loss: Ints
    """TABLE: the loss of a label, at low * size + high. RANGE: the place of each code. SET: the loss of
    0..size members. TREE: the loss of the node above a code, at level * size + code."""
    most: Ints
    """(d,) RANGE: the most that a label can lose."""
    levels: Ints
    """(d,) TREE: rows of its matrix."""
    node_base: Ints
    """(d,) where the column's part of `node` begins."""
    node: Codes
    """TREE: the node above a code, laid out like its loss."""
    seen: Ints
    """(d + 1,) SET: where the column's members begin, where they are marked or counted."""


class Block(NamedTuple):
    """Some rows and their groups. A label has a number: that of a row for the label of its group without
    it, n + g for the label of group g."""

    codes: Codes
    """(n, d) the codes of each row."""
    losses: Losses
    """What labels lose."""
    values: Codes
    """(n, sensitive columns) the values of each row, numbered through all columns; NONE if missing."""
    required: Ints
    """(sensitive columns,) the different values that a group must have at least, for `judge_values`."""
    group: Codes
    """(n,) the group of each row."""
    head: Codes
    """(g,) a row of each group, or NONE."""
    after: Codes
    """(n,) the next row of the group, or NONE."""
    before: Codes
    """(n,) the row before it, or NONE."""
    rows: Ints
    """(g,) how many rows each group has."""
    low: Codes
    """(n + g, d) the smallest code of each label. SET: the number of members."""
    high: Codes
    """(n + g, d) the largest code of each label. SET: 1 if the row alone has its value in the group."""
    cost: Ints
    """(n + g,) the loss of each label."""
    thin: Ints
    """(g,) the loss of each group without the row whose leaving makes it least."""
    bits: Ints
    """(g, words) SET: the members, a bit for each."""
    near: Codes
    """(n,) the group to which the row added least when it was last looked at, or NONE."""
    added: Ints
    """(n,) what it added there."""
    members: Codes
    """(n,) room: the rows of a group."""
    seen: Ints
    """Room: how often a group has each member of each SET, at costs.seen + code."""
    sums: Ints
    """(3, n + 1) room: what the labels of the first rows of a group lose, from either end."""
    listed: Codes
    """(n,) room, at least 4 * REACH: rows of one or two groups, or groups and a row of each."""
    met: Ints
    """(values + 1,) room: when each value was met last, and in the end the time: that counts groups."""
    spots: Ints
    """(g + 1,) room: what was last counted of each group, above the time in the end: that counts rows
    by SPOTS."""
    changed: Bools
    """(g,) whether a group was changed, and the requirement not asked since."""
    log: Codes
    """(3, rows) for each row of a change that waits for the requirement: the change, the row, and the
    group that it came from."""
    log_end: Ints
    """(2,) how many changes wait, and how many rows they have."""
    used: Ints
    """(KINDS,) how many changes of each kind were made, whether or not they were taken back."""


@inner
def wide_loss(losses: Losses, j: int, low: int, high: int) -> int:
    """The loss of a label of a column without a table of its labels."""
    if low == high:
        return 0
    at = losses.base[j]
    if losses.how[j] == RANGE:
        return min(losses.most[j], losses.loss[at + high] - losses.loss[at + low])
    node, size = losses.node_base[j], losses.size[j]
    for _ in range(losses.levels[j]):
        if losses.node[node + low] == losses.node[node + high]:
            return losses.loss[at + low]
        at += size
        node += size
    return losses.most[j]


@inlined
def joined(
    codes: Codes,
    group: Codes,
    lows: Codes,
    highs: Codes,
    bits: Ints,
    losses: Losses,
    hows: Ints,
    sizes: Ints,
    bases: Ints,
    loss: Ints,
    label: int,
    row: int,
    limit: int,
) -> int:
    """The loss of a label that covers one more row; any number from `limit` on where it is that much.

    Arrays by their own names: reaching into tuples inside the loop costs more than the work.
    """
    total = 0
    for j in range(len(hows)):
        code = codes[row, j]
        if hows[j] == TABLE:
            low, high = min(lows[label, j], code), max(highs[label, j], code)
            total += loss[bases[j] + low * sizes[j] + high]
        elif hows[j] == SET:
            g = label - len(group) if label >= len(group) else group[label]
            at = losses.seen[j] + code
            is_member = (bits[g, at >> 6] >> (at & 63)) & 1 == 1
            if is_member and highs[label, j] == 1 and codes[label, j] == code:
                is_member = False
            total += loss[bases[j] + lows[label, j] + (0 if is_member else 1)]
        else:
            low, high = min(lows[label, j], code), max(highs[label, j], code)
            total += wide_loss(losses, number(j), number(low), number(high))
        if total >= limit:
            break
    return total


@inner
def span_loss(losses: Losses, j: int, low: int, high: int) -> int:
    """The loss of a label of a column that is no SET."""
    if losses.how[j] == TABLE:
        return losses.loss[losses.base[j] + low * losses.size[j] + high]
    return wide_loss(losses, j, low, high)


@inner
def relabel(block: Block, g: int) -> None:
    """Find the label of a group, and those without each of its rows."""
    n, size = len(block.group), block.rows[g]
    if size == 0:
        return
    codes, members, cost, losses = block.codes, block.members, block.cost, block.losses
    lows, highs = block.low, block.high
    row = block.head[g]
    for e in range(size):
        members[e] = row
        cost[row] = 0
        row = block.after[row]
    block.bits[g] = 0
    total = 0
    for j in range(len(losses.how)):
        if losses.how[j] == SET:
            total += relabel_set(block, g, number(j))
            continue
        # the two smallest and the two largest codes
        low, next_low, high, next_high = HIGHEST, HIGHEST, LOWEST, LOWEST
        for e in range(size):
            code = codes[members[e], j]
            if code < low:
                low, next_low = code, low
            elif code < next_low:
                next_low = code
            if code > high:
                high, next_high = code, high
            elif code > next_high:
                next_high = code
        lows[n + g, j], highs[n + g, j] = low, high
        wide = span_loss(losses, number(j), number(low), number(high))
        total += wide
        if low == high:
            for e in range(size):
                row = members[e]
                lows[row, j] = highs[row, j] = low
                cost[row] += wide
            continue
        no_low = span_loss(losses, number(j), number(next_low), number(high))
        no_high = span_loss(losses, number(j), number(low), number(next_high))
        for e in range(size):
            row = members[e]
            code = codes[row, j]
            lows[row, j] = next_low if code == low else low
            highs[row, j] = next_high if code == high else high
            cost[row] += no_low if code == low else no_high if code == high else wide
    cost[n + g] = total
    thin = total
    for e in range(size):
        thin = min(thin, cost[members[e]])
    block.thin[g] = thin


@inner
def relabel_set(block: Block, g: int, j: int) -> int:
    """Do this for a column of sets, and add what it loses to the rows listed; what the group loses."""
    n, size, members, seen = len(block.group), block.rows[g], block.members, block.seen
    base, first, distinct = block.losses.base[j], block.losses.seen[j], 0
    for e in range(size):
        at = first + block.codes[members[e], j]
        seen[at] += 1
        if seen[at] == 1:
            distinct += 1
            block.bits[g, at >> 6] |= 1 << (at & 63)
    wide, thin = block.losses.loss[base + distinct], block.losses.loss[base + distinct - 1]
    block.low[n + g, j], block.high[n + g, j] = distinct, 0
    for e in range(size):
        row = members[e]
        sole = seen[first + block.codes[row, j]] == 1
        block.high[row, j] = 1 if sole else 0
        block.low[row, j] = distinct - 1 if sole else distinct
        block.cost[row] += thin if sole else wide
    for e in range(size):  # the room is left as it was found
        seen[first + block.codes[members[e], j]] = 0
    return wide


@inner
def put(block: Block, row: int, to: int) -> None:
    """Move a row from its group to another; labels are not found anew."""
    g = block.group[row]
    ahead, behind = block.before[row], block.after[row]
    if ahead == NONE:
        block.head[g] = behind
    else:
        block.after[ahead] = behind
    if behind != NONE:
        block.before[behind] = ahead
    block.rows[g] -= 1
    first = block.head[to]
    block.after[row], block.before[row] = first, NONE
    if first != NONE:
        block.before[first] = row
    block.head[to] = row
    block.group[row] = to
    block.rows[to] += 1


@inner
def note(block: Block, row: int) -> None:
    """Remember where a row of the current change comes from."""
    at = block.log_end[ROWS]
    block.log[0, at] = block.log_end[NUMBER]
    block.log[1, at] = row
    block.log[2, at] = block.group[row]
    block.log_end[ROWS] += 1


@inner
def _collect(block: Block, order: Codes) -> None:
    """List the rows of every group in this order."""
    block.head[:] = NONE
    for i in range(len(order) - 1, -1, -1):
        row = order[i]
        first = block.head[block.group[row]]
        block.after[row], block.before[row] = first, NONE
        if first != NONE:
            block.before[first] = row
        block.head[block.group[row]] = row


@inner
def _relabel_all(block: Block) -> None:
    """Find all labels."""
    for g in range(len(block.rows)):
        relabel(block, number(g))


@inner
def _exchange(
    block: Block,
    order: Codes,
    place: Codes,
    begin: int,
    least: int,
    allowed: Ints,
    seed: np.uint64,
    judged: bool,
    most: int,
) -> int:
    """Look at the rows from place `begin` of an order on: a row moves to another group, changes places
    with a row there, or leaves its place to it and goes to a third one. The best change is made if it
    raises the loss by less than is drawn. Rows whose group loses nothing can win nothing, and are only
    looked at from others.

    place: (n,) where each row is in the order. allowed: (DRAWS,) by how much the loss may rise, or less.
    judged: every group changes once at most, and the pass ends after `most` changes. Returns the place
    where it ended.
    """
    n = len(order)
    group, rows, cost = block.group, block.rows, block.cost
    codes, lows, highs, bits, losses = block.codes, block.low, block.high, block.bits, block.losses
    hows, sizes, bases, loss = losses.how, losses.size, losses.base, losses.loss
    changed, thin, spots = block.changed, block.thin, block.spots
    # groups of neighbours; and at 2 * REACH the neighbour, or NONE where there are several
    known = block.listed
    for i in range(begin, n):
        if judged and block.log_end[NUMBER] >= most:
            return i
        row = order[i]
        g = group[row]
        if changed[g] or cost[n + g] == 0:
            continue
        here, size = cost[n + g], rows[g]
        limit = allowed[mix(seed, np.uint64(i)) % np.uint64(DRAWS)]
        best, kind, other, to = limit, NONE, NONE, NONE
        leaves = (size - 1) * cost[row] - size * here
        # where the row adds least, and where it does without the first
        first, second, at_first, at_second = FAR, FAR, NONE, NONE
        n_known = 0
        spots[len(rows)] += SPOTS
        now = spots[len(rows)]
        for step in range(1, 2 * REACH + 1):
            other_place = i + (step + 1) // 2 if step % 2 else i - step // 2
            if other_place < 0 or other_place >= n:
                continue
            h = group[order[other_place]]
            if h == g or changed[h]:
                continue
            if spots[h] >= now:
                known[2 * REACH + spots[h] - now] = NONE
                continue
            spots[h] = now + n_known
            known[n_known], known[2 * REACH + n_known] = h, order[other_place]
            n_known += 1
            wide = cost[n + h]
            if wide >= second:
                continue  # it adds at least that much
            bound = (second + rows[h] * wide) // (rows[h] + 1) + 1
            adds = (rows[h] + 1) * joined(
                codes,
                group,
                lows,
                highs,
                bits,
                losses,
                hows,
                sizes,
                bases,
                loss,
                number(n + h),
                number(row),
                number(bound),
            ) - rows[h] * wide
            if adds < first:
                second, at_second, first, at_first = first, at_first, adds, h
            elif adds < second:
                second, at_second = adds, h
        block.near[row], block.added[row] = at_first, first
        if size > least and at_first != NONE and leaves + first < best:
            best, kind, to = leaves + first, MOVE, at_first
        for e in range(n_known):
            h = known[e]
            there = rows[h] * cost[n + h]
            third, at_third = (first, at_first) if at_first != h else (second, at_second)
            may_chain = rows[h] > least and at_third != NONE
            mine_at_least = size * (cost[row] - here) - there
            at_least = mine_at_least + rows[h] * thin[h]
            if may_chain:
                at_least = min(at_least, mine_at_least + (rows[h] - 1) * thin[h] + third)
            if at_least >= best:
                continue
            s, looked, most_looked = block.head[h], 0, MOST_LOOKED
            if judged and rows[h] <= MOST_LOOKED and known[2 * REACH + e] != NONE:
                s, most_looked = known[2 * REACH + e], 1  # the only one that is not too far away
            while s != NONE and looked < most_looked:
                # what the changes cost at least, with both groups as narrow as they can be
                swaps, chains = mine_at_least + rows[h] * cost[s], FAR
                if may_chain:
                    chains = mine_at_least + (rows[h] - 1) * cost[s] + third
                at_least, their = min(swaps, chains), s
                s, looked = block.after[s], looked + 1
                if at_least >= best:
                    continue
                # changes with rows further away are refused more often
                if judged and abs(place[their] - i) > REACH:
                    continue
                bound = cost[row] + (best - at_least) // size + 1
                mine = joined(
                    codes,
                    group,
                    lows,
                    highs,
                    bits,
                    losses,
                    hows,
                    sizes,
                    bases,
                    loss,
                    number(row),
                    number(their),
                    number(bound),
                )
                wider = size * (mine - cost[row])
                if chains + wider < best:
                    best, kind, other, to = chains + wider, CHAIN, their, at_third
                swaps += wider
                if swaps < best:
                    bound = cost[their] + (best - swaps) // rows[h] + 1
                    theirs = joined(
                        codes,
                        group,
                        lows,
                        highs,
                        bits,
                        losses,
                        hows,
                        sizes,
                        bases,
                        loss,
                        number(their),
                        number(row),
                        number(bound),
                    )
                    swaps += rows[h] * (theirs - cost[their])
                    if swaps < best:
                        best, kind, other, to = swaps, SWAP, their, h
        if kind == NONE:
            continue
        block.used[kind] += 1
        left = group[other] if kind == CHAIN else to
        if judged:
            note(block, number(row))
            if kind != MOVE:
                note(block, number(other))
            block.changed[g] = block.changed[to] = block.changed[left] = True
            block.log_end[NUMBER] += 1
        put(block, number(row), number(to))
        if kind != MOVE:
            put(block, number(other), number(g))
        if left != to:
            relabel(block, number(left))
        relabel(block, number(to))
        relabel(block, number(g))
    return n


@inner
def joined_loss(block: Block, label: int, row: int, limit: int) -> int:
    """The loss of a label that covers one more row; any number from `limit` on where it is that much."""
    losses = block.losses
    return joined(
        block.codes, block.group, block.low, block.high, block.bits, losses,
        losses.how, losses.size, losses.base, losses.loss,
        label, row, limit,
    )  # fmt: skip


@inner
def _dissolve(block: Block, allowed: Ints, seed: np.uint64, judged: bool, most: int) -> None:
    """Take groups apart whose rows lose less in the groups that were last found to be near."""
    n = len(block.group)
    rows, cost = block.rows, block.cost
    for g in range(len(rows)):
        if rows[g] == 0 or block.changed[g]:
            continue
        if judged and block.log_end[NUMBER] >= most:
            return
        now = rows[g] * cost[n + g] + allowed[mix(seed, np.uint64(g)) % np.uint64(DRAWS)]
        adds, fits, taken = 0, True, 0
        row = block.head[g]
        while row != NONE and fits:
            adds += block.added[row]
            h = block.near[row]
            fits = h != NONE and h != g and rows[h] > 0 and not block.changed[h] and adds < now
            row = block.after[row]
        if not fits:
            continue
        # one row after the other: several may widen the same group
        adds, begin = 0, block.log_end[ROWS]
        row = block.head[g]
        while row != NONE:
            after, h = block.after[row], block.near[row]
            wide = joined_loss(block, number(n + h), number(row), number(FAR))
            adds += (rows[h] + 1) * wide - rows[h] * cost[n + h]
            if adds >= now:
                break
            note(block, number(row))
            taken += 1
            put(block, number(row), number(h))
            relabel(block, number(h))
            row = after
        if rows[g] > 0:
            for at in range(begin, begin + taken):
                row = block.log[1, at]
                h = block.group[row]
                put(block, number(row), number(g))
                relabel(block, number(h))
            relabel(block, number(g))
            block.log_end[ROWS] = begin
            continue
        block.used[DISSOLVE] += 1
        if judged:
            block.changed[g] = True
            for at in range(begin, begin + taken):
                block.changed[block.group[block.log[1, at]]] = True
            block.log_end[NUMBER] += 1
        else:
            block.log_end[ROWS] = begin


@inner
def transfer(block: Block, row: int, to: int) -> int:
    """Move a row to another group; by how much the loss of both changes."""
    n, g = len(block.group), block.group[row]
    rows, cost = block.rows, block.cost
    before = rows[g] * cost[n + g] + rows[to] * cost[n + to]
    note(block, row)
    put(block, row, to)
    relabel(block, number(g))
    relabel(block, number(to))
    return rows[g] * cost[n + g] + rows[to] * cost[n + to] - before


@inner
def gather_near(block: Block, order: Codes, i: int, free: int, least: int, limit: int) -> int:
    """List `least` neighbours of the row at place i that lose least together, from its own group and
    from groups with rows to spare. Returns what the loss changes at most, without that of its own
    group; or a number from `limit` on where it is that much."""
    n, row = len(order), order[i]
    group, rows, cost, listed = block.group, block.rows, block.cost, block.listed
    g, reach = group[row], max(2 * REACH, least)
    listed[0] = row
    widen_label(block, number(free), number(row), truth(True))
    # the neighbours that may be taken, what changes where they leave, and what the new group loses with
    # them at least: it only grows wider
    near, leaving, joint, n_near = block.sums[0], block.sums[1], block.sums[2], 0
    saves, spare = 0, 0  # no row that leaves saves more; so many may leave
    spots = block.spots
    spots[len(rows)] += SPOTS
    now = spots[len(rows)]
    for step in range(1, 2 * reach + 1):
        place = i + (step + 1) // 2 if step % 2 else i - step // 2
        if place < 0 or place >= n:
            continue
        s = order[place]
        h = group[s]
        if block.changed[h] or (h != g and rows[h] <= least):
            continue
        near[n_near] = s
        leaving[n_near] = -cost[n + h]
        joint[n_near] = 0
        if h != g:
            leaving[n_near] = (rows[h] - 1) * cost[s] - rows[h] * cost[n + h]
            saves = max(max(saves, cost[n + h]), -leaving[n_near])
            spots[h] = max(spots[h], now)
            spare += 1 if spots[h] - now < rows[h] - least else 0
            spots[h] += 1
        else:
            spare += 1
        n_near += 1
    if spare < least - 1:
        return limit
    mine, left = 0, 0
    for size in range(1, least):
        if least * mine + left - (least - size) * saves >= limit:
            return limit
        best, at_best, wide = FAR, NONE, 0
        for e in range(n_near):
            if leaving[e] == FAR:
                continue
            if best - leaving[e] <= (joint[e] - mine) * least:
                continue
            bound = mine + (best - leaving[e] - 1) // least + 1
            joint[e] = joined_loss(block, number(n + free), number(near[e]), number(bound))
            if joint[e] < bound:
                best, at_best, wide = least * (joint[e] - mine) + leaving[e], e, joint[e]
        if at_best == NONE:
            return limit
        row = near[at_best]
        h = group[row]
        listed[size] = row
        widen_label(block, number(free), number(row), truth(False))
        mine = wide
        if h == g:
            leaving[at_best] = FAR
            continue
        left += leaving[at_best]
        leaving[at_best] = FAR
        taken = 0
        for e in range(size + 1):
            taken += 1 if group[listed[e]] == h else 0
        for e in range(n_near):
            if group[near[e]] == h and leaving[e] != FAR:
                leaving[e] = FAR if rows[h] - taken <= least else -cost[n + h]
    return least * mine + left


@inner
def widen_label(block: Block, g: int, row: int, first: bool) -> None:
    """Let the label of a group without rows cover one more row, or the first one."""
    n, how, seen_of = len(block.group), block.losses.how, block.losses.seen
    if first:
        block.bits[g] = 0
    for j in range(len(how)):
        code = block.codes[row, j]
        if how[j] == SET:
            at = seen_of[j] + code
            if first:
                block.low[n + g, j] = block.high[n + g, j] = 0
            if (block.bits[g, at >> 6] >> (at & 63)) & 1 == 0:
                block.bits[g, at >> 6] |= 1 << (at & 63)
                block.low[n + g, j] += 1
        else:
            block.low[n + g, j] = code if first else min(block.low[n + g, j], code)
            block.high[n + g, j] = code if first else max(block.high[n + g, j], code)


@inner
def stranded(block: Block, place: Codes, i: int, row: int, least: int) -> int:
    """What it costs to move those rows of a group that are no neighbours of its row at place i to the
    groups that were last found to be near; FAR where one of them has none."""
    group, rows = block.group, block.rows
    g, reach, total = group[row], max(2 * REACH, least), 0
    s = block.head[g]
    while s != NONE:
        if abs(place[s] - i) > reach:
            h = block.near[s]
            if not (h != NONE and h != g and rows[h] > 0 and not block.changed[h]):
                return FAR
            total += block.added[s]
        s = block.after[s]
    return total


@inner
def _form(
    block: Block,
    order: Codes,
    place: Codes,
    least: int,
    allowed: Ints,
    seed: np.uint64,
    judged: bool,
    most: int,
) -> None:
    """Form new groups around rows that lose more than the average: of neighbours, from groups with
    rows to spare. Where too few rows are left in the row's own group, they go to the groups that were
    last found to be near.

    place: (n,) where each row is in the order.
    """
    n = len(order)
    group, rows, cost, changed, log_end = (
        block.group,
        block.rows,
        block.cost,
        block.changed,
        block.log_end,
    )
    bar, free = 0, 0
    for g in range(len(rows)):
        bar += rows[g] * cost[n + g]
    for i in range(n):
        if judged and log_end[NUMBER] >= most:
            return
        g = group[order[i]]
        if changed[g] or n * cost[n + g] <= bar:
            continue
        while free < len(rows) and (rows[free] > 0 or changed[free]):
            free += 1
        if free == len(rows):
            return
        limit = allowed[mix(seed, np.uint64(i)) % np.uint64(DRAWS)]
        bound = limit + rows[g] * cost[n + g]
        if rows[g] == least:
            bound -= stranded(block, place, number(i), number(order[i]), least)
        change = gather_near(block, order, number(i), number(free), least, number(bound))
        if change >= bound:
            continue
        mine = 0
        for e in range(least):
            mine += 1 if group[block.listed[e]] == g else 0
        if rows[g] - mine >= least:
            change -= mine * cost[n + g]
        else:
            change -= rows[g] * cost[n + g]
            row = block.head[g]
            while row != NONE and change < limit:
                is_left = True
                for e in range(least):
                    is_left &= block.listed[e] != row
                if is_left:
                    h = block.near[row]
                    change += block.added[row]
                    if not (h != NONE and h != g and rows[h] > 0 and not changed[h]):
                        change = limit
                row = block.after[row]
        if change >= limit:
            continue
        begin, change = log_end[ROWS], 0
        for e in range(least):
            change += transfer(block, number(block.listed[e]), number(free))
        if rows[g] < least:
            while rows[g] > 0:
                row = block.head[g]
                change += transfer(block, number(row), number(block.near[row]))
        end = log_end[ROWS]
        if change >= limit:
            for e in range(begin, end):
                row, h = block.log[1, e], group[block.log[1, e]]
                put(block, number(row), number(block.log[2, e]))
                relabel(block, number(h))
                relabel(block, number(block.log[2, e]))
            log_end[ROWS] = begin
            continue
        block.used[FORM] += 1
        if judged:
            for e in range(begin, end):
                changed[group[block.log[1, e]]] = changed[block.log[2, e]] = True
            log_end[NUMBER] += 1
        else:
            log_end[ROWS] = begin


@inner
def cheapest_cut(block: Block, size: int, least: int, limit: int, in_middle: bool) -> int:
    """Where the listed rows lose least when they are cut in two, with at least so many on both sides;
    NONE where they lose `limit` or more wherever they are cut.

    in_middle: of equal cuts the one nearest to the middle, otherwise the first.
    """
    codes, listed, seen, losses = block.codes, block.listed, block.seen, block.losses
    front, back = block.sums[0], block.sums[1]
    for e in range(least, size - least + 1):
        front[e] = back[e] = 0
    best, at_best = limit, NONE
    for j in range(len(losses.how)):
        base, first, is_set = losses.base[j], losses.seen[j], losses.how[j] == SET
        for side in range(2):
            sums = front if side == 0 else back
            at, step = (0, 1) if side == 0 else (size - 1, -1)
            if is_set:
                distinct = 0
                for e in range(1, size - least + 1):
                    spot = first + codes[listed[at], j]
                    at += step
                    distinct += 1 if seen[spot] == 0 else 0
                    seen[spot] = 1
                    if e >= least:
                        sums[e] += losses.loss[base + distinct]
                for e in range(size):  # the room is left as it was found
                    seen[first + codes[listed[e], j]] = 0
                continue
            low, high = HIGHEST, LOWEST
            for _ in range(least - 1):
                code = codes[listed[at], j]
                at += step
                low, high = min(low, code), max(high, code)
            for e in range(least, size - least + 1):
                code = codes[listed[at], j]
                at += step
                low, high = min(low, code), max(high, code)
                sums[e] += span_loss(losses, number(j), number(low), number(high))
        best, at_best = limit, NONE
        for e in range(least, size - least + 1):
            found = e * front[e] + (size - e) * back[size - e]
            nearer = in_middle and at_best != NONE and abs(2 * e - size) < abs(2 * at_best - size)
            if found < best or (found == best and nearer):
                best, at_best = found, e
        if at_best == NONE:
            return NONE  # other columns only add to it
    return at_best


@inner
def _recut(
    block: Block,
    order: Codes,
    place: Codes,
    tried: Codes,
    least: int,
    allowed: Ints,
    seed: np.uint64,
    judged: bool,
) -> None:
    """Merge two groups of neighbouring rows and cut them in two again, between two rows in this order,
    where that raises the loss by less than is drawn. The rows of groups are listed in this order.

    place: (n,) where each row is in the order. tried: (g,) room, NONE.
    """
    n = len(block.group)
    group, rows, cost, changed = block.group, block.rows, block.cost, block.changed
    free = 0
    while free < len(rows) and (rows[free] > 0 or changed[free]):
        free += 1
    if free == len(rows):
        return
    for i in range(n - 1):
        g, h = group[order[i]], group[order[i + 1]]
        if g == h or changed[g] or changed[h] or tried[g] == h or tried[h] == g:
            continue
        tried[g], tried[h] = h, g
        now, size = rows[g] * cost[n + g] + rows[h] * cost[n + h], rows[g] + rows[h]
        if now == 0 or size > MERGED * least:
            continue
        one, other = block.head[g], block.head[h]
        for e in range(size):
            first = other == NONE or (one != NONE and place[one] < place[other])
            if first:
                block.listed[e] = one
                one = block.after[one]
            else:
                block.listed[e] = other
                other = block.after[other]
        limit = now + allowed[mix(seed, np.uint64(i)) % np.uint64(DRAWS)]
        at_best = cheapest_cut(block, number(size), least, number(limit), truth(False))
        if at_best == NONE:
            continue
        moved = False
        for e in range(size):
            row, to = block.listed[e], g if e < at_best else h
            moved |= group[row] != to
        if not moved:
            continue
        for e in range(size):
            row, to = block.listed[e], g if e < at_best else h
            if judged and group[row] != to:
                note(block, number(row))
            group[row] = to
            begins, ends = e in (0, at_best), e in (at_best - 1, size - 1)
            block.before[row] = NONE if begins else block.listed[e - 1]
            block.after[row] = NONE if ends else block.listed[e + 1]
        block.head[g], block.head[h] = block.listed[0], block.listed[at_best]
        rows[g], rows[h] = at_best, size - at_best
        relabel(block, number(g))
        relabel(block, number(h))
        block.used[RECUT] += 1
        if judged:
            changed[g] = changed[h] = True
            block.log_end[NUMBER] += 1


@inner
def _split(block: Block, least: int, judged: bool) -> int:
    """Cut groups in two where that loses nothing, between two rows in the order in which the rows of a
    group are listed; returns how many were cut."""
    n = len(block.group)
    rows, cost = block.rows, block.cost
    free, cuts = 0, 0
    g = 0
    while g < len(rows):
        size = rows[g]
        if size < 2 * least or block.changed[g]:
            g += 1
            continue
        while free < len(rows) and (rows[free] > 0 or block.changed[free]):
            free += 1
        if free == len(rows):
            return cuts
        place = block.head[g]
        for i in range(size):
            block.listed[i] = place
            place = block.after[place]
        limit = size * cost[n + g] + 1
        at_best = cheapest_cut(block, number(size), least, number(limit), truth(True))
        if at_best == NONE:
            g += 1
            continue
        place = block.head[g]
        for _ in range(at_best - 1):
            place = block.after[place]
        # the rest keeps its order
        rest = block.after[place]
        block.after[place] = NONE
        block.before[rest] = NONE
        block.head[free] = rest
        rows[g], rows[free] = at_best, size - at_best
        while rest != NONE:
            if judged:
                note(block, number(rest))
            block.group[rest] = free
            rest = block.after[rest]
        block.used[SPLIT] += 1
        cuts += 1
        relabel(block, number(g))
        relabel(block, number(free))
        if judged:
            block.changed[g] = block.changed[free] = True
            block.log_end[NUMBER] += 1
            g += 1
        elif free < g:
            g = free
    return cuts


@inner
def _take_back(block: Block, refused: Bools) -> None:
    """Undo the changes that were refused, and forget the others."""
    block.changed[:] = False
    for at in range(block.log_end[ROWS]):
        if refused[block.log[0, at]]:
            row, g = block.log[1, at], block.log[2, at]
            block.changed[block.group[row]] = block.changed[g] = True
            put(block, number(row), number(g))
    for g in range(len(block.rows)):
        if block.changed[g]:
            relabel(block, number(g))
            block.changed[g] = False
    block.log_end[:] = 0


@inner
def has_values(block: Block, g: int) -> bool:
    """Whether a group has as many different values as it must."""
    required, values, met = block.required, block.values, block.met
    clock = len(met) - 1
    for a in range(len(required)):
        met[clock] += 1
        now, lacks = met[clock], required[a]
        row = block.head[g]
        while row != NONE and lacks > 0:
            value = values[row, a]
            if value != NONE and met[value] != now:
                met[value] = now
                lacks -= 1
            row = block.after[row]
        if lacks > 0:
            return False
    return True


@inner
def _judge(block: Block, refused: Bools, least: int) -> None:
    """Take back the changes that leave a group with too few rows or values, and forget the others."""
    log, changed = block.log, block.changed
    for change in range(block.log_end[NUMBER]):
        refused[change] = False
    for at in range(block.log_end[ROWS]):
        change = log[0, at]
        for side in range(2):
            g = log[2, at] if side == 0 else block.group[log[1, at]]
            if changed[g]:
                changed[g] = False  # every group is looked at once
                if 0 < block.rows[g] < least or (
                    block.rows[g] > 0 and not has_values(block, number(g))
                ):
                    refused[change] = True
    _take_back(block, refused)


@in_place
def _work(
    block: Block,
    what: int,
    order: Codes,
    place: Codes,
    tried: Codes,
    allowed: Ints,
    refused: Bools,
    begin: int,
    least: int,
    most: int,
    seed: np.uint64,
    judged: bool,
) -> int:
    """Everything that is done with a block: as one kernel, what the parts share is compiled once."""
    if what == EXCHANGE:
        return _exchange(block, order, place, begin, least, allowed, seed, judged, most)
    if what == SPLIT:
        return _split(block, least, judged)
    if what == COLLECT:
        _collect(block, order)
    elif what == RELABEL:
        _relabel_all(block)
    elif what == RECUT:
        _recut(block, order, place, tried, least, allowed, seed, judged)
    elif what == DISSOLVE:
        _dissolve(block, allowed, seed, judged, most)
    elif what == FORM:
        _form(block, order, place, least, allowed, seed, judged, most)
    elif what == TAKE_BACK:
        _take_back(block, refused)
    elif what == JUDGE:
        _judge(block, refused, least)
    return 0


_NO_CODES, _NO_INTS, _NO_BOOLS = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.bool_)


def _do(
    block: Block,
    what: int,
    order: Codes = _NO_CODES,
    *,
    place: Codes = _NO_CODES,
    tried: Codes = _NO_CODES,
    allowed: Ints = _NO_INTS,
    refused: Bools = _NO_BOOLS,
    begin: int = 0,
    least: int = 0,
    most: int = 0,
    seed: np.uint64 | int = 0,
    judged: bool = False,
) -> int:
    numbers = number(begin), number(least), number(most), np.uint64(seed), truth(judged)
    return int(_work(block, number(what), order, place, tried, allowed, refused, *numbers))


def collect(block: Block, order: Codes) -> None:
    """List the rows of every group in this order."""
    _do(block, COLLECT, order)


def relabel_all(block: Block) -> None:
    """Find all labels."""
    _do(block, RELABEL)


def take_back(block: Block, refused: Bools) -> None:
    """Undo the changes that were refused, and forget the others."""
    _do(block, TAKE_BACK, refused=refused)


def judge_values(block: Block, refused: Bools, least: int) -> None:
    """Undo the changes that leave a group with too few rows or values, and forget the others.

    refused: (n,) room.
    """
    _do(block, JUDGE, refused=refused, least=least)


def split(block: Block, least: int, judged: bool) -> int:
    """Cut groups in two where that loses nothing; returns how many were cut. See `_split`."""
    return _do(block, SPLIT, least=least, judged=judged)


def dissolve(block: Block, allowed: Ints, seed: np.uint64, judged: bool, most: int) -> None:
    """Take groups apart whose rows lose less elsewhere. See `_dissolve`."""
    _do(block, DISSOLVE, allowed=allowed, seed=seed, judged=judged, most=most)


def form(
    block: Block,
    order: Codes,
    place: Codes,
    least: int,
    allowed: Ints,
    seed: np.uint64,
    judged: bool,
    most: int,
) -> None:
    """Form new groups around rows that lose more than the average. See `_form`."""
    _do(
        block, FORM, order,
        place=place, least=least, allowed=allowed, seed=seed, judged=judged, most=most,
    )  # fmt: skip


def recut(
    block: Block,
    order: Codes,
    place: Codes,
    tried: Codes,
    least: int,
    allowed: Ints,
    seed: np.uint64,
    judged: bool,
) -> None:
    """Merge two groups of neighbouring rows and cut them in two again. See `_recut`."""
    _do(
        block, RECUT, order,
        place=place, tried=tried, least=least, allowed=allowed, seed=seed, judged=judged,
    )  # fmt: skip


def exchange(
    block: Block,
    order: Codes,
    place: Codes,
    begin: int,
    least: int,
    allowed: Ints,
    seed: np.uint64,
    judged: bool,
    most: int,
) -> int:
    """Move and exchange the rows from place `begin` on; returns where it ended. See `_exchange`."""
    return _do(
        block, EXCHANGE, order,
        place=place, begin=begin, least=least, allowed=allowed, seed=seed, judged=judged, most=most,
    )  # fmt: skip
