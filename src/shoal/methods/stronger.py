"""Groups of stronger requirements: they hold the weaker one too, and may lose less than its own.

A search goes step by step, and small groups may use up the sensitive values that others need. In a small
table that can cost so much that a stronger constraint would lose less. So stronger ones are tried as
well: more rows, and harder figures of the models that a larger group need not hold. Both come from fixed
lists, so that all requirements look at the same ones. In a tiny table so do pairs of both: what a
stronger requirement looks at, a weaker one then looks at too, but for what loses far more. In larger
tables a few numbers of rows are tried, where a larger group need not hold. Where a larger group need not
hold, rows that are left over may fit nowhere: the groups of a partition, which leaves none over, are
tried too.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, product

import numpy as np

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group
from shoal.errors import Infeasible
from shoal.methods.base import counts_of_runs, sizes_from
from shoal.methods.least_loss_partition import least_of_cuts
from shoal.methods.partition import CutOrder, CuttableGroups, PartitionRule, cut_down, whole_table
from shoal.methods.refinement import loss_of
from shoal.models.k import K
from shoal.models.requirement import Requirement

FEW_ROWS = 2_000
"""In so many rows at most, stronger requirements are tried where sensitive values are protected."""
TINY_ROWS = 500
"""In so many rows at most, pairs of them are tried, each with a partition too."""
EACH = 12
"""So many rows of a group at most are tried one by one there."""
MANY_ROWS = 50_000
"""In more rows, up to so many, groups of more rows are tried where a larger group need not hold: it
takes some seconds."""
MOST_REFINED = 100_000
"""In more rows, refinement begins with the method's own groups alone: it takes its time."""
PAIRS = 120
"""So many pairs at most, those of the fewest steps."""
USUAL = (5, 7, 10, 15, 25, 50, 100, 200)
"""So many rows each, as policies usually ask for."""
MISSES, MANY_MISSES = 2, 3
"""Until so many in a row are no better: in a small table, and in a larger one. In a tiny one, until so
many of the latter are not near the best."""
NEAR, NEAR_OF_FEW = (11, 10), (13, 10)
"""What loses at most so many times as much as the best is near it. A requirement that loses more by
itself is not paired: one that is stronger still would lose less by luck alone. That happens most where
rows are few, and a trial takes no time."""
FEWEST_ROWS = 100
"""In so many rows at most, the latter holds."""
FIGURES = tuple(
    float(one)
    for one in np.concatenate([np.arange(1, 20) / 20, np.arange(4, 12) / 4, [3, 4, 5, 6]])
)
"""Figures of models that are tried."""

Form = Callable[[Requirement], Grouping]
"""Groups for a requirement."""
Found = tuple[Requirement, Grouping]
"""What groups hold, and the groups."""
Shortfall = tuple[bool, int, int]
"""See `shortfall`."""


def groupings(cells: Cells, requirement: Requirement, form: Form) -> Iterable[Found]:
    """Groups for the requirement, those of a partition, and those for stronger requirements."""
    if requirement.columns and cells.n_rows <= TINY_ROWS:
        return _of_tiny(cells, requirement, form)
    return _of_larger(cells, requirement, form)


def _of_larger(cells: Cells, requirement: Requirement, form: Form) -> Iterator[Found]:
    cuts = not requirement.holds_when_joined
    best = form(requirement)
    least = shortfall(cells, requirement, best)
    yield requirement, best
    if cuts:
        yield from partitioned(cells, requirement)
    if not requirement.columns or cells.n_rows > (MANY_ROWS if cuts else FEW_ROWS):
        return
    most = MISSES if cells.n_rows <= FEW_ROWS else MANY_MISSES
    for ladder in stronger(requirement, cells.n_rows):
        misses = 0
        for one in ladder:
            if misses == most:
                break
            misses += 1
            try:
                found = form(one)
            except Infeasible:
                break
            yield one, found
            loss = shortfall(cells, requirement, found)
            if loss < least:
                least, misses = loss, 0


def _of_tiny(cells: Cells, requirement: Requirement, form: Form) -> list[Found]:
    """The same where every one of them takes a moment: up and down all ladders, and pairs of what is
    near the best there."""
    found: list[Found] = []
    near = partial(is_near, times=NEAR_OF_FEW if cells.n_rows <= FEWEST_ROWS else NEAR)

    def lost(one: Requirement) -> Shortfall:
        both = [(one, form(one)), *partitioned(cells, one)]
        found.extend(both)
        return min(shortfall(cells, requirement, groups) for _, groups in both)

    least, climbed = lost(requirement), []
    for ladder in stronger(requirement, cells.n_rows):
        tried: list[tuple[Requirement, Shortfall]] = []
        misses = 0
        for one in ladder:
            try:
                loss = lost(one)
            except Infeasible:
                break
            tried.append((one, loss))
            least = min(least, loss)
            misses = 0 if near(loss, least) else misses + 1
            if misses == MANY_MISSES:
                break
        climbed.append(tried)
    if max(groups.n_groups for _, groups in found) < 2:
        return found
    sizes, *figures = [[one for one, loss in tried if near(loss, least)] for tried in climbed]
    pairs = sorted(product(enumerate(chain(*figures)), enumerate(sizes)), key=_steps)
    for (_, figure), (_, size) in pairs[:PAIRS]:
        try:
            lost(replace(figure, models=(*figure.models, size.models[-1])))
        except Infeasible:
            continue
    return found


def _steps(pair: tuple[tuple[int, Requirement], tuple[int, Requirement]]) -> int:
    """How many steps up both ladders a pair is."""
    return pair[0][0] + pair[1][0]


def is_near(loss: Shortfall, least: Shortfall, times: tuple[int, int]) -> bool:
    """Whether something loses little more than the least; all does where too much is suppressed."""
    most, of = times
    return least[0] or (not loss[0] and of * loss[1] <= most * least[1])


def shortfall(cells: Cells, requirement: Requirement, found: Grouping) -> Shortfall:
    """Whether more rows are suppressed than may be, the loss, and the suppressed rows: where columns
    have no importance, these may lose nothing."""
    may, suppressed = requirement.may_suppress, int((found.group == SUPPRESSED).sum())
    return may is not None and suppressed > may, loss_of(cells, found), suppressed


def stronger(requirement: Requirement, n_rows: int) -> Iterator[Iterator[Requirement]]:
    """Requirements that are harder and harder: in the rows of a group, and in the figure of each model
    that need not hold for a larger group; in a tiny table, in all figures of sensitive values."""
    models, least = requirement.models, requirement.min_rows
    few, tiny = n_rows <= FEW_ROWS, n_rows <= TINY_ROWS

    def with_rows() -> Iterator[Requirement]:
        each = range(least, EACH + 1) if tiny else ()
        listed = sizes_from(least) if few else USUAL
        for size in chain(each, (size for size in listed if size not in each)):
            if 2 * size > n_rows:
                return
            if size > least:
                yield replace(requirement, models=(*models, K(k=size)))

    def with_figure(i: int) -> Iterator[Requirement]:
        model, rising = models[i], models[i].high_is_strong
        listed: Iterable[float] = FIGURES if rising else FIGURES[::-1]
        if isinstance(model.figure, int):
            listed = range(model.figure, n_rows + 1) if rising else range(model.figure, 0, -1)
        for figure in listed:
            if figure != model.figure and (figure > model.figure) == rising:
                changed = model.with_figure(figure)
                yield replace(requirement, models=(*models[:i], changed, *models[i + 1 :]))

    yield with_rows()
    if not few:
        return
    for i, model in enumerate(models):
        whole = isinstance(model.figure, int)
        if (tiny and model.column) if whole else not model.holds_when_joined:
            yield with_figure(i)


def equals_together(cells: Cells, requirement: Requirement) -> Iterator[Found]:
    """Where most rows have enough equals for a group that loses nothing, the groups of a partition: the
    few others lose less if what they join is not taken apart."""
    alone = int(cells.counts[cells.counts < requirement.min_rows].sum())
    if cells.n_rows <= MOST_REFINED and 2 * alone <= cells.n_rows:
        yield from partitioned(cells, requirement)


def partitioned(cells: Cells, requirement: Requirement) -> Iterator[Found]:
    """Groups of a partition that keeps equal rows together; none where not all of them hold, which
    people with several rows can bring about."""
    rule = PartitionRule(_boundaries, compares_losses=True)
    groups = whole_table(cells, sort_all=True)
    found = cut_down(cells, requirement, rule, groups, lambda _: None)
    rows, starts = rows_by_group(found.group, found.n_groups)
    if requirement.holds(counts_of_runs(cells, requirement, rows, starts)).all():
        yield requirement, found


def _boundaries(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Boundaries between values, by rising loss."""
    return groups.boundaries(least_of_cuts(groups, min_rows, n_rows))
