"""In which order rows leave: by what is published of them, never by where they stood."""

import numpy as np
import numpy.typing as npt

from shoal.cells.encode import pack
from shoal.cells.spans import rows_by_group
from shoal.kernels.sorting import radix_argsort, run_starts, sort_runs
from shoal.publish.labels import Labels


def classes_of(
    labels: list[Labels], groups: list[npt.NDArray[np.int32]]
) -> tuple[npt.NDArray[np.int32], int]:
    """(n,) the published class of each item and how many there are; classes in the order of labels.

    `groups` are aligned with `labels`: which group of that column's grouping each item belongs to.
    """
    ranks = [label.of_group[group] for label, group in zip(labels, groups, strict=True)]
    words = pack(ranks, [len(label.texts) for label in labels])
    order = np.arange(len(ranks[0]), dtype=np.int64)
    for word, bits in reversed(words):
        order = radix_argsort(word, bits, order)
    begins = run_starts(np.stack([word for word, _ in words]), order)
    classes = np.empty(len(order), np.int32)
    classes[order] = np.cumsum(begins) - 1
    return classes, int(begins.sum())


def publish_order(
    hashes: npt.NDArray[np.uint64],
    classes: npt.NDArray[np.int32],
    n_classes: int,
    blank: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    """Canonical rows class by class, inside a class by the hash of what else is published of them.

    hashes: (n_rows,) these hashes. blank: (n_rows,) of these nothing else is published; they stand
    last, since their place among the others would tell something of what is hidden.
    """
    rows, starts = rows_by_group(classes, n_classes)
    order = rows.astype(np.int64)
    if blank.any():
        hashes = np.where(blank, np.iinfo(np.uint64).max, hashes)
    sort_runs(order, starts, hashes)
    return order
