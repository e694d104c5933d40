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

from shoal.arrays import Words
from shoal.encoding.cells import Cells, words_of
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.values import canonical, countable
from shoal.engines.column_types import restore_type, value_type_of
from shoal.engines.encode import EncodedTable, as_signed, as_unsigned
from shoal.engines.queries import (
    ENCODED,
    codes_of_values,
    compared,
    count_alone,
    count_known,
    count_squares,
    first_rows,
    mapping_counts,
    select,
)
from shoal.engines.sessions import Session
from shoal.errors import InputError
from shoal.evidence.disclosure import (
    MOST_VALUES,
    Determined,
    How,
    PublishedCounts,
    ValueCounts,
)
from shoal.evidence.mappings import (
    SAMPLED,
    Coded,
    Spread,
    is_one_to_one,
    is_possible,
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


class HashedCounts(PublishedCounts):
    """Counts rows by 64-bit hashes of what is published of them."""

    unit = "row"

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
        """For each set of plain columns, the rows that no other equals in all of them."""
        from shoal.kernels.hashing import stir
        from shoal.kernels.uniqueness import count_keys

        def count(names: Sequence[str]) -> int:
            keys = self.label_words() if labels else np.zeros(self.rows, np.uint64)
            for name in names:
                stir(keys, self.words(name))
            return int(count_keys(keys)[1])

        self.prepare({name for names in sets for name in names})
        return each(count, sets)

    def alone_with_value(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows with a value that no other has."""
        alone = self.alone([[name] for name in columns])
        return [
            n - (self.rows - known == 1)
            for n, known in zip(alone, self.known(columns), strict=True)
        ]

    def values(self, columns: Sequence[str]) -> list[ValueCounts]:
        """The values of some plain columns."""
        from shoal.kernels.uniqueness import count_keys

        def count(name: str) -> ValueCounts:
            distinct, _, squares = count_keys(self.words(name))
            return ValueCounts(int(distinct), int(squares), self.rows)

        self.prepare(columns)
        return each(count, columns)


class MemoryCounts(HashedCounts):
    """Counts rows in memory."""

    def __init__(
        self, plain: Sequence[str], column: Callable[[str], pa.Array], labels: Sequence[pa.Array]
    ) -> None:
        """column: (rows,) a plain column as published. labels: (rows,) every quasi-identifier."""
        self.plain, self._column = tuple(plain), column
        every = [*labels, *map(column, plain)]
        starred = _all_starred(every)
        self._kept = None if starred is None or not starred.any() else np.flatnonzero(~starred)
        whole = len(every[0])
        self.rows = self.published = whole if self._kept is None else len(self._kept)
        self._labels = labels
        self._words: dict[str, Words] = {}

    def known(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows with a value."""
        return [self.rows - self._missing(name) for name in columns]

    def _missing(self, name: str) -> int:
        column = canonical_values(self._column(name))
        nulls = column.is_null() if column.null_count else None
        if nulls is None or self._kept is None:
            return int(column.null_count)
        return int(nulls.to_numpy(zero_copy_only=False)[self._kept].sum())

    def label_words(self) -> Words:
        """(rows,) a hash of the labels of all quasi-identifiers."""
        return self._chosen(_stirred(self._labels, len(self._labels[0])))

    def words(self, name: str) -> Words:
        """(rows,) a hash of each value of a plain column."""
        found = self._words.get(name)
        return self._hashed(name) if found is None else found

    def prepare(self, columns: Collection[str]) -> None:
        """Hash columns that are needed again, several at a time, unless they take too much memory."""
        if self.rows * len(self.plain) * 8 > CACHED:
            return
        new = [name for name in self.plain if name in columns and name not in self._words]
        self._words |= dict(zip(new, each(self._hashed, new), strict=True))

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
        if not _is_text(texts.type):
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


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


@dataclass(frozen=True)
class HashColumns:
    """Published rows to hashes: `w` of the labels, w0, w1, ... of the plain columns."""

    labels: tuple[tuple[str, pa.DataType], ...]
    plain: tuple[tuple[str, pa.DataType], ...]
    """The place and type of every column."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(name, pa.int64()) for name in ("w", *self.names)])

    @property
    def names(self) -> list[str]:
        """The columns of the hashes of plain columns."""
        return [f"w{i}" for i in range(len(self.plain))]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Hash a batch."""
        labels = [restore_type(batch.column(place), kind) for place, kind in self.labels]
        plain = [restore_type(batch.column(place), kind) for place, kind in self.plain]
        words = [_stirred(labels, batch.num_rows), *map(_words, plain)]
        return pa.RecordBatch.from_arrays(
            [pa.array(as_signed(one)) for one in words], schema=self.schema
        )


class SessionHashes(HashedCounts):
    """Counts the rows of a release in a session by hashes, which are few enough to be kept here."""

    def __init__(self, counts: "SessionCounts") -> None:
        self.plain, self.rows, self.published = counts.plain, counts.rows, counts.published
        self._counts = counts
        read = HashColumns(
            tuple(counts.places[name] for name in counts.quasi),
            tuple(counts.places[name] for name in counts.plain),
        )
        name, places = f"{counts.table}_words", [place for place, _ in (*read.labels, *read.plain)]
        rows = f"{select(counts.table, places)}{counts.where}"
        counts.session.map(name, rows, read, read.schema, once=True)
        table = counts.session.query(select(name, read.schema.names))
        counts.session.drop(name)
        self._labels = as_unsigned(one_chunk(table.column("w")))
        self._words = {
            column: as_unsigned(one_chunk(table.column(word)))
            for column, word in zip(self.plain, read.names, strict=True)
        }

    def label_words(self) -> Words:
        """(rows,) a hash of the labels of all quasi-identifiers."""
        return self._labels.copy()

    def words(self, name: str) -> Words:
        """(rows,) a hash of each value of a plain column."""
        return self._words[name]

    def prepare(self, columns: Collection[str]) -> None:
        """All are hashed already."""

    def known(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows with a value."""
        return self._counts.known(columns)


class SessionCounts(PublishedCounts):
    """Counts the rows of a release in a session by SQL."""

    unit = "row"

    def __init__(
        self,
        session: Session,
        table: str,
        quasi: Sequence[str],
        plain: Sequence[str],
        places: Mapping[str, tuple[str, pa.DataType]],
    ) -> None:
        """places: per published column its name in the session and its type in the files."""
        self.session, self.table, self.places = session, table, places
        self.quasi, self.plain = tuple(quasi), tuple(plain)
        self.where = _not_starred(places, (*quasi, *plain))
        counted = session.query(count_known(table, [], self.where))
        self.rows = self.published = int(counted.column("n")[0].as_py())

    def alone(self, sets: Sequence[Sequence[str]], labels: bool = False) -> list[int]:
        """For each set of plain columns, the rows that no other equals in all of them."""
        first = self.quasi if labels else ()
        found: list[int] = []
        for begin in range(0, len(sets), AT_ONCE):
            some = sets[begin : begin + AT_ONCE]
            chosen = [[self._compared(name) for name in (*first, *names)] for names in some]
            answer = self.session.query(count_alone(self.table, chosen, self.where)).to_pydict()
            by_place = dict(zip(answer["i"], answer["n"], strict=True))
            found += [int(by_place[i]) for i in range(len(some))]
        return found

    def known(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows with a value."""
        chosen = [self._compared(name) for name in columns]
        answer = self.session.query(count_known(self.table, chosen, self.where))
        return [int(answer.column(f"n{i}")[0].as_py()) for i in range(len(columns))]

    def alone_with_value(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows with a value that no other has."""
        if not columns:
            return []
        known = self.known(columns)
        alone = self.alone([[name] for name in columns])
        return [n - (self.rows - k == 1) for n, k in zip(alone, known, strict=True)]

    def values(self, columns: Sequence[str]) -> list[ValueCounts]:
        """The values of some plain columns."""
        found = []
        for name in columns:
            query = count_squares(self.table, self._compared(name), self.where)
            answer = self.session.query(query)
            distinct, squares = (int(answer.column(key)[0].as_py()) for key in ("d", "squares"))
            found.append(ValueCounts(distinct, squares, self.rows))
        return found

    def _compared(self, name: str) -> str:
        place, kind = self.places[name]
        return compared(place, pa.types.is_floating(value_type_of(kind)))


def counts_in_session(
    session: Session,
    table: str,
    quasi: Sequence[str],
    plain: Sequence[str],
    places: Mapping[str, tuple[str, pa.DataType]],
) -> PublishedCounts:
    """Counts the rows of a release in a session; see `SessionCounts`.

    A search for sets of columns takes many counts of a small table, for which asking a database takes
    far longer than the counting.
    """
    counts = SessionCounts(session, table, quasi, plain, places)
    few = plain and counts.rows * (len(plain) + 1) <= HASHED
    return SessionHashes(counts) if few else counts


def _not_starred(places: Mapping[str, tuple[str, pa.DataType]], names: Sequence[str]) -> str:
    """SQL that leaves out rows that read `*` throughout; empty where none can."""
    if not all(_is_text(value_type_of(places[name][1])) for name in names):
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
    found = []
    for name in plain:
        try:
            values = countable(name, column(name))
        except InputError:  # lists and the like, which have no order and no one value
            continue
        some = gather(values, cells.rows[few])
        whole: pa.Array | None = None
        for j, domain in enumerate(cells.domains):
            ordered = _is_ordered(domain)
            codes = Coded(cells.codes[cell[few], j], domain.missing, ordered)
            if not is_possible(spread_of(name, some, codes), ordered):
                continue
            whole = gather(values, cells.rows) if whole is None else whole
            codes = Coded(cells.codes[cell, j], domain.missing, ordered)
            how = relation(spread_of(name, whole, codes), ordered)
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
    found = []
    for name in plain:
        values = restore_type(one_chunk(some.column(places[name])), kinds[name])
        value = compared(places[name], pa.types.is_floating(value_type_of(kinds[name])))
        for j, domain in enumerate(encoded.domains):
            ordered = _is_ordered(domain)
            few = some.column(codes[j]).to_numpy().astype(np.int32)
            coded = Coded(few, domain.missing, ordered)
            if not is_possible(spread_of(name, values, coded), ordered):
                continue
            spread = _spread_in_session(session, value, kinds[name], codes[j], domain)
            how = relation(spread, ordered) if isinstance(spread, Spread) else spread
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


def _is_ordered(domain: Domain) -> bool:
    """Whether the codes of a domain ascend with its values."""
    return domain.kind != Kind.SET
