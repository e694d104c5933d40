"""How strongly columns go together, before and after."""

from dataclasses import dataclass

import numpy as np

from shoal.analysis.marginals import binned
from shoal.analysis.plain_values import PlainTables
from shoal.arrays import Floats, Ints

MOST_ROWS = 200_000
"""Rows of each table that associations are computed from."""
MOST_VALUES = 20
"""Values of a column that are told apart; the rarest are one value."""
MOST_COLUMNS = 40


@dataclass(frozen=True)
class PairUtility:
    """Two columns."""

    first: str
    second: str
    raw: float
    """Cramér's V, corrected for its bias (Bergsma, "A bias-correction for Cramér's V and Tschuprow's T",
    2013): 0 where the columns are independent, 1 where one decides the other."""
    release: float

    @property
    def change(self) -> float:
        """The association of the release less that of the raw table."""
        return self.release - self.raw


def pair_utilities(tables: PlainTables, seed: int) -> tuple[PairUtility, ...]:
    """Every pair of columns; of a wide table, of its first forty."""
    random = np.random.default_rng(seed)
    sides = [(column.name, *binned(column, 10)) for column in tables.columns[:MOST_COLUMNS]]
    raw = _some(tables.raw_rows, random)
    release = _some(tables.release_rows * tables.draws, random)
    coded = [(name, *_fewer(a, b)) for name, a, b in sides]
    return tuple(
        PairUtility(
            one,
            other,
            cramers_v(a[raw], c[raw]),
            cramers_v(b[release], d[release], tables.draws),
        )
        for i, (one, a, b) in enumerate(coded)
        for other, c, d in coded[i + 1 :]
    )


def cramers_v(first: Ints, second: Ints, draws: int = 1) -> float:
    """The bias-corrected association of two columns of codes; each row was drawn so many times."""
    n = len(first) / draws
    rows, columns = int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1
    counts = np.bincount(first * columns + second, minlength=rows * columns)
    table: Floats = counts.reshape(rows, columns) / draws
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    r, c = table.shape
    if n < 2 or min(r, c) < 2:
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / n
    phi = float(((table - expected) ** 2 / expected).sum() / n)
    phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, float(np.sqrt(phi / least))) if least > 1e-9 else 0.0


def _some(n: int, random: np.random.Generator) -> Ints:
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(random.choice(n, MOST_ROWS, replace=False))


def _fewer(raw: Ints, release: Ints) -> tuple[Ints, Ints]:
    """Codes from 0 on: the most frequent raw values, the rest, and missing ones."""
    counts = np.bincount(np.append(raw[raw >= 0], release[release >= 0].max(initial=0)))
    order = np.argsort(-counts, kind="stable")
    new = np.full(len(counts) + 1, MOST_VALUES, np.int64)
    new[order[:MOST_VALUES]] = np.arange(min(MOST_VALUES, len(order)))
    new[-1] = MOST_VALUES + 1  # a code of -1 reads the last entry
    return new[raw], new[release]
