"""Counts of a release for its disclosure, where the rows are: by hashes, and in a session by SQL where
it is large.

See `evidence.disclosure` for what is counted and why.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.cells import MISSING_WORD, Cells, words_of
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.values import canonical, countable, distinct
from shoal.engines.column_types import is_text, restore_type, value_type_of, with_codes
from shoal.engines.encode import SIGN, EncodedTable, as_signed, as_unsigned
from shoal.engines.queries import (
    ENCODED,
    HASH,
    PERSON,
    codes_of_values,
    compared,
    count_alone,
    count_known,
    count_linked,
    count_repeats,
    count_rows,
    count_squares,
    count_values,
    first_rows,
    mapping_counts,
    owned_rows,
    select,
    squares_of_codes,
)
from shoal.engines.session_people import HashedColumn, PublishedPeople, hash_published
from shoal.engines.sessions import Session, query_number
from shoal.errors import InputError
from shoal.evidence.disclosure import (
    MOST_VALUES,
    Determined,
    Disclosure,
    How,
    PublishedCounts,
    ValueCounts,
    disclosure_of,
)
from shoal.evidence.mappings import (
    SAMPLED,
    Coded,
    Spread,
    agreeing,
    are_repeated,
    function_of,
    is_function,
    is_one_to_one,
    is_possible,
    pairs_of,
    possible_columns,
    relation,
    spread_of,
)
from shoal.io.arrow import gather, one_chunk
from shoal.threads import each

STAR = "*"
CACHED = 1 << 29
"""Bytes of hashes that are kept at most; beyond, those of a column are computed where needed."""
AT_ONCE = 8
"""Sets of columns that one query counts."""
HASHED = 8_000_000
"""Cells of a release in a session whose hashes are kept in this process."""
MISSING = int((MISSING_WORD ^ SIGN).view(np.int64))
"""The hash of a missing value, as a session has it."""


class HashedCounts(PublishedCounts):
    """Counts rows or people by 64-bit hashes of what is published of rows."""

    people: Ints | None
    """(rows,) the number of each row's person, from 0 on; None where rows are counted."""

    def count_units(self, people: Ints | None) -> None:
        """Set what is counted: people by their numbers, which may be any, or rows."""
        # what was counted once is asked for again
        self._known_alone: dict[tuple[tuple[str, ...], bool], int] = {}
        self._known_counts: dict[str, tuple[int, int, int]] = {}
        self.people, self.unit, self.published = None, "row", self.rows
        if people is not None:
            self.people, self.published = _numbered(people)
            self.unit = "person"

    @abstractmethod
    def label_words(self) -> Words:
        """(rows,) a hash of the labels of all quasi-identifiers."""

    @abstractmethod
    def words(self, name: str) -> Words:
        """(rows,) a hash of each value of a plain column."""

    @abstractmethod
    def prepare(self, columns: Collection[str]) -> None:
        """Hash columns that are needed again."""

    def alone(self, sets: Sequence[Sequence[str]], labels: bool = False) -> list[int]:
        """For each set of columns, those whom nobody equals in all of them."""
        from shoal.kernels.hashing import stir

        def count(names: Sequence[str]) -> int:
            if len(names) == 1 and not labels and self.people is None:
                return self._counted(names[0])[1]
            keys = self.label_words() if labels else np.zeros(self.rows, np.uint64)
            for name in names:
                stir(keys, self.words(name))
            return self._alone(keys, self.people)

        self.prepare({name for names in sets for name in names})
        known = self._known_alone
        new = [names for names in map(tuple, sets) if (names, labels) not in known]
        known |= zip(((names, labels) for names in new), each(count, new, self.rows), strict=True)
        return [known[tuple(names), labels] for names in sets]

    def known(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows or people with a value."""

        def count(name: str) -> int:
            _, people, n = self._with_value(name)
            return n if people is None else int(np.count_nonzero(np.bincount(people)))

        self.prepare(columns)
        return each(count, columns, self.rows)

    def alone_with_value(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, those with a value that nobody else has."""

        def count(name: str) -> int:
            words, people, n = self._with_value(name)
            if n == self.rows and people is None:
                return self._counted(name)[1]
            return self._alone(words, people)

        self.prepare(columns)
        return each(count, columns, self.rows)

    def link_rows(self, columns: Sequence[str]) -> list[bool]:
        """For each plain column, whether people have several rows with one value in all of them."""

        def link(name: str) -> bool:
            words, people, _ = self._with_value(name)
            if people is None:
                return False
            some = np.zeros(self.published, np.uint64)
            some[people] = words  # of each person the value of one row
            several = len(people) > np.count_nonzero(np.bincount(people))
            return bool(several and not (some[people] != words).any())

        return [link(name) for name in columns]

    def values(self, columns: Sequence[str]) -> list[ValueCounts]:
        """The values of some plain columns."""

        def count(name: str) -> ValueCounts:
            distinct, _, squares = self._counted(name)
            return ValueCounts(distinct, squares, self.rows)

        self.prepare(columns)
        return each(count, columns, self.rows)

    def _counted(self, name: str) -> tuple[int, int, int]:
        """Of one plain column the different values, those of them that one row has, and the sum of the
        squares of their rows."""
        from shoal.kernels.uniqueness import count_keys

        if name not in self._known_counts:
            found = self.count_codes(name) or count_keys(self.words(name))
            distinct, single, squares = found
            self._known_counts[name] = int(distinct), int(single), int(squares)
        return self._known_counts[name]

    def count_codes(self, name: str) -> tuple[int, int, int] | None:  # noqa: ARG002
        """The same where the values of a column have codes; None where they have none."""
        return None

    def _alone(self, keys: Words, people: Ints | None) -> int:
        from shoal.kernels.uniqueness import count_keys, mark_people

        if people is None:
            return int(count_keys(keys)[1])
        marked = np.zeros(self.published, np.bool_)
        mark_people(keys, people, marked)
        return int(marked.sum())

    def _with_value(self, name: str) -> tuple[Words, Ints | None, int]:
        """Hashes and people of the rows that have a value of a plain column, and how many these are."""
        words = self.words(name)
        known = words != MISSING_WORD
        n = int(known.sum())
        if n == self.rows:
            return words, self.people, n
        return words[known], None if self.people is None else self.people[known], n


def _numbered(people: Ints) -> tuple[Ints, int]:
    """(n,) people by numbers from 0 on without gaps, and how many there are."""
    if len(people) and people.min() >= 0 and people.max() <= 4 * len(people):
        there = np.bincount(people) > 0
        return (np.cumsum(there) - 1)[people], int(there.sum())
    found, number = np.unique(people, return_inverse=True)
    return number.reshape(-1).astype(np.int64), len(found)


class MemoryCounts(HashedCounts):
    """Counts rows in memory."""

    def __init__(
        self,
        plain: Sequence[str],
        column: Callable[[str], pa.Array],
        labels: Sequence[pa.Array],
        people: Ints | None = None,
        sensitive: Sequence[str] = (),
        classes: Codes | None = None,
    ) -> None:
        """column: (rows,) a plain or sensitive column as published. labels: (rows,) every
        quasi-identifier. people: (rows,) the number of each row's person. classes: (rows,) where they
        are known, numbers that are equal where all labels are."""
        self.plain, self.sensitive, self._column = tuple(plain), tuple(sensitive), column
        every = [*labels, *map(column, plain)]
        starred = _all_starred(every)
        self._kept = None if starred is None or not starred.any() else np.flatnonzero(~starred)
        whole = len(every[0])
        self.rows = whole if self._kept is None else len(self._kept)
        self.count_units(people if people is None or self._kept is None else people[self._kept])
        self._labels, self._classes = labels, classes
        self._words: dict[str, Words] = {}
        self._label_words: Words | None = None

    def label_words(self) -> Words:
        """(rows,) a hash of the labels of all quasi-identifiers, which the caller may change."""
        if self._label_words is None:
            by = self._labels if self._classes is None else [pa.array(self._classes)]
            self._label_words = self._chosen(_stirred(by, len(by[0])))
        return self._label_words.copy()

    def words(self, name: str) -> Words:
        """(rows,) a hash of each value of a plain column."""
        found = self._words.get(name)
        return self._hashed(name) if found is None else found

    def prepare(self, columns: Collection[str]) -> None:
        """Hash columns that are needed again, several at a time, unless they take too much memory."""
        if self.rows * len(self.plain) * 8 > CACHED:
            return
        wanted = set(columns)
        new = [name for name in self.plain if name in wanted and name not in self._words]
        self._words |= dict(zip(new, each(self._hashed, new, self.rows), strict=True))

    def count_codes(self, name: str) -> tuple[int, int, int] | None:
        """The counts of one plain column; None where its values have no codes."""
        column = self._column(name)
        if not pa.types.is_dictionary(column.type) or self._kept is not None:
            return None
        values = column.dictionary
        if not pa.types.is_string(values.type) or len(pc.unique(values.drop_null())) < len(values):
            return None
        codes = pc.fill_null(column.indices, len(values)).to_numpy(zero_copy_only=False)
        counts = np.bincount(codes, minlength=len(values) + 1)
        return int((counts > 0).sum()), int((counts == 1).sum()), int((counts * counts).sum())

    def _hashed(self, name: str) -> Words:
        return self._chosen(_words(self._column(name)))

    def _chosen(self, words: Words) -> Words:
        return words if self._kept is None else words[self._kept]


def _stirred(columns: Sequence[pa.Array], rows: int) -> Words:
    """(rows,) a hash of several columns."""
    from shoal.kernels.hashing import stir

    state = np.zeros(rows, np.uint64)
    for column in columns:
        stir(state, _words(column))
    return state


def _words(column: pa.Array) -> Words:
    """(n,) equal for equal values."""
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        column = column.dictionary_decode()
    return words_of(canonical_values(column))


def canonical_values(column: pa.Array) -> pa.Array:
    """The column with one representation of each value: NaN is missing, -0 is 0."""
    if pa.types.is_dictionary(column.type) and pa.types.is_floating(column.type.value_type):
        column = column.dictionary_decode()
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    return canonical(column)


def _all_starred(columns: Sequence[pa.Array]) -> "np.ndarray | None":
    """(n,) whether a row reads `*` in every column; None where no row does."""
    found: np.ndarray | None = None
    for column in columns:
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if not is_text(texts.type):
            return None
        if pa.types.is_dictionary(column.type):
            place = pc.index(texts.cast(pa.large_string()), STAR).as_py()
            starred = pc.equal(column.indices, place)
        else:
            starred = pc.equal(column.cast(pa.large_string()), STAR)
        flags = pc.fill_null(starred, False).to_numpy(zero_copy_only=False)
        found = flags if found is None else found & flags
        if not found.any():
            return None
    return found


@dataclass(frozen=True)
class HashColumns:
    """Published rows to hashes: `w` of the labels, w0, w1, ... of the plain and sensitive columns,
    and that of the whole row where people are counted."""

    labels: tuple[tuple[str, pa.DataType], ...]
    plain: tuple[tuple[str, pa.DataType], ...]
    """The place and type of every column."""
    rows: tuple[HashedColumn, ...] = ()
    """What makes the hash by which a row's person is found, where people are counted."""

    @property
    def reads_codes(self) -> bool:
        """Whether it takes texts as codes too."""
        return not self.rows

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(name, pa.int64()) for name in self.names])

    @property
    def names(self) -> list[str]:
        """The columns of the result."""
        return ["w", *(f"w{i}" for i in range(len(self.plain))), *([HASH] if self.rows else [])]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Hash a batch."""
        labels = [with_codes(batch.column(place), kind) for place, kind in self.labels]
        plain = [with_codes(batch.column(place), kind) for place, kind in self.plain]
        words = [_stirred(labels, batch.num_rows), *map(_words, plain)]
        found = [pa.array(as_signed(one)) for one in words]
        if self.rows:
            found.append(pa.array(hash_published(batch, self.rows)))
        return pa.RecordBatch.from_arrays(found, schema=self.schema)


@dataclass(frozen=True)
class ReleaseInSession:
    """A release in a table of a session, its columns called p0, p1, ..."""

    session: Session
    table: str
    quasi: tuple[str, ...]
    plain: tuple[str, ...]
    places: Mapping[str, tuple[str, pa.DataType]]
    """Per published column, in the release's order, its name in the session and its type in the
    release's files."""
    people: PublishedPeople | None = None
    """Whose rows were published, where people are counted."""
    sensitive: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """SQL that leaves out rows that read `*` throughout."""
        return _not_starred(self.places, (*self.quasi, *self.plain))

    def words(self) -> tuple[str, list[str]]:
        """Create a table of the hashes of all rows, with the person `u` of each where people are
        counted; its name, and the names of the hashes."""
        name, paired = f"{self.table}_words", f"{self.table}_owned"
        read = HashColumns(
            tuple(self.places[one] for one in self.quasi),
            tuple(self.places[one] for one in (*self.plain, *self.sensitive)),
            () if self.people is None else self.people.columns([*self.places.values()]),
        )
        rows: str = select(self.table, [place for place, _ in self.places.values()])
        rows = f"{rows}{self.where}" if self.where else rows
        self.session.map(name, rows, read, read.schema)
        hashes = [column for column in read.names if column != HASH]
        if self.people is None:
            return name, hashes
        self.session.keep(paired, owned_rows(name, self.people.table, hashes))
        self.session.drop(name)
        return paired, hashes


class SessionHashes(HashedCounts):
    """Counts the rows or people of a release in a session by hashes that are kept here."""

    def __init__(self, release: ReleaseInSession, rows: int) -> None:
        self.plain, self.sensitive, self.rows = release.plain, release.sensitive, rows
        every = (*self.plain, *self.sensitive)
        name, hashes = release.words()
        owner = [] if release.people is None else [PERSON]
        table = release.session.query(select(name, [*hashes, *owner]))
        release.session.drop(name)
        found = [as_unsigned(one_chunk(table.column(word))) for word in hashes]
        self._labels, self._words = found[0], dict(zip(every, found[1:], strict=True))
        self.count_units(table.column(PERSON).to_numpy() if owner else None)

    def label_words(self) -> Words:
        """(rows,) a hash of the labels of all quasi-identifiers."""
        return self._labels.copy()

    def words(self, name: str) -> Words:
        """(rows,) a hash of each value of a plain column."""
        return self._words[name]

    def prepare(self, columns: Collection[str]) -> None:
        """All are hashed already."""


class SessionCounts(PublishedCounts):
    """Counts the rows or people of a release in a session by SQL, on hashes of its columns."""

    def __init__(self, release: ReleaseInSession, rows: int) -> None:
        self.session, self.rows = release.session, rows
        self.plain, self.sensitive = release.plain, release.sensitive
        every = (*self.plain, *self.sensitive)
        self.table, hashes = release.words()
        self._labels, self._places = hashes[0], dict(zip(every, hashes[1:], strict=True))
        self.unit, self.published, self._person = "row", rows, ""
        if release.people is not None:
            self.unit, self._person = "person", PERSON
            self.published = query_number(self.session, count_values(self.table, PERSON))

    def close(self) -> None:
        """Drop the hashes."""
        self.session.drop(self.table)

    def alone(self, sets: Sequence[Sequence[str]], labels: bool = False) -> list[int]:
        """For each set of columns, those whom nobody equals in all of them."""
        first = [self._labels] if labels else []
        return self._alone([[*first, *(self._places[n] for n in names)] for names in sets])

    def _alone(self, sets: Sequence[Sequence[str]], known: bool = False) -> list[int]:
        found: list[int] = []
        for begin in range(0, len(sets), AT_ONCE):
            some = sets[begin : begin + AT_ONCE]
            missing = MISSING if known else None
            query = count_alone(self.table, some, self._person, missing)
            answer = self.session.query(query).to_pydict()
            by_place = dict(zip(answer["i"], answer["n"], strict=True))
            found += [int(by_place[i]) for i in range(len(some))]
        return found

    def known(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows or people with a value."""
        places = [self._places[name] for name in columns]
        answer = self.session.query(count_known(self.table, places, self._person, MISSING))
        return [int(answer.column(f"n{i}")[0].as_py()) for i in range(len(columns))]

    def alone_with_value(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, those with a value that nobody else has."""
        return self._alone([[self._places[name]] for name in columns], known=True)

    def link_rows(self, columns: Sequence[str]) -> list[bool]:
        """For each plain column, whether people have several rows with one value in all of them."""
        if not self._person:
            return [False] * len(columns)
        found = []
        for name in columns:
            query = count_linked(self.table, self._places[name], self._person, MISSING)
            answer = self.session.query(query)
            several, differ = (int(answer.column(n)[0].as_py()) for n in ("several", "differ"))
            found.append(several > 0 and not differ)
        return found

    def values(self, columns: Sequence[str]) -> list[ValueCounts]:
        """The values of some plain columns."""
        found = []
        for name in columns:
            answer = self.session.query(count_squares(self.table, self._places[name]))
            distinct, squares = (int(answer.column(key)[0].as_py()) for key in ("d", "squares"))
            found.append(ValueCounts(distinct, squares, self.rows))
        return found


def disclosure_in_session(
    release: ReleaseInSession, determined: Sequence[Determined]
) -> Disclosure:
    """What others can do with all published columns of a release in a session.

    A search for sets of columns takes many counts, and of a small table asking a database takes far
    longer than the counting: its hashes are fetched.
    """
    every = count_rows(release.table)
    rows = query_number(release.session, f"{every}{release.where}" if release.where else every)
    if rows * (len(release.plain) + len(release.sensitive) + 2) <= HASHED:
        return disclosure_of(SessionHashes(release, rows), determined)
    counts = SessionCounts(release, rows)
    found = disclosure_of(counts, determined)
    counts.close()
    return found


def _not_starred(places: Mapping[str, tuple[str, pa.DataType]], names: Sequence[str]) -> str:
    """SQL that leaves out rows that read `*` throughout; empty where none can."""
    if not all(is_text(value_type_of(places[name][1])) for name in names):
        return ""
    starred = " AND ".join(f"coalesce({places[name][0]} = '{STAR}', false)" for name in names)
    return f" WHERE NOT ({starred})"


def determined_in_memory(
    cells: Cells, plain: Sequence[str], column: Callable[[str], pa.Array]
) -> list[Determined]:
    """The quasi-identifiers that plain columns of the input give away.

    column: (n,) a plain column of the input, in its order.
    """
    n = cells.n_rows
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)
    few = np.unique(np.linspace(0, n - 1, min(n, SAMPLED)).astype(np.int64))
    few_codes, related = cells.codes[cell[few]], _relations(cells.domains)
    found = []
    for name in plain:
        values = column(name)
        try:
            values = values if pa.types.is_dictionary(values.type) else countable(name, values)
            some = distinct(name, gather(values, cells.rows[few]))
        except InputError:  # lists and the like, which have no order and no one value
            continue
        whole: tuple[pa.Array, Codes] | None = None
        related_columns = possible_columns(some, few_codes, *related, len(few) == n)
        pairs, functions = pairs_of(some[1]), np.zeros(0, np.int64)
        if pairs is not None:
            functions = agreeing(few_codes[pairs[0]], few_codes[pairs[1]], related[0])
        elif len(few) < n:  # of values with few rows each there may be no two rows in the sample
            whole = distinct(name, gather(values, cells.rows))
            pairs = pairs_of(whole[1])
            if pairs is not None:
                one, other = (cells.codes[cell[rows]] for rows in pairs)
                functions = agreeing(one, other, related[0])
        for j in np.union1d(related_columns, functions):
            domain = cells.domains[j]
            ordered = _is_ordered(domain)
            spread = spread_of(some, Coded(few_codes[:, j], domain.missing, ordered))
            may_relate = j in related_columns and is_possible(spread, ordered)
            may_follow = j in functions and bool((spread.low == spread.high).all())
            if not may_relate and not may_follow:
                continue
            if whole is None:
                whole = distinct(name, gather(values, cells.rows))
            codes = Coded(cells.codes[cell, j], domain.missing, ordered)
            how = relation(spread_of(whole, codes), ordered) if may_relate else None
            if how is None and may_follow and function_of(whole, codes):
                how = "function"
            if how is not None:
                found.append(Determined(name, domain.name, how, "coarsened"))
    return found


def determined_in_session(
    session: Session, encoded: EncodedTable, plain: Sequence[str]
) -> list[Determined]:
    """The same for the encoded table of a session."""
    if not plain:
        return []
    kinds = dict(zip(encoded.payload, encoded.schema.types, strict=True))
    places = {name: f"p{encoded.payload.index(name)}" for name in plain}
    codes = [f"c{j}" for j in range(len(encoded.domains))]
    some = session.query(first_rows(ENCODED, [*places.values(), *codes], SAMPLED))
    few = np.column_stack([some.column(code).to_numpy().astype(np.int32) for code in codes])
    related = _relations(encoded.domains)
    found = []
    for name in plain:
        values = distinct(name, restore_type(one_chunk(some.column(places[name])), kinds[name]))
        value = compared(places[name], pa.types.is_floating(value_type_of(kinds[name])))
        related_columns = possible_columns(values, few, *related, len(few) == encoded.n_rows)
        pairs, functions = pairs_of(values[1]), np.zeros(0, np.int64)
        if pairs is not None:
            functions = agreeing(few[pairs[0]], few[pairs[1]], related[0])
        elif len(few) < encoded.n_rows and _are_repeated_in_session(session, value):
            functions = np.arange(len(codes))
        for j in np.union1d(related_columns, functions):
            domain = encoded.domains[j]
            ordered = _is_ordered(domain)
            some_spread = spread_of(values, Coded(few[:, j], domain.missing, ordered))
            how: How | None = None
            if j in related_columns and is_possible(some_spread, ordered):
                spread = _spread_in_session(session, value, kinds[name], codes[j], domain)
                how = relation(spread, ordered) if isinstance(spread, Spread) else spread
            if (
                how is None
                and j in functions
                and (some_spread.low == some_spread.high).all()
                and _are_repeated_in_session(session, value)
                and _is_function_in_session(session, value, codes[j], domain)
            ):
                how = "function"
            if how:
                found.append(Determined(name, domain.name, how, "coarsened"))
    return found


def _spread_in_session(
    session: Session, value: str, kind: pa.DataType, code: str, domain: Domain
) -> "Spread | How | None":
    """The codes that go with each value; where there are too many of these, how they are related."""
    counts = session.query(mapping_counts(ENCODED, value, code, domain.missing)).to_pylist()[0]
    values, spread, codes, rows = (int(counts[key] or 0) for key in ("d", "several", "c", "n"))
    if values > MOST_VALUES:
        return "one-to-one" if is_one_to_one(values, spread, codes == values, rows) else None
    answer = session.query(codes_of_values(ENCODED, value, code, domain.missing))
    low, high = (answer.column(key).to_numpy().astype(np.int64) for key in ("low", "high"))
    return Spread(restore_type(one_chunk(answer.column("v")), kind), low, high, rows)


def _are_repeated_in_session(session: Session, value: str) -> bool:
    """Whether the values of a column have several rows each as a rule."""
    counts = session.query(count_repeats(ENCODED, value)).to_pylist()[0]
    return are_repeated(int(counts["d"]), int(counts["n"]))


def _is_function_in_session(session: Session, value: str, code: str, domain: Domain) -> bool:
    """Whether each value goes with one code, in rows enough to be no coincidence."""
    counts = session.query(mapping_counts(ENCODED, value, code, domain.missing)).to_pylist()[0]
    values, spread, rows = (int(counts[key] or 0) for key in ("d", "several", "n"))
    if values < 2 or spread:
        return False
    squares = query_number(session, squares_of_codes(ENCODED, value, code, domain.missing))
    return is_function(values, spread, rows, squares)


def _relations(domains: Sequence[Domain]) -> tuple[Ints, Bools]:
    """(q,) of every column of codes that of the missing value, and whether codes ascend."""
    missing = [domain.missing for domain in domains]
    return np.array(missing, np.int64), np.array([_is_ordered(domain) for domain in domains])


def _is_ordered(domain: Domain) -> bool:
    """Whether the codes of a domain ascend with its values."""
    return domain.kind != Kind.SET
