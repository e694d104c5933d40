"""The people of a release in a session: who stands beside each published row, never in the release.

A row of the release and the row that was published are one where their texts are: a number made from
all of them, the hash, is kept with each person. What is counted is read from the release itself, and a
release with other rows than those that were published is refused.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Ints
from shoal.encoding.cells import hash_rows
from shoal.encoding.columns import as_spelled
from shoal.encoding.counts import Reference, group_histograms, size_counts
from shoal.encoding.domain import Domain
from shoal.encoding.people import person_of_ids
from shoal.engines.class_findings import CHECKED, judge_classes
from shoal.engines.column_types import restore_type, value_type_of
from shoal.engines.person_key import OTHER_KEY, require_people
from shoal.engines.queries import (
    ANYONE,
    HAS,
    HASH,
    KNOWN,
    PERSON,
    classes_of_people,
    count_rows,
    count_unpaired,
    count_without_person,
    pair_rows,
    people_of_classes,
    select,
    sizes_in_people,
    sum_rows,
    without_exempt,
)
from shoal.engines.sessions import Session, query_number
from shoal.errors import InputError, VerificationFailed
from shoal.evidence.people import PeopleSizes
from shoal.io.arrow import one_chunk
from shoal.models.base import SIZES_ONLY, Model
from shoal.verification.digest import canonical, read_text

KEY, KEY_PEOPLE = "key_rows", "key_people"
"""Tables of a session: the rows of a key as read, and the hashes of its rows with their people."""
OTHER_ROWS = (
    "The release does not have the very rows that were published, so whose they are is not known. Make "
    "sure that no other program writes to it, and run again."
)
NOT_A_NUMBER = r"^[+-]?(nan|NaN)$"
INFINITE = "^([+-]?)Infinity$"
NEGATIVE_ZERO = r"^-0*(\.0*)?([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class HashedColumn:
    """One of the columns that make the hash of a published row."""

    place: str
    """Its name in the session."""
    kind: pa.DataType
    """Its type there."""
    exact: bool
    """Whether it was published as text, so that it is read as it is written. Numbers and moments are
    written in one way or another, so they are read by their value."""

    def __call__(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """What is hashed of it."""
        column = restore_type(batch.column(self.place), self.kind)
        if self.exact:
            return [read_text(column).dictionary_encode()]
        negative = _is_negative_zero(column)
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
        elif pa.types.is_string(column.type):  # as a file of texts has it
            column = pc.if_else(pc.match_substring_regex(column, NOT_A_NUMBER), None, column)
            column = pc.replace_substring_regex(column, INFINITE, r"\1inf")
        return [canonical(column), negative]


def _is_negative_zero(column: pa.Array) -> pa.Array:
    """(n,) a number by its value alone may be 0 or -0, which read differently."""
    if pa.types.is_floating(column.type):
        numbers = column.cast(pa.float64()).fill_null(1.0).to_numpy(zero_copy_only=False)
        return pa.array((numbers == 0) & np.signbit(numbers))
    if pa.types.is_string(column.type):
        return pc.fill_null(pc.match_substring_regex(column, NEGATIVE_ZERO), False)
    return pa.array(np.zeros(len(column), np.bool_))


def hash_published(batch: pa.RecordBatch, columns: Sequence[HashedColumn]) -> Ints:
    """(n,) a hash of all columns of a row, the same for a row of a session and of a file."""
    found = [part for column in columns for part in column(batch)]
    return hash_rows(batch.num_rows, (), found, 0).view(np.int64)


@dataclass(frozen=True)
class HashPeople:
    """Published rows with their person to the hash of each row, and the person."""

    columns: tuple[HashedColumn, ...]
    """The published columns, in the release's order."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(HASH, pa.int64()), (PERSON, pa.int64())])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Hash a batch."""
        columns = [pa.array(hash_published(batch, self.columns)), batch.column(PERSON)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


@dataclass(frozen=True)
class PublishedPeople:
    """A table of a session with the hash of each published row, and its person."""

    table: str
    exact: tuple[bool, ...]
    """Per published column, in the release's order: whether it was published as text."""
    from_key: bool = False
    """Whether a key says whose rows they are, which may be that of another release."""

    def columns(self, places: Sequence[tuple[str, pa.DataType]]) -> tuple[HashedColumn, ...]:
        """What makes the same hashes, from the names and types of all columns of the release."""
        pairs = zip(places, self.exact, strict=True)
        return tuple(HashedColumn(place, kind, exact) for (place, kind), exact in pairs)


def keep_people(
    session: Session, table: str, rows: str, places: Sequence[tuple[str, pa.DataType]]
) -> PublishedPeople:
    """Create the table of the people of published rows.

    rows: SQL of these rows and their people. places: the names and types of the published columns.
    """
    people = PublishedPeople(table, tuple(_is_text(kind) for _, kind in places))
    hashed = HashPeople(people.columns(places))
    session.map(table, rows, hashed, hashed.schema)
    return people


def people_sizes_in(
    session: Session, table: str, keys: Sequence[str], where: str = ""
) -> PeopleSizes:
    """The classes of a session's table in people, whose column is `PERSON`."""
    answer = session.query(sizes_in_people(table, keys, where))
    kind, size, times, rows = (
        _numbers(answer, name) for name in ("of_person", "size", "times", "n")
    )
    classes, people = (
        tuple(sorted(zip(size[kind == i].tolist(), times[kind == i].tolist(), strict=True)))
        for i in (0, 1)
    )
    return PeopleSizes(int(rows.sum()), int(rows[size == 1].sum()), classes, people)


def people_of_key(
    session: Session,
    called: str,
    places: Sequence[tuple[str, pa.DataType]],
    person: tuple[str, pa.DataType],
    kinds: Sequence[pa.DataType],
) -> PublishedPeople:
    """The people of published rows, by the key of a release in the session's table `KEY`.

    called: the key in a message. places: the names and types of its columns, in the release's order.
    person: the column of people. kinds: the types of the release's columns.

    Raises
    ------
    InputError
        If some row has no person.
    """
    pairs = zip((kind for _, kind in places), kinds, strict=True)
    exact = tuple(_is_text(one) and _is_text(other) for one, other in pairs)
    people = PublishedPeople(KEY_PEOPLE, exact, from_key=True)
    read = ReadKey(people.columns(places), person)
    session.map(
        KEY_PEOPLE, select(KEY, [*(place for place, _ in places), person[0]]), read, read.schema
    )
    session.drop(KEY)
    unknown = query_number(session, count_without_person(KEY_PEOPLE))
    require_people(called, unknown, query_number(session, count_rows(KEY_PEOPLE)))
    return people


@dataclass(frozen=True)
class ReadKey:
    """Rows of a key to the hash of each row, and its person."""

    columns: tuple[HashedColumn, ...]
    """The published columns, in the release's order."""
    person: tuple[str, pa.DataType]
    """The name and the type of the column of people."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(HASH, pa.int64()), (PERSON, pa.int64())])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Hash a batch."""
        place, kind = self.person
        people = person_of_ids(restore_type(batch.column(place), kind))
        columns = [pa.array(hash_published(batch, self.columns)), pa.array(people)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class DrawWords:
    """Gives every person a random word, by which they are numbered."""

    schema = pa.schema([(PERSON, pa.int64()), ("r", pa.int64())])

    def __init__(self) -> None:
        self._draw = np.random.default_rng(secrets.randbits(256))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Draw for a batch of people."""
        words = self._draw.integers(np.iinfo(np.int64).max, size=batch.num_rows)
        return pa.RecordBatch.from_arrays([batch.column(0), pa.array(words)], schema=self.schema)


def _is_text(kind: pa.DataType) -> bool:
    kind = value_type_of(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


class PairedRows:
    """The rows of a release, each with its person."""

    def __init__(
        self, session: Session, texts: str, people: PublishedPeople, names: Sequence[str]
    ) -> None:
        """Pair them.

        Parameters
        ----------
        session : Session
            Where the tables are.
        texts : str
            The rows of the release, as `session_release.ReadClasses` returns them.
        people : PublishedPeople
            Whose rows were published.
        names : sequence of str
            The columns of the texts.

        Raises
        ------
        VerificationFailed
            If the release has other rows than those that were published.
        """
        self._session, self._rows, self._classes = session, f"{texts}_paired", f"{texts}_classes"
        if query_number(session, count_unpaired(texts, people.table)):
            raise InputError(OTHER_KEY) if people.from_key else VerificationFailed(OTHER_ROWS)
        kept = [name for name in names if name != HASH]
        session.keep(self._rows, pair_rows(texts, people.table, kept))
        rows, paired = (
            query_number(session, sql) for sql in (count_rows(texts), sum_rows(self._rows))
        )
        if rows != paired:  # rows with one hash are not alike
            raise VerificationFailed(OTHER_ROWS)

    def classes(
        self,
        number: int,
        keys: tuple[str, ...],
        sensitive: tuple[tuple[str, str], ...],
        domains: Mapping[str, Domain],
        models: tuple[tuple[int, Model], ...],
        *,
        exempting: bool,
    ) -> tuple[str, "CheckPeople"]:
        """SQL of the counted people of one set of classes, and what checks a piece of it.

        exempting: whether some rows may be exempt, so that a class of nothing else is left out.
        """
        rows, piece = self._rows, f"b{number}"
        if exempting:
            rows = self._classes
            self._session.keep(rows, without_exempt(self._rows, piece, f"e{number}", keys))
        columns = [column for column, _ in sensitive]
        named = {name: domains[name] for _, name in sensitive}
        check = CheckPeople(keys, named, _totals(self._session, rows, columns, named), models)
        return people_of_classes(rows, [piece, *keys], columns), check

    def drop(self) -> None:
        """Drop the tables that were made."""
        self._session.drop(self._rows)
        self._session.drop(self._classes)


def _totals(
    session: Session, rows: str, columns: Sequence[str], domains: Mapping[str, Domain]
) -> dict[str, Reference]:
    """Per sensitive column, what a class is compared with: all rows as one class."""
    if not columns:
        return {}
    answer = session.query(people_of_classes(rows, [], columns))
    what, value, people = (_numbers(answer, name) for name in ("what", "s", "people"))
    found = {}
    for i, (name, domain) in enumerate(domains.items()):
        counts = np.zeros(domain.size, np.int64)
        counts[value[what == HAS + i]] = people[what == HAS + i]
        found[name] = Reference(counts, int(people[what == KNOWN + i].sum()))
    return found


def classes_hold(
    session: Session,
    table: str,
    keys: tuple[str, ...],
    domains: Mapping[str, Domain],
    codes: Sequence[str],
    models: Sequence[Model],
    sizes: Sequence[int],
) -> bool:
    """Whether there are published classes, and all of them hold when their people are counted.

    Groups with the same label are one class to a reader, and what holds for each of them need not hold
    for all together.

    Parameters
    ----------
    session : Session
        Where the table is.
    table : str
        The published rows, with b: the piece of a class, and the codes of sensitive columns.
    keys : tuple of str
        The columns of the labels.
    domains : Mapping
        What the codes of the sensitive columns mean that models need, by name.
    codes : sequence of str
        The columns of these codes.
    models : sequence of Model
        What every class must hold.
    sizes : sequence of int
        About how many rows each piece has.
    """
    rows, checked = f"{table}_classes", f"{table}_checked"
    pairs = zip(codes, domains.values(), strict=True)
    missing = {column: domain.missing for column, domain in pairs}
    session.keep(rows, classes_of_people(table, keys, missing))
    totals = _totals(session, rows, codes, domains)
    check = CheckPeople(keys, dict(domains), totals, tuple(enumerate(models)))
    sql = people_of_classes(rows, ["b", *keys], codes)
    session.map_groups(checked, sql, "b", check, CHECKED, sizes, once=True)
    found = session.query(select(checked, ["classes", "failing"])).to_pylist()
    session.drop(checked)
    session.drop(rows)
    return bool(found) and not any(one["failing"] for one in found)


@dataclass(frozen=True)
class CheckPeople:
    """Counted people of whole classes to what the models find in them."""

    keys: tuple[str, ...]
    """The class columns."""
    domains: dict[str, Domain]
    """Of the sensitive columns that models need, in the order in which they were counted."""
    totals: dict[str, Reference]
    """By sensitive column, over all classes of the release."""
    models: tuple[tuple[int, Model], ...]
    """The models, each with its position among all."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Check whole classes."""
        group = number_texts([one_chunk(rows.column(key)) for key in self.keys])
        what, value, people, n = (_numbers(rows, name) for name in ("what", "s", "people", "n"))
        is_size = what == ANYONE
        classes = int(group.max(initial=-1)) + 1

        def total(chosen: Bools, of: Ints) -> Ints:
            found = np.zeros(classes, np.int64)
            np.add.at(found, group[chosen], of[chosen])
            return found

        sizes, in_rows = total(is_size, people), total(is_size, n)
        counts = {SIZES_ONLY: size_counts(sizes, rows=in_rows)}
        for i, (name, domain) in enumerate(self.domains.items()):
            having, whole = what == HAS + i, self.totals[name]
            found = group_histograms(sizes, group[having], value[having], domain, people[having])
            counts[name] = replace(
                found,
                totals=whole.counts,
                everyone=whole.people,
                known=total(what == KNOWN + i, people),
                rows=in_rows,
            )
        for name in self.domains:
            if (spelled := counts.get(as_spelled(name))) is not None:
                counts[name] = replace(counts[name], spelled=spelled)
        return judge_classes(self.models, counts)


def number_texts(columns: Sequence[pa.Array]) -> Ints:
    """(n,) a number for each combination, from 0 on."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        wide = found * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy()
        found = np.unique(wide, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def _numbers(rows: pa.Table, name: str) -> Ints:
    return rows[name].to_numpy().astype(np.int64)
