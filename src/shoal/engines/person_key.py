"""The private key of a release: which of its rows belong to one person.

A key is a copy of the published rows with one more column, a number for each person. The numbers are
drawn at random, so they say nothing of the ids behind them. Rows are matched by what they hold, never
by their place: a release may be sorted or split as anyone likes and still fits its key. Rows that are
equal cannot be told apart, so it does not matter which of them is whose.
"""

import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints, Words
from shoal.encoding.cells import hash_rows
from shoal.encoding.folding import folded
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.sources import refuse_folder
from shoal.errors import InputError, listed
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.threads import each
from shoal.verification.digest import canonical

PERSON = "person"
"""The column of a key that holds the number of a person, unless the release has one of that name."""
OTHER_KEY = (
    "The key does not fit this release: the key was made for other rows. Give the key that was written "
    "together with the release."
)
OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""The permissions of everybody but the owner of a file."""


@dataclass(frozen=True, eq=False, repr=False)
class PersonKey:
    """The person of every published row."""

    people: Ints
    """(n,) the number of each row's person."""
    words: Words
    """(n,) the hash of each row's text."""
    rows: pa.Table | None = None
    """The rows of a key that was read: a release in another format may spell its values otherwise."""

    @classmethod
    def of(cls, rows: pa.Table, people: Ints) -> "PersonKey":
        """The key of published rows, given the person of each."""
        return cls(people, _hashed(rows, _spelling))

    @property
    def count(self) -> int:
        """How many people have a published row."""
        return len(np.unique(self.people))

    def people_of(self, rows: pa.Table) -> Ints:
        """(n,) the person of each row of a copy of the release, in whatever order it has its rows.

        Raises
        ------
        InputError
            If these are not the rows that the key was made for.
        """
        if rows.num_rows == len(self.people):
            found = _hashed(rows, _spelling)
            orders = np.argsort(self.words, kind="stable"), np.argsort(found, kind="stable")
            if np.array_equal(self.words[orders[0]], found[orders[1]]):
                return self._given(*orders)
            if self.rows is not None:  # a file may write 39.0 where another writes 39
                mine, theirs = _hashed(self.rows, canonical), _hashed(rows, canonical)
                orders = np.lexsort((self.words, mine)), np.lexsort((found, theirs))
                if np.array_equal(mine[orders[0]], theirs[orders[1]]):
                    return self._given(*orders)
        raise InputError(OTHER_KEY)

    def _given(self, mine: npt.NDArray[np.intp], theirs: npt.NDArray[np.intp]) -> Ints:
        """The people in the order of other rows, by two orders in which equal rows stand alike."""
        people = np.empty(len(mine), np.int64)
        people[theirs] = self.people[mine]
        return people

    def __repr__(self) -> str:
        return f"<PersonKey: {self.count:,} people in {len(self.people):,} rows>"


def random_numbers(people: Ints) -> Ints:
    """(n,) the people as the numbers 1, 2, 3, …, given to them at random."""
    found, place = np.unique(people, return_inverse=True)
    drawn = np.random.default_rng(secrets.randbits(256)).permutation(len(found)) + 1
    return drawn[place.reshape(-1)].astype(np.int64)


def with_people(rows: pa.Table, people: Ints) -> pa.Table:
    """The rows of a key: published rows, and the number of each one's person."""
    return rows.append_column(person_name(rows.column_names), pa.array(people))


def person_name(names: Sequence[str]) -> str:
    """What the column of people is called in the key of a release with these columns."""
    name, number = PERSON, 1
    while name in names:
        number += 1
        name = f"{PERSON}_{number}"
    return name


def person_column(called: str, found: Sequence[str], names: Sequence[str]) -> str:
    """The column of people in a key with the columns `found`, for a release with these names.

    Raises `InputError` if it has other columns than the release and one more. called: what it is
    called in a message.
    """
    more = [name for name in found if name not in names]
    missing = [name for name in names if name not in found]
    if missing or len(more) != 1:
        what = f"lacks {listed(map(repr, missing))}" if missing else f"has {len(more)} more"
        raise InputError(
            f"{called} is not the key of this release: a key has the columns of the release and one "
            f"more, the number of each row's person, but this one {what}. Give the file that "
            "`shoal run --key` wrote together with the release."
        )
    return more[0]


def require_people(called: str, unknown: int, rows: int) -> None:
    """Raise `InputError` where rows of a key have no person."""
    if unknown:
        raise InputError(f"{called}: {unknown:,} of {rows:,} rows of the key have no person.")


def read_key(source: Any, names: Sequence[str], options: CsvOptions = DETECT) -> PersonKey:
    """The key in a file or a frame, for a release with these columns.

    Raises
    ------
    InputError
        If it has other columns than the release and one more, or rows without a person.
    """
    called = str(source) if isinstance(source, Path) else "The table given as key"
    if isinstance(source, Path):
        refuse_folder(source)
        options = replace(options, formulas=False)  # a key is written as it is
        table = LocalFiles().read(source, LocalFiles().settle(source, options)[0])
    else:
        frame = wrap(source)
        table = pa.table({name: frame.column(name) for name in frame.names})
    person = person_column(called, table.column_names, names)
    texts = folded(text_of(one_chunk(table.column(person))))  # other programs may write 7 as ` 7`
    people = pc.if_else(pc.equal(texts, ""), None, texts).dictionary_encode()
    require_people(called, people.indices.null_count, table.num_rows)
    numbers = people.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    rows = table.select(list(names))
    return replace(PersonKey.of(rows, numbers), rows=rows)


def key_warnings(source: Any) -> list[str]:
    """A warning where others than its owner may read a key."""
    if not isinstance(source, Path) or os.name != "posix":
        return []
    mode = stat.S_IMODE(source.stat().st_mode)
    if not mode & OTHERS:
        return []
    return [
        f"Other users of this machine can open the key {source} (mode {mode:o}), which tells whose "
        f"rows are whose. Run `chmod 600 {source}`."
    ]


def _hashed(rows: pa.Table, reading: Any) -> Words:
    return hash_rows(rows.num_rows, (), each(reading, rows.columns, rows.num_rows), 0)


def _spelling(column: pa.ChunkedArray) -> pa.Array:
    texts = one_chunk(text_of(one_chunk(column)))
    return texts if pa.types.is_dictionary(texts.type) else pc.dictionary_encode(texts)
