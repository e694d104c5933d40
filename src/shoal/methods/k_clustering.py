"""k-clustering: grow small clusters, each by the row that adds least loss."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import UNIT, empty_labels, ncp_columns
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.errors import Infeasible
from shoal.kernels.cluster_index import (
    NONE,
    OPEN,
    Columns,
    GrowingCluster,
    Label,
    RowPool,
    copy_label,
    inside,
    lowest_row,
    nearest_cell,
    start_label,
    take,
    wanted,
    widen,
    width_with,
    widths_with,
)
from shoal.kernels.jit import in_place, inner, number, truth
from shoal.methods.base import (
    BlockMethod,
    Progress,
    check_feasible,
    counts_of_runs,
    sizes_from,
)
from shoal.methods.clustering import STRIDE, copied, growing_cluster, pool_of
from shoal.methods.refinement import loss_of
from shoal.methods.repair import holding_alone
from shoal.methods.stronger import Found, equals_together
from shoal.models.requirement import Requirement
from shoal.threads import each

AT_ONCE = 64
"""Clusters that are judged at a time with one more row."""
PAIRS = 4096
"""Pairs of rows by which columns are compared."""
ANY = ~np.uint64(0)
"""The values of any row will do."""
LAST, IN_TIME, FIRST = 0, 1, 2
"""When a cluster takes rows with the values that it lacks: once it has enough rows, as soon as there is
no more room for others, or from the beginning."""
ROUNDING = 1.0 + 1e-9
"""A share of the rows may be this much above a whole number."""
MISSES = 2
"""Until so many in a row are no better."""
GROWN = 4
"""To put a row into a cluster takes so many times as long as other work on it, or more."""
KEPT = 8
"""Attempts that are kept: of another k, most are the same."""


@dataclass(frozen=True)
class KClustering(BlockMethod):
    """k-clustering: clusters grow by the row that adds least NCP, until the requirement holds.

    Where constraints ask for different sensitive values, rows with those that a cluster lacks come
    first once it is large enough, or as soon as there is no more room for others; and larger clusters
    are tried too. The grouping that loses least is kept. Rows left at the end join the cluster to which
    they add least, among those that hold with them; a row that fits nowhere is suppressed. The order in
    which rows start clusters is random: it comes from the seed. Where a cluster of equal rows loses
    nothing, and those of them that are left are too few for another, they start none: others may need
    them, and in the end they join it. Where at least half of the rows have enough equals for a cluster,
    refinement begins with the groups of a partition too, which keeps equal rows together, and what
    loses least is kept.

    Source: our own sibling of L-clustering, with NCP for its loss and no merging.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by growing clusters."""
        check_feasible(cells, requirement)
        if not requirement.columns:
            beginning = _Beginning.of(cells, requirement, seed)
            return (grown(beginning, requirement.min_rows, LAST, progress),)
        return (least_lossy(cells, requirement, seed, progress),)

    def starts(self, cells: Cells, requirement: Requirement) -> Iterator[Found]:
        """Where most rows have enough equals for a cluster, the groups of a partition."""
        return equals_together(cells, requirement)


def least_lossy(cells: Cells, requirement: Requirement, seed: int, progress: Progress) -> Grouping:
    """The best of several groupings, with clusters of `min_rows` rows, and of more.

    Small clusters soon use up the rare sensitive values, and what is left must join clusters far away:
    larger ones may lose less. Different values may be looked for after so many rows, which makes
    clusters larger, or among them, which makes them wider. Both are tried, side by side.
    """
    best: Grouping | None = None
    least, misses, better, done = (True, 0, 0), 0, LAST, 0.0
    whens = [LAST, FIRST if not requirement.only_values else IN_TIME]
    if max(requirement.min_values.values()) < 2:
        whens = [LAST]  # every row but the first is free
    attempts, sizes = _Attempts(cells, requirement, seed), sizes_from(requirement.min_rows)
    while misses < MISSES:
        # if none of these is better, it ends: they are all needed, and tried side by side
        many = MISSES - misses + (best is None) if requirement.only_values else 1
        some = [
            size
            for i, size in enumerate(islice(sizes, many))
            if 2 * size <= cells.n_rows or (best is None and i == 0)
        ]
        if not some:
            break
        tried = [(size, when) for size in some for when in whens]
        within = _Shares(progress, done, (1.0 - done) / 2, len(tried))
        done += (1.0 - done) / 2
        for (_, when), found in zip(tried, attempts(tried, within), strict=True):
            misses += when == whens[0]
            if isinstance(found, Infeasible):
                if best is None:
                    raise found
                continue
            suppressed, may = found.suppressed, requirement.may_suppress
            loss = may is not None and suppressed > may, found.loss, suppressed
            if best is None or loss < least:
                best, least, misses, better = found.grouping, loss, 0, when
        if not requirement.only_values:
            whens = [better]  # asking the requirement about every cluster takes its time
    assert best is not None
    return best


class _Attempt(NamedTuple):
    """Clusters of a size, and what they lose."""

    grouping: Grouping
    loss: int
    suppressed: int


class _Attempts:
    """Makes attempts. Where they do not depend on k but by their size, the last ones are kept for the
    next run on the same table."""

    def __init__(self, cells: Cells, requirement: Requirement, seed: int) -> None:
        self.beginning = _Beginning.of(cells, requirement, seed)
        self.kept: dict[Any, _Attempt] = {}
        self.key: tuple[Any, ...] = ()
        # asking the requirement is work of the interpreter, which threads cannot share
        self.rows = GROWN * cells.n_rows if requirement.only_values else 0
        if requirement.only_values and requirement.holds_when_joined:
            self.kept = cells.kept.setdefault("attempts of k-clustering", {})
            values, shares = requirement.min_values, requirement.max_shares
            self.key = (seed, *values.items(), *shares.items())

    def __call__(
        self, tried: list[tuple[int, int]], within: "_Shares"
    ) -> list[_Attempt | Infeasible]:
        """Clusters of these sizes, each with when different values are looked for; or why not."""
        found: dict[tuple[int, int], _Attempt | Infeasible] = {
            one: known for one in tried if (known := self.kept.get((self.key, one))) is not None
        }
        new = [(i, one) for i, one in enumerate(tried) if one not in found]
        made = each(partial(_attempt, self.beginning, within), new, self.rows)
        found |= {one: self._judged(grouping) for (_, one), grouping in zip(new, made, strict=True)}
        if self.key:
            for one in tried:  # the last ones last
                self.kept.pop((self.key, one), None)
                if isinstance(attempt := found[one], _Attempt):
                    self.kept[self.key, one] = attempt
            for old in list(self.kept)[:-KEPT]:
                self.kept.pop(old, None)
        return [found[one] for one in tried]

    def _judged(self, found: Grouping | Infeasible) -> _Attempt | Infeasible:
        """An attempt with what it loses, which threads of its own count."""
        if isinstance(found, Infeasible):
            return found
        suppressed = int((found.group == SUPPRESSED).sum())
        return _Attempt(found, loss_of(self.beginning.cells, found), suppressed)


def _attempt(
    beginning: "_Beginning", within: "_Shares", numbered: tuple[int, tuple[int, int]]
) -> Grouping | Infeasible:
    """Clusters of a size, or why there are none."""
    at, (size, when) = numbered
    try:
        return grown(beginning, size, when, partial(within, at))
    except Infeasible as error:
        return error


class _Shares:
    """Progress of attempts that are made side by side."""

    def __init__(self, progress: Progress, begin: float, size: float, attempts: int) -> None:
        self._progress, self._begin, self._size = progress, begin, size
        self._shares, self._lock = [0.0] * attempts, Lock()

    def __call__(self, at: int, share: float) -> None:
        """An attempt has done this share of its work."""
        with self._lock:
            self._shares[at] = share
            done = sum(self._shares) / len(self._shares)
            self._progress(self._begin + self._size * done)


class _Beginning(NamedTuple):
    """What clusters of any size begin with."""

    cells: Cells
    requirement: Requirement
    columns: Columns
    pool: RowPool
    """All rows, none in a cluster."""
    order: Codes
    """The rows in the order in which they start clusters."""

    @classmethod
    def of(cls, cells: Cells, requirement: Requirement, seed: int) -> Self:
        """Index the rows of a table; the last index is kept for the next run on it."""
        key, found = (requirement.columns, seed), cells.kept.get("index of k-clustering")
        if found is None or found[0] != key:
            pool = pool_of(cells, requirement.columns, costly_first(cells))
            found = key, (ncp_columns(cells.domains), pool, start_order(cells, seed))
            cells.kept["index of k-clustering"] = found
        return cls(cells, requirement, *found[1])


def grown(beginning: _Beginning, least: int, when: int, progress: Progress) -> Grouping:
    """Clusters of so many rows or more, and the rows that are left; `when`: LAST, IN_TIME or FIRST."""
    clusters = _Clusters(beginning, least, when)
    if clusters.requirement.only_values:
        clusters.grow_by_values(progress)
    else:
        clusters.grow_and_judge(progress)
    if clusters.n == 0:
        raise Infeasible(
            "No cluster of rows holds all of the policy's constraints together: loosen them."
        )
    clusters.assign_rest()
    columns = tuple(range(len(clusters.cells.domains)))
    found = Grouping(clusters.group, clusters.n, columns)
    found = holding_alone(clusters.cells, clusters.requirement, found)
    # all rows together hold, or `check_feasible` would have said so
    return found if found.n_groups else Grouping(np.zeros_like(clusters.group), 1, columns)


class _Clusters:
    """The clusters so far."""

    def __init__(self, beginning: _Beginning, least: int, when: int) -> None:
        cells, requirement, self.columns, pool, self.order = beginning
        self.cells, self.requirement, self.least, self.when = cells, requirement, least, when
        self.pool = copied(pool)
        self.growing = growing_cluster(self.columns, self.pool, len(self.pool.trie.up))
        most = cells.n_rows // requirement.min_rows + 1
        self.labels, self.sizes = empty_labels(self.columns, most), np.zeros(most, np.int64)
        self.group = np.full(cells.n_rows, SUPPRESSED, np.int32)
        self.lossless = np.full(cells.n_cells, NONE, np.int32)
        self.n = 0
        shares = np.array([requirement.max_shares[name] for name in requirement.columns], float)
        self.rows = ClusterRows(
            np.zeros(cells.n_rows, np.int32),
            np.zeros(2, np.int64),
            np.ones(len(requirement.columns), np.int64),
            np.zeros(len(self.pool.left), np.int64),
            np.array([requirement.min_values[name] for name in requirement.columns], np.int64),
            np.zeros(len(requirement.columns), np.int64),
            shares,
            (shares < 1).astype(np.int64),
            np.zeros(len(self.pool.left), np.int64),
            np.zeros(len(self.pool.left), np.int64),
        )

    def holds(self, groups: list[Codes]) -> Bools:
        """(g,) whether each of these sets of rows satisfies the requirement."""
        starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
        rows = np.concatenate(groups).astype(np.int32)
        return self.requirement.holds(counts_of_runs(self.cells, self.requirement, rows, starts))

    def grow_by_values(self, progress: Progress) -> None:
        """All clusters, where every one with enough rows and values holds."""
        at, before = 0, -1
        while before < self.n:
            before = self.n
            at, self.n = grow_all(
                self.columns, self.pool, self.growing, self.rows, self.order, at,
                self.least, number(self.when), self.group, self.labels, self.sizes,
                self.lossless, self.n, STRIDE,
            )  # fmt: skip
            progress(self.n / len(self.sizes))

    def grow_and_judge(self, progress: Progress) -> None:
        """All clusters, each grown until it holds; one that never does is taken apart again."""
        least, size = self.least, self.rows.size
        for i, row in enumerate(self.order):
            if self.pool.taken[row] != OPEN:
                continue
            if int(self.pool.alive.sum()) < least:
                break
            grown = self._grow(least, start=int(row))
            while grown and not self.holds([self.rows.rows[: size[0]]])[0]:
                grown = self._grow(int(size[0]) + 1, start=NONE)
            if not grown:
                break  # every open row is in it, and still it does not hold
            settle(self.growing, self.rows, self.group, self.labels, self.sizes, self.n)
            self.n += 1
            progress(i / len(self.order))

    def _grow(self, rows: int, *, start: int) -> bool:
        return bool(
            grow_on(
                self.columns, self.pool, self.growing, self.rows, number(start), rows,
                number(self.when),
            )
        )  # fmt: skip

    def assign_rest(self) -> None:
        """Each row left joins its equals where these lose nothing, or else, in the random order, the
        nearest cluster that holds with it."""
        always = self.requirement.holds_when_joined
        far = np.zeros(len(self.sizes))
        cell_of = np.repeat(np.arange(self.cells.n_cells), self.cells.counts)
        equal = np.flatnonzero((self.group == SUPPRESSED) & (self.lossless[cell_of] != NONE))
        self.group[equal] = self.lossless[cell_of[equal]]
        self.sizes += np.bincount(self.group[equal], minlength=len(self.sizes))
        for row in self.order[self.group[self.order] == SUPPRESSED]:
            codes = self.pool.codes[cell_of[row]]
            c = int(distances(self.columns, self.labels, self.sizes, self.n, codes, far))
            if not always:
                c = self._first_that_holds(int(row), np.argsort(far[: self.n], kind="stable"))
            if c != SUPPRESSED:
                widen(self.columns, self.labels, c, codes)
                self.sizes[c] += 1
                self.group[row] = c

    def _first_that_holds(self, row: int, nearest: Ints) -> int:
        for begin in range(0, len(nearest), AT_ONCE):
            some = nearest[begin : begin + AT_ONCE]
            groups = [np.append(np.flatnonzero(self.group == c), row) for c in some]
            held = self.holds([g.astype(np.int32) for g in groups])
            if held.any():
                return int(some[int(np.argmax(held))])
        return SUPPRESSED


def costly_first(cells: Cells) -> Ints:
    """The columns, those first in which two rows lose most on average: they rule out most."""
    some = np.random.default_rng(0).integers(0, cells.n_rows, (2, PAIRS))
    cell_of = np.repeat(np.arange(cells.n_cells), cells.counts)
    lost = []
    for j, domain in enumerate(cells.domains):
        a, b = cells.codes[cell_of[some], j]
        if domain.positions is not None:
            lost.append(float(np.abs(domain.positions[a] - domain.positions[b]).mean()))
            continue
        values = np.where(a == b, 0, 2)
        if domain.hierarchy is not None:
            for nodes in domain.hierarchy.nodes[::-1]:
                together = nodes[a] == nodes[b]
                values[together] = np.bincount(nodes)[nodes[a]][together]
            values[a == b] = 0
        lost.append(float(values.mean()) * UNIT / domain.size)
    shares = np.array([domain.share for domain in cells.domains])
    return np.argsort(-np.array(lost) * shares, kind="stable").astype(np.int64)


def start_order(cells: Cells, seed: int) -> Codes:
    """The rows in the order in which they start clusters: the most common values first, else random.

    Measured on Adult: 1.6 to 3.9 % less loss than in random order; than with the rarest first far less,
    but only where columns have hierarchies.
    """
    rarity = np.zeros(cells.n_cells, np.int64)
    for j, domain in enumerate(cells.domains):
        rows = np.bincount(cells.codes[:, j], cells.counts, domain.size)
        # in whole numbers, so that a sum is the same on every machine
        rarity -= np.rint(np.log2(rows[cells.codes[:, j]]) * domain.share * 65536).astype(np.int64)
    shuffled = np.random.default_rng(seed).permutation(cells.n_rows)
    by_row = np.repeat(rarity, cells.counts)[shuffled]
    return shuffled[np.argsort(by_row, kind="stable")].astype(np.int32)


class ClusterRows(NamedTuple):
    """The rows of the growing cluster."""

    rows: Codes
    """(n,) its rows, in the order in which they came."""
    size: Ints
    """(2,) how many they are; its number."""
    need: Ints
    """(sensitive columns,) 1: a new value of any column is welcome."""
    seen: Ints
    """(values,) the last cluster that met the value."""
    required: Ints
    """(sensitive columns,) different values that a cluster must have at least."""
    lacks: Ints
    """(sensitive columns,) how many of them it still lacks."""
    most: Floats
    """(sensitive columns,) the largest share of the rows that may have one value."""
    limited: Ints
    """(sensitive columns,) 1 where that is less than all."""
    amount: Ints
    """(values,) how many rows have the value, of those that the cluster has met."""
    full: Ints
    """(values,) the last cluster that could take no more rows with the value."""


@inner
def may_start(pool: RowPool, lossless: Codes, row: int, rows: int) -> bool:
    """Whether a row is open, and its equals form no cluster yet, or are enough for one more."""
    if pool.taken[row] != OPEN:
        return False
    cell, equal = pool.atom_cell[pool.atom_of[row]], 0
    if lossless[cell] == NONE:
        return True
    for atom in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        equal += pool.alive[atom]
        if equal >= rows:
            return True
    return False


@inner
def start(
    columns: Columns, pool: RowPool, growing: GrowingCluster, cluster: ClusterRows, row: int
) -> None:
    """Begin a new cluster with a row."""
    cluster.size[0] = 0
    cluster.size[1] += 1
    for a in range(len(cluster.lacks)):
        cluster.lacks[a] = cluster.required[a]
    start_label(columns, growing.label, 0, pool.codes[pool.atom_cell[pool.atom_of[row]]])
    admit(pool, cluster, row)


@inner
def admit(pool: RowPool, cluster: ClusterRows, row: int) -> None:
    """Move a row from the pool into the cluster."""
    take(pool, row)
    cluster.rows[cluster.size[0]] = row
    cluster.size[0] += 1
    atom = pool.atom_of[row]
    for a in range(pool.values.shape[1]):
        value = pool.values[atom, a]
        if value < 0:
            continue
        if cluster.seen[value] != cluster.size[1]:
            cluster.seen[value] = cluster.size[1]
            cluster.amount[value] = 0
            cluster.lacks[a] -= 1
        cluster.amount[value] += 1


@inner
def mark_full(pool: RowPool, cluster: ClusterRows, rows: int) -> bool:
    """Mark the values that no more of so many rows may have; whether there is a limit at all."""
    now, limited = cluster.size[1], truth(False)
    for value in range(len(cluster.full)):
        a = pool.column[value]
        have = cluster.amount[value] if cluster.seen[value] == now else 0
        cluster.full[value] = now if have + 1 > cluster.most[a] * rows * ROUNDING else 0
    for a in range(len(cluster.limited)):
        limited |= cluster.limited[a] > 0
    return limited


@inner
def grow_to(
    columns: Columns,
    pool: RowPool,
    growing: GrowingCluster,
    cluster: ClusterRows,
    rows: int,
    when: int,
    new_values: bool,
    only_values: bool,
) -> bool:
    """Let the cluster grow to so many rows; False where no row is left.

    `when` says when a row must bring a value that the cluster lacks: LAST, IN_TIME or FIRST. With
    `new_values` it must bring any value that the cluster has not, while there is one. With `only_values`
    the cluster grows on until it lacks none; False where no row brings one.
    """
    now = cluster.size[1]
    while True:
        lacks = number(0)
        for a in range(len(cluster.lacks)):
            lacks = max(lacks, cluster.lacks[a])
        if cluster.size[0] >= rows and not (only_values and lacks > 0):
            break
        if pool.trie.below[0] == 0:
            return False
        size = cluster.size[0]
        price_codes(columns, pool, growing, size)
        cell, any_row = number(NONE), truth(False)
        # so many rows may still come that bring nothing
        room = rows - size
        if when == IN_TIME:
            room -= lacks
        elif when == FIRST:
            room = number(0)
        must = lacks > 0 and room <= 0
        need, met, limited = cluster.need, cluster.seen, truth(False)
        if must:
            need = cluster.lacks
        elif when == FIRST:
            limited = mark_full(pool, cluster, max(rows, size + 1))
            if limited:
                need, met = cluster.limited, cluster.full
        if must or limited or new_values:
            bits = wanted(pool, need, met, now)
            cell, _ = nearest_cell(pool, growing, columns.base, size, bits, need, met, now, any_row)
        if cell == NONE and must and only_values:
            return False
        if cell == NONE:
            any_row = truth(True)
            cell, _ = nearest_cell(pool, growing, columns.base, size, ANY, need, met, now, any_row)
        admit(pool, cluster, lowest_row(pool, cell, need, met, now, any_row))
        widen(columns, growing.label, number(0), pool.codes[cell])
    return True


@in_place
def grow_on(
    columns: Columns,
    pool: RowPool,
    growing: GrowingCluster,
    cluster: ClusterRows,
    row: int,
    rows: int,
    when: int,
) -> bool:
    """Begin a cluster with a row, and let it grow to so many; with NONE the last one grows on, by rows
    with new values. False where no row is left."""
    if row != NONE:
        start(columns, pool, growing, cluster, row)
    new_values = truth(row == NONE)
    return grow_to(columns, pool, growing, cluster, rows, when, new_values, truth(False))


@inner
def price_codes(columns: Columns, pool: RowPool, growing: GrowingCluster, rows: int) -> None:
    """Fill in what each code adds to the NCP of the growing cluster of so many rows."""
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    all_widths, all_own, all_others, all_keys = (
        growing.widths,
        growing.own,
        growing.others,
        growing.key,
    )
    base_of, size_of, key_base, rest = columns.base, columns.size, growing.key_base, growing.rest
    width_of, level, shift = growing.label.width[0], pool.level, pool.shift
    d = len(size_of)
    for j in range(d):
        widths_with(columns, growing.label, 0, j, all_widths)
        base, size, wide, by = base_of[j], size_of[j], width_of[j], shift[j]
        widths, own = all_widths[base : base + size], all_own[base : base + size]
        others = all_others[base : base + size]
        keys = all_keys[key_base[j] : key_base[j] + ((size - 1) >> by) + 1]
        if by == 0:
            for code in range(size):
                own[code], others[code] = widths[code], widths[code] - wide
                keys[code] = widths[code] + rows * (widths[code] - wide)
            continue
        keys[:] = np.inf
        for code in range(size):
            own[code], others[code] = widths[code], widths[code] - wide
            keys[code >> by] = min(keys[code >> by], own[code] + rows * others[code])
    rest[d] = 0.0
    for i in range(d - 1, -1, -1):
        # nothing costs less than a value that the label covers
        rest[i] = rest[i + 1] + width_of[level[i]]


@inner
def keep(
    growing: GrowingCluster, cluster: ClusterRows, group: Codes, label: Label, sizes: Ints, n: int
) -> None:
    """Keep the grown cluster as number n."""
    copy_label(label, n, growing.label, number(0))
    sizes[n] = cluster.size[0]
    for i in range(cluster.size[0]):
        group[cluster.rows[i]] = n


@in_place
def settle(
    growing: GrowingCluster, cluster: ClusterRows, group: Codes, label: Label, sizes: Ints, n: int
) -> None:
    """The same, called from Python: only where clusters grow one by one."""
    keep(growing, cluster, group, label, sizes, n)


@in_place
def grow_all(
    columns: Columns,
    pool: RowPool,
    growing: GrowingCluster,
    cluster: ClusterRows,
    order: Codes,
    at: int,
    rows: int,
    when: int,
    group: Codes,
    label: Label,
    sizes: Ints,
    lossless: Codes,
    n: int,
    most: int,
) -> tuple[int, int]:
    """Grow up to `most` clusters of so many rows or more, and with all values that they need; the place
    in `order` and clusters so far. The place is the end where no more cluster has what it needs.

    lossless: (cells,) a cluster of these rows that loses nothing, or NONE; see `may_start`.
    """
    left = 0
    for row in range(len(group)):
        left += pool.taken[row] == OPEN
    for _ in range(most):
        while at < len(order) and not may_start(pool, lossless, number(order[at]), rows):
            at += 1
        if left < rows or at == len(order):
            break
        cell = pool.atom_cell[pool.atom_of[order[at]]]
        start(columns, pool, growing, cluster, number(order[at]))
        if not grow_to(columns, pool, growing, cluster, rows, when, truth(False), truth(True)):
            return len(order), n
        left -= cluster.size[0]
        keep(growing, cluster, group, label, sizes, n)
        lost = 0.0
        for j in range(len(columns.kind)):
            lost += growing.label.width[0, j]
        if lost == 0.0 and lossless[cell] == NONE:
            lossless[cell] = n
        n += 1
    return at, n


@in_place
def distances(
    columns: Columns, label: Label, sizes: Ints, n: int, codes: Codes, far: Floats
) -> int:
    """Fill in what a row would add to the NCP of each of n clusters; the first of the least."""
    best, found = np.inf, NONE
    for c in range(n):
        total = 0.0
        for j in range(len(columns.kind)):
            wide = label.width[c, j]
            if inside(columns, label, c, j, codes[j]):
                total += wide
                continue
            width = width_with(columns, label, c, j, codes[j])
            total += width + sizes[c] * (width - wide)
        far[c] = total
        if total < best:
            best, found = total, c
    return found
