"""Which rows belong to one person: the ids of a person column as numbers.

Ids are compared folded (`encoding/folding.py`): counting one person twice is the unsafe direction. A
person's number follows from the hash of the id alone, so it does not depend on the order of rows or on
the engine. Two ids with the same hash would count as one person, which is the safe direction too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.folding import fold, folded
from shoal.encoding.missing import TEXT_CODES
from shoal.encoding.values import tally_of
from shoal.errors import InputError, data_rows
from shoal.hierarchy.text import text_of

SIGNED = np.uint64((1 << 63) - 1)
"""The bits of a hash that fit into a signed column of any engine."""
ROWS = slice(0, 5)
"""So many rows without an id are named."""
NO_IDS = tuple(sorted(TEXT_CODES))
"""Texts that are no ids where a policy does not list codes for missing ones."""


@dataclass(frozen=True)
class People:
    """The person of each row of a table."""

    number: Codes
    """(n_rows,) 0, 1, 2, … by the hash of the id."""
    count: int
    """How many people there are."""
    merged: int = 0
    """How many ids were read as another spelling of one."""

    def in_order(self, order: Ints) -> "People":
        """The same people, rows in another order."""
        return replace(self, number=self.number[order])

    def of_rows(self, rows: npt.NDArray[np.integer]) -> "People":
        """The people of some rows, numbered anew."""
        found, number = np.unique(self.number[rows], return_inverse=True)
        return People(number.reshape(-1).astype(np.int32), len(found))


def read_people(name: str, column: pa.Array, missing: Sequence[str] = NO_IDS) -> People:
    """The people of a table, by its person column; `missing`: texts that are no ids.

    Raises
    ------
    InputError
        If some row has no id, or all rows have the same one.
    """
    return _people(name, column, hash_ids, missing)


def number_people(name: str, column: pa.Array, missing: Sequence[str] = NO_IDS) -> People:
    """The same where the numbers do not matter: no kernel has to be compiled for it."""
    return _people(name, column, _numbered, missing)


def _people(
    name: str, column: pa.Array, keys: Callable[[pa.Array], Words], codes: Sequence[str]
) -> People:
    """keys: (n,) a number of each folded id, equal for equal ids."""
    tally = tally_of(name, column)
    texts = folded(text_of(tally.values))
    blank = _is_no_id(texts, codes)
    known, number = np.unique(keys(texts), return_inverse=True)
    spellings = len(texts) - len(known)
    missing = int(tally.missing) + int(tally.counts[blank].sum())
    assert tally.index is not None
    where = np.flatnonzero(np.append(blank, True)[tally.index])
    check_ids(name, len(column), missing, len(known), where[ROWS].tolist())
    return People(tally.rows(number.reshape(-1), -1), len(known), spellings)


def _numbered(texts: pa.Array) -> Words:
    codes: Words = texts.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return codes.astype(np.uint64)


def person_of_ids(column: pa.Array, missing: Sequence[str] = ()) -> Ints:
    """(n,) the hash of each row's id, by which people are told apart; -1 where a row has none, or one
    of the texts in `missing`.

    Numbers by these are the same as by `read_people`, whose order is that of the hashes.
    """
    texts = folded(text_of(column))
    return np.where(_is_no_id(texts, missing), -1, hash_ids(texts).astype(np.int64))


def _is_no_id(texts: pa.Array, codes: Sequence[str]) -> Bools:
    """(n,) whether a folded text is empty or one of the codes for a missing id."""
    none = pa.array(["", None, *(fold(code) for code in codes)], texts.type)
    found: Bools = pc.is_in(texts, none).to_numpy(zero_copy_only=False)
    return found


def hash_ids(texts: pa.Array) -> Words:
    """(n,) the hash of each folded id."""
    from shoal.kernels.hashing import hash_texts

    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    at = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    found = hash_texts(at, np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8))
    return np.asarray(found & SIGNED)


def check_ids(
    name: str, rows: int, missing: int, people: int, where: list[int] | None = None
) -> None:
    """Raise `InputError` for ids by which people cannot be told apart."""
    if missing == rows:
        raise InputError(
            f"Column '{name}' has the role person, but all of its values are missing. Give the role "
            "to a column that holds the id of a person in every row, or leave it out."
        )
    if missing:
        places = f" ({data_rows(where, missing)})" if where else ""
        raise InputError(
            f"Column '{name}' has the role person, but {missing:,} of {rows:,} rows have no id"
            f"{places}: whose they are is not known, so people cannot be counted. Fill in the ids, or "
            "leave these rows out. Texts such as `NA` are no ids, unless the column has `missing: []`."
        )
    if people == 1 and rows > 1:
        raise InputError(
            f"Column '{name}' has the role person, but all {rows:,} rows have the same id: the table "
            "would be about one person. Give the role to the column that tells people apart."
        )
