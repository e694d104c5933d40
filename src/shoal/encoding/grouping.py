"""The result of a method: which rows form a group, how far it is generalised, what it covers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Kind
from shoal.errors import PolicyError, VerificationFailed
from shoal.threads import each

SUPPRESSED = -1


@dataclass(frozen=True)
class Grouping:
    """Groups of rows for some of the quasi-identifiers (for most methods: all of them)."""

    group: Codes
    """(n_rows,) the group of each canonical row, 0..n_groups-1, or SUPPRESSED."""
    n_groups: int
    columns: tuple[int, ...]
    """The columns of the cells that this grouping generalises."""
    levels: Codes | None = None
    """(n_groups, len(columns)) the hierarchy level to publish at, for methods that fix it; without
    it a group gets the lowest label that covers it."""
    least: int = 0
    """Fewer suppressed rows than this (but some) would stand out by being suppressed: their other
    cells are suppressed too."""
    notes: tuple[str, ...] = ()
    """What the method did that the user should know."""
    minimal: tuple[tuple[int, ...], ...] = ()
    """For methods that search the whole lattice: the levels, column by column, of every node that
    satisfies the requirement while no node below it does."""


@dataclass(frozen=True)
class Spans:
    """What each group of a grouping covers in each of its columns."""

    sizes: Ints
    """(g,) rows of each group."""
    low: Codes
    """(g, columns) the smallest code."""
    high: Codes
    """(g, columns) the largest code."""
    levels: Codes
    """(g, columns) TREE: the hierarchy level of the label; otherwise 0."""
    sets: dict[int, tuple[Ints, Codes]]
    """Per SET column (its place in the grouping): (g + 1,) starts and the groups' codes, ascending."""
    least: dict[int, Floats] = field(default_factory=dict)
    """Per column whose labels are wider than the values under them: (g,) what each loses at least."""


def check_groupings(cells: Cells, groupings: Sequence[Grouping], method: str) -> None:
    """Raise `VerificationFailed` for groupings that no label can describe: a fault of the method."""
    columns = [column for grouping in groupings for column in grouping.columns]
    problem = ""
    if not groupings:
        problem = "no grouping"
    elif len(set(columns)) < len(columns) or not set(columns) <= set(range(len(cells.domains))):
        problem = "a column twice, or one that is not a quasi-identifier"
    for grouping in groupings:
        group = grouping.group
        if group.shape != (cells.n_rows,) or not np.issubdtype(group.dtype, np.integer):
            problem = "not one group number for every row"
        elif group.min() < SUPPRESSED or group.max() >= grouping.n_groups:
            problem = "group numbers out of range"
    if problem:
        raise VerificationFailed(
            f"The method {method} returned {problem}. Nothing was published; the method has to be "
            "corrected."
        )


def spans_of(cells: Cells, grouping: Grouping) -> Spans:
    """The spans of the groups of a grouping."""
    from shoal.kernels.labels import members, spans

    columns = list(grouping.columns)
    every = columns == list(range(cells.codes.shape[1]))
    codes = cells.codes if every else np.ascontiguousarray(cells.codes[:, columns])
    sizes, low, high = spans(codes, cells.starts, grouping.group, grouping.n_groups)
    set_columns = [j for j, column in enumerate(columns) if cells.domains[column].kind == Kind.SET]
    sets = {}
    if set_columns:
        rows, starts = rows_by_group(grouping.group, grouping.n_groups)
        cell = np.repeat(np.arange(cells.n_cells, dtype=np.int32), cells.counts)[rows]

        def members_of(j: int) -> tuple[Ints, Codes]:
            size = cells.domains[columns[j]].size
            starts_and_codes: tuple[Ints, Codes] = members(
                np.ascontiguousarray(codes[:, j]), cell, starts, size
            )
            return starts_and_codes

        sets = dict(zip(set_columns, each(members_of, set_columns, cells.n_rows), strict=True))
    return Spans(sizes, low, high, _levels(cells, grouping, low, high), sets)


def groups_of_equal_rows(
    cells: Cells, groupings: tuple[Grouping, ...]
) -> tuple[tuple[Grouping, ...], Ints]:
    """Groups of equal rows, for a release with exact quasi-identifiers, and the sizes of the groups
    that a method formed; rows it suppressed stay suppressed."""
    if len(groupings) != 1:
        raise PolicyError(
            "publish: anatomy needs groups of rows, but the method groups sets of columns separately. "
            "Choose another method, or `publish: generalised`."
        )
    group = groupings[0].group
    kept = group != SUPPRESSED
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)
    distinct, dense = np.unique(cell[kept], return_inverse=True)
    raw = np.full(cells.n_rows, SUPPRESSED, np.int32)
    raw[kept] = dense
    grouping = Grouping(raw, len(distinct), groupings[0].columns)
    return (grouping,), np.unique(group[kept], return_counts=True)[1].astype(np.int64)


def rows_by_group(group: Codes, n_groups: int) -> tuple[Codes, Ints]:
    """Canonical rows listed group by group, and (g + 1,) where each begins; no suppressed rows."""
    from shoal.kernels.sorting import counting_order

    order = np.empty(len(group), np.int32)
    counting_order(group + np.int32(1), n_groups + 1, order)
    counts = np.bincount(group + 1, minlength=n_groups + 1)
    return order[counts[0] :], np.concatenate([[0], np.cumsum(counts[1:])]).astype(np.int64)


def _levels(cells: Cells, grouping: Grouping, low: Codes, high: Codes) -> Codes:
    if grouping.levels is not None:
        return grouping.levels
    levels = np.zeros(low.shape, np.int32)
    for j, column in enumerate(grouping.columns):
        hierarchy = cells.domains[column].hierarchy
        if hierarchy is None:
            continue
        levels[:, j] = hierarchy.lowest(low[:, j], high[:, j])
    return levels
