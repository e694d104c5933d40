"""Counting the people of published classes, and the values that they have.

Plain sorting of numbers: nothing is shared with the counting that methods rely on.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bools, Ints
from shoal.encoding.counts import Counts, group_histograms, size_counts
from shoal.encoding.domain import Domain


def number_classes(columns: Sequence[npt.NDArray[np.integer]], n_rows: int) -> Ints:
    """(n,) the class of each row, 0, 1, 2, …: rows with equal numbers in every column share one."""
    found = np.zeros(n_rows, np.int64)
    for column in columns:
        wide = found * (int(column.max(initial=0)) + 2) + column + 1
        found = np.unique(wide, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def without_exempt(group: Ints, exempt: Bools) -> tuple[Ints, Bools]:
    """The classes numbered anew without those of nothing but exempt rows; (n,) which rows stay."""
    is_class = np.zeros(int(group.max(initial=-1)) + 1, np.bool_)
    is_class[group[~exempt]] = True
    kept = is_class[group]
    return (np.cumsum(is_class) - 1)[group[kept]].astype(np.int64), kept


def people_of_classes(group: Ints, people: Ints) -> Counts:
    """The different people of each class, beside its rows."""
    rows = np.bincount(group).astype(np.int64)
    owner, _ = _distinct(group, people)
    return size_counts(np.bincount(owner, minlength=len(rows)).astype(np.int64), rows=rows)


def values_of_people(
    group: Ints, people: Ints, codes: npt.NDArray[np.integer], domain: Domain
) -> Counts:
    """How many people of each class have each value in some row; a negative code is no value.

    What a class is compared with are all rows as one class, counted in the same way.
    """
    classes = people_of_classes(group, people)
    known = codes >= 0
    value = codes[known].astype(np.int64)
    owner, pair = _distinct(group[known], people[known] * domain.size + value)
    counts = group_histograms(classes.sizes, owner, pair % domain.size, domain)
    with_value, _ = _distinct(group[known], people[known])
    _, everywhere = _distinct(np.zeros(len(value), np.int64), people[known] * domain.size + value)
    totals = np.bincount(everywhere % domain.size, minlength=domain.size).astype(np.int64)
    return Counts(
        counts.sizes,
        counts.starts,
        counts.values,
        counts.counts,
        domain,
        totals=totals,
        everyone=len(np.unique(people[known])),
        known=np.bincount(with_value, minlength=counts.n_groups).astype(np.int64),
        rows=classes.rows,
    )


def sharing_all(group: Ints, people: Ints) -> Ints:
    """(g,) the fewest people who share all classes of a person of each class.

    People with the very same classes share all of them. Where they are more than the fewest found so
    far, others need not be looked for: the least of all is exact, the others are at least as many as
    stated.
    """
    owner, person = _distinct(group, people)
    person = np.unique(person, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((owner, person))
    mine, classes = person[order], owner[order]
    starts = np.append(np.flatnonzero(np.diff(mine, prepend=-1)), len(mine))
    number = np.diff(starts)
    same = np.zeros(len(number), np.int64)
    for nth in range(int(number.max(initial=0))):
        place = np.minimum(starts[:-1] + nth, len(classes) - 1)
        class_of = np.where(number > nth, classes[place], -1)
        same = number_classes([same, class_of], len(number))
    found = np.bincount(same)[same]
    members = np.append(np.flatnonzero(np.diff(owner, prepend=-1)), len(owner))
    least = np.iinfo(np.int64).max
    for one in np.argsort(found, kind="stable").tolist():
        if found[one] >= least:
            break
        own = classes[starts[one] : starts[one + 1]]
        sets = sorted((person[members[c] : members[c + 1]] for c in own.tolist()), key=len)
        shared = sets[0]
        for other in sets[1:]:
            shared = np.intersect1d(shared, other, assume_unique=True)
        found[one] = len(shared)
        least = min(least, len(shared))
    fewest = np.full(len(members) - 1, np.iinfo(np.int64).max)
    np.minimum.at(fewest, owner, found[person])
    return fewest


def _distinct(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """The different pairs of two columns, sorted."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    new = np.ones(len(first), np.bool_)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return first[new], second[new]
