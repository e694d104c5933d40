"""Uniform labels: one set of labels for the whole table, while other columns stay local.

Every column with uniform labels gets a cut: blocks of values whose labels never overlap. The method
then runs inside the strata, which are the rows with the same blocks in all of these columns, so no group
ever spans two labels. Which cut a column gets is found by trying: of numbers and dates intervals of
rising width, of a hierarchy its levels, of other values the rarest ones together in one set; blocks with
too few rows join their neighbours. The cuts with the least total loss win, the loss of the other columns
included, since finer labels leave smaller strata to the method. Rows of strata that do not satisfy the
requirement are suppressed as far as the policy says so; other cuts with such strata are ruled out.

A method that gives every value the same level everywhere has uniform labels already; where it raises
single groups, the column is published at the highest of their levels.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.cells import Cells, subset
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import SUPPRESSED, Grouping, Spans, rows_by_group, spans_of
from shoal.errors import Infeasible
from shoal.methods.base import Method, Progress, counts_of_runs
from shoal.methods.blocks import group_rows, refine_rows
from shoal.methods.people import LabelsOf, covering_labels
from shoal.methods.repair import holding_alone
from shoal.metrics.ncp import label_losses
from shoal.models.requirement import Requirement
from shoal.publish.cut import (
    Cut,
    Cuts,
    Interval,
    cut_of_codes,
    cut_of_levels,
    interval_cut,
    merged_bins,
    under_cuts,
    whole_cut,
)
from shoal.publish.label_parser import DAY, MOMENT
from shoal.publish.microaggregation import column_scale
from shoal.publish.scale import Scale, Whole

MOST_LABELS = 2_000
"""A column with more labels serves nobody who groups by it."""
FEWEST = (1, 4, 16, 64)
"""The blocks at both ends of a column, and all nodes of a hierarchy, have at least so many times the
rows that the requirement needs: where several columns have uniform labels, or the requirement asks for
more than rows, sparse ends would spoil finer labels everywhere."""
STEPS = (1, 2, 5)
"""Widths of intervals: these, and ten times, a hundred times, … as much."""
NOT_HELD = "Some strata do not satisfy the constraints."
MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
"""Widths of intervals of days, in months."""
AHEAD = 5
"""How far ahead single steps look, among the cuts of a column."""
MOST_COMBINATIONS = 20_000
"""Combinations of cuts that are ranked; where there are more, only single steps are tried."""
MOST_CHECKED, MOST_RUNS = 2_000, 40
"""Combinations that are looked at, and for which the method is run, beside single steps."""

Limits = Callable[[int], tuple[int, int]]
"""The ends of an interval by its number: where it begins, and where the next one does."""
Grid = tuple[Whole, Limits]
"""(values,) the number of each value's interval, and the ends of intervals."""


@dataclass(frozen=True)
class Strata:
    """The rows of a table by their blocks in all columns with uniform labels."""

    cells: Cells
    """The table with the blocks in place of the values of these columns."""
    order: Ints
    """(n_rows,) the canonical row of the table that each row here is."""
    parts: tuple[Codes, ...]
    """The rows of each stratum that satisfies the requirement, ascending."""

    def in_table(self, groupings: tuple[Grouping, ...]) -> tuple[Grouping, ...]:
        """Groupings of these rows, for the rows in the order of the table."""
        found = []
        for one in groupings:
            group = np.empty(len(self.order), np.int32)
            group[self.order] = one.group
            found.append(replace(one, group=group))
        return tuple(found)


@dataclass(frozen=True)
class UniformGroups:
    """Groups that never span two labels of the columns with uniform labels."""

    groupings: tuple[Grouping, ...]
    cuts: Cuts
    """Of the columns whose labels the groups do not give by themselves."""
    strata: Strata | None = None
    """In which the groups were formed; None where the method's own labels are uniform."""


def group_uniformly(
    method: Method,
    cells: Cells,
    requirement: Requirement,
    seed: int,
    specs: Mapping[str, ColumnSpec],
    progress: Progress,
    labels_as_read: LabelsOf = covering_labels,
) -> UniformGroups:
    """Run a method so that some columns have uniform labels.

    specs: what the policy says about each quasi-identifier; `labels` says which have uniform labels.
    """
    names = [domain.name for domain in cells.domains if specs[domain.name].labels == "uniform"]
    if method.along_hierarchies:
        found = group_rows(method, cells, requirement, seed, progress, labels_as_read)
        return UniformGroups(tuple(_raised(cells, one, names) for one in found), {})
    search = _Search(method, cells, requirement, seed, labels_as_read)
    tried = {
        domain.name: list(cuts_of(domain, specs[domain.name], rows, _least(cells, requirement)))
        for domain, rows in zip(cells.domains, cells.rows_of_values, strict=True)
        if domain.name in names
    }
    best = search.best(tried, progress)
    found_strata, groupings = search.formed(best)
    return UniformGroups(found_strata.in_table(groupings), best, found_strata)


def refine_uniformly(
    method: Method,
    requirement: Requirement,
    found: UniformGroups,
    passes: int,
    seed: int,
    progress: Progress,
    labels_as_read: LabelsOf = covering_labels,
) -> UniformGroups:
    """Rearrange the rows of the groups inside their strata."""
    strata = found.strata
    assert strata is not None, "the groups of full-domain methods are not refined"
    mine = tuple(replace(one, group=one.group[strata.order]) for one in found.groupings)
    formed: list[tuple[Codes, tuple[Grouping, ...]]] = []
    for rows in strata.parts:
        part = subset(strata.cells, rows)
        its = tuple(_part_of(one, rows) for one in mine)
        its = refine_rows(
            method, part, requirement, its, passes, seed, lambda _: None, labels_as_read
        )
        formed.append((rows, its))
        progress(len(formed) / len(strata.parts))
    groupings = _joined(strata.cells.n_rows, formed)
    if not _hold_alone(strata.cells, requirement, groupings):
        return found
    return replace(found, groupings=strata.in_table(groupings))


def fixed_groups(cells: Cells, cuts: Cuts) -> Grouping:
    """The groups of rows with the same blocks in every column."""
    strata = _rows_by_block(cells, cuts)
    group, n = strata
    return Grouping(group, n, tuple(range(len(cells.domains))))


def _least(cells: Cells, requirement: Requirement) -> int:
    """The rows below which a block cannot hold the requirement: where people have several, as many as
    that many people have on average."""
    people = cells.n_rows if cells.people is None else cells.people.count
    return -(-requirement.min_rows * cells.n_rows // max(1, people))


def _raised(cells: Cells, grouping: Grouping, names: Sequence[str]) -> Grouping:
    """Every group at the highest level that some group has in a column with uniform labels."""
    assert grouping.levels is not None, "full-domain methods fix the levels"
    levels = grouping.levels.copy()
    for j, column in enumerate(grouping.columns):
        if cells.domains[column].name in names and len(levels):
            levels[:, j] = levels[:, j].max()
    return replace(grouping, levels=levels)


def cuts_of(domain: Domain, spec: ColumnSpec, rows: Ints, least: int) -> Iterator[Cut]:
    """The cuts that are tried for a column, from the coarsest on; no two are the same.

    rows: (size,) the rows of each value. least: blocks with fewer join others, where they can.
    """
    seen: set[bytes] = set()
    cuts = sorted(_all_cuts(domain, spec, rows, least), key=lambda cut: cut.n_blocks)
    for cut in [whole_cut(domain), *cuts]:
        key = cut.block.tobytes() + repr(cut.texts.to_pylist()).encode()
        if cut.n_blocks <= MOST_LABELS and key not in seen:
            seen.add(key)
            yield cut


def _all_cuts(domain: Domain, spec: ColumnSpec, rows: Ints, least: int) -> Iterator[Cut]:
    known = domain.size - (domain.missing >= 0)
    if domain.kind == Kind.SET:
        yield from _by_rarity(domain, rows[:known], least)
        return
    for times in FEWEST:
        yield from _ordered_cuts(domain, spec, rows, least, least * times)


def _ordered_cuts(
    domain: Domain, spec: ColumnSpec, rows: Ints, least: int, ends: int
) -> Iterator[Cut]:
    """ends: the rows of the first and the last block at least, and of every node of a hierarchy."""
    known = domain.size - (domain.missing >= 0)
    if domain.kind == Kind.TREE:
        yield from _by_levels(domain, rows, ends)
    elif (scale := column_scale(domain, spec)) is not None:
        yield from _by_intervals(domain, scale, rows[:known], least, ends)
    else:
        for width in _widths(known):
            block = merged_bins(np.arange(known) // width, rows[:known], least, ends)
            yield cut_of_codes(domain, _with_missing(domain, block))


def _with_missing(domain: Domain, block: Ints) -> Ints:
    return block if domain.missing < 0 else np.append(block, block.max(initial=-1) + 1)


def _by_levels(domain: Domain, rows: Ints, least: int) -> Iterator[Cut]:
    """Every level; nodes with too few rows are raised with all that is under their parent."""
    tree = domain.hierarchy
    assert tree is not None
    known = np.arange(domain.size) != domain.missing
    for start in range(tree.height):
        levels = np.full(domain.size, start, np.int32)
        for level in range(start, tree.height - 1):
            nodes, above = tree.nodes[level], tree.nodes[level + 1]
            mine = (levels == level) & known
            many = np.bincount(nodes, rows)
            few = np.unique(above[mine & (many[nodes] < least)])
            levels[known & np.isin(above, few)] = level + 1
        yield cut_of_levels(domain, levels)


def _by_rarity(domain: Domain, rows: Ints, least: int) -> Iterator[Cut]:
    """Values with enough rows alone, all others together; codes rise with the rows of a value."""
    order = np.argsort(rows, kind="stable")
    summed = np.cumsum(rows[order])
    enough = least
    while True:
        rest = int(np.searchsorted(rows[order], enough))
        if rest and summed[rest - 1] < least:
            rest = int(np.searchsorted(summed, least)) + 1
        if rest >= len(rows):
            return
        block = np.empty(len(rows), np.int64)
        alone = np.arange(len(rows) - rest) + (1 if rest else 0)
        block[order[:rest]], block[order[rest:]] = 0, alone
        yield cut_of_codes(domain, _with_missing(domain, block))
        enough *= 2


def _by_intervals(domain: Domain, scale: Scale, rows: Ints, least: int, ends: int) -> Iterator[Cut]:
    """Intervals of rising width that begin at multiples of it, or with months and years."""
    places = scale.counts(domain.texts.drop_null().to_pylist())
    for bins, limits in _grids(scale, places):
        block = merged_bins(bins, rows, least, ends)
        first = np.flatnonzero(np.append(True, block[1:] != block[:-1]))
        last = np.append(first[1:], len(block)) - 1
        intervals = [
            Interval(limits(bins[a])[0], limits(bins[b])[1])
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]
        if len(intervals) <= MOST_LABELS:
            yield interval_cut(domain, scale, intervals, block)


def _grids(scale: Scale, places: Whole) -> Iterator[Grid]:
    if scale.sort == MOMENT:
        yield places // DAY, _multiples(DAY)
        months = np.array([_month(int(place) // DAY) for place in places], np.int64)
        for width in MONTHS:
            yield months // width, _calendar(width)
            if months[0] // width == months[-1] // width:
                return
        return
    if not scale.is_discrete:
        yield places, _multiples(1)  # decimals that are published as they are
    for width in _widths((int(places[-1]) - int(places[0])) // scale.step + 2):
        wide = width * scale.step
        yield places // wide, _multiples(wide)


def _multiples(width: int) -> Limits:
    return lambda number: (int(number) * width, (int(number) + 1) * width)


def _calendar(months: int) -> Limits:
    return lambda number: (_day(number * months) * DAY, _day((number + 1) * months) * DAY)


def _widths(most: int) -> Iterator[int]:
    """1, 2, 5, 10, …, up to one that covers everything."""
    power = 1
    while True:
        for step in STEPS:
            yield step * power
            if step * power >= most:
                return
        power *= 10


def _month(day: int) -> int:
    found = date.fromordinal(day)
    return found.year * 12 + found.month - 1


def _day(month: int) -> int:
    """The number of a month's first day; the calendar ends with the year 9999."""
    year, month = max(1, int(month) // 12), int(month) % 12 if int(month) >= 12 else 0
    return date(year, month + 1, 1).toordinal() if year <= date.max.year else date.max.toordinal()


class _Search:
    """Tries cuts, and remembers what each combination costs."""

    def __init__(
        self,
        method: Method,
        cells: Cells,
        requirement: Requirement,
        seed: int,
        labels_as_read: LabelsOf,
    ) -> None:
        self._method, self._cells = method, cells
        self._requirement, self._seed = requirement, seed
        self._labels_as_read = labels_as_read
        self._tried: dict[tuple[int, ...], float | None] = {}

    def best(self, tried: Mapping[str, Sequence[Cut]], progress: Progress) -> dict[str, Cut]:
        """The cuts with the least loss.

        From one label for everything, always the step to finer labels that wins most is taken. Then
        other combinations are tried, from the one on that would lose least if the other columns lost
        nothing, as long as that is less than the least loss so far. Labels finer in every column than
        some that do not satisfy the requirement are not tried.
        """
        names = list(tried)
        tried = {name: self._narrowest(name, cuts) for name, cuts in tried.items()}
        at = self._descended(tried, tuple(0 for _ in names))
        least = self._loss(tried, at)
        bounds = [np.array([self._cut_loss(name, cut) for cut in tried[name]]) for name in names]
        if np.prod([float(len(one)) for one in bounds]) <= MOST_COMBINATIONS:
            total = sum(np.ix_(*bounds), np.zeros(1))
            order = np.argsort(total, axis=None, kind="stable")
            runs = 0
            for place in order[:MOST_CHECKED].tolist():
                if (least is not None and total.flat[place] >= least) or runs >= MOST_RUNS:
                    break
                other = tuple(int(i) for i in np.unravel_index(place, total.shape))
                if other in self._tried or self._is_finer_than_impossible(other):
                    continue
                loss = self._loss(tried, other)
                runs += loss is not None
                progress(runs / MOST_RUNS)
                if loss is not None and (least is None or loss < least):
                    at, least = other, loss
        if least is None:
            # not even one label for everything: say what the method says
            group_rows(
                self._method,
                self._cells,
                self._requirement,
                self._seed,
                progress,
                self._labels_as_read,
            )
            raise Infeasible(
                "No labels that are the same everywhere satisfy the constraints. Allow more "
                "`suppression`, or choose `labels: range`."
            )
        return {name: tried[name][place] for name, place in zip(names, at, strict=True)}

    def _descended(
        self, tried: Mapping[str, Sequence[Cut]], at: tuple[int, ...]
    ) -> tuple[int, ...]:
        """The steps to finer labels that win most, one after the other."""
        sizes = [len(cuts) for cuts in tried.values()]
        while True:
            least = self._loss(tried, at)
            steps = [
                (*at[:j], place, *at[j + 1 :])
                for j, size in enumerate(sizes)
                for place in range(at[j] + 1, min(size, at[j] + AHEAD))
            ]
            losses = [(loss, one) for one in steps if (loss := self._loss(tried, one)) is not None]
            better = [found for found in losses if least is None or found[0] < least]
            if not better:
                return at
            at = min(better)[1]

    def _narrowest(self, name: str, cuts: Sequence[Cut]) -> list[Cut]:
        """Of cuts that part the values alike, those that lose least: [20~39] rather than [0~39].

        Steps look only some cuts ahead, so a column must not begin with many that part nothing.
        """
        found: dict[bytes, tuple[float, Cut]] = {}
        for cut in cuts:
            key, loss = cut.block.tobytes(), round(self._cut_loss(name, cut), 6)
            if key not in found or loss < found[key][0]:
                found[key] = (loss, cut)
        return [cut for _, cut in found.values()]

    def _cut_loss(self, name: str, cut: Cut) -> float:
        """What a cut loses in its own column."""
        (j,) = (j for j, domain in enumerate(self._cells.domains) if domain.name == name)
        domain, rows = self._cells.domains[j], self._cells.rows_of_values[j]
        codes = np.arange(domain.size, dtype=np.int32)
        grouping = Grouping(codes, domain.size, (j,))
        sets = {}
        if domain.kind == Kind.SET:
            sets = {0: (np.arange(domain.size + 1, dtype=np.int64), codes)}
        low = codes[:, None]
        alone = Spans(rows, low, low, np.zeros((domain.size, 1), np.int32), sets)
        spans = under_cuts(self._cells.domains, grouping, alone, {name: cut})
        return float((label_losses(domain, spans, 0) * rows).sum()) * domain.share

    def _is_finer_than_impossible(self, at: tuple[int, ...]) -> bool:
        return any(
            loss is None and all(mine >= other for mine, other in zip(at, one, strict=True))
            for one, loss in self._tried.items()
        )

    def _loss(self, tried: Mapping[str, Sequence[Cut]], at: tuple[int, ...]) -> float | None:
        """The total loss with some cuts; None where they cannot satisfy the requirement."""
        if at not in self._tried:
            cuts = {name: tried[name][place] for name, place in zip(tried, at, strict=True)}
            try:
                strata, groupings = self.formed(cuts)
            except Infeasible:
                self._tried[at] = None
            else:
                self._tried[at] = loss_under(self._cells, strata.in_table(groupings), cuts)
        return self._tried[at]

    def formed(self, cuts: Cuts) -> tuple[Strata, tuple[Grouping, ...]]:
        """The groups of the method inside the strata of some cuts."""
        cells, requirement = self._cells, self._requirement
        strata, left = strata_of(cells, cuts, requirement)
        may = requirement.may_suppress
        formed = []
        for rows in strata.parts:
            own = None if may is None else (may - left) * len(rows) // cells.n_rows
            required = replace(requirement, may_suppress=own)
            part = subset(strata.cells, rows)
            found = group_rows(
                self._method, part, required, self._seed, lambda _: None, self._labels_as_read
            )
            formed.append((rows, found))
        groupings = _joined(strata.cells.n_rows, formed)
        if not _hold_alone(strata.cells, requirement, groupings):
            raise Infeasible(NOT_HELD)
        return strata, groupings


def _hold_alone(cells: Cells, requirement: Requirement, groupings: tuple[Grouping, ...]) -> bool:
    """Whether the groups of all strata hold once they are compared with the rows kept alone; a method
    knows only what it suppressed in its own."""
    if len(groupings) != 1:
        return True
    return holding_alone(cells, requirement, groupings[0]).n_groups == groupings[0].n_groups


def loss_under(cells: Cells, groupings: Sequence[Grouping], cuts: Cuts) -> float:
    """The NCP of groups whose labels in some columns are those of cuts, columns by importance."""
    total = 0.0
    for grouping in groupings:
        spans = under_cuts(cells.domains, grouping, spans_of(cells, grouping), cuts)
        suppressed = cells.n_rows - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = cells.domains[column]
            loss: Floats = label_losses(domain, spans, j) * spans.sizes
            total += domain.share * (float(loss.sum()) + suppressed)
    return round(total, 6)


def strata_of(cells: Cells, cuts: Cuts, requirement: Requirement) -> tuple[Strata, int]:
    """The strata of some cuts, and how many rows are in those that are suppressed.

    Raises `Infeasible` where more would have to be than the policy says.
    """
    group, n = _rows_by_block(cells, cuts)
    sizes = np.bincount(group, minlength=n)
    if sizes[sizes < requirement.min_rows].sum() > (requirement.may_suppress or 0):
        raise Infeasible(NOT_HELD)
    coded, order = recoded(cells, cuts)
    rows, starts = rows_by_group(group[order], n)
    held = requirement.holds(counts_of_runs(coded, requirement, rows, starts))
    left = int(np.diff(starts)[~held].sum())
    compares = any(model.compares_with_table for model in requirement.models)
    if left and (compares or left > (requirement.may_suppress or 0) or not held.any()):
        raise Infeasible(NOT_HELD)
    parts = [np.sort(rows[starts[i] : starts[i + 1]]) for i in np.flatnonzero(held).tolist()]
    return Strata(coded, order, tuple(parts)), left


def _rows_by_block(cells: Cells, cuts: Cuts) -> tuple[Codes, int]:
    """(n_rows,) a number for the blocks of each canonical row in all columns with a cut."""
    number = np.zeros(cells.n_cells, np.int64)
    for j, domain in enumerate(cells.domains):
        cut = cuts.get(domain.name)
        if cut is not None:
            number = number * cut.n_blocks + cut.block[cells.codes[:, j]]
            number = np.unique(number, return_inverse=True)[1].reshape(-1)
    return np.repeat(number, cells.counts).astype(np.int32), int(number.max(initial=-1)) + 1


def recoded(cells: Cells, cuts: Cuts) -> tuple[Cells, Ints]:
    """The table with blocks in place of values, and (n_rows,) the canonical row that each row is."""
    domains, columns = list(cells.domains), list(np.repeat(cells.codes, cells.counts, axis=0).T)
    for j, domain in enumerate(domains):
        cut = cuts.get(domain.name)
        if cut is not None:
            columns[j] = cut.block[columns[j]]
            domains[j] = Domain(domain.name, Kind.SET, cut.texts, -1, share=domain.share)
    order = np.lexsort((cells.hashes, *reversed(columns))).astype(np.int64)
    codes = np.stack(columns, axis=1)[order].astype(np.int32)
    begins = np.append(True, (codes[1:] != codes[:-1]).any(axis=1))
    found = replace(
        cells,
        domains=tuple(domains),
        codes=np.ascontiguousarray(codes[begins]),
        starts=np.append(np.flatnonzero(begins), len(order)).astype(np.int64),
        rows=cells.rows[order],
        hashes=cells.hashes[order],
        sensitive={name: values[order] for name, values in cells.sensitive.items()},
        target=None if cells.target is None else cells.target[order],
        population=None if cells.population is None else cells.population[order],
        weights=None if cells.weights is None else cells.weights[order],
        people=None if cells.people is None else cells.people.in_order(order),
    )
    return found, order


def _part_of(grouping: Grouping, rows: Codes) -> Grouping:
    """The groups of some rows, numbered anew."""
    found, dense = np.unique(grouping.group[rows], return_inverse=True)
    hidden = int(found[0] == SUPPRESSED)
    group = dense.reshape(-1).astype(np.int32) - np.int32(hidden)
    return replace(grouping, group=group, n_groups=len(found) - hidden)


def _joined(
    n_rows: int, formed: Sequence[tuple[Codes, tuple[Grouping, ...]]]
) -> tuple[Grouping, ...]:
    """The groups of all strata, one after the other."""
    found = []
    for i, first in enumerate(formed[0][1]):
        group, n_groups = np.full(n_rows, SUPPRESSED, np.int32), 0
        notes: dict[str, None] = {}
        for rows, groupings in formed:
            one = groupings[i]
            group[rows] = np.where(one.group >= 0, one.group + n_groups, SUPPRESSED)
            n_groups += one.n_groups
            notes |= dict.fromkeys(one.notes)
        least = max(groupings[i].least for _, groupings in formed)
        found.append(
            replace(first, group=group, n_groups=n_groups, least=least, notes=tuple(notes))
        )
    return tuple(found)
