"""People with several rows: published classes that hold in people, and a person's rows together.

Two groups with the same label are one class to a reader. Models that count people alone still hold
there; the others may not, since a person of both groups can have two values. `settled` looks at the
classes as they will be read, in whatever form their labels have, and moves or suppresses rows until
they hold.

`grouped_together` protects all rows of a person at once: whoever knows several of them still finds k
people who share all of their classes. People are grouped first, each by one row; then the rows of a
group of people are put into as many classes as every one of them has rows for, and each class has a row
of every one of them.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells, subset
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group, spans_of
from shoal.errors import Infeasible, PolicyError
from shoal.kernels.labels import label_costs
from shoal.methods.base import Progress, check_feasible, counts_of_runs
from shoal.methods.bottom_up import merge_with_nearest
from shoal.methods.partition import LEAST_LOSS_ROUNDED, cut_down, whole_table
from shoal.methods.repair import Runs, chosen, insert
from shoal.models.k import K
from shoal.models.requirement import Requirement
from shoal.publish.assemble import classes_of
from shoal.publish.labels import Labels, labels_of

STRATUM = 10
"""People with about the same number of rows are grouped apart where they are this many times as many as
a group needs."""

GroupPeople = Callable[[Cells, Requirement], tuple[Grouping, ...]]
"""Runs a method on a table."""
LabelsOf = Callable[[Cells, Grouping], list[Labels]]
"""Gives the labels of groups as they will be published, column by column."""


def covering_labels(cells: Cells, grouping: Grouping) -> list[Labels]:
    """What covers the values of each group."""
    spans = spans_of(cells, grouping)
    domains = [cells.domains[column] for column in grouping.columns]
    return [labels_of(domain, spans, j) for j, domain in enumerate(domains)]


def settled(
    cells: Cells,
    requirement: Requirement,
    grouping: Grouping,
    labels_as_read: LabelsOf = covering_labels,
) -> Grouping:
    """The grouping, changed where a published class does not hold: its rows join other classes, and
    those that fit into none are suppressed.

    Where labels are statistics, the largest group of such a class stays. Where a method fixed the
    levels of its groups, no row joins another class.
    """
    while True:
        classes, n_classes = published_classes(cells, grouping, labels_as_read)
        runs = Runs(*rows_by_group(classes, n_classes))
        held = _held(cells, requirement, runs)
        if held.all() and n_classes:
            return grouping
        if labels_as_read is not covering_labels:
            classes, held = _one_group_each(cells, requirement, grouping, classes, held)
            runs = Runs(*rows_by_group(classes, len(held)))
        if not held.any():
            raise Infeasible(_advice(cells, requirement))
        if grouping.levels is not None:
            grouping = _without(grouping, ~np.append(held, False)[classes])
            continue
        kept = chosen(runs, held)
        whole = insert(cells, requirement, kept, np.sort(chosen(runs, ~held).rows))
        if (_held(cells, requirement, whole)).all():
            kept = whole
        group = np.full(cells.n_rows, SUPPRESSED, np.int32)
        n_groups = len(kept.starts) - 1
        group[kept.rows] = np.repeat(np.arange(n_groups, dtype=np.int32), kept.sizes)
        grouping = Grouping(group, n_groups, grouping.columns)


def _one_group_each(
    cells: Cells, requirement: Requirement, grouping: Grouping, classes: Codes, held: Bools
) -> tuple[Codes, Bools]:
    """The classes and whether each holds, where of every one that does not its largest group that
    holds alone is a class of its own: once the other groups are gone, it reads as that group does.

    There are fewer of these classes than groups, so looking at classes again and again comes to an end.
    """
    runs = Runs(*rows_by_group(grouping.group, grouping.n_groups))
    class_of = np.zeros(grouping.n_groups, np.int64)
    class_of[grouping.group[runs.rows]] = classes[runs.rows]
    alone = _held(cells, requirement, runs) & ~held[class_of]
    groups = np.flatnonzero(alone)
    groups = groups[np.lexsort((groups, -runs.sizes[groups], class_of[groups]))]
    groups = groups[np.diff(class_of[groups], prepend=-1) > 0]
    number = np.full(grouping.n_groups + 1, SUPPRESSED, np.int32)
    number[groups] = len(held) + np.arange(len(groups), dtype=np.int32)
    chosen_alone = number[grouping.group]
    found = np.where(chosen_alone == SUPPRESSED, classes, chosen_alone)
    return found.astype(np.int32), np.append(held, np.ones(len(groups), np.bool_))


def _without(grouping: Grouping, rows: Bools) -> Grouping:
    """The grouping with some rows suppressed, all those of a group or none; the levels stay."""
    assert grouping.levels is not None
    kept = np.unique(grouping.group[~rows])
    number = np.full(grouping.n_groups + 1, SUPPRESSED, np.int32)
    number[kept] = np.arange(len(kept))
    group = np.where(rows, np.int32(SUPPRESSED), number[grouping.group])
    return replace(grouping, group=group, n_groups=len(kept), levels=grouping.levels[kept])


def _advice(cells: Cells, requirement: Requirement) -> str:
    """Explain why no class holds, by the first model that not even all people together hold."""
    rows = np.arange(cells.n_rows, dtype=np.int32)
    everyone = counts_of_runs(cells, requirement, rows, np.array([0, len(rows)], np.int64))
    for model in requirement.models:
        if not model.holds(everyone[model.counts_key]).all():
            return model.advice(everyone[model.counts_key])
    return (
        "No published class holds all of the policy's constraints when people are counted: loosen "
        "them."
    )


def published_classes(
    cells: Cells, grouping: Grouping, labels_as_read: LabelsOf = covering_labels
) -> tuple[Codes, int]:
    """(n_rows,) the class of each row as a reader tells them apart, and how many there are."""
    if not grouping.n_groups:
        return grouping.group, 0
    labels = labels_as_read(cells, grouping)
    every = np.arange(grouping.n_groups, dtype=np.int32)
    of_group, n_classes = classes_of(labels, [every] * len(labels))
    return np.append(of_group, np.int32(SUPPRESSED))[grouping.group], n_classes


def _held(cells: Cells, requirement: Requirement, runs: Runs) -> Bools:
    """(g,) whether each class holds, compared with the rows that are left."""
    totals = cells.totals_of_rows(runs.rows)
    return requirement.holds(counts_of_runs(cells, requirement, *runs, totals))


def grouped_together(
    cells: Cells,
    requirement: Requirement,
    group_people: GroupPeople,
    progress: Progress,
    labels_as_read: LabelsOf = covering_labels,
) -> Grouping:
    """Groups in which the rows of a person are protected together."""
    assert cells.people is not None
    one_row = _representatives(cells)
    whole = _grouped_people(cells, requirement, group_people, one_row)
    undivided = np.zeros(cells.n_rows, np.bool_)
    while True:
        whole = _merged(cells, requirement, whole, progress)
        parts = _parts(cells, requirement, whole, undivided)
        classes, n_classes = published_classes(cells, parts, labels_as_read)
        held = _held(cells, requirement, Runs(*rows_by_group(classes, n_classes)))
        if held.all():
            return parts
        # groups with a class that fails are not divided any more, and those that share it become one
        failing = np.append(~held, False)[classes]
        broken = np.zeros(whole.n_groups + 1, np.bool_)
        broken[whole.group[failing]] = True
        undivided |= broken[whole.group] & (whole.group != SUPPRESSED)
        whole = _joined(whole, classes, failing)


def _grouped_people(
    cells: Cells, requirement: Requirement, group_people: GroupPeople, one_row: Ints
) -> Grouping:
    """Groups of people, formed by one row of each: what holds for these rows need not hold for all."""
    assert cells.people is not None
    try:
        return _by_stratum(
            cells,
            _strata(cells, requirement),
            lambda some: group_people(some, requirement),
            one_row,
        )
    except Infeasible:
        # the values of few people, or of one row of each, may be too few; those of all rows may not
        sizes = [model for model in requirement.models if not model.column]
        alone = replace(requirement, models=tuple(sizes or [K(requirement.min_rows)]))
        everyone = [np.ones(cells.people.count, np.bool_)]
        return _by_stratum(cells, everyone, lambda some: (_cut(some, alone),), one_row)


def _cut(cells: Cells, requirement: Requirement) -> Grouping:
    check_feasible(cells, requirement)
    groups = whole_table(cells, sort_all=True)
    return cut_down(cells, requirement, LEAST_LOSS_ROUNDED, groups, lambda _: None)


def _by_stratum(
    cells: Cells,
    strata: list[Bools],
    group_people: Callable[[Cells], tuple[Grouping, ...]],
    one_row: Ints,
) -> Grouping:
    assert cells.people is not None
    person = cells.people.number
    of_person = np.full(cells.people.count, SUPPRESSED, np.int32)
    n_groups = 0
    for some in strata:
        mine = one_row[some[person[one_row]]]
        groupings = group_people(subset(cells, mine))
        if len(groupings) != 1 or groupings[0].levels is not None:
            raise PolicyError(
                "`together` needs a method that forms groups of people, such as "
                "least-loss-partition, mondrian or k-clustering."
            )
        group = groupings[0].group
        of_person[person[mine]] = np.where(group == SUPPRESSED, SUPPRESSED, group + n_groups)
        n_groups += groupings[0].n_groups
    if not n_groups:
        raise Infeasible("No group of people holds all of the policy's constraints: loosen them.")
    return Grouping(of_person[person], n_groups, tuple(range(len(cells.domains))))


def _strata(cells: Cells, requirement: Requirement) -> list[Bools]:
    """Per stratum, (people,) who belongs to it: people with about the same number of rows, since the
    one with fewest decides how many classes a group can have."""
    assert cells.people is not None
    rows = np.bincount(cells.people.number, minlength=cells.people.count)
    least = STRATUM * requirement.min_rows
    by_count = np.bincount(rows)
    ends, so_far = [], 0
    for count in range(len(by_count) - 1, 0, -1):
        so_far += int(by_count[count])
        if so_far >= least and by_count[1:count].sum() >= least:
            ends.append(count)
            so_far = 0
    bounds = [len(by_count), *ends, 1] if not ends or ends[-1] > 1 else [len(by_count), *ends]
    return [(rows >= low) & (rows < high) for high, low in pairwise(bounds)]


def _representatives(cells: Cells) -> Ints:
    """(people,) the middle row of each person, ascending."""
    assert cells.people is not None
    order = np.argsort(cells.people.number, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(cells.people.number)))
    return np.sort(order[(starts[:-1] + starts[1:]) // 2])


def _merged(
    cells: Cells, requirement: Requirement, grouping: Grouping, progress: Progress
) -> Grouping:
    """Groups of people that do not hold with all of their rows join their nearest group."""
    inside = np.flatnonzero(grouping.group != SUPPRESSED)
    table = cells if len(inside) == cells.n_rows else subset(cells, inside)
    group = np.unique(grouping.group[inside], return_inverse=True)[1].reshape(-1).astype(np.int32)
    while True:
        found = Grouping(group, int(group.max()) + 1, grouping.columns)
        runs = Runs(*rows_by_group(found.group, found.n_groups))
        failing = np.flatnonzero(~_held(table, requirement, runs))
        if not len(failing):
            break
        if found.n_groups == 1:
            raise Infeasible(
                "Even one group of all people does not hold the policy's constraints: loosen them."
            )
        group = merge_with_nearest(table, found, failing, costs_of(table.domains), progress)
    every = np.full(cells.n_rows, SUPPRESSED, np.int32)
    every[inside] = found.group
    return Grouping(every, found.n_groups, grouping.columns)


def _joined(grouping: Grouping, classes: Codes, failing: Bools) -> Grouping:
    """The groups of people of each failing class as one group."""
    into = np.arange(grouping.n_groups)
    for number in np.unique(classes[failing]):
        mine = np.unique(into[grouping.group[classes == number]])
        into[np.isin(into, mine)] = mine[0]
    _, dense = np.unique(into, return_inverse=True)
    number = np.append(dense.reshape(-1), SUPPRESSED).astype(np.int32)[grouping.group]
    return Grouping(number, int(dense.max()) + 1, grouping.columns)


def _parts(
    cells: Cells, requirement: Requirement, grouping: Grouping, undivided: Bools
) -> Grouping:
    """The rows of each group of people in several classes, each with a row of all its people.

    Every person's rows are sorted along one column and dealt out evenly, so each class takes in rows
    that are alike. Of the columns the one that loses least is chosen, group by group. A group whose
    classes do not all hold has fewer of them; undivided: (n_rows,) rows of groups that have only one.
    """
    assert cells.people is not None
    person, inside = cells.people.number, grouping.group != SUPPRESSED
    rows_of_person = np.bincount(person[inside], minlength=cells.people.count)
    parts = np.full(grouping.n_groups, np.iinfo(np.int64).max)
    np.minimum.at(parts, grouping.group[inside], rows_of_person[person[inside]])
    parts[grouping.group[undivided & inside]] = 1
    while True:
        found = _dealt(cells, grouping, parts)
        owner = _group_of_part(grouping, found)
        held = _held(cells, requirement, Runs(*rows_by_group(found.group, found.n_groups)))
        if held.all():
            return found
        failing = np.unique(owner[~held])
        assert (parts[failing] > 1).any(), "whole groups hold"
        parts[failing] = np.maximum(parts[failing] // 2, 1)


def _group_of_part(grouping: Grouping, found: Grouping) -> Ints:
    owner = np.zeros(found.n_groups, np.int64)
    inside = found.group != SUPPRESSED
    owner[found.group[inside]] = grouping.group[inside]
    return owner


def _dealt(cells: Cells, grouping: Grouping, parts: Ints) -> Grouping:
    """Each group in so many parts, along the column that loses least."""
    costs = costs_of(cells.domains)
    best: Codes = np.zeros(0, np.int32)
    least: Ints = np.zeros(0, np.int64)
    starts = np.append(0, np.cumsum(parts))
    for j in range(len(cells.domains)):
        number = _dealt_along(cells, grouping, parts, starts, j)
        found = Grouping(number, int(starts[-1]), grouping.columns)
        spans = spans_of(cells, found)
        loss = np.zeros(found.n_groups, np.int64)
        for i in range(len(cells.domains)):
            members = np.diff(spans.sets[i][0]) if i in spans.sets else spans.sizes
            low, high = (side[:, i].astype(np.int64) for side in (spans.low, spans.high))
            loss += label_costs(costs, i, low, high, members)
        total = np.add.reduceat(loss * spans.sizes, starts[:-1])
        if j == 0:
            best, least = number, total
            continue
        better = total < least
        least = np.minimum(least, total)
        take = np.append(better, False)[grouping.group]
        best = np.where(take, number, best)
    return Grouping(best, int(starts[-1]), grouping.columns)


def _dealt_along(cells: Cells, grouping: Grouping, parts: Ints, starts: Ints, j: int) -> Codes:
    """(n_rows,) the part of each row when every person's rows are dealt out along a column."""
    assert cells.people is not None
    person = cells.people.number
    code = np.repeat(cells.codes[:, j], cells.counts)
    inside = np.flatnonzero(grouping.group != SUPPRESSED)
    order = inside[np.lexsort((inside, code[inside], person[inside]))]
    mine = person[order]
    first = np.flatnonzero(np.diff(mine, prepend=-1))
    sizes = np.diff(np.append(first, len(mine)))
    nth = np.arange(len(mine)) - np.repeat(first, sizes)
    group = grouping.group[order]
    place = nth * parts[group] // np.repeat(sizes, sizes)
    number = np.full(cells.n_rows, SUPPRESSED, np.int32)
    number[order] = starts[group] + place
    return number
