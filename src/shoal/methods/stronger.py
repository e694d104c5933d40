"""Groups of stronger requirements: they hold the weaker one too, and may lose less than its own.

A search goes step by step, and small groups may use up the sensitive values that others need. In a small
table that can cost so much that a stronger constraint would lose less. So stronger ones are tried as
well: more rows, and harder figures of the models that a larger group need not hold. Both come from fixed
lists, so that all requirements look at the same ones. In larger tables a few numbers of rows are tried,
where a larger group need not hold. Where a larger group need not hold, rows that are
left over may fit nowhere: the groups of a partition, which leaves none over, are tried too.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

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
"""In so many rows at most, all of them are tried where a larger group need not hold, each with a
partition too."""
MANY_ROWS = 50_000
"""In more rows, up to so many, groups of more rows are tried where a larger group need not hold: it
takes some seconds."""
USUAL = (5, 7, 10, 15, 25, 50, 100, 200)
"""So many rows each, as policies usually ask for."""
MISSES, MANY_MISSES = 2, 3
"""Elsewhere, until so many in a row are no better: in a small table, and in a larger one."""
FIGURES = tuple(
    float(one)
    for one in np.concatenate([np.arange(1, 20) / 20, np.arange(4, 12) / 4, [3, 4, 5, 6]])
)
"""Figures of models that are tried."""

Form = Callable[[Requirement], Grouping]
"""Groups for a requirement."""
Found = tuple[Requirement, Grouping]
"""What groups hold, and the groups."""


def groupings(cells: Cells, requirement: Requirement, form: Form) -> Iterator[Found]:
    """Groups for the requirement, those of a partition, and those for stronger requirements."""
    cuts = not requirement.holds_when_joined
    best = form(requirement)
    least = shortfall(cells, requirement, best)
    yield requirement, best
    if cuts:
        yield from _partitioned(cells, requirement)
    if not requirement.columns or cells.n_rows > (MANY_ROWS if cuts else FEW_ROWS):
        return
    every = cuts and cells.n_rows <= TINY_ROWS
    most = MISSES if cells.n_rows <= FEW_ROWS else MANY_MISSES
    for ladder in stronger(requirement, cells.n_rows):
        misses = 0
        for one in ladder:
            if misses == most and not every:
                break
            misses += 1
            try:
                found = form(one)
            except Infeasible:
                break
            yield one, found
            if every:
                yield from _partitioned(cells, one)
            loss = shortfall(cells, requirement, found)
            if loss < least:
                least, misses = loss, 0


def shortfall(cells: Cells, requirement: Requirement, found: Grouping) -> tuple[bool, int, int]:
    """Whether more rows are suppressed than may be, the loss, and the suppressed rows: where columns
    have no importance, these may lose nothing."""
    may, suppressed = requirement.may_suppress, int((found.group == SUPPRESSED).sum())
    return may is not None and suppressed > may, loss_of(cells, found), suppressed


def stronger(requirement: Requirement, n_rows: int) -> Iterator[Iterator[Requirement]]:
    """Requirements that are harder and harder: in the rows of a group, and in the figure of each model
    that need not hold for a larger group."""
    models = requirement.models
    few = n_rows <= FEW_ROWS

    def with_rows() -> Iterator[Requirement]:
        for size in sizes_from(requirement.min_rows) if few else USUAL:
            if 2 * size > n_rows:
                return
            if size > requirement.min_rows:
                yield replace(requirement, models=(*models, K(k=size)))

    def with_figure(i: int) -> Iterator[Requirement]:
        model, rising = models[i], models[i].high_is_strong
        for figure in FIGURES if rising else FIGURES[::-1]:
            if figure != model.figure and (figure > model.figure) == rising:
                changed = replace(model, **{fields(model)[0].name: figure})
                yield replace(requirement, models=(*models[:i], changed, *models[i + 1 :]))

    yield with_rows()
    if not few:
        return
    for i, model in enumerate(models):
        if not model.holds_when_joined and not isinstance(model.figure, int):
            yield with_figure(i)


def _partitioned(cells: Cells, requirement: Requirement) -> Iterator[Found]:
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
