"""Anatomy: exact rows with a group id, and apart from them the sensitive values counted per group.

The order of rows could link the two again, so each table is ordered by its own content: rows by group
and text, values by group and text, groups by the text of their rows. The place of a row does not depend
on its sensitive value.

Source: Xiao and Tao, "Anatomy: simple and effective privacy preservation", 2006.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells, hash_rows
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.hierarchy.text import known_text
from shoal.io.arrow import gather
from shoal.publish.ranks import number_rows
from shoal.threads import each


@dataclass(frozen=True)
class SensitiveCounts:
    """The sensitive table of one column: a value of a group per row, by group and text."""

    rows: Ints
    """(entries,) an input row with the value; the same one wherever the value occurs."""
    group: Ints
    """(entries,) the group's id."""
    count: Ints
    """(entries,) rows of the group with it; above 0."""


@dataclass(frozen=True)
class Anatomy:
    """The tables of an Anatomy release."""

    rows: Ints
    """(published,) the input row of each row of the first table, in the published order."""
    group: Ints
    """(published,) its group, 1 and up."""
    sensitive: dict[str, SensitiveCounts]
    classes: int
    """Different combinations of quasi-identifiers."""
    sizes: Ints
    """(classes,) rows with each."""


def split_tables(
    cells: Cells,
    grouping: Grouping,
    column: Callable[[str], pa.Array],
    quasi: Sequence[str],
    plain: Sequence[str],
    sensitive: Sequence[str],
) -> Anatomy:
    """The tables of a grouping; suppressed rows are in none."""
    kept = np.flatnonzero(grouping.group != SUPPRESSED)
    rows, group = cells.rows[kept], _dense(grouping.group[kept])
    place, sizes = _places(rows, column, quasi, plain)
    values = {name: _ranks(gather(column(name), rows)) for name in sensitive}
    entries = {name: _entries(group, ranks, size) for name, (ranks, size) in values.items()}
    ids = _ids(group, place, list(entries.values()))
    order = np.lexsort((place, ids[group]))
    counted = {}
    for name, (of, ranks, count) in entries.items():
        by = np.lexsort((ranks, ids[of]))
        _, first = np.unique(values[name][0], return_index=True)
        counted[name] = SensitiveCounts(rows[first][ranks[by]], ids[of][by], count[by])
    return Anatomy(rows[order], ids[group][order], counted, len(sizes), sizes)


def _dense(group: Codes) -> Codes:
    """Groups numbered without gaps."""
    dense: Codes = np.unique(group, return_inverse=True)[1].astype(np.int32)
    return dense


def _places(
    rows: Ints, column: Callable[[str], pa.Array], quasi: Sequence[str], plain: Sequence[str]
) -> tuple[Codes, Ints]:
    """(n,) each row's place by its content in the first table, and the rows of every class."""
    content = [gather(column(name), rows) for name in (*quasi, *plain)]
    ranked = each(_ranks, content, len(rows))
    # values with one text may differ (0 and -0), and then the order of the input must not decide
    _, alike = np.unique(hash_rows(len(rows), [], content, 0), return_inverse=True)
    ranked.append((alike.astype(np.int32), len(rows)))
    ranks, sizes = [rank for rank, _ in ranked], [size for _, size in ranked]
    classes, n_classes = number_rows(ranks[: len(quasi)], sizes[: len(quasi)])
    return number_rows(ranks, sizes)[0], np.bincount(classes, minlength=n_classes)


def _ranks(values: pa.Array) -> tuple[Codes, int]:
    """(n,) the place of each value's text among the distinct texts, missing last; and how many
    places there are."""
    coded = known_text(values).dictionary_encode()
    by_text = pc.sort_indices(coded.dictionary).to_numpy()
    size = len(by_text)
    rank = np.empty(size + 1, np.int32)
    rank[by_text] = np.arange(size, dtype=np.int32)
    rank[size] = size
    codes = pc.fill_null(coded.indices, size).to_numpy(zero_copy_only=False)
    return rank[codes], size + 1


def _entries(group: Codes, ranks: Codes, size: int) -> tuple[Ints, Ints, Ints]:
    """Group, value and count of each histogram entry, ascending."""
    pairs, counts = np.unique(group.astype(np.int64) * size + ranks, return_counts=True)
    return pairs // size, pairs % size, counts.astype(np.int64)


def _ids(group: Codes, place: Codes, entries: Sequence[tuple[Ints, Ints, Ints]]) -> Ints:
    """(groups,) ids from 1 in the order of the groups' rows, then of their values.

    Groups that agree in all of these are indistinguishable.
    """
    n_groups = int(group.max()) + 1
    by = np.lexsort((place, group))
    keys = [_slices(group[by], n_groups, place[by][:, None])]
    keys += [_slices(of, n_groups, np.stack([v, n], axis=1)) for of, v, n in entries]
    every = list(zip(*keys, strict=True))
    ids = np.empty(n_groups, np.int64)
    ids[sorted(range(n_groups), key=every.__getitem__)] = np.arange(1, n_groups + 1)
    return ids


def _slices(
    of: npt.NDArray[np.integer], n_groups: int, items: npt.NDArray[np.integer]
) -> list[bytes]:
    """Per group the bytes of its items, which compare as the items do."""
    width = 8 * items.shape[1]
    data = items.astype(">i8").tobytes()
    starts = np.searchsorted(of, np.arange(n_groups + 1)) * width
    return [data[a:b] for a, b in pairwise(starts.tolist())]
