"""Repeated identifiers: several rows of one person, in a policy that does not count people.

An identifier is dropped, so nothing in the release shows that several rows were one person's. The
guarantees then count rows: a class of five rows may be one person. A column is taken for the ids of
people where ids repeat, and the rows of an id agree in most quasi-identifiers far more often than rows
by chance. In a panel most columns change from row to row: there it is enough that the rows of an id
agree in one column, if another one numbers them (`year`, `visit`). A name or a birth date that several
people share does neither, unless the quasi-identifiers follow from it. Another identifier may then
contradict: one that by its name is a person's own (`ssn`, `name`), and differs among the rows of an id.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.encoding.vocabulary import hint_of, words_of
from shoal.errors import counted

AGREEING = 0.8
"""Rows of one id agree in a column if so much of the disagreement by chance is gone."""
FEWEST_REPEATS = 5
"""So many rows must repeat an id, or nothing can be said of them."""
FEWEST_BY_CHANCE = 20
"""A column numbers the rows of an id if no value occurs twice there, where so many would by chance."""
DIFFERING = 0.5
"""Another identifier contradicts if rows of one id are equal in it less often than this."""
OF_ROWS = frozenset(
    """
    id ids identifier uuid guid url website homepage photo picture signature fingerprint ip ipaddress
    macaddress deviceid recordnumber accountnumber accountno
    """.split()  # noqa: SIM905 - as in `vocabulary.py`
)
"""Names of identifiers that may be another one in every row of a person."""


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


@dataclass(frozen=True)
class Agreement:
    """How often the rows of one id are equal in a column, beside rows at random.

    It follows from counts alone, so that it does not depend on the order of rows or on the engine.
    """

    rows: Ints
    """(m,) every number of rows, from 2 on, that some id has, ascending."""
    ids: Ints
    """(m,) how many ids have so many rows."""
    equal: Ints
    """(m,) pairs of two rows of such an id, both ways, that are equal in the column."""
    by_chance: float
    """How often two different rows of the table at random are equal in the column."""

    @property
    def repeats(self) -> int:
        """Rows that repeat an id."""
        return int((self.ids * (self.rows - 1)).sum())

    @property
    def pairs(self) -> float:
        """Pairs of two rows with one id."""
        return float((self.ids * self.rows * (self.rows - 1)).sum()) / 2

    @property
    def varies(self) -> bool:
        """Whether the column has several values."""
        return self.by_chance < 1

    @property
    def share(self) -> float:
        """How often rows of one id are equal in the column.

        As often as two neighbours are, in an order of the id's rows at random: ids with many rows
        do not count more than their rows.
        """
        return float((self.equal / self.rows).sum()) / max(1, self.repeats)

    @property
    def agrees(self) -> bool:
        """Whether rows of one id are equal in the column far more often than by chance."""
        return self.varies and self.share - self.by_chance >= AGREEING * (1 - self.by_chance)

    @property
    def numbers(self) -> bool:
        """Whether no value occurs twice among the rows of an id, where many would by chance."""
        return self.pairs * self.by_chance >= FEWEST_BY_CHANCE and not self.equal.any()


def agree(columns: Sequence[Agreement]) -> bool:
    """Whether rows with the same id agree in most columns, so that they look like one person's."""
    if not columns or columns[0].repeats < FEWEST_REPEATS:
        return False
    considered, agreeing = sum(c.varies for c in columns), sum(c.agrees for c in columns)
    return considered > 0 and agreeing >= min(2, considered) and 2 * agreeing >= considered


def is_panel(columns: Sequence[Agreement]) -> bool:
    """Whether rows with the same id agree in a column, and another one numbers them.

    As `year` numbers the rows of a person in a panel: no value of it occurs twice among the rows of an
    id, where many would by chance.
    """
    if not columns or columns[0].repeats < FEWEST_REPEATS:
        return False
    return any(c.agrees for c in columns) and any(c.numbers for c in columns)


def is_own(name: str) -> bool:
    """Whether an identifier is by its name a person's own, the same in all of her rows: `ssn`,
    `patient_id`, `last name`; not `id` or `uuid`, which may number the rows."""
    hint = hint_of(name)
    return hint is not None and hint[0] == "person" and "".join(words_of(name)) not in OF_ROWS


def contradicts(others: Agreement, ids: Agreement) -> bool:
    """Whether another identifier, a person's own, says that the rows of an id are several people's.

    Its rows agree in the ids, as those of a person do in her birth date; the name of a doctor differs
    among the rows of a patient, but is that of many patients. Both are counted over the rows that have
    both.

    others: how the rows of the ids agree in the other identifier. ids: how its rows agree in the ids.
    """
    finer = not ids.repeats or ids.share >= AGREEING
    return finer and others.repeats >= FEWEST_REPEATS and others.share < DIFFERING


def agreements(ids: Ints, columns: Sequence[npt.NDArray[np.integer]]) -> list[Agreement]:
    """How the rows of ids agree in each of some columns.

    ids: (n,) of each row, negative where it has none. columns: (n,) codes each, from 0 on.
    """
    known = np.flatnonzero(ids >= 0)
    _, who, sizes = np.unique(ids[known], return_inverse=True, return_counts=True)
    several = sizes[who] > 1
    known, who = known[several], who.reshape(-1)[several].astype(np.int64)
    rows, at, n = np.unique(sizes[sizes > 1], return_inverse=True, return_counts=True)
    place = np.zeros(len(sizes), np.int64)
    place[sizes > 1] = at.reshape(-1)
    found = []
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        keys, times = np.unique(who * size + codes[known].astype(np.int64), return_counts=True)
        equal = np.zeros(len(rows), np.int64)
        np.add.at(equal, place[keys // size], times.astype(np.int64) * (times - 1))
        by_chance = equal_by_chance(np.bincount(codes))
        found.append(Agreement(rows.astype(np.int64), n.astype(np.int64), equal, by_chance))
    return found


def equal_by_chance(counts: Ints, times: Ints | None = None) -> float:
    """How often two different rows at random have the same value.

    counts: rows of each value. times: how many values have each count; one where left out.
    """
    rows = counts.astype(np.int64)
    weight = np.ones(len(rows), np.int64) if times is None else times
    n = max(2, int((rows * weight).sum()))
    return int((rows * (rows - 1) * weight).sum()) / (n * (n - 1))


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
