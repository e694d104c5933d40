"""Adding up the sampling weights of published classes.

Plain sorting and adding of whole numbers: nothing is shared with the sums that methods rely on.
"""

from dataclasses import replace

import numpy as np

from shoal.arrays import Ints
from shoal.encoding.counts import Counts, size_counts
from shoal.verification.people import people_of_classes


def weights_of_classes(group: Ints, weights: Ints, people: Ints | None = None) -> Counts:
    """The rows or people of each class, and the sum of their weights, each person's once.

    group: (n,) the class of each row, 0, 1, 2, … weights: (n,) in millionths, 0 for a suppressed row.
    people: (n,) the person of each row, where people are counted.
    """
    sizes = size_counts(np.bincount(group).astype(np.int64))
    order = np.argsort(group, kind="stable")
    if people is not None:
        sizes = people_of_classes(group, people)
        # of a person's rows in a class the last has the largest weight
        order = np.lexsort((weights, people, group))
        last = np.ones(len(order), np.bool_)
        same = (np.diff(group[order]) == 0) & (np.diff(people[order]) == 0)
        last[:-1] = ~same
        order = order[last]
    starts = np.searchsorted(group[order], np.arange(sizes.n_groups))
    return replace(
        sizes, weights=np.add.reduceat(weights[order], starts) if len(starts) else weights[:0]
    )
