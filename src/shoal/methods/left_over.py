"""Cells that local recoding leaves over: they join groups, are merged with some, or are suppressed.

Which groups hold with a cell is asked from histograms of the groups, which are kept, so that a question
takes no longer for a large group than for a small one.
"""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.counts import Counts, size_counts
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.errors import Infeasible
from shoal.kernels.jit import kernel
from shoal.kernels.labels import (
    Costs,
    GroupLabels,
    empty_labels,
    growth,
    label_cost,
    widen,
    widen_all,
)
from shoal.methods.base import counts_of_runs
from shoal.models.base import SIZES_ONLY
from shoal.models.requirement import Requirement

ORDERS = 8
"""Orders of the columns by which neighbours are found."""
FIRST_TRIED, AT_ONCE = 8, 64
"""Groups that are judged at a time with more rows: the nearest, and then others."""
MOST_TRIED, LEAST_TRIED = 1024, 8
"""Groups that are tried for a row that is left over, at most; and where many rows are."""
MOST_JUDGED = 1 << 20
"""How many groups are tried in all, about."""
MOST_COMPARED = 1 << 26
"""Rows left over times groups up to which each is compared with all; elsewhere with near ones."""
NEAR = 24
"""Groups on either side of a row, in each of several orders, that are near."""
MOST_VALUES = 4096
"""Values of sensitive columns up to which histograms of groups are kept."""
MOST_KEPT = 1 << 24
"""Entries of all histograms that are kept at a time, and answers."""


def rows_of(cells: Cells, counts: Ints, some: Codes) -> Codes:
    """The canonical rows of these cells, one after another; counts: (cells,) rows of each."""
    rows = np.empty(int(counts[some].sum()), np.int32)
    list_rows(cells.starts, counts, some, rows)
    return rows


@kernel
def list_rows(starts: Ints, counts: Ints, some: Codes, rows: Codes) -> None:
    """Write the rows of these cells, one after another."""
    n = 0
    for cell in some:
        for i in range(counts[cell]):
            rows[n] = starts[cell] + i
            n += 1


class Groups:
    """The groups, and the cells that are left over."""

    def __init__(self, cells: Cells, requirement: Requirement, group: Codes) -> None:
        """group: (cells,) the group of each, or SUPPRESSED."""
        self.cells, self.requirement, self.counts = cells, requirement, cells.counts
        self.left = np.flatnonzero(group == SUPPRESSED)
        kept = np.flatnonzero(group != SUPPRESSED)
        # groups are numbered by their first cell, so nothing depends on how they were found
        _, first = np.unique(group[kept], return_index=True)
        number = np.empty(len(first), np.int64)
        number[np.argsort(first, kind="stable")] = np.arange(len(first))
        order = np.argsort(number[group[kept]], kind="stable")
        sizes = np.bincount(number[group[kept]], minlength=len(first))
        self.members = np.split(kept[order], np.cumsum(sizes)[:-1]) if len(first) else []
        self.more: dict[int, list[int]] = {}
        """By group, the cells that joined it."""

    def take_rest(self) -> None:
        """Let the cells that are left join groups."""
        if not self.members:
            # all rows may hold though they are fewer than the models need where values are known
            everyone = np.arange(self.cells.n_cells)
            if self.hold([everyone]).all():
                self.members, self.left = [everyone], everyone[:0]
                return
            raise Infeasible(
                "No group of rows holds all of the policy's constraints together: loosen them."
            )
        if len(self.left):
            self._insert()
        if len(self.left):
            self._merge_left()
        self._keep_what_holds()

    def grouping(self) -> Grouping:
        """The groups of the rows."""
        group = np.full(self.cells.n_cells, SUPPRESSED, np.int32)
        for g, members in enumerate(self.members):
            group[members] = g
        by_row = np.repeat(group, self.counts)
        return Grouping(by_row, len(self.members), tuple(range(len(self.cells.domains))))

    def _insert(self) -> None:
        """Each cell into the group to which it adds least, of those that hold with it; again from the
        start until none fits. A cell that no group could take is tried again with those that grew."""
        costs, counts = costs_of(self.cells.domains), self.counts
        labels = empty_labels(costs, len(self.members))
        starts = np.append(0, np.cumsum([len(some) for some in self.members])).astype(np.int64)
        every = np.concatenate(self.members).astype(np.int32)
        widen_all(labels, costs, self.cells.codes, every, starts)
        sizes: Ints = np.add.reduceat(counts[every], starts[:-1])
        own = own_losses(labels, costs)
        near = np.arange(len(self.members), dtype=np.int32)[None]
        if len(self.left) * len(self.members) > MOST_COMPARED:
            firsts = np.array([some[0] for some in self.members])
            near = nearest_groups(self.cells.codes[firsts], self.cells.codes[self.left])
        place_of = {cell: i for i, cell in enumerate(self.left.tolist())}
        judge = _Judge(self, sizes)
        moved, tried = True, dict[int, int]()
        while moved and len(self.left):
            moved, left = False, []
            for cell in self.left.tolist():
                codes, rows = self.cells.codes[cell], int(counts[cell])
                some = near[0] if len(near) == 1 else np.unique(near[place_of[cell]])
                if cell in tried:
                    some = some[judge.grew[some] >= tried[cell]]
                tried[cell], found = judge.clock, SUPPRESSED
                if len(some):
                    grown = growths(labels, costs, codes, some)
                    added: Ints = rows * (own[some] + grown) + sizes[some] * grown
                    found = self._first_that_holds(judge, cell, some, added)
                if found == SUPPRESSED:
                    left.append(cell)
                    continue
                g, moved = int(some[found]), True
                self.more.setdefault(g, []).append(cell)
                judge.joined(g, cell)
                widen(labels, costs, g, codes)
                sizes[g] += rows
                own[g] += grown[found]
            self.left = np.array(left, np.int64)
        for g, cells in self.more.items():
            self.members[g] = np.append(self.members[g], cells)
        self.more = {}

    def _first_that_holds(self, judge: "_Judge", cell: int, groups: Codes, added: Ints) -> int:
        """The place, among these groups, of the one to which a cell adds least, of those that hold with
        it; SUPPRESSED if none does."""
        if self.requirement.holds_when_joined:
            return int(np.argmin(added))
        most = min(MOST_TRIED, max(LEAST_TRIED, MOST_JUDGED // len(self.left)))
        if len(added) > most:
            some = np.flatnonzero(added <= np.partition(added, most)[most])
        else:
            some = np.arange(len(added))
        nearest = some[np.argsort(added[some], kind="stable")][:most]
        begin, end = 0, FIRST_TRIED
        while begin < len(nearest):
            tried = nearest[begin:end]
            held = judge.hold_with(groups[tried].astype(np.int64), cell)
            if held.any():
                return int(tried[int(np.argmax(held))])
            begin, end = end, end + AT_ONCE
        return SUPPRESSED

    def cells_of(self, g: int) -> Ints:
        """The cells of a group, with those that joined it."""
        more = self.more.get(g)
        return np.append(self.members[g], more) if more else self.members[g]

    def hold(self, groups: Sequence[Ints], *, kept_rows: bool = False) -> Bools:
        """(g,) whether each set of cells satisfies the requirement.

        kept_rows: compared with the rows of these groups, in place of the whole table.
        """
        cells, every = self.cells, np.concatenate(groups).astype(np.int32)
        rows = rows_of(cells, self.counts, every)
        ends = np.cumsum([len(some) for some in groups])
        starts = np.append(0, np.cumsum(self.counts[every])[ends - 1]).astype(np.int64)
        totals = cells.totals_of_rows(rows) if kept_rows else None
        return self.requirement.holds(counts_of_runs(cells, self.requirement, rows, starts, totals))

    def _merge_left(self) -> None:
        """Where more rows are left than may be suppressed, or nothing is lost by keeping them: each is
        merged with near groups, or, where groups that hold need not do so together, one group of them
        all and of the groups that are nearest to all of them, as many as it takes."""
        may, n_left = self.requirement.may_suppress, int(self.counts[self.left].sum())
        if (may is None or n_left <= may) and not self._nothing_counts():
            return
        if self.requirement.holds_when_merged:
            self.members = [*self.members, *self.left[:, None]]
            self.left = self.left[:0]
            self._merge_what_breaks()
            return
        costs = costs_of(self.cells.domains)
        labels = empty_labels(costs, len(self.members) + 1)
        every = [*self.members, self.left]
        starts = np.append(0, np.cumsum([len(some) for some in every])).astype(np.int64)
        widen_all(labels, costs, self.cells.codes, np.concatenate(every).astype(np.int32), starts)
        others = np.arange(len(self.members), dtype=np.int32)
        far = joined_costs(labels, costs, len(self.members), others)
        nearest, n = np.argsort(far, kind="stable").tolist(), 1
        while True:
            whole = np.concatenate([self.left, *(self.members[g] for g in nearest[:n])])
            if self.hold([whole])[0]:
                rest = set(range(len(self.members))) - set(nearest[:n])
                self.members = [*(self.members[g] for g in sorted(rest)), np.sort(whole)]
                self.left = self.left[:0]
                return
            if n >= len(nearest):
                return
            n *= 2

    def _nothing_counts(self) -> bool:
        """Whether no label loses anything: columns without importance, or with one value."""
        columns = zip(self.cells.domains, self.cells.rows_of_values, strict=True)
        return all(domain.most == 0 or (rows > 0).sum() < 2 for domain, rows in columns)

    def _keep_what_holds(self) -> None:
        """Groups that hold compared with the rows kept alone. One that does not is merged with the
        nearest, so that the rows kept stay the same; where that does not help either, it is left."""
        compared = any(model.compares_with_table for model in self.requirement.models)
        merges = self.requirement.holds_when_merged
        while compared and len(self.left) and self.members:
            if merges:
                self._merge_what_breaks(kept_rows=True)
            held = self.hold(self.members, kept_rows=True)
            if held.all():
                break
            lost = [some for some, holds in zip(self.members, held, strict=True) if not holds]
            self.left = np.sort(np.concatenate([self.left, *lost]))
            self.members = [some for some, holds in zip(self.members, held, strict=True) if holds]

    def _merge_what_breaks(self, *, kept_rows: bool = False) -> None:
        """Merge groups that do not hold with near ones until all hold, or one is left."""
        while len(self.members) > 1:
            held = self.hold(self.members, kept_rows=kept_rows)
            if held.all():
                return
            self._merge_with_nearest(held)

    def _merge_with_nearest(self, held: Bools) -> None:
        """Each group that does not hold with the one that both lose least with, none of them twice."""
        costs, n = costs_of(self.cells.domains), len(self.members)
        labels = empty_labels(costs, n)
        starts = np.append(0, np.cumsum([len(some) for some in self.members])).astype(np.int64)
        every = np.concatenate(self.members).astype(np.int32)
        widen_all(labels, costs, self.cells.codes, every, starts)
        sizes: Ints = np.add.reduceat(self.counts[every], starts[:-1])
        own, broken = own_losses(labels, costs), np.flatnonzero(~held)
        near = np.arange(n, dtype=np.int32)[None]
        if len(broken) * n > MOST_COMPARED:
            firsts = self.cells.codes[[some[0] for some in self.members]]
            near = nearest_groups(firsts, firsts[broken])
        partner, merged = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
        for i, g in enumerate(broken.tolist()):
            some = near[0] if len(near) == 1 else np.unique(near[i])
            some = some[~merged[some] & (some != g)]
            if merged[g] or not len(some):
                continue
            joint = joined_costs(labels, costs, g, some)
            h = int(some[np.argmin(joint * (sizes[g] + sizes[some]) - own[some] * sizes[some])])
            partner[g], merged[[g, h]] = h, True
        taken = set(partner[partner >= 0].tolist())
        self.members = [
            np.sort(np.append(some, self.members[partner[g]])) if partner[g] >= 0 else some
            for g, some in enumerate(self.members)
            if g not in taken
        ]


class _Judge:
    """Asks whether groups hold with one more cell.

    Cells with the same sensitive values fit into the same groups, so an answer is good for all of them
    until the group grows.
    """

    def __init__(self, groups: Groups, sizes: Ints) -> None:
        """sizes: (g,) rows of each group, kept up to date by others."""
        cells, requirement = groups.cells, groups.requirement
        self.groups, self.sizes = groups, sizes
        self.domains = [(name, cells.sensitive_domains[name]) for name in requirement.columns]
        self.values = sum(domain.size for _, domain in self.domains)
        more = requirement.needs_population or requirement.needs_weights
        few = 0 < self.values <= MOST_VALUES
        self.keeps = few and cells.people is None and not more
        self.histograms: dict[int, Ints] = {}
        """By group, how many rows have each value."""
        self.clock = 1
        self.grew = np.zeros(len(sizes), np.int64)
        """(g,) when the group grew last."""
        self.answers: dict[bytes, tuple[Ints, Bools]] = {}
        """By the rows and values of a cell, (g,) when each group was asked, and whether it holds."""

    def hold_with(self, groups: Ints, cell: int) -> Bools:
        """(g,) whether each of these groups holds with the cell."""
        if not self.keeps:
            of = self.groups
            return of.hold([np.append(of.cells_of(g), cell) for g in groups.tolist()])
        mine, rows = self._histogram_of(np.array([cell])), int(self.groups.counts[cell])
        key = rows.to_bytes(8, "little") + mine.tobytes()
        if key not in self.answers:
            if (len(self.answers) + 1) * len(self.sizes) > MOST_KEPT:
                self.answers.clear()
            n = len(self.sizes)
            self.answers[key] = np.zeros(n, np.int64), np.zeros(n, np.bool_)
        asked, held = self.answers[key]
        new = groups[asked[groups] <= self.grew[groups]]
        if len(new):
            held[new] = self._judged(new, mine, rows)
            asked[new] = self.clock
        return held[groups]

    def joined(self, g: int, cell: int) -> None:
        """A group has taken a cell."""
        self.grew[g] = self.clock
        self.clock += 1
        if g in self.histograms:
            self.histograms[g] += self._histogram_of(np.array([cell]))

    def _judged(self, groups: Ints, more: Ints, rows: int) -> Bools:
        """(g,) whether each group holds with so many more rows of such values."""
        together = np.stack([self._histogram(g) for g in groups.tolist()]) + more
        sizes = self.sizes[groups] + rows
        counts, begin = {SIZES_ONLY: size_counts(sizes)}, 0
        for name, domain in self.domains:
            mine = together[:, begin : begin + domain.size]
            group, values = np.nonzero(mine)
            starts = np.searchsorted(group, np.arange(len(groups) + 1)).astype(np.int64)
            counts[name] = Counts(
                sizes, starts, values.astype(np.int32), mine[group, values], domain,
                self.groups.cells.totals[name].counts,
            )  # fmt: skip
            begin += domain.size
        return self.groups.requirement.holds(counts)

    def _histogram(self, g: int) -> Ints:
        if g not in self.histograms:
            if (len(self.histograms) + 1) * self.values > MOST_KEPT:
                self.histograms.clear()
            self.histograms[g] = self._histogram_of(self.groups.cells_of(g))
        return self.histograms[g]

    def _histogram_of(self, some: Ints) -> Ints:
        """(values,) how many rows of some cells have each value, column by column."""
        cells = self.groups.cells
        rows, parts = rows_of(cells, cells.counts, some.astype(np.int32)), []
        for name, domain in self.domains:
            found = np.bincount(cells.sensitive[name][rows], minlength=domain.size)
            if domain.missing >= 0:
                found[domain.missing] = 0
            parts.append(found)
        return np.concatenate(parts)


def nearest_groups(groups: Codes, rows: Codes) -> Codes:
    """(rows, g) per row the groups next to it, ascending, when both are sorted by several orders of the
    columns; groups: (n, d) the first row of each. A group may stand there more than once."""
    n, d = groups.shape
    rng, found = np.random.default_rng(0), []
    both = np.concatenate([groups, rows])
    for _ in range(ORDERS):
        order = np.lexsort([both[:, j] for j in rng.permutation(d)])
        is_group = order < n
        before = np.cumsum(is_group)  # groups up to each place
        place = np.empty(len(both), np.int64)
        place[order] = before
        around = place[n:, None] + np.arange(-NEAR, NEAR)
        found.append(order[is_group][np.clip(around, 0, n - 1)])
    return np.sort(np.concatenate(found, axis=1), axis=1).astype(np.int32)


@kernel
def own_losses(labels: GroupLabels, costs: Costs) -> Ints:
    """(g,) what the label of each group costs."""
    out = np.zeros(len(labels.low), np.int64)
    for g in range(len(out)):
        for j in range(len(costs.kind)):
            low, high = labels.low[g, j], labels.high[g, j]
            out[g] += label_cost(costs, j, low, high, labels.members[g, j])
    return out


@kernel
def growths(labels: GroupLabels, costs: Costs, codes: Codes, groups: Codes) -> Ints:
    """(g,) what one more row adds to the cost of the label of each of these groups."""
    out = np.empty(len(groups), np.int64)
    for i in range(len(out)):
        out[i] = growth(labels, costs, groups[i], codes, np.iinfo(np.int64).max)
    return out


@kernel
def joined_costs(labels: GroupLabels, costs: Costs, g: int, others: Codes) -> Ints:
    """(others,) what a label over the group and each of the others would cost, the members of sets
    counted twice at most."""
    out = np.zeros(len(others), np.int64)
    for i in range(len(out)):
        h = others[i]
        for j in range(len(costs.kind)):
            low = min(labels.low[g, j], labels.low[h, j])
            high = max(labels.high[g, j], labels.high[h, j])
            members = min(costs.size[j], labels.members[g, j] + labels.members[h, j])
            out[i] += label_cost(costs, j, low, high, members)
    return out
