"""L-clustering: grow small clusters of different sensitive values, each by the nearest row.

The distance of two clusters G and H with the labels tg and th is

    DS(G, H) = |G| L(tg, t*) + |H| L(th, t*)

where t* is the label that covers both. L(t, t*) adds up, over the columns in their order, the column's
weight times the width of t* over the width of t; columns in which t and t* are the same add nothing.
These are the distances of the paper that `LClustering` names.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Kind, empty_labels, loss_columns
from shoal.encoding.grouping import Grouping
from shoal.errors import Infeasible, PolicyError, listed, nearest
from shoal.kernels.cluster_index import (
    NONE,
    OPEN,
    RANGE,
    SET,
    SLACK,
    Columns,
    GrowingCluster,
    Label,
    RowPool,
    Trie,
    copy_label,
    empty_trie,
    has,
    insert,
    inside,
    lowest_row,
    nearest_cell,
    ones,
    remove,
    start_label,
    take,
    unite,
    visit_first,
    wanted,
    widen,
    widths_with,
)
from shoal.kernels.jit import inlined, kernel, number, truth
from shoal.methods.base import BlockMethod, Progress, QuasiColumns, check_feasible
from shoal.methods.clustering import STRIDE, growing_cluster, pool_of
from shoal.methods.k_clustering import least_lossy
from shoal.methods.people import settled
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement

MOST_VALUES = 10_000
"""A set column with more different values would take time with their square."""
CLASSES = 6
"""Labels are indexed by classes of width: 1, 2, 3-4, 5-8, 9-16 and more."""


@dataclass(frozen=True)
class LClustering(BlockMethod):
    """L-clustering: clusters grow by the nearest row with a new sensitive value, to l of them.

    Where a finished cluster is nearer than any such row, the two merge; rows that are left at the end
    join their nearest cluster. Little loss, for distinct l-diversity alone. The order in which rows
    start clusters is random: it comes from the seed.

    Source: the paper that introduces L-clustering, clustering for l-diversity without hierarchies. Its
    quadratic search is replaced by an exact index. A missing sensitive value never counts; such a row
    is left to the end, unless it brings a new value of another sensitive column.
    """

    weights: dict[str, float] | None = None
    """How much each quasi column counts in the loss, 0 or more; 1 for columns that are not named."""

    loss: Literal["ncp"] | None = None
    """`ncp` lets clusters grow by the row that adds least NCP, the loss by which releases are compared,
    as `k-clustering` does. Without it distances are the paper's, by absolute widths."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise unless the policy asks for l, and k at most as large, and the weights make sense."""
        super().check(requirement, columns)
        _check_weights(self.weights or {}, columns)
        if self.loss is not None and self.weights is not None:
            raise PolicyError(
                "method: l-clustering has `weights`, which belong to the paper's widths, and `loss: "
                "ncp`, which measures all columns alike. Leave one of the two out."
            )
        required = [model.l for model in requirement.models if isinstance(model, L)]
        others = [m.name for m in requirement.models if not isinstance(m, L | K)]
        if not required or others:
            found = f"asks for {listed(others)}" if others else "asks for no l"
            raise PolicyError(
                f"method: l-clustering honours l, and a k that is no larger, but the policy {found}. "
                "Use k-clustering or least-loss-partition, which honour every model."
            )
        largest = max((m.k for m in requirement.models if isinstance(m, K)), default=0)
        if largest > max(required):
            raise PolicyError(
                f"method: l-clustering makes clusters of l different values (here {max(required)}), "
                f"but the policy also asks for k = {largest}. Lower k to {max(required)}, or use "
                "k-clustering or least-loss-partition, which honour both."
            )

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by growing clusters."""
        check_feasible(cells, requirement)
        required: dict[str, int] = {}
        for model in requirement.models:
            if isinstance(model, L):
                required[model.of] = max(model.l, required.get(model.of, 0))
        for name, least in required.items():
            if np.count_nonzero(cells.totals[name].counts) < least:
                raise Infeasible(
                    f"The table has fewer than {least} distinct values of {name}, so no cluster can "
                    f"hold l = {least}. Lower l or add rows."
                )
        if self.loss == "ncp":
            return (least_lossy(cells, requirement, seed, progress),)
        _check_sets(cells)
        weights = self.weights or {}
        by_column = [weights.get(domain.name, 1.0) * domain.share for domain in cells.domains]
        found = cluster(cells, required, by_column, seed, progress)
        # clusters of different values may be of one person
        return (settled(cells, requirement, found) if requirement.counts_people else found,)


def _check_sets(cells: Cells) -> None:
    for domain in cells.domains:
        if domain.kind == Kind.SET and domain.size > MOST_VALUES:
            raise PolicyError(
                f"method: l-clustering compares sets of values, and column '{domain.name}' has "
                f"{domain.size:,} different values; at most {MOST_VALUES:,} are allowed. Give it a "
                "`hierarchy`, make it `ordered`, or use least-loss-partition."
            )


def _check_weights(weights: dict[str, float], columns: QuasiColumns) -> None:
    for name, weight in weights.items():
        if name not in columns:
            raise PolicyError(
                f"method: l-clustering has a weight for '{name}', which is no quasi column; "
                f"allowed: {listed(columns)}.{nearest(name, columns)}"
            )
        if not (weight >= 0 and math.isfinite(weight)):
            raise PolicyError(
                f"method: l-clustering has the weight {weight:g} for '{name}'; a weight is a number, "
                "0 or more."
            )


def cluster(
    cells: Cells,
    required: Mapping[str, int],
    weights: Sequence[float],
    seed: int,
    progress: Progress,
) -> Grouping:
    """Clusters with so many values of each sensitive column; there is at least one."""
    columns = loss_columns(cells.domains, weights)
    level = level_order(cells)
    pool = pool_of(cells, list(required), level)
    most = cells.n_rows // max(required.values()) + 1
    clusters = ClusterIndex(
        empty_labels(columns, most),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros((most, len(level)), np.int32),
        empty_trie(np.zeros((most, len(level)), np.int32), np.zeros(most, np.uint64)),
        level,
        pool.shift,
    )
    state = State(
        np.random.default_rng(seed).permutation(cells.n_rows).astype(np.int32),
        np.repeat(np.arange(cells.n_cells, dtype=np.int32), cells.counts),
        np.full(cells.n_rows, NONE, np.int32),
        np.array(list(required.values()), np.int64),
        np.zeros(len(required), np.int64),
        np.full(len(pool.left), NONE, np.int64),
        np.zeros(cells.n_rows, np.int32),
        np.zeros(3, np.int64),
    )
    growing = growing_cluster(columns, pool, max(len(clusters.trie.up), len(pool.trie.up)))
    while grow(columns, pool, clusters, growing, state, STRIDE):
        progress(float(state.at[0]) / cells.n_rows)
    n = int(state.at[2])
    if not n:  # these rows are a part of the table, and have fewer values than all of it
        raise Infeasible(
            f"The rows that are grouped together have too few distinct values of {listed(required)} for "
            "a single cluster. Lower l or add rows."
        )
    covers = no_covers(n, len(growing.near), growing.key_base)
    cover_all(columns, clusters, covers)
    for begin in range(0, cells.n_rows, 8 * STRIDE):
        rows = state.order[begin : begin + 8 * STRIDE]
        assign_rest(columns, pool, clusters, covers, rows, state.cell_of, state.group)
        progress((begin + state.at[0]) / (cells.n_rows + state.at[0]))
    return Grouping(state.group, n, tuple(range(len(cells.domains))))


def level_order(cells: Cells) -> Ints:
    """The columns, those first whose values differ most between rows."""
    spread = []
    for j, domain in enumerate(cells.domains):
        share = np.bincount(cells.codes[:, j], cells.counts, domain.size) / cells.n_rows
        spread.append(float((share * share).sum()))
    return np.argsort(spread, kind="stable").astype(np.int64)


class ClusterIndex(NamedTuple):
    """Finished clusters, each in a place of its own."""

    label: Label
    """Their labels."""
    size: Ints
    """(c,) rows."""
    finished: Ints
    """(c,) when it was finished: 0, 1, 2, …"""
    anchor: Codes
    """(c, d) one of its rows."""
    trie: Trie
    """An index of them by their anchors and widths."""
    level: Ints
    """(d,) the column of each level of the index."""
    shift: Ints
    """(d,) per column, how many codes share a key: 1 << shift."""


class State(NamedTuple):
    """Where the loop stands."""

    order: Codes
    """(n,) the rows in random order."""
    cell_of: Codes
    """(n,) the cell of each row."""
    group: Codes
    """(n,) the cluster of each row, or NONE."""
    required: Ints
    """(sensitive columns,) values that every cluster must have."""
    need: Ints
    """(sensitive columns,) values that the growing cluster still lacks."""
    seen: Ints
    """(values,) the last cluster that met the value."""
    mine: Codes
    """(n,) rows of the growing cluster."""
    at: Ints
    """(3,) place in `order`; clusters finished so far; places of the index in use."""


@kernel
def price_codes(columns: Columns, pool: RowPool, growing: GrowingCluster, rows: int) -> None:
    """Fill in, by code and by key, what the growing cluster's label would become and cost."""
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    all_widths, all_own, all_others = growing.widths, growing.own, growing.others
    base_of, size_of, key_base, rest = columns.base, columns.size, growing.key_base, growing.rest
    near, within, all_keys, shift = growing.near, growing.inside, growing.key, pool.shift
    width_of, low_of, high_of = growing.label.width[0], growing.label.low[0], growing.label.high[0]
    bits, word, kind = growing.label.bits[0], columns.word, columns.kind
    d = len(size_of)
    least = np.empty(d)
    for j in range(d):
        widths_with(columns, growing.label, 0, j, all_widths)
        base, size, wide, by = base_of[j], size_of[j], width_of[j], shift[j]
        low, high, weight = low_of[j], high_of[j], columns.weight[j]
        alone = low >= 0 and low == high
        first, end = key_base[j], key_base[j] + ((size - 1) >> by) + 1
        widths, own = all_widths[base : base + size], all_own[base : base + size]
        others, keys = all_others[base : base + size], all_keys[first:end]
        close, has_some = near[first:end], within[first:end]
        keys[:], close[:], has_some[:] = np.inf, np.inf, False
        cheapest = np.inf
        for code in range(size):
            width, key = widths[code], code >> by
            if kind[j] == SET:
                bit = bits[word[j] + (code >> 6)] >> np.uint64(code & 63)
                covered = bit & np.uint64(1) != 0
            else:
                covered = low <= code <= high
            if covered:
                has_some[key] = True
            own[code] = 0.0 if covered and alone else weight * width
            others[code] = 0.0 if covered else weight * (width / wide)
            cost = own[code] + rows * others[code]
            keys[key], close[key] = min(keys[key], cost), min(close[key], width)
            cheapest = min(cheapest, cost)
        least[j] = cheapest
    rest[d] = 0.0
    for i in range(d - 1, -1, -1):
        rest[i] = rest[i + 1] + least[pool.level[i]]


@kernel
def admit(pool: RowPool, state: State, row: int, rows: int, now: int) -> None:
    """Move a row from the pool into the growing cluster of so many rows."""
    take(pool, row)
    state.mine[rows] = row
    atom = pool.atom_of[row]
    for a in range(len(state.need)):
        value = pool.values[atom, a]
        if value >= 0 and state.seen[value] != now:
            state.seen[value] = now
            state.need[a] -= 1


@kernel
def grow(
    columns: Columns,
    pool: RowPool,
    clusters: ClusterIndex,
    growing: GrowingCluster,
    state: State,
    most: int,
) -> bool:
    """Grow up to `most` clusters; whether there may be more to grow."""
    least = number(0)
    for a in range(len(state.required)):
        least = max(least, state.required[a])
    for _ in range(most):
        for a in range(len(state.required)):
            if pool.distinct[a] < state.required[a]:
                return False
        row = next_start(pool, state)
        now = state.at[1]
        state.need[:] = state.required
        admit(pool, state, row, number(0), now)
        rows, into = number(1), NONE
        anchor = pool.codes[state.cell_of[row]]
        start_label(columns, growing.label, 0, anchor)
        while state.need.max() > 0:
            price_codes(columns, pool, growing, rows)
            bits = wanted(pool, state.need, state.seen, now)
            cell, far = nearest_cell(
                pool, growing, columns.base, rows, bits, state.need, state.seen, now, truth(False)
            )
            if far > 0 and clusters.trie.below[0] > 0:
                into, _ = nearest_cluster(columns, clusters, growing, rows, least, far)
                if into != NONE:
                    break
            row = lowest_row(pool, cell, state.need, state.seen, now, truth(False))
            admit(pool, state, row, rows, now)
            rows += 1
            widen(columns, growing.label, number(0), pool.codes[cell])
        finish(columns, clusters, growing, state, rows, into, anchor)
    return True


@kernel
def next_start(pool: RowPool, state: State) -> int:
    """The next open row in the random order that has a sensitive value."""
    while True:
        row = state.order[state.at[0]]
        state.at[0] += 1
        if pool.taken[row] == OPEN:
            atom = pool.atom_of[row]
            for a in range(len(state.required)):
                if pool.values[atom, a] >= 0:
                    return number(row)


@kernel
def finish(
    columns: Columns,
    clusters: ClusterIndex,
    growing: GrowingCluster,
    state: State,
    rows: int,
    into: int,
    anchor: Codes,
) -> None:
    """Put the growing cluster among the finished ones, merged with one of them if `into` says so."""
    c = into
    if c == NONE:
        c = state.at[2]
        state.at[2] += 1
        clusters.size[c] = 0
    else:
        remove(clusters.trie, c)
        unite(columns, growing.label, 0, clusters.label, c)
    copy_label(clusters.label, c, growing.label, number(0))
    clusters.size[c] += rows
    clusters.finished[c] = state.at[1]
    clusters.anchor[c] = anchor
    enter(clusters, c)
    for i in range(rows):
        state.group[state.mine[i]] = c
    state.at[1] += 1


@inlined
def width_class(label: Label, c: int, j: int) -> int:
    """The class of a label: 0 for a single value."""
    width = label.width[c, j]
    if label.low[c, j] >= 0 and label.low[c, j] == label.high[c, j]:
        return 0
    if width <= 2:
        return 1
    if width <= 4:
        return 2
    if width <= 8:
        return 3
    return 4 if width <= 16 else 5


@inlined
def class_floor(kind: int) -> float:
    """The least width of a class of several values (one value and the missing one may have 1)."""
    return 1.0 if kind == 1 else float((1 << (kind - 1)) + 1)


@kernel
def enter(clusters: ClusterIndex, c: int) -> None:
    """Put a cluster into the index, by its label as it is now."""
    for level in range(len(clusters.level)):
        j = clusters.level[level]
        kind = width_class(clusters.label, c, j)
        # a code of the label; a single value is its own anchor
        key = clusters.anchor[c, j] >> clusters.shift[j]
        clusters.trie.keys[c, level] = key * CLASSES + kind
    insert(clusters.trie, c)


@kernel
def nearest_cluster(
    columns: Columns,
    clusters: ClusterIndex,
    growing: GrowingCluster,
    rows: int,
    least: int,
    most: float,
) -> tuple[int, float]:
    """The cluster nearest to the growing one by DS, and how far it is; the one finished first of equals.

    None unless it is nearer than `most`. Every cluster has `least` rows.
    """
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    kind, weight, word, base = columns.kind, columns.weight, columns.word, columns.base
    size_of, missing, place, counted = columns.size, columns.missing, columns.place, columns.counted
    tree, first_leaf, last_leaf = columns.tree, columns.first, columns.last
    my_low, my_high, my_bits = growing.label.low[0], growing.label.high[0], growing.label.bits[0]
    my_width, near, within = growing.label.width[0], growing.near, growing.inside
    low_of, high_of, bits_of = clusters.label.low, clusters.label.high, clusters.label.bits
    width_of, rows_of, finished, column_at = (
        clusters.label.width,
        clusters.size,
        clusters.finished,
        clusters.level,
    )
    down, right, head, after = (
        clusters.trie.down,
        clusters.trie.right,
        clusters.trie.head,
        clusters.trie.after,
    )
    node_key, node_level = clusters.trie.key, clusters.trie.level
    stack, sums, key_base = growing.stack, growing.sums, growing.key_base
    d = len(kind)
    best, found = most, NONE
    stack[0], sums[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node, so_far = stack[top], sums[top]
        if so_far * SLACK > best:
            continue
        child = down[node]
        if child == NONE:
            c = head[node]
            while c != NONE:
                mine = theirs = 0.0
                many = rows_of[c]
                for j in range(d):
                    low, high = low_of[c, j], high_of[c, j]
                    if low >= 0 and low == my_low[j] and high == my_high[j]:
                        continue
                    if kind[j] == SET:
                        members, more_mine, more_theirs = 0, False, False
                        for at in range(word[j], word[j + 1]):
                            a, b = my_bits[at], bits_of[c, at]
                            members += ones(a | b)
                            more_mine |= (b & ~a) != 0
                            more_theirs |= (a & ~b) != 0
                        width = counted[base[j] + j + members]
                    else:
                        low, high = min(low, my_low[j]), max(high, my_high[j])
                        if low == high:
                            continue
                        if kind[j] == RANGE:
                            if high == missing[j]:
                                low = 0
                            width = place[base[j] + high] - place[base[j] + low] + 1.0
                        else:
                            at = tree[j] + low
                            while last_leaf[at] < high:
                                at += size_of[j]
                            low, high = first_leaf[at], last_leaf[at]
                            width = counted[base[j] + j + high - low + 1]
                        more_mine = low != my_low[j] or high != my_high[j]
                        more_theirs = low != low_of[c, j] or high != high_of[c, j]
                    if more_mine:
                        mine += weight[j] * (width / my_width[j])
                    if more_theirs:
                        theirs += weight[j] * (width / width_of[c, j])
                    if (rows * mine + many * theirs) * SLACK > best:
                        break
                far = rows * mine + many * theirs
                if far < best or (far == best and found != NONE and finished[c] < finished[found]):
                    best, found = far, c
                c = after[c]
            continue
        j = column_at[node_level[node]]
        bottom = cheapest = top
        while child != NONE:
            # what a cluster with this key costs at least in this column
            key = node_key[child]
            at, sort = key_base[j] + key // CLASSES, key % CLASSES
            width, cost = near[at], so_far
            if sort == 0:
                if not within[at]:
                    cost += weight[j] * (rows * width / my_width[j] + least * width)
                elif my_width[j] > 1:
                    cost += weight[j] * (least * my_width[j])
            else:
                floor = 2.0 if sort == 1 and missing[j] < 0 else class_floor(sort)
                width = max(width, floor)
                if width > my_width[j]:
                    cost += weight[j] * (rows * width / my_width[j])
            if cost * SLACK <= best:
                stack[top], sums[top] = child, cost
                cheapest = top if cost < sums[cheapest] else cheapest
                top += 1
            child = right[child]
        if top > bottom:
            visit_first(stack, sums, cheapest, top - 1)
    return found, best


class Covers(NamedTuple):
    """What the clusters cover; clusters are bits of words.

    Used to find the cluster that a row t left at the end should join. With the label t* of cluster G
    and the row, the distance is L(t, t*) + |G| L(tg, t*). The first part is at least what the row would
    lose inside G's own label, the second at least |G| times the weight of each column in which G does
    not cover the row (an open column). So it suffices to know, for every cluster, whether none, one or
    more columns of the row are open, which a few words of bits tell for all clusters at once.
    """

    by_key: Words
    """(keys, words) the clusters that cover some code of the key."""
    key_base: Ints
    """(d,) where the column's keys begin."""
    loss: Floats
    """(c,) what a row loses inside the cluster's label."""
    floor: Floats
    """(3, words) how far the clusters of a word are at least with 0, 1, 2 or more columns open."""
    open: Words
    """(3, words) for one row: the clusters with 0, 1, 2 or more columns open."""


def no_covers(n: int, keys: int, key_base: Ints) -> Covers:
    """Room for n clusters."""
    words = (n + 63) // 64
    return Covers(
        np.zeros((keys, words), np.uint64),
        key_base,
        np.zeros(n),
        np.zeros((3, words)),
        np.zeros((3, words), np.uint64),
    )


@inlined
def loss_inside(columns: Columns, clusters: ClusterIndex, c: int) -> float:
    """What a row loses by the cluster's label as it is."""
    loss = 0.0
    for j in range(len(columns.kind)):
        if clusters.label.low[c, j] < 0 or clusters.label.low[c, j] != clusters.label.high[c, j]:
            loss += columns.weight[j] * clusters.label.width[c, j]
    return loss


@kernel
def cover(columns: Columns, clusters: ClusterIndex, covers: Covers, c: int, j: int) -> None:
    """Note all that a cluster covers in a column."""
    by_key, base, by = covers.by_key, covers.key_base[j], clusters.shift[j]
    word, bit = c >> 6, np.uint64(1) << np.uint64(c & 63)
    if columns.kind[j] == SET:
        for code in range(columns.size[j]):
            if has(clusters.label, c, columns.word[j], code):
                by_key[base + (code >> by), word] |= bit
        return
    for key in range(clusters.label.low[c, j] >> by, (clusters.label.high[c, j] >> by) + 1):
        by_key[base + key, word] |= bit


@kernel
def cover_all(columns: Columns, clusters: ClusterIndex, covers: Covers) -> None:
    """Note all that the clusters cover."""
    for c in range(len(covers.loss)):
        covers.loss[c] = loss_inside(columns, clusters, c)
        for j in range(len(columns.kind)):
            cover(columns, clusters, covers, c, j)


@kernel
def raise_floors(columns: Columns, clusters: ClusterIndex, covers: Covers) -> None:
    """Work out the floors; clusters only ever lose more and have more rows later on."""
    lightest = columns.weight.min()
    covers.floor[:] = np.inf
    for c in range(len(covers.loss)):
        for gaps in range(3):
            least = covers.loss[c] + gaps * lightest * clusters.size[c]
            covers.floor[gaps, c >> 6] = min(covers.floor[gaps, c >> 6], least)


@kernel
def nearest_to_row(columns: Columns, clusters: ClusterIndex, covers: Covers, codes: Codes) -> int:
    """The cluster nearest to a row; the one finished first of equals."""
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    kind, weight, word, base = columns.kind, columns.weight, columns.word, columns.base
    missing, place, counted, tree = columns.missing, columns.place, columns.counted, columns.tree
    first_leaf, last_leaf, size_of = columns.first, columns.last, columns.size
    low_of, high_of, bits_of = clusters.label.low, clusters.label.high, clusters.label.bits
    width_of, rows_of, finished, shift = (
        clusters.label.width,
        clusters.size,
        clusters.finished,
        clusters.shift,
    )
    by_key, key_base, loss = covers.by_key, covers.key_base, covers.loss
    floor, gapped = covers.floor, covers.open
    d, n = len(kind), len(loss)
    gapped[:2] = 0
    some, more = gapped[1], gapped[2]
    more[:] = 0
    for j in range(d):
        covering = by_key[key_base[j] + (codes[j] >> shift[j])]
        for at in range(len(some)):
            without = ~covering[at]
            more[at] |= some[at] & without
            some[at] |= without
    for at in range(len(some)):
        gapped[0, at] = ~some[at]
        some[at] &= ~more[at]
    if n & 63:
        for gaps in range(3):
            gapped[gaps, -1] &= (np.uint64(1) << np.uint64(n & 63)) - np.uint64(1)
    lightest = weight.min()
    best, found = np.inf, NONE
    for gaps in range(3):
        for at in range(len(some)):
            if floor[gaps, at] * SLACK > best:
                continue
            left = gapped[gaps, at]
            while left:
                c = 64 * at + ones((left & (~left + np.uint64(1))) - np.uint64(1))
                left &= left - np.uint64(1)
                many = rows_of[c]
                if (loss[c] + gaps * lightest * many) * SLACK > best:
                    continue
                mine = theirs = 0.0
                for j in range(d):
                    code, low, high, width = codes[j], low_of[c, j], high_of[c, j], width_of[c, j]
                    if low == code and high == code:
                        continue
                    if kind[j] == SET:
                        bit = bits_of[c, word[j] + (code >> 6)] >> np.uint64(code & 63)
                        if bit & np.uint64(1):
                            mine += weight[j] * width
                            continue
                        wider = width + 1.0  # as wide as it has values
                    elif low <= code <= high:
                        mine += weight[j] * width
                        continue
                    else:
                        low, high = min(low, code), max(high, code)
                        if kind[j] == RANGE:
                            if high == missing[j]:
                                low = 0
                            wider = place[base[j] + high] - place[base[j] + low] + 1.0
                        else:
                            leaf = tree[j] + low
                            while last_leaf[leaf] < high:
                                leaf += size_of[j]
                            wider = counted[base[j] + j + last_leaf[leaf] - first_leaf[leaf] + 1]
                    mine += weight[j] * wider
                    theirs += weight[j] * (wider / width)
                    if (mine + many * theirs) * SLACK > best:
                        break
                far = mine + many * theirs
                if far < best or (far == best and finished[c] < finished[found]):
                    best, found = far, c
    return found


@kernel
def assign_rest(
    columns: Columns,
    pool: RowPool,
    clusters: ClusterIndex,
    covers: Covers,
    rows: Codes,
    cell_of: Codes,
    group: Codes,
) -> None:
    """Each open row among these, in their order, joins its nearest cluster."""
    raise_floors(columns, clusters, covers)
    for row in rows:
        if pool.taken[row] != OPEN:
            continue
        codes = pool.codes[cell_of[row]]
        c = nearest_to_row(columns, clusters, covers, codes)
        group[row] = c
        clusters.size[c] += 1
        wider = False
        for j in range(len(codes)):
            if not inside(columns, clusters.label, c, j, codes[j]):
                wider = True
        if wider:
            widen(columns, clusters.label, c, codes)
            covers.loss[c] = loss_inside(columns, clusters, c)
            for j in range(len(codes)):
                cover(columns, clusters, covers, c, j)
