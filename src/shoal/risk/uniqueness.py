"""How many rows stand alone on some columns, exactly.

The codes of a row are packed into one whole number: each column is a digit, its base being the
number of codes. Where the number would not fit into 64 bits, what is packed so far is renumbered,
and no more than one number per row is left. Rows are then equal exactly where their numbers are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

LARGEST = 2**63 - 1
COUNTED = 4
"""Numbers up to this many times the rows are counted in place; beyond, sorting is faster."""


class Coded(Protocol):
    """A column as codes 0 .. size - 1."""

    @property
    def codes(self) -> npt.NDArray[np.integer]:
        """(n,) the code of each row."""

    @property
    def size(self) -> int:
        """How many codes there are: no more than rows, and one for missing values."""


@dataclass(frozen=True)
class Packed:
    """Some columns as one number per row."""

    numbers: npt.NDArray[np.int64]
    """(n,) 0 .. size - 1."""
    size: int

    @classmethod
    def nothing(cls, rows: int) -> "Packed":
        """No column yet: all rows are equal."""
        return cls(np.zeros(rows, np.int64), 1)

    def beside(self, columns: Iterable[Coded]) -> "Packed":
        """These columns, and some more."""
        packed = self
        for column in columns:
            if packed.size * column.size > LARGEST:
                packed = packed.renumbered()
            numbers = packed.numbers * column.size + column.codes
            packed = Packed(numbers, packed.size * column.size)
        return packed

    def renumbered(self) -> "Packed":
        """The same, with as few numbers as there are different rows."""
        different, numbers = np.unique(self.numbers, return_inverse=True)
        return Packed(numbers.astype(np.int64, copy=False), len(different))

    def unique_rows(self) -> int:
        """Rows whose number no other row has."""
        n = len(self.numbers)
        if self.size <= COUNTED * n:
            return int((np.bincount(self.numbers) == 1).sum())
        ordered = np.sort(self.numbers)
        # each row differs from the one before it and from the one after it
        differs = np.ones(n + 1, dtype=np.bool_)
        differs[1:-1] = ordered[1:] != ordered[:-1]
        return int((differs[1:] & differs[:-1]).sum())


def unique_rows(rows: int, columns: Sequence[Coded]) -> int:
    """Rows that no other row equals in all these columns."""
    return Packed.nothing(rows).beside(columns).unique_rows()


def unique_without_each(rows: int, columns: Sequence[Coded]) -> list[int]:
    """For each column, the rows that stay unique when it alone is left out."""
    return list(_without_each(Packed.nothing(rows), columns))


def _without_each(others: Packed, columns: Sequence[Coded]) -> Iterator[int]:
    """By halves: what both halves of the work share, all columns outside, is packed once."""
    if len(columns) <= 1:
        yield from (others.unique_rows() for _ in columns)
        return
    half = len(columns) // 2
    yield from _without_each(others.beside(columns[half:]), columns[:half])
    yield from _without_each(others.beside(columns[:half]), columns[half:])
