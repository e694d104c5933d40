"""Repeated identifiers: several rows of one person, in a policy that does not count people.

An identifier is dropped, so nothing in the release shows that several rows were one person's. The
guarantees then count rows: a class of five rows may be one person. A column is taken for the ids of
people where ids repeat, and the rows of an id agree in most quasi-identifiers far more often than rows
by chance. In a panel most columns change from row to row: there it is enough that the rows of an id
agree in one column, if another one numbers them (`year`, `visit`). A name or a birth date that several
people share does neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.errors import counted

AGREEING = 0.8
"""Rows of one id agree in a column if so much of the disagreement by chance is gone."""
FEWEST_REPEATS = 5
"""So many rows must repeat an id, or nothing can be said of them."""
FEWEST_BY_CHANCE = 20
"""A column numbers the rows of an id if no value occurs twice there, where so many would by chance."""


@dataclass(frozen=True)
class RepeatedId:
    """An identifier or pseudonym by which several rows are one person's."""

    column: str
    role: str
    """Its role in the policy."""
    rows: int
    """Rows with an id."""
    ids: int
    """Different ids, compared without case and spaces at the ends, in Unicode's form NFKC."""
    k: int
    """The k that the policy asks for."""
    classes: int
    """Published classes."""
    below: int
    """Classes with fewer than k different ids; a row without an id counts as one of its own."""

    @property
    def warning(self) -> str:
        """What the publisher should do."""
        return (
            f"{self.column} has the role {self.role}, but {counted(self.rows, 'row')} have only "
            f"{counted(self.ids, 'different id')}, and rows with the same id look like one person's. "
            f"Rows are counted, not people: {self.below:,} of "
            f"{counted(self.classes, 'published class', 'published classes')} "
            f"{'holds' if self.below == 1 else 'hold'} fewer than {self.k} different ids. Give "
            f"{self.column} the role person, so that the guarantees count people."
        )


def agree(ids: Ints, columns: Sequence[npt.NDArray[np.integer]]) -> bool:
    """Whether rows with the same id agree in most columns, so that they look like one person's.

    ids: (n,) of each row, negative where it has none. columns: (n,) codes each.
    """
    first, second = _neighbours(ids)
    if len(first) < FEWEST_REPEATS:
        return False
    agreeing = considered = 0
    for codes in columns:
        by_chance = _equal_by_chance(codes)
        considered += by_chance < 1
        agreeing += _agrees(codes, first, second)
    return considered > 0 and agreeing >= min(2, considered) and 2 * agreeing >= considered


def is_panel(ids: Ints, columns: Sequence[npt.NDArray[np.integer]]) -> bool:
    """Whether rows with the same id agree in a column, and another one numbers them.

    As `year` numbers the rows of a person in a panel: no value of it occurs twice among the rows of an
    id, where many would by chance. ids: (n,) of each row, negative where it has none. columns: (n,)
    codes each.
    """
    first, second = _neighbours(ids)
    if len(first) < FEWEST_REPEATS or not any(_agrees(c, first, second) for c in columns):
        return False
    known = ids >= 0
    sizes = np.unique(ids[known], return_counts=True)[1].astype(np.float64)
    pairs = float((sizes * (sizes - 1)).sum()) / 2
    return any(
        pairs * _equal_by_chance(codes) >= FEWEST_BY_CHANCE and _numbers(ids[known], codes[known])
        for codes in columns
    )


def _neighbours(ids: Ints) -> tuple[Ints, Ints]:
    """Rows, and for each of them the next one with the same id."""
    known = np.flatnonzero(ids >= 0)
    order = known[np.argsort(ids[known], kind="stable")]
    same = ids[order][1:] == ids[order][:-1]
    return order[:-1][same], order[1:][same]


def _equal_by_chance(codes: npt.NDArray[np.integer]) -> float:
    """How often two different rows at random have the same value."""
    counts = np.bincount(codes).astype(np.float64)
    n = max(2.0, float(counts.sum()))
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def _agrees(codes: npt.NDArray[np.integer], first: Ints, second: Ints) -> bool:
    by_chance = _equal_by_chance(codes)
    found = float((codes[first] == codes[second]).mean())
    return by_chance < 1 and found - by_chance >= AGREEING * (1 - by_chance)


def _numbers(ids: Ints, codes: npt.NDArray[np.integer]) -> bool:
    """Whether no value occurs twice among the rows of an id."""
    order = np.lexsort((codes, ids))
    same = (ids[order][1:] == ids[order][:-1]) & (codes[order][1:] == codes[order][:-1])
    return not bool(same.any())


def classes_below(classes: Ints, ids: Ints, k: int) -> tuple[int, int]:
    """The classes, and those of them with fewer than k different ids.

    classes: (n,) of each row. ids: (n,) negative where a row has none, which counts as one of its own.
    """
    n = int(classes.max(initial=-1)) + 1
    known = ids >= 0
    order = np.lexsort((ids[known], classes[known]))
    of, who = classes[known][order], ids[known][order]
    new = np.ones(len(of), np.bool_)
    new[1:] = (of[1:] != of[:-1]) | (who[1:] != who[:-1])
    different = np.bincount(of[new], minlength=n) + np.bincount(classes[~known], minlength=n)
    return n, int((different < k).sum())
