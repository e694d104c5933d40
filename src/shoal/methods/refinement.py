"""Refinement: rows of finished groups change places where the release then loses less.

Large tables are refined in blocks, independent of each other, in several rounds with other borders. A
pass over a block sorts its rows by a random order of the columns and compares every row with the groups
of its neighbours: it may move to such a group, change places with a row there, or leave its place to it
and go to a third group. Two groups of neighbouring rows are merged and cut in two again, at another
place. New groups are formed of neighbours around rows that lose much, groups are dissolved where their
rows lose less elsewhere, and cut in two where that loses nothing. A
change that raises the loss a little is made now and then, less and less often (simulated annealing); the
last passes only lower it. A block whose groups lose no less in the end keeps the groups that it had.

Changes are chosen by their loss alone. The requirement is asked about every group that a change would
leave behind, and can only refuse it: sensitive values never decide which rows move where.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from threading import Lock
from typing import Literal, NamedTuple, Self

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.cells import Cells, pack
from shoal.encoding.domain import UNIT, Domain, Kind, costs_of
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group, spans_of
from shoal.kernels.jit import mix, number, truth
from shoal.kernels.labels import label_costs
from shoal.kernels.refinement import (
    DRAWS,
    KINDS,
    NONE,
    NUMBER,
    REACH,
    ROWS,
    TABLE,
    Block,
    Losses,
    collect,
    dissolve,
    exchange,
    form,
    judge_values,
    recut,
    relabel_all,
    split,
    take_back,
)
from shoal.kernels.sorting import radix_argsort
from shoal.methods.base import Progress, counts_of_runs
from shoal.models.requirement import Requirement
from shoal.seeds import derived
from shoal.threads import each

PASSES: Mapping[Literal["quick", "thorough"], int] = {"quick": 12, "thorough": 200}
"""How often all rows are looked at, by the effort that a policy names."""
BLOCK_ROWS = 15_000
"""A block has so many rows or more."""
BLOCKS = 4
"""So many blocks at most, unless they get too large: neighbours in a larger block are nearer."""
LARGEST_BLOCK = 250_000
"""About how many rows a block has at most."""
ROUNDS, OF_PASSES = 8, 3
"""How often blocks are drawn anew, at most; and for so many passes or more."""
COLD = 4
"""So many of the last passes over a block only lower the loss: at most, and a third of all."""
HOT, WARM = 0.1, 0.05
"""Where the temperature begins and ends, as a share of what a row loses at first."""
LONG = 100
"""With so many passes it begins twice as high: there is time to cool down."""
LARGEST_TABLE = 2048
"""A column with more codes has no table of what each of its labels loses."""
JUDGED = 8
"""The requirement is asked each time when one in so many groups was changed."""
PAIRS = 4096
"""Pairs of rows by which columns are compared."""
KEPT_ORDERS = PASSES["quick"]
"""Orders of all rows that are kept."""
COLUMNS = "columns of refinement"
"""Under this name they are kept with the rows they are of."""
FORMED = 16
"""New groups are formed where they need so many rows at most: finding more takes too long."""
NO_VALUES, NO_COLUMNS = np.zeros((0, 0), np.int32), np.zeros(0, np.int64)
Judge = Callable[[], None]
"""Judges the changes of a block since it was called last, and takes back those that it refuses."""


def passes_of(effort: Literal["quick", "thorough"] | int) -> int:
    """How often all rows are looked at, from what a policy asks for."""
    return effort if isinstance(effort, int) else PASSES[effort]


def refined(
    cells: Cells,
    requirement: Requirement,
    grouping: Grouping,
    passes: int,
    seed: int,
    progress: Progress,
    weights: Mapping[str, float] | None = None,
) -> Grouping:
    """Rearrange the rows of groups so that they lose less.

    Parameters
    ----------
    cells
        The table.
    requirement
        What all groups hold, and still do afterwards.
    grouping
        Groups of all columns, without fixed levels. Suppressed rows stay suppressed.
    passes
        How often all rows are looked at.
    seed
        The only source of randomness.
    progress
        Called with the share of the work that is done.
    weights
        How much each column counts in the loss; all count alike where it is not given.

    Returns
    -------
    Grouping
        Groups that lose less, or those that were given.
    """
    work = _Work(cells, requirement, grouping, weights)
    if not len(work.kept):
        return grouping
    rounds = 1 if work.is_one_block else min(ROUNDS, -(-passes // OF_PASSES))
    lock, n_groups = Lock(), 0
    for turn in range(rounds):
        blocks = work.blocks(derived(seed, "refine", turn))
        here = passes * (turn + 1) // rounds - passes * turn // rounds
        done = [0.0] * len(blocks)

        def rearranged(
            at: int,
            blocks: list[Ints] = blocks,
            turn: int = turn,
            here: int = here,
            done: list[float] = done,
        ) -> Codes:
            def within(share: float) -> None:
                with lock:
                    done[at] = share * len(blocks[at]) / len(work.kept)
                    progress((turn + sum(done)) / rounds)

            key = derived(seed, "refine", turn, at + 1)
            return work.rearranged(blocks[at], here, key, within)

        found = each(rearranged, range(len(blocks)))
        n_groups = 0
        for rows, group in zip(blocks, found, strict=True):
            work.group[rows] = group + n_groups
            n_groups += int(group.max()) + 1
    return replace(grouping, group=work.group, n_groups=n_groups)


def loss_of(cells: Cells, grouping: Grouping, weights: Mapping[str, float] | None = None) -> int:
    """What a grouping of all columns loses, a suppressed row losing all of its cells."""
    costs, spans, total = costs_of(cells.domains), spans_of(cells, grouping), 0
    shares = _shares(cells.domains, weights)
    suppressed = int((grouping.group == SUPPRESSED).sum())
    for j, share in enumerate(shares.tolist()):
        members = np.diff(spans.sets[j][0]) if j in spans.sets else spans.sizes
        low, high = (side[:, j].astype(np.int64) for side in (spans.low, spans.high))
        found = label_costs(costs, j, low, high, members)
        found = np.rint(found * share).astype(np.int64)
        total += int((found * spans.sizes).sum()) + suppressed * round(share * int(costs.most[j]))
    return total


def is_one_block(rows: int) -> bool:
    """Whether so many rows are refined at once."""
    return 2 * rows <= 3 * BLOCK_ROWS


class _Columns(NamedTuple):
    """What refinement needs of a table, whatever its groups; kept for the next run on it.

    The columns that tell rows apart most come first: a sum of losses is soon too large.
    """

    domains: list[Domain]
    differences: Floats
    """(d,) what a label over two rows loses in each column, on average."""
    losses: Losses
    codes: Codes
    """(n_rows, d) the codes of each canonical row."""
    orders: dict[int, Codes]
    """The orders in which the last passes looked at all rows, by their seeds."""

    @classmethod
    def of(cls, cells: Cells, shares: Floats) -> Self:
        """Those of a table, where columns count by these shares."""
        differences = _differences(cells) * shares
        order = np.argsort(-differences, kind="stable")
        domains = [cells.domains[j] for j in order]
        codes = np.repeat(cells.codes[:, order], cells.counts, axis=0)
        least = np.maximum(differences[order], 1.0)
        return cls(domains, least, _losses(domains, shares[order]), codes, {})


class _Work:
    """The groups so far, and what blocks of them need."""

    def __init__(
        self,
        cells: Cells,
        requirement: Requirement,
        grouping: Grouping,
        weights: Mapping[str, float] | None,
    ) -> None:
        self.cells, self.requirement = cells, requirement
        self.group = grouping.group.astype(np.int32)
        self.kept = np.flatnonzero(self.group != SUPPRESSED)
        everyone = len(self.kept) == cells.n_rows
        self.totals = cells.totals if everyone else cells.totals_of_rows(self.kept)
        shares = _shares(cells.domains, weights)
        key, found = shares.tolist(), cells.kept.get(COLUMNS)
        if found is None or found[0] != key:
            found = key, _Columns.of(cells, shares)
            if is_one_block(cells.n_rows):
                cells.kept[COLUMNS] = found
        self.columns: _Columns = found[1]
        self.orders = self.columns.orders if everyone and self.is_one_block else None

    @property
    def is_one_block(self) -> bool:
        """Whether all rows are refined at once."""
        return is_one_block(len(self.kept))

    def order_of_pass(self, rows: Ints, seed: int) -> Codes:
        """Places of the rows of a block in the order in which a pass looks at them; that of all rows is
        kept for the next run."""
        if self.orders is None:
            return self.order(rows, seed).astype(np.int32)
        found = self.orders.pop(seed, None)
        if found is None:
            found = self.order(rows, seed).astype(np.int32)
        self.orders[seed] = found  # the last one last
        for old in list(self.orders)[:-KEPT_ORDERS]:
            self.orders.pop(old, None)
        return found

    def order(self, rows: Ints, seed: int) -> Ints:
        """Places of these rows, sorted by a random order of the columns, often the costly ones first.

        Equal rows stay in their order.
        """
        rng, (domains, differences, _, codes, _) = np.random.default_rng(seed), self.columns
        drawn = -np.log(1 - rng.random(len(domains))) / differences
        columns = np.argsort(np.rint(drawn * UNIT * UNIT), kind="stable").tolist()
        sizes = [domains[j].size for j in columns]
        keys = [codes[rows, j] for j in columns]
        keys = [
            size - 1 - key if flipped else key
            for key, size, flipped in zip(keys, sizes, rng.random(len(keys)) < 0.5, strict=True)
        ]
        order = np.arange(len(rows), dtype=np.int64)
        for word, bits in reversed(pack(keys, sizes)):
            order = radix_argsort(word, bits, order)
        return order

    def blocks(self, seed: int) -> list[Ints]:
        """Per block its rows, ascending: whole groups that are near each other in a random order of
        the columns."""
        if self.is_one_block:
            return [self.kept]
        n_groups = int(self.group.max()) + 1
        rows, starts = rows_by_group(self.group, n_groups)
        order = self.order(rows[starts[:-1]].astype(np.int64), seed)
        n_blocks = max(min(BLOCKS, round(len(rows) / BLOCK_ROWS)), -(-len(rows) // LARGEST_BLOCK))
        before = np.cumsum(np.append(0, np.diff(starts)[order]))[:-1]
        block_of = np.empty(n_groups, np.int32)
        block_of[order] = before * n_blocks // len(rows)
        mine = np.append(block_of, np.int32(SUPPRESSED))[self.group]
        rows, starts = rows_by_group(mine, n_blocks)
        return [rows[begin:end].astype(np.int64) for begin, end in pairwise(starts) if begin < end]

    def rearranged(self, rows: Ints, passes: int, seed: int, progress: Progress) -> Codes:
        """(rows,) the new groups of the rows of a block, numbered from 0."""
        before = _dense(self.group[rows])
        least = self.requirement.min_rows
        values = self.values(rows)
        codes = self.columns.codes[rows]
        block = new_block(self.columns.losses, codes, before, least, *values)
        relabel_all(block)
        first = block_loss(block)
        judge: Judge | None = None
        if not self.requirement.only_size:
            judge = _ValueJudge(block, least) if len(values) else _Judge(self, block, rows)
        for turn, warmth in enumerate(temperatures(passes, first / len(rows))):
            key = derived(seed, "pass", turn)
            order = self.order_of_pass(rows, key)
            look_once(block, order, least, warmth, key % (1 << 64), judge)
            progress((turn + 1) / passes)
        return _dense(block.group) if block_loss(block) < first else before

    def values(self, rows: Ints) -> tuple[Codes, Ints] | tuple[()]:
        """The sensitive values of these rows, numbered through all columns, and how many of each column
        a group must have; nothing where it is not their number alone that decides."""
        if not self.requirement.only_counts_values:
            return ()
        found, offset = [], 0
        for name in self.requirement.columns:
            domain, codes = self.cells.sensitive_domains[name], self.cells.sensitive[name][rows]
            found.append(np.where(codes == domain.missing, NONE, codes + offset))
            offset += domain.size
        required = [self.requirement.min_values[name] for name in self.requirement.columns]
        return np.stack(found, axis=1).astype(np.int32), np.array(required, np.int64)


class _ValueJudge:
    """The same where numbers of rows and of different values decide: these are counted by the kernel."""

    def __init__(self, block: Block, least: int) -> None:
        self.block, self.least = block, number(least)
        self.room = np.zeros(len(block.group), np.bool_)

    def __call__(self) -> None:
        """Judge all changes since the last time."""
        if self.block.log_end[NUMBER] > 0:
            judge_values(self.block, self.room, self.least)


class _Judge:
    """Asks the requirement about the changed groups of a block, and takes back what it refuses."""

    def __init__(self, work: _Work, block: Block, rows: Ints) -> None:
        self.work, self.block, self.rows = work, block, rows

    def __call__(self) -> None:
        """Judge all changes since the last time."""
        block, work = self.block, self.work
        n_changes, n_rows = block.log_end[NUMBER], block.log_end[ROWS]
        if n_changes == 0:
            return
        change, row, source = block.log[:, :n_rows]
        change_of = np.full(len(block.rows), NONE, np.int64)
        change_of[source] = change
        change_of[block.group[row]] = change
        asked = np.flatnonzero(change_of[block.group] != NONE)
        asked = asked[np.argsort(block.group[asked], kind="stable")]
        groups, starts = np.unique(block.group[asked], return_index=True)
        held = work.requirement.holds(
            counts_of_runs(
                work.cells,
                work.requirement,
                self.rows[asked].astype(np.int32),
                np.append(starts, len(asked)).astype(np.int64),
                work.totals,
            )
        )
        refused = np.zeros(n_changes, np.bool_)
        refused[change_of[groups[~held]]] = True
        take_back(block, refused)


def look_once(
    block: Block, order: Codes, least: int, warmth: float, seed: int, judge: Judge | None
) -> None:
    """One pass over the rows of a block, at a temperature in units of loss."""
    even = (np.arange(DRAWS) + 0.5) / DRAWS
    allowed = np.rint(-np.log(even) * warmth).astype(np.int64)
    most = number(max(16, int((block.rows > 0).sum()) // JUDGED))
    rows, judged, word = number(least), truth(judge is not None), np.uint64(seed)
    collect(block, order)
    split(block, rows, judged)
    if judge is not None:
        judge()
    place, tried = np.empty_like(order), np.full(len(block.rows), NONE, np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    key = np.uint64(mix(word, np.uint64(2 * len(order))))
    recut(block, order, place, tried, rows, allowed, key, judged)
    if judge is not None:
        judge()
    at = 0
    while at < len(order):
        at = exchange(block, order, place, number(at), rows, allowed, word, judged, most)
        if judge is not None:
            judge()
    if least <= FORMED:
        key = np.uint64(mix(word, np.uint64(3 * len(order))))
        form(block, order, place, rows, allowed, key, judged, most)
        if judge is not None:
            judge()
    other = np.uint64(mix(word, np.uint64(len(order))))
    dissolve(block, allowed, other, judged, most)
    if judge is not None:
        judge()


def temperatures(passes: int, loss: float) -> list[float]:
    """What each pass may add to the loss on average, falling; `loss` is that of a row."""
    cold = min(COLD, -(-passes // 3))
    warm = passes - cold
    steps = [turn / max(1, warm - 1) for turn in range(warm)]
    hot = HOT * (1 + min(1.0, passes / LONG))
    return [loss * hot * (WARM / hot) ** step for step in steps] + [0.0] * cold


def block_loss(block: Block) -> int:
    """What the rows of a block lose."""
    used = np.flatnonzero(block.rows)
    return int((block.rows[used] * block.cost[len(block.group) + used]).sum())


def new_block(
    losses: Losses,
    codes: Codes,
    group: Codes,
    least: int,
    values: Codes = NO_VALUES,
    required: Ints = NO_COLUMNS,
) -> Block:
    """Rows with their groups, numbered from 0, of which each has `least` rows or more.

    values, required: where these are counted; see `Block`.
    """
    n, d = codes.shape
    g = max(int(group.max()) + 1, n // least) + 1
    members = int(losses.seen[-1])
    order = np.argsort(group, kind="stable").astype(np.int32)
    block = Block(
        codes=np.ascontiguousarray(codes),
        losses=losses,
        values=values,
        required=required,
        group=group.copy(),
        head=np.full(g, NONE, np.int32),
        after=np.full(n, NONE, np.int32),
        before=np.full(n, NONE, np.int32),
        rows=np.bincount(group, minlength=g).astype(np.int64),
        low=np.zeros((n + g, d), np.int32),
        high=np.zeros((n + g, d), np.int32),
        cost=np.zeros(n + g, np.int64),
        thin=np.zeros(g, np.int64),
        bits=np.zeros((g, members // 64 + 1), np.int64),
        near=np.full(n, NONE, np.int32),
        added=np.zeros(n, np.int64),
        members=np.zeros(n, np.int32),
        seen=np.zeros(members + 1, np.int64),
        sums=np.zeros((3, n + 1), np.int64),
        listed=np.zeros(max(n, 4 * REACH), np.int32),
        met=np.zeros(int(values.max(initial=NONE)) + 2, np.int64),
        spots=np.zeros(g + 1, np.int64),
        changed=np.zeros(g, np.bool_),
        log=np.zeros((3, n), np.int32),
        log_end=np.zeros(2, np.int64),
        used=np.zeros(KINDS, np.int64),
    )
    collect(block, order)
    return block


def _dense(group: Codes) -> Codes:
    """The same groups, numbered from 0."""
    return np.unique(group, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _shares(domains: Sequence[Domain], weights: Mapping[str, float] | None) -> Floats:
    """(d,) how much each column counts, the most important one 1."""
    given = np.array([1.0 if weights is None else weights.get(d.name, 1.0) for d in domains])
    return given / given.max() if given.max() > 0 else np.ones(len(domains))


def _differences(cells: Cells) -> Floats:
    """(d,) what a label over two rows loses in each column, on average."""
    cell_of = np.repeat(np.arange(cells.n_cells), cells.counts)
    one, other = cell_of[np.random.default_rng(0).integers(0, cells.n_rows, (2, PAIRS))]
    costs, two, found = costs_of(cells.domains), np.full(PAIRS, 2), []
    for j in range(len(cells.domains)):  # one by one: a wide table has too many codes for all
        ends = [cells.codes[rows, j].astype(np.int64) for rows in (one, other)]
        found.append(label_costs(costs, j, np.minimum(*ends), np.maximum(*ends), two).mean())
    return np.array(found)


def _losses(domains: Sequence[Domain], shares: Floats) -> Losses:
    """What labels lose, by column; a small column has a table of all its labels."""
    costs = costs_of(domains)
    ends = np.append(costs.base[1:], len(costs.cost))
    how, parts, nodes = costs.kind.copy(), [], []
    for j, domain in enumerate(domains):
        part, node = (of[costs.base[j] : ends[j]] for of in (costs.cost, costs.node))
        if domain.kind != Kind.SET and domain.size <= LARGEST_TABLE:
            how[j] = TABLE
            ends_of = np.divmod(np.arange(domain.size**2), domain.size)
            low, high = np.minimum(*ends_of), np.maximum(*ends_of)
            part, node = label_costs(costs, j, low, high, high), node[:0]
        elif domain.kind != Kind.TREE:
            node = node[:0]
        parts.append(np.rint(part * shares[j]).astype(np.int64))
        nodes.append(node)
    base, node_base = (
        np.cumsum([0, *(len(one) for one in some[:-1])]).astype(np.int64) for some in (parts, nodes)
    )
    return Losses(
        how=how,
        size=costs.size,
        base=base,
        loss=np.concatenate(parts),
        most=np.rint(shares * costs.most).astype(np.int64),
        levels=costs.levels,
        node_base=node_base,
        node=np.concatenate(nodes),
        seen=costs.seen,
    )
