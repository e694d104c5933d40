"""The levels that a full-domain method chose: one for every column, with what a value became.

An example is a value that many published rows share, so that it points to nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Ints

if TYPE_CHECKING:  # a release can be imported without pyarrow
    from shoal.encoding.cells import Cells
    from shoal.encoding.domain import Domain
    from shoal.encoding.grouping import Grouping
    from shoal.hierarchy.base import Hierarchy
    from shoal.metrics.base import ReleaseView


@dataclass(frozen=True)
class ChosenLevel:
    """The level at which a column is published throughout."""

    level: int
    """0 is the value itself."""
    highest: int
    """The level of the root, which says nothing."""
    name: str
    """`as it was`, `by month`, `in intervals of 10`, `at level 2`, …"""
    value: str | None = None
    """A value that many published rows share; None where there is none."""
    label: str | None = None
    """What is published of it, or a label that many rows share; None where there is none."""


def chosen_levels(
    view: "ReleaseView", how: "Mapping[str, Hierarchy | None]", least: int
) -> dict[str, ChosenLevel]:
    """The level of each column, where the method chose one for all rows; in the policy's order.

    how: the hierarchy of each column. least: so many published rows, and people, must share a value that
    is named.
    """
    found: dict[str, ChosenLevel] = {}
    for grouping in view.groupings:
        levels = grouping.levels
        if levels is None or not grouping.n_groups or (levels != levels[0]).any():
            continue
        for column, level in zip(grouping.columns, levels[0].tolist(), strict=True):
            domain = view.cells.domains[column]
            found[domain.name] = _chosen(
                domain, level, how.get(domain.name), _shared(view.cells, grouping, column), least
            )
    return {one.name: found[one.name] for one in view.cells.domains if one.name in found}


def _chosen(
    domain: "Domain", level: int, spec: "Hierarchy | None", shared: Ints, least: int
) -> ChosenLevel:
    from shoal.evidence.generality import level_names

    tree = domain.hierarchy
    assert tree is not None
    names = level_names(domain, spec)
    value = label = None
    known = shared[: domain.size if domain.missing < 0 else domain.missing]
    code = int(known.argmax()) if len(known) else 0
    rows = np.bincount(tree.nodes[level][: len(known)], known, 1)
    if len(known) and known[code] >= least:
        value = domain.texts[code].as_py()
        label = tree.labels[level][tree.nodes[level, code]]
    elif level and rows.max() >= least:
        label = tree.labels[level][int(rows.argmax())]
    return ChosenLevel(level, tree.height, names[level], value, label)


def _shared(cells: "Cells", grouping: "Grouping", column: int) -> Ints:
    """(values,) published rows that hold each value of a column; where people are counted, people."""
    from shoal.encoding.grouping import SUPPRESSED

    size, codes = cells.domains[column].size, cells.codes[:, column]
    kept = grouping.group != SUPPRESSED
    if cells.people is not None:
        n = max(1, cells.people.count)
        by_row = np.repeat(codes.astype(np.int64), cells.counts)
        pairs = np.unique(by_row[kept] * n + cells.people.number[kept])
        return np.bincount(pairs // n, minlength=size).astype(np.int64)
    rows = np.add.reduceat(kept, cells.starts[:-1], dtype=np.int64)
    # whole numbers below 2**53, so sums of floats are exact
    return np.bincount(codes, rows, size).astype(np.int64)
