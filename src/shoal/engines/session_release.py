"""A published table in a session: verified by its text, class by class, where the rows are.

Rows are read as texts and distributed to pieces by a hash of their class, so that a class is in one
piece; every piece is checked where it is, and only the findings come back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import hash_rows
from shoal.encoding.columns import ColumnSpec, as_spelled
from shoal.encoding.counts import Counts, group_histograms, size_counts
from shoal.encoding.domain import Domain, Kind
from shoal.engines.capabilities import check_capabilities
from shoal.engines.changes import BROKEN, BROKEN_ROWS, CheckBatch, CountBroken, published_rules
from shoal.engines.class_findings import CHECKED, finding_of_pieces, judge_classes
from shoal.engines.column_types import (
    check_types,
    is_text,
    restore_type,
    value_type_of,
    with_codes,
)
from shoal.engines.encode import MAX_VALUES, as_signed, as_unsigned
from shoal.engines.person_key import person_column
from shoal.engines.queries import (
    HASH,
    class_guesses,
    class_sizes,
    count_combinations,
    count_forms,
    count_people,
    count_rows,
    count_values,
    linked_through,
    select,
    value_counts,
)
from shoal.engines.release_table import LabelCounts, ReleaseTable, Verdict
from shoal.engines.session_people import (
    KEY,
    HashedColumn,
    PairedRows,
    PublishedPeople,
    hash_published,
    number_texts,
    people_of_key,
)
from shoal.engines.sessions import Session, TableFunction, passing, query_number
from shoal.engines.sources import Source
from shoal.errors import InputError
from shoal.evidence.detail import FormCounts
from shoal.evidence.evidence import Histogram
from shoal.evidence.label_forms import FORMS, LabelReader, forms_of
from shoal.hierarchy.text import is_bytes, text_of_bytes
from shoal.io.arrow import one_chunk
from shoal.models.base import SIZES_ONLY, Model
from shoal.policy import Policy
from shoal.policy.released_columns import (
    check_released_columns,
    columns_to_verify,
    exempt_columns,
)
from shoal.presets.base import ValueCheck
from shoal.progress import Progress, no_progress
from shoal.verification.check import Finding, Strength, models_of
from shoal.verification.digest import (
    PIECE,
    Fingerprint,
    Piece,
    canonical,
    n_pieces,
    piece_of,
    put_together,
    times_of,
)
from shoal.verification.guesses import ClassGuesses
from shoal.verification.meaning import Meaning, meaning_of, require_codes_declared
from shoal.verification.rules import require_rules

STAR = "*"
TIMES = pa.schema([("j", pa.int32()), ("i", pa.int32()), ("n", pa.int64())])
"""n rows of a batch have in column j the text of the i-th sampled row."""
READ_SHARE = 0.5
"""The share of verification that is done once all rows are read as texts."""
PIECE_ROWS = 250_000
"""Published rows of an average piece."""


class SessionRelease(ReleaseTable):
    """A release in a table of a session, its columns called p0, p1, ... in the release's order."""

    def __init__(
        self,
        session: Session,
        table: str,
        names: Sequence[str],
        schema: pa.Schema,
        piece_rows: int = PIECE_ROWS,
        people: PublishedPeople | None = None,
    ) -> None:
        """`schema`: the columns' types in the release's files. `people`: whose rows were
        published: people are then counted, not rows."""
        self.session, self.table, self.schema, self._people = session, table, schema, people
        self._names, self._piece_rows = list(names), piece_rows

    def counting(self, people: PublishedPeople) -> "SessionRelease":
        """The same rows, of which the people are counted."""
        return SessionRelease(
            self.session, self.table, self._names, self.schema, self._piece_rows, people
        )

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return self._names

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return query_number(self.session, count_rows(self.table))

    def class_sizes(self, columns: Sequence[str]) -> Histogram:
        """How many classes have each size, by the text of some columns."""
        texts = self._read_texts(columns)
        answer = self.session.query(class_sizes(texts, [f"k{i}" for i in range(len(columns))]))
        self.session.drop(texts)
        return size_histogram(answer)

    def labels(self, name: str) -> LabelCounts:
        """The different labels of a column, up to `MAX_VALUES`; the rows have no order."""
        place, kind = self.stored(name)
        answer = self.session.query(value_counts(self.table, [place], MAX_VALUES))
        texts = text_as_read(one_chunk(answer.column("v")), kind)
        return LabelCounts(texts.to_pylist(), answer.column("n").cast(pa.int64()).to_numpy(), None)

    def label_forms(self, name: str, reader: LabelReader) -> list[FormCounts]:
        """The different labels of a column by form and size, read where they are."""
        place, kind = self.stored(name)
        read, forms = ReadForms(place, kind, reader), f"{self.table}_forms"
        self.session.map(
            forms, count_combinations(self.table, [place]), read, read.schema, once=True
        )
        found = self.session.query(count_forms(forms))
        self.session.drop(forms)
        return forms_of(found)

    def broken_rows(self, checks: Sequence[ValueCheck]) -> dict[ValueCheck, int]:
        """For each check of a published column, the rows whose text breaks it."""
        if not checks:
            return {}
        table = f"{self.table}_rules"
        counter = CountBroken(tuple((*self.stored(check.column), check) for check in checks))
        rows = select(self.table, list(dict.fromkeys(place for place, _, _ in counter.columns)))
        self.session.map(table, rows, counter, BROKEN_ROWS, once=True)
        found = self.session.query(select(table, BROKEN_ROWS.names)).to_pylist()
        self.session.drop(table)
        counts = dict.fromkeys(checks, 0)
        for one in found:
            counts[checks[one["i"]]] += one["n"]
        return counts

    def linked_through(self, first: Sequence[str], second: Sequence[str]) -> float:
        """The share of records with some columns that are linked, through the release, to those of the
        same row with others."""
        texts = self._read_texts([*first, *second])
        keys = [f"k{i}" for i in range(len(first) + len(second))]
        sql = linked_through(texts, keys[: len(first)], keys[len(first) :])
        found = self.session.query(sql).column("linked").cast(pa.float64())[0].as_py()
        self.session.drop(texts)
        return float(found or 0.0) / max(1, self.n_rows)

    def guesses(
        self, policy: Policy, columns: Sequence[str], of: Sequence[str]
    ) -> dict[str, ClassGuesses]:
        """Per sensitive column, how well its values can be guessed in the classes of some columns; in
        rows. Columns with too many values to be numbered are left out."""
        found = {}
        for name in of:
            try:
                values = self._values(name, policy)
            except TooManyValuesError:
                continue
            codes = _codes_of(values.meaning)
            reader = ReadCodes(
                tuple(map(self.stored, columns)), self.stored(name), values.texts, codes
            )
            table, keys = f"{self.table}_guessed", [f"k{i}" for i in range(len(columns))]
            places = dict.fromkeys(place for place, _ in (*reader.columns, reader.value))
            self.session.map(
                table, select(self.table, list(places)), reader, reader.schema, once=True
            )
            answer = self.session.query(class_guesses(table, keys, "v"))
            self.session.drop(table)
            size, best, times = (
                answer.column(one).cast(pa.int64()).to_numpy() for one in ("size", "best", "times")
            )
            known = codes[:-1] >= 0
            everywhere = np.bincount(codes[:-1][known], values.counts[known], minlength=1)
            found[name] = ClassGuesses(
                np.repeat(size, times),
                np.repeat(best, times),
                int(everywhere.max(initial=0)),
            )
        return found

    def _read_texts(self, columns: Sequence[str]) -> str:
        """Create a table of the texts k0, k1, ... of some columns, to be read once; its name."""
        texts, read = f"{self.table}_spelled", ReadTexts(tuple(map(self.stored, columns)))
        rows = select(self.table, [place for place, _ in read.columns])
        self.session.map(texts, rows, read, read.schema, once=True)
        return texts

    def stored(self, name: str) -> tuple[str, pa.DataType]:
        """The column's name in the session and its type in the release's files."""
        i = self._names.index(name)
        return f"p{i}", self.schema.types[i]

    def verify(
        self, policy: Policy, *, survey: bool = False, progress: Progress = no_progress
    ) -> Verdict:
        """Check the models class by class, where the rows are.

        The findings are those of `verification.check` on the same rows. Columns with too many values
        to be numbered are left out of a survey.
        """
        self._check(policy)
        required = dict.fromkeys(name for m in policy.constraints if (name := m.column))
        values: dict[str, PublishedValues] = {}
        for name in policy.sensitive if survey else required:
            try:
                values[name] = self._values(name, policy)
            except TooManyValuesError:
                if name in required:
                    raise
            else:
                if survey:  # a table from elsewhere
                    values[name].require_declared(policy.column_spec(name))
        more: tuple[Model, ...] = ()
        if survey:
            more = tuple(models_of({name: one.meaning.domain for name, one in values.items()}))
        findings, rows = self._findings(policy, (*policy.constraints, *more), values, progress)
        n = len(policy.constraints)
        strengths = (
            Strength(f.model, f.of, f.reached, f.options) for f in findings[n:] if f.classes
        )
        people = None
        if self._people is not None:
            people = query_number(self.session, count_people(self._people.table))
        return Verdict(findings[:n], rows, tuple(strengths), people=people)

    def starred_rows(self, columns: Sequence[str]) -> int:
        """Rows that read `*` in all of some columns."""
        stored = [self.stored(name) for name in columns]
        if not all(is_text(value_type_of(kind)) for _, kind in stored):
            return 0
        starred = " AND ".join(f"{place} = '{STAR}'" for place, _ in stored)
        return query_number(self.session, f"{count_rows(self.table)} WHERE {starred}")

    def _check(self, policy: Policy) -> None:
        check_capabilities("large", policy, "verify")
        check_released_columns(policy, self.names)
        read = columns_to_verify(policy, self.names)
        check_types(read, pa.schema([(name, self.stored(name)[1]) for name in read]))
        self._check_rules(policy)

    def _check_rules(self, policy: Policy) -> None:
        """Raise `VerificationFailed` where values are not what the policy's column rules give."""
        rules = published_rules(policy, self.names)
        if not rules:
            return
        table = f"{self.table}_broken"
        check = CheckBatch(tuple((*self.stored(rule.name), rule) for rule in rules))
        rows = select(self.table, [place for place, _, _ in check.columns])
        self.session.map(table, rows, check, BROKEN, once=True)
        found = self.session.query(select(table, BROKEN.names))
        self.session.drop(table)
        broken = set(found.filter(found["broken"])["i"].to_pylist())
        require_rules([rule for i, rule in enumerate(rules) if i in broken])

    def _values(self, name: str, policy: Policy) -> "PublishedValues":
        """The published texts of a sensitive column; raises where there are too many."""
        session, table = self.session, self.table
        place, kind = self.stored(name)
        if pa.types.is_floating(kind):  # a database takes 0 and -0 for one, a reader does not
            table, place, kind = self._read_texts([name]), "k0", pa.string()
        answer = session.query(value_counts(table, [place], MAX_VALUES + 2))
        if len(answer) > MAX_VALUES + 1:
            n = query_number(session, count_values(table, place))
            raise TooManyValuesError(
                f"The release's column '{name}' has {n:,} distinct values, but a sensitive column may "
                f"have at most {MAX_VALUES:,} to be verified in a table larger than memory."
            )
        texts = text_as_read(one_chunk(answer.column("v")), kind)
        times = answer.column("n").cast(pa.int64()).to_numpy()
        rows = int(times.sum())
        known = pc.fill_null(pc.not_equal(texts, STAR), fill_value=False)
        texts, times = texts.filter(known), times[known.to_numpy(zero_copy_only=False)]
        encoded = texts.dictionary_encode()
        counts = np.zeros(len(encoded.dictionary), np.int64)
        np.add.at(counts, encoded.indices.to_numpy(), times)
        order = pc.sort_indices(encoded.dictionary)
        sorted_texts = encoded.dictionary.take(order)
        meaning = meaning_of(name, sorted_texts, policy.column_spec(name), policy.folder)
        return PublishedValues(sorted_texts, counts[order.to_numpy()], meaning, rows)

    def _findings(
        self,
        policy: Policy,
        models: Sequence[Model],
        values: Mapping[str, "PublishedValues"],
        progress: Progress,
    ) -> tuple[tuple[Finding, ...], int]:
        """What the models find, and the number of rows."""
        session, table = self.session, self.table
        read = columns_to_verify(policy, self.names)
        index = {name: i for i, name in enumerate(read)}
        sets = list(dict.fromkeys(_columns(model, policy) for model in models))
        n_rows = next(iter(values.values())).rows if values else self.n_rows
        if self._people is not None:  # people with a value are no sum of those with its spellings
            index |= {as_spelled(name): index[name] for name in values}
            values = _with_spellings(values)
        reader = ReadClasses(
            columns=tuple(map(self.stored, read)),
            classes=tuple(index[name] for name in policy.quasi),
            sensitive=tuple((index[one.meaning.domain.name], one.texts) for one in values.values()),
            sets=tuple(
                ClassColumns(
                    tuple(index[name] for name in columns),
                    tuple(index[name] for name in exempt_columns(policy, columns, self.names)),
                )
                for columns in sets
            ),
            pieces=1 + n_rows // self._piece_rows,
        )
        if self._people is not None:
            codes = tuple(_codes_of(one.meaning) for one in values.values())
            reader = replace(
                reader, codes=codes, rows=self._people.columns([*map(self.stored, self.names)])
            )
        texts, checked = f"{table}_texts", f"{table}_checked"
        paired = None
        needed = dict.fromkeys(place for place, _ in reader.columns)
        needed |= dict.fromkeys(column.place for column in reader.rows)
        with passing(session, progress, 0, READ_SHARE, n_rows):
            once = len(sets) == 1 and self._people is None
            session.map(texts, select(table, list(needed)), reader, reader.schema, once=once)
            if self._people is not None:
                paired = PairedRows(session, texts, self._people, reader.schema.names)
        sizes = [self._piece_rows] * reader.pieces
        pieces: list[dict[str, Any]] = []
        for i, columns in enumerate(sets):
            check = _check_classes(policy, models, columns, i, values)
            needs = [*(column for column, _ in check.sensitive), *check.keys]
            function: TableFunction = check
            if paired is None:
                sql = count_combinations(texts, [f"b{i}", check.exempt, *needs])
            else:
                sql, function = paired.classes(
                    i,
                    check.keys,
                    check.sensitive,
                    {name: one.domain for name, one in check.meanings.items()},
                    check.models,
                    exempting=bool(reader.sets[i].starred),
                )
            begin, end = (READ_SHARE + (1 - READ_SHARE) * (i + n) / len(sets) for n in (0, 1))
            with passing(session, progress, begin, end, None):
                session.map_groups(checked, sql, f"b{i}", function, CHECKED, sizes, once=True)
            pieces += session.query(select(checked, CHECKED.names)).to_pylist()
        for name in (texts, checked, f"{table}_spelled"):
            session.drop(name)
        if paired is not None:
            paired.drop()
        findings = tuple(
            finding_of_pieces(
                model,
                _columns(model, policy),
                [one for one in pieces if one["model"] == i],
                people=paired is not None,
            )
            for i, model in enumerate(models)
        )
        return findings, n_rows

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The digest that the same rows have in memory: rows are hashed piece by piece."""
        session, n = self.session, self.n_rows
        places = tuple((f"p{i}", kind) for i, kind in enumerate(self.schema.types))
        read, digest = ReadRows(places, n_pieces(n)), DigestPieces(len(places))
        texts, digests, times = (f"{self.table}_{n}" for n in ("canonical", "short", "times"))
        session.map(texts, select(self.table, [place for place, _ in places]), read, read.schema)
        # equal rows come as one, so that a piece never grows with them
        distinct, sizes = count_combinations(texts, read.schema.names), [PIECE] * read.pieces
        session.map_groups(digests, distinct, "b", digest, digest.schema, sizes, once=True)
        pieces = digest.pieces(session.query(select(digests, ["*"])))
        whole = put_together(self.names, n, pieces)
        count = CountTimes(tuple(one_chunk(column) for column in whole.some.columns))
        columns = select(texts, [f"x{j}" for j in range(len(places))])
        session.map(times, columns, count, TIMES, once=True)
        counted = count.add_up(session.query(select(times, TIMES.names)))
        for name in (texts, digests, times):
            session.drop(name)
        return replace(whole, times=counted)


def release_with_key(release: SessionRelease, source: Source) -> SessionRelease:
    """A release that is in a session, its people as a key says, in a file or a folder of files."""
    session, called = release.session, str(source.place)
    person = person_column(called, source.names, release.names)
    columns = [*release.names, person]
    schema = session.read(KEY, source.files, columns, source.options)
    places = [(f"p{i}", kind) for i, kind in enumerate(schema.types)]
    people = people_of_key(session, called, places[:-1], places[-1], release.schema.types)
    return release.counting(people)


@dataclass(frozen=True)
class PublishedValues:
    """The published texts of a sensitive column."""

    texts: pa.Array
    """(m,) each once, in order; neither missing ones nor `*`."""
    counts: Ints
    """(m,) rows with each."""
    meaning: Meaning
    rows: int
    """Rows of the table, those without any of the texts included."""

    def require_declared(self, how: ColumnSpec) -> None:
        """Raise `InputError` for likely codes for missing values that the policy leaves out."""
        require_codes_declared(self.meaning.domain.name, self.texts, how)


class TooManyValuesError(InputError):
    """A sensitive column has too many values to be numbered."""


def _columns(model: Model, policy: Policy) -> tuple[str, ...]:
    return model.quasi_of(policy.quasi)


def _check_classes(
    policy: Policy,
    every: Sequence[Model],
    columns: tuple[str, ...],
    number: int,
    values: Mapping[str, PublishedValues],
) -> "CheckClasses":
    models = [(i, model) for i, model in enumerate(every) if _columns(model, policy) == columns]
    of = {name for _, model in models if (name := model.column)}
    of |= {as_spelled(name) for name in of}
    return CheckClasses(
        keys=tuple(f"k{policy.quasi.index(name)}" for name in columns),
        exempt=f"e{number}",
        sensitive=tuple((f"s{i}", name) for i, name in enumerate(values) if name in of),
        meanings={
            name: one.meaning.with_totals(one.counts) for name, one in values.items() if name in of
        },
        models=tuple(models),
    )


def _with_spellings(values: Mapping[str, PublishedValues]) -> dict[str, PublishedValues]:
    """The columns, and again those of which every spelling is counted as a value too."""
    more = {
        as_spelled(name): replace(one, meaning=one.meaning.spelled)
        for name, one in values.items()
        if one.meaning.spelled is not None
    }
    return {**values, **more}


def _codes_of(meaning: Meaning) -> Codes:
    """(texts + 1,) the code of each text, and of none; -1 is no value."""
    codes = np.append(meaning.place, -1).astype(np.int32)
    codes[codes == meaning.domain.missing] = -1
    return codes


def size_histogram(answer: pa.Table) -> Histogram:
    """The answer to `queries.class_sizes`."""
    size, times = (answer.column(name).cast(pa.int64()).to_pylist() for name in ("size", "times"))
    return tuple(sorted(zip(size, times, strict=True)))


def text_as_read(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """(n,) the texts that a reader of the release sees; NaN is missing."""
    column = restore_type(column, kind)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    return text_of_bytes(column) if is_bytes(column.type) else column.cast(pa.string())


@dataclass(frozen=True)
class ReadForms:
    """Different labels with the rows that have each to their forms."""

    place: str
    """The column's name in the session."""
    kind: pa.DataType
    """Its type in the file."""
    reader: LabelReader

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return FORMS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Read the labels of a batch."""
        labels = text_as_read(batch.column(self.place), self.kind)
        rows = batch.column("n").cast(pa.int64()).to_numpy(zero_copy_only=False)
        found = self.reader.forms(labels, rows).combine_chunks()
        return pa.RecordBatch.from_arrays([one_chunk(c) for c in found.columns], schema=FORMS)


@dataclass(frozen=True)
class ReadTexts:
    """Some columns to their texts k0, k1, ..."""

    columns: tuple[tuple[str, pa.DataType], ...]
    """The name in the session and the type in the file of each."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(f"k{i}", pa.string()) for i in range(len(self.columns))])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The texts of a batch."""
        texts = [text_as_read(batch.column(place), kind) for place, kind in self.columns]
        return pa.RecordBatch.from_arrays(texts, schema=self.schema)


@dataclass(frozen=True)
class ReadCodes:
    """Some columns to their texts k0, k1, ..., and a sensitive one to its codes v."""

    columns: tuple[tuple[str, pa.DataType], ...]
    """The name in the session and the type in the file of each."""
    value: tuple[str, pa.DataType]
    """Those of the sensitive column."""
    texts: pa.Array
    """Its different texts."""
    codes: Codes
    """(texts + 1,) the code of each, and of none; -1 is no value."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return ReadTexts(self.columns).schema.append(pa.field("v", pa.int32()))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The texts and codes of a batch."""
        place, kind = self.value
        known = pc.index_in(text_as_read(batch.column(place), kind), self.texts)
        at = pc.fill_null(known, len(self.texts)).to_numpy(zero_copy_only=False)
        codes = pa.array(self.codes[at], pa.int32())
        texts = [text_as_read(batch.column(place), kind) for place, kind in self.columns]
        return pa.RecordBatch.from_arrays([*texts, codes], schema=self.schema)


@dataclass(frozen=True)
class ClassColumns:
    """The columns of one set of classes."""

    columns: tuple[int, ...]
    """Places of the class columns among the texts."""
    starred: tuple[int, ...]
    """Places of the columns in which an exempt row reads `*`; none where no row is exempt."""


@dataclass(frozen=True)
class ReadClasses:
    """Published rows as a reader of the release sees them.

    Returns `k0..` the texts of the class columns, `s0..` the number of each sensitive text (-1 for a
    missing one and for `*`), and per set of classes `b0..` the piece that a class belongs to and `e0..`
    whether the row is exempt. Where people are counted, `s0..` are the codes that the texts mean, and
    `r` is the hash of the row, by which its person is found.
    """

    columns: tuple[tuple[str, pa.DataType], ...]
    """The name in the session and the type of every column that is read."""
    classes: tuple[int, ...]
    """Which of them make classes: k0, k1, ..."""
    sensitive: tuple[tuple[int, pa.Array], ...]
    """Which of them are sensitive: s0, s1, ...; and their texts, each once."""
    sets: tuple[ClassColumns, ...]
    pieces: int
    codes: tuple[Codes, ...] = ()
    """Where people are counted: per sensitive column, the code of each text, and of none."""
    rows: tuple[HashedColumn, ...] = ()
    """Where people are counted: all published columns."""

    @property
    def reads_codes(self) -> bool:
        """Whether it takes texts as codes too."""
        return not self.rows

    @property
    def schema(self) -> pa.Schema:
        """The types of the result, in which texts may be codes and a dictionary."""
        return pa.schema(
            [
                *((f"k{i}", pa.string()) for i in range(len(self.classes))),
                *((f"s{i}", pa.int32()) for i in range(len(self.sensitive))),
                *((f"b{i}", pa.int32()) for i in range(len(self.sets))),
                *((f"e{i}", pa.int32()) for i in range(len(self.sets))),
                *((name, pa.int64()) for name in ([HASH] if self.rows else [])),
            ]
        )

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The texts of a batch."""
        n = batch.num_rows
        texts = [_coded_text(batch.column(place), kind) for place, kind in self.columns]
        columns = [texts[i] for i in self.classes]
        numbers = [_positions(texts[i], known) for i, known in self.sensitive]
        if self.codes:
            pairs = zip(self.codes, numbers, strict=True)
            numbers = [pa.array(codes[number.to_numpy()]) for codes, number in pairs]
        columns += numbers
        for one in self.sets:
            hashes = hash_rows(n, (), [texts[i] for i in one.columns], 0)
            columns.append(pa.array((hashes % np.uint64(self.pieces)).astype(np.int32)))
        for one in self.sets:
            exempt = np.full(n, bool(one.starred))
            for i in one.starred:
                exempt &= _are_stars(texts[i])
            columns.append(pa.array(exempt.astype(np.int32)))
        if self.rows:
            columns.append(pa.array(hash_published(batch, self.rows)))
        return pa.RecordBatch.from_arrays(columns, names=self.schema.names)


@dataclass(frozen=True)
class CheckClasses:
    """Counted rows of whole classes to what the models find in them."""

    keys: tuple[str, ...]
    """The class columns."""
    exempt: str
    sensitive: tuple[tuple[str, str], ...]
    """The sensitive columns that models need: s0, s1, ... and their names."""
    meanings: dict[str, Meaning]
    """By sensitive column, with its totals over all classes of the release."""
    models: tuple[tuple[int, Model], ...]
    """The models, each with its position among all."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Check whole classes."""
        return judge_classes(self.models, self._counts(rows))

    def _counts(self, rows: pa.Table) -> dict[str, Counts]:
        group = number_texts([one_chunk(rows.column(key)) for key in self.keys])
        n = rows.column("n").to_numpy().astype(np.int64)
        # a class of nothing but exempt rows is left out
        is_class = np.zeros(int(group.max(initial=-1)) + 1, np.bool_)
        is_class[group[rows.column(self.exempt).to_numpy() == 0]] = True
        kept = is_class[group]
        group, n = (np.cumsum(is_class) - 1)[group[kept]], n[kept]
        sizes = np.zeros(int(is_class.sum()), np.int64)
        np.add.at(sizes, group, n)
        found = {SIZES_ONLY: size_counts(sizes)}
        for column, name in self.sensitive:
            texts = rows.column(column).to_numpy()[kept]
            # the texts themselves stay behind: their meaning is looked up by their numbers
            domain = Domain(
                name, Kind.SET, pa.nulls(int(texts.max(initial=0)) + 1, pa.string()), -1
            )
            counts = group_histograms(sizes, group, texts, domain, n)
            found[name] = self.meanings[name].of(counts)
        return found


def _coded_text(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """(n,) the texts that a reader of the release sees, which may be codes and a dictionary."""
    coded = with_codes(column, kind)
    return coded if pa.types.is_dictionary(coded.type) else text_as_read(column, kind)


def _are_stars(texts: pa.Array) -> Bools:
    """(n,) whether each text is a star."""
    coded = pa.types.is_dictionary(texts.type)
    stars = pc.fill_null(pc.equal(texts.dictionary if coded else texts, STAR), fill_value=False)
    found: Bools = stars.to_numpy(zero_copy_only=False)
    if not coded:
        return found
    # the place after the last one is the missing text
    at = pc.fill_null(texts.indices, len(found)).to_numpy(zero_copy_only=False)
    return np.append(found, False)[at]


def _positions(texts: pa.Array, known: pa.Array) -> pa.Array:
    """(n,) the number of each text; -1 for a missing one and for a star."""
    if pa.types.is_dictionary(texts.type):
        # a file's dictionary may have texts that no row has
        texts = texts.dictionary_decode()
    places = pc.fill_null(pc.index_in(texts, known), -1).cast(pa.int32())
    is_unknown = pc.and_(pc.equal(places, -1), pc.not_equal(texts, STAR))
    if pc.any(is_unknown).as_py():
        raise InputError(
            "The published table changed while it was being verified. Make sure that no other program "
            "writes to it, and run again."
        )
    return places


@dataclass(frozen=True)
class ReadRows:
    """Published rows as canonical texts: x0, x1, ..., their hash h, and the piece b."""

    columns: tuple[tuple[str, pa.DataType], ...]
    """The place and type of every column."""
    pieces: int

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return _schema([("b", pa.int32()), ("h", pa.int64())], len(self.columns))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The texts of a batch."""
        texts = [canonical(restore_type(batch.column(place), kind)) for place, kind in self.columns]
        hashes = hash_rows(batch.num_rows, (), texts, 0)
        piece = (hashes % np.uint64(self.pieces)).astype(np.int32)
        plain = [text.dictionary_decode().cast(pa.string()) for text in texts]
        columns = [pa.array(piece), pa.array(as_signed(hashes)), *plain]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


@dataclass(frozen=True)
class DigestPieces:
    """The different rows of a piece to its digest and its first rows."""

    columns: int

    @property
    def schema(self) -> pa.Schema:
        """The types of the result: one row per sampled row, with the digest of its piece."""
        first = [("b", pa.int32()), ("digest", pa.string()), ("h", pa.int64())]
        return _schema(first, self.columns)

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Hash a piece."""
        texts = [one_chunk(rows[f"x{j}"]).dictionary_encode() for j in range(self.columns)]
        counts = rows["n"].to_numpy().astype(np.int64)
        piece = piece_of(texts, as_unsigned(one_chunk(rows["h"])), counts)
        few = len(piece.words)
        head = [
            pa.array([rows["b"][0].as_py()] * few, pa.int32()),
            pa.array([piece.digest] * few),
            pa.array(as_signed(piece.words)),
        ]
        some = [column.cast(pa.string()) for column in piece.some]
        return pa.Table.from_arrays([*head, *some], schema=self.schema)

    def pieces(self, answer: pa.Table) -> dict[int, Piece]:
        """The digests of all pieces, by their numbers."""
        number = answer["b"].to_numpy()
        found = {}
        for one in np.unique(number).tolist():
            rows = answer.filter(pa.array(number == one)).sort_by("h")
            some = [one_chunk(rows[f"x{j}"]) for j in range(self.columns)]
            digest, words = rows["digest"][0].as_py(), as_unsigned(one_chunk(rows["h"]))
            found[one] = Piece(digest, words, some)
        return found


@dataclass(frozen=True)
class CountTimes:
    """How many rows of a batch share each cell of the sampled rows."""

    some: tuple[pa.Array, ...]
    """Per column the texts of the sampled rows."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Count a batch."""
        found = [
            times_of(batch.column(f"x{j}").dictionary_encode(), some)
            for j, some in enumerate(self.some)
        ]
        few = len(self.some[0]) if self.some else 0
        column, row = (np.indices((len(found), few)).reshape(2, -1)).astype(np.int32)
        n = np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int64)
        arrays = [pa.array(one[n > 0]) for one in (column, row, n)]
        return pa.RecordBatch.from_arrays(arrays, schema=TIMES)

    def add_up(self, answer: pa.Table) -> tuple[np.ndarray, ...]:
        """The counts of all batches together."""
        found = tuple(np.zeros(len(some), np.int64) for some in self.some)
        for j, i, n in zip(*(answer[name].to_pylist() for name in TIMES.names), strict=True):
            found[j][i] += n
        return found


def _schema(first: list[tuple[str, pa.DataType]], columns: int) -> pa.Schema:
    return pa.schema([*first, *((f"x{j}", pa.string()) for j in range(columns))])
