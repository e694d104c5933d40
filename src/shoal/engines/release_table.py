"""Published rows that are in a session."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.cells import hash_rows
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.engines.base import Session, passing
from shoal.engines.capabilities import check_verifiable
from shoal.engines.encode import MOST_VALUES, as_read, as_signed, as_unsigned, check_kinds
from shoal.engines.queries import class_sizes as sizes_question
from shoal.engines.queries import counted, how_many, how_many_rows, rows_of, tally
from shoal.errors import InputError
from shoal.evidence.evidence import Histogram
from shoal.hierarchy.text import is_bytes, text_of_bytes
from shoal.io.arrow import one_chunk
from shoal.models.base import SIZES_ONLY, Model
from shoal.policy import Policy
from shoal.policy.released_columns import (
    check_released_columns,
    columns_to_verify,
    exempt_columns,
)
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
from shoal.verification.meaning import Meaning, meaning_of


@dataclass(frozen=True)
class Held:
    """A release in a table of a session, its columns called p0, p1, ... in the release's order."""

    session: Session
    table: str
    names: tuple[str, ...]
    """What the columns are called in the release."""
    schema: pa.Schema
    """Their types in the release's files."""

    @property
    def columns(self) -> dict[str, str]:
        """By its name, where each column stands."""
        return {name: f"p{i}" for i, name in enumerate(self.names)}


# Where the rows are: published rows as texts, and classes of them that are judged together.


STAR = "*"
JUDGED = pa.schema(
    [
        ("model", pa.int32()),
        ("classes", pa.int64()),
        ("rows", pa.int64()),
        ("failing", pa.int64()),
        ("smallest", pa.int64()),
        ("reached", pa.string()),
    ]
)
"""What is told of some classes: per model its place among those asked."""


def spelled(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """(n,) string: what a reader sees; what is not a number is missing."""
    column = as_read(column, kind)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    return text_of_bytes(column) if is_bytes(column.type) else column.cast(pa.string())


@dataclass(frozen=True)
class Spell:
    """A column to its texts."""

    place: str
    kind: pa.DataType

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        return pa.RecordBatch.from_pydict(
            {"v": spelled(batch.column(self.place), self.kind)}, pa.schema([("v", pa.string())])
        )


@dataclass(frozen=True)
class SpellAll:
    """Some columns to their texts k0, k1, ..."""

    columns: tuple[tuple[str, pa.DataType], ...]

    @property
    def schema(self) -> pa.Schema:
        """What comes out."""
        return pa.schema([(f"k{i}", pa.string()) for i in range(len(self.columns))])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        texts = [spelled(batch.column(place), kind) for place, kind in self.columns]
        return pa.RecordBatch.from_arrays(texts, schema=self.schema)


@dataclass(frozen=True)
class Seen:
    """The columns of one set of classes."""

    columns: tuple[int, ...]
    """Places of the class columns among the texts."""
    starred: tuple[int, ...]
    """Places of the columns in which an exempt row reads `*`; none where no row is exempt."""


@dataclass(frozen=True)
class See:
    """Published rows as their reader sees them.

    Gives `k0..` the texts of the class columns, `s0..` the number of each sensitive text (-1 for none
    and for `*`), and per set of classes `b0..` a piece that a class belongs to and `e0..` whether the
    row is exempt.
    """

    columns: tuple[tuple[str, pa.DataType], ...]
    """The place and type of every column that is read."""
    classes: tuple[int, ...]
    """Which of them make classes: k0, k1, ..."""
    sensitive: tuple[tuple[int, pa.Array], ...]
    """Which of them are sensitive: s0, s1, ...; and their texts, each once."""
    sets: tuple[Seen, ...]
    pieces: int

    @property
    def schema(self) -> pa.Schema:
        """What comes out."""
        return pa.schema(
            [
                *((f"k{i}", pa.string()) for i in range(len(self.classes))),
                *((f"s{i}", pa.int32()) for i in range(len(self.sensitive))),
                *((f"b{i}", pa.int32()) for i in range(len(self.sets))),
                *((f"e{i}", pa.int32()) for i in range(len(self.sets))),
            ]
        )

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        n = batch.num_rows
        texts = [spelled(batch.column(place), kind) for place, kind in self.columns]
        found = [texts[i] for i in self.classes]
        found += [_places(texts[i], known) for i, known in self.sensitive]
        for one in self.sets:
            words = hash_rows(n, (), [texts[i] for i in one.columns], 0)
            found.append(pa.array((words % np.uint64(self.pieces)).astype(np.int32)))
        for one in self.sets:
            exempt = np.full(n, bool(one.starred))
            for i in one.starred:
                star = pc.fill_null(pc.equal(texts[i], STAR), fill_value=False)
                exempt &= star.to_numpy(zero_copy_only=False)
            found.append(pa.array(exempt.astype(np.int32)))
        return pa.RecordBatch.from_arrays(found, schema=self.schema)


@dataclass(frozen=True)
class Judge:
    """Classes of one piece, counted by their texts, to what the models say of them."""

    keys: tuple[str, ...]
    """The class columns."""
    exempt: str
    sensitive: tuple[tuple[str, str], ...]
    """The sensitive columns that are asked about: where they stand, and their names."""
    meanings: dict[str, Meaning]
    totals: dict[str, Ints]
    """By sensitive column, over all classes of the release."""
    models: tuple[tuple[int, Model], ...]
    """The models, each with its place among all."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Judge whole classes."""
        counts = self._counts(rows)
        n = counts[SIZES_ONLY].n_groups
        told: list[tuple[int, int, int, int, int | None, str | None]] = []
        for place, model in self.models if n else ():
            asked = counts[model.counts_key]
            failing = asked.sizes[~model.holds(asked)]
            smallest = int(failing.min()) if len(failing) else None
            total, reached = int(asked.sizes.sum()), json.dumps(_plain(model.reached(asked)))
            told.append((place, n, total, len(failing), smallest, reached))
        columns = list(zip(*told, strict=True)) or [()] * len(JUDGED)
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, JUDGED, strict=True)], JUDGED)

    def _counts(self, rows: pa.Table) -> dict[str, Counts]:
        owner = _numbered([one_chunk(rows.column(key)) for key in self.keys])
        times = rows.column("n").to_numpy().astype(np.int64)
        # a class of nothing but exempt rows is none
        seen = np.zeros(int(owner.max(initial=-1)) + 1, np.bool_)
        seen[owner[rows.column(self.exempt).to_numpy() == 0]] = True
        kept = seen[owner]
        owner, times = (np.cumsum(seen) - 1)[owner[kept]], times[kept]
        sizes = np.zeros(int(seen.sum()), np.int64)
        np.add.at(sizes, owner, times)
        empty = np.zeros(0, np.int64)
        none = Counts(sizes, np.zeros(len(sizes) + 1, np.int64), empty.astype(np.int32), empty)
        found = {SIZES_ONLY: none}
        for column, name in self.sensitive:
            texts = rows.column(column).to_numpy()[kept]
            counted = _histograms(name, sizes, owner, texts, times)
            found[name] = self.meanings[name].of(counted, self.totals[name])
        return found


def _places(texts: pa.Array, known: pa.Array) -> pa.Array:
    """(n,) the number of each text; -1 for none and for a star."""
    places = pc.fill_null(pc.index_in(texts, known), -1).cast(pa.int32())
    strange = pc.and_(pc.equal(places, -1), pc.not_equal(texts, STAR))
    if pc.any(strange).as_py():
        raise InputError(
            "The published table changed while it was being verified. Run again, and let nobody "
            "write to it."
        )
    return places


def _numbered(columns: list[pa.Array]) -> Ints:
    """(n,) a number for each combination, from 0 on."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        wide = found * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy()
        found = np.unique(wide, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def _histograms(
    name: str, sizes: Ints, owner: Ints, texts: npt.NDArray[np.integer], times: Ints
) -> Counts:
    known = texts >= 0
    width = int(texts.max(initial=0)) + 1
    entries, place = np.unique(owner[known] * width + texts[known], return_inverse=True)
    counts = np.zeros(len(entries), np.int64)
    np.add.at(counts, place.reshape(-1), times[known])
    starts = np.searchsorted(entries, np.arange(len(sizes) + 1) * width).astype(np.int64)
    domain = Domain(name, Kind.SET, pa.nulls(width, pa.string()), missing=-1)
    return Counts(sizes, starts, (entries % width).astype(np.int32), counts, domain)


def _plain(figure: float) -> float:
    """A figure as Python's own number: a whole one stays whole."""
    return int(figure) if isinstance(figure, int | np.integer) else float(figure)


# A release in a session that is asked what it holds, and the values of its sensitive columns.


PIECE_ROWS = 250_000
"""Published rows of an average piece."""


@dataclass(frozen=True)
class Asked:
    """A release in a session, and what is asked of it."""

    session: Session
    table: str
    columns: Mapping[str, str]
    """By its name in the release, in the release's order, where each column stands in the table."""
    schema: pa.Schema
    """The types of these, in the same order, in the release's files."""
    policy: Policy
    piece_rows: int = PIECE_ROWS


@dataclass(frozen=True)
class Values:
    """The published texts of a sensitive column."""

    texts: pa.Array
    """(m,) each once, in order; no missing one and no `*`."""
    counts: Ints
    """(m,) rows with each."""
    meaning: Meaning
    rows: int
    """Of the table, those without any of the texts included."""


class TooManyValuesError(InputError):
    """A sensitive column has too many values to be numbered here."""


def values_of(asked: Asked, name: str) -> Values:
    """The published texts of a sensitive column; raises where there are too many."""
    session, table, policy = asked.session, asked.table, asked.policy
    place = asked.columns[name]
    kind = asked.schema.types[list(asked.columns).index(name)]
    if pa.types.is_floating(kind):  # a database takes 0 and -0 for one, a reader does not
        spell, texts_only = Spell(place, kind), pa.schema([("v", pa.string())])
        session.map(f"{table}_spelled", rows_of(table, [place]), spell, texts_only, once=True)
        table, place, kind = f"{table}_spelled", "v", pa.string()
    found = session.ask(tally(table, place, MOST_VALUES + 2))
    if len(found) > MOST_VALUES + 1:
        n = int(session.ask(how_many(table, place)).column("n")[0].as_py())
        raise TooManyValuesError(
            f"The release's column '{name}' has {n:,} different values, but a large run can number at "
            f"most {MOST_VALUES:,} of a sensitive column."
        )
    texts = spelled(one_chunk(found.column("v")), kind)
    times = found.column("n").cast(pa.int64()).to_numpy()
    rows = int(times.sum())
    known = pc.fill_null(pc.not_equal(texts, STAR), fill_value=False)
    texts, times = texts.filter(known), times[known.to_numpy(zero_copy_only=False)]
    once = texts.dictionary_encode()
    counts = np.zeros(len(once.dictionary), np.int64)
    np.add.at(counts, once.indices.to_numpy(), times)
    order = pc.sort_indices(once.dictionary)
    sorted_texts = once.dictionary.take(order)
    meaning = meaning_of(name, sorted_texts, policy.how(name), policy.folder)
    return Values(sorted_texts, counts[order.to_numpy()], meaning, rows)


# Verify the published table of a session: by its text, class by class where the rows are.


READ_BACK, SEEN = 0.2, 0.5
"""Shares of the work: what reading back is of the whole, and telling classes apart of the rest."""


def verify(
    session: Session,
    table: str,
    columns: Mapping[str, str],
    schema: pa.Schema,
    policy: Policy,
    piece_rows: int = PIECE_ROWS,
    progress: Progress = no_progress,
) -> tuple[Finding, ...]:
    """Ask the policy's models of a published table, as `examine` does."""
    asked = Asked(session, table, columns, schema, policy, piece_rows)
    return examine(asked, progress).findings


@dataclass(frozen=True)
class Examined:
    """What is known of a published table after a look at all its rows."""

    findings: tuple[Finding, ...]
    rows: int


def examine(asked: Asked, progress: Progress = no_progress) -> Examined:
    """Ask the policy's models of a published table, and count its rows.

    The findings are those of `verification.check` on the same rows.
    """
    check(asked)
    models = asked.policy.constraints
    wanted = dict.fromkeys(name for model in models if (name := model.column))
    values = {name: values_of(asked, name) for name in wanted}
    return _judged(asked, models, values, progress)


def verify_and_survey(
    asked: Asked, progress: Progress = no_progress
) -> tuple[tuple[Finding, ...], tuple[Strength, ...]]:
    """Ask the policy's models, and beside them every model that needs nothing but its figure.

    The strengths are those of `verification.strength`, without columns of too many values.
    """
    check(asked)
    policy = asked.policy
    wanted = {name for model in policy.constraints if (name := model.column)}
    values: dict[str, Values] = {}
    for name in policy.sensitive:
        try:
            values[name] = values_of(asked, name)
        except TooManyValuesError:
            if name in wanted:
                raise
    more = tuple(models_of({name: one.meaning.domain for name, one in values.items()}))
    found = _judged(asked, (*policy.constraints, *more), values, progress).findings
    surveyed = found[len(policy.constraints) :]
    return found[: len(policy.constraints)], tuple(
        Strength(one.model, one.of, one.reached, one.options) for one in surveyed if one.classes
    )


def check(asked: Asked) -> None:
    """Raise whatever is wrong with the policy or the columns; to be asked before any work."""
    names, policy = list(asked.columns), asked.policy
    check_verifiable(policy)
    check_released_columns(policy, names)
    read = columns_to_verify(policy, names)
    kinds = [asked.schema.types[names.index(name)] for name in read]
    check_kinds(read, pa.schema(list(zip(read, kinds, strict=True))))


def _judged(
    asked: Asked, models: Sequence[Model], values: Mapping[str, Values], progress: Progress
) -> Examined:
    session, table, columns, policy = asked.session, asked.table, asked.columns, asked.policy
    names = list(columns)
    read = columns_to_verify(policy, names)
    kinds = [asked.schema.types[names.index(name)] for name in read]
    place = {name: i for i, name in enumerate(read)}
    sets = list(dict.fromkeys(_columns(model, policy) for model in models))
    n_rows = (
        next(iter(values.values())).rows
        if values
        else int(session.ask(how_many_rows(table)).column("n")[0].as_py())
    )
    see = See(
        columns=tuple((columns[name], kind) for name, kind in zip(read, kinds, strict=True)),
        classes=tuple(place[name] for name in policy.quasi),
        sensitive=tuple((place[name], one.texts) for name, one in values.items()),
        sets=tuple(
            Seen(
                tuple(place[name] for name in chosen),
                tuple(place[name] for name in exempt_columns(policy, chosen, names)),
            )
            for chosen in sets
        ),
        pieces=1 + n_rows // asked.piece_rows,
    )
    seen, judged = f"{table}_seen", f"{table}_judged"
    shown = rows_of(table, [column for column, _ in see.columns])
    with passing(session, progress, 0, SEEN, n_rows):
        session.map(seen, shown, see, see.schema, once=len(sets) == 1)
    sizes = [asked.piece_rows] * see.pieces
    pieces: list[dict[str, Any]] = []
    for i, chosen in enumerate(sets):
        judge = _judge(policy, models, chosen, i, values)
        needs = [*(column for column, _ in judge.sensitive), *judge.keys]
        sql = counted(seen, [f"b{i}", judge.exempt, *needs])
        part = [SEEN + (1 - SEEN) * (i + n) / len(sets) for n in (0, 1)]
        with passing(session, progress, part[0], part[1], None):
            session.map_groups(judged, sql, f"b{i}", judge, JUDGED, sizes, once=True)
        pieces += session.ask(rows_of(judged, JUDGED.names)).to_pylist()
    for name in (seen, judged, f"{table}_spelled"):
        session.drop(name)
    findings = tuple(
        _finding(model, _columns(model, policy), [one for one in pieces if one["model"] == i])
        for i, model in enumerate(models)
    )
    return Examined(findings, n_rows)


def class_sizes(
    session: Session,
    table: str,
    columns: Mapping[str, str],
    schema: pa.Schema,
    chosen: Sequence[str],
) -> Histogram:
    """How many classes have each size, by what a reader sees in the chosen columns."""
    kinds = dict(zip(columns, schema.types, strict=True))
    spell = SpellAll(tuple((columns[name], kinds[name]) for name in chosen))
    spelled = f"{table}_spelled"
    shown = rows_of(table, [columns[name] for name in chosen])
    session.map(spelled, shown, spell, spell.schema, once=True)
    found = session.ask(sizes_question(spelled, spell.schema.names))
    session.drop(spelled)
    size, times = (found.column(name).cast(pa.int64()).to_pylist() for name in ("size", "times"))
    return tuple(sorted(zip(size, times, strict=True)))


def _columns(model: Model, policy: Policy) -> tuple[str, ...]:
    return model.quasi_of(policy.quasi)


def _judge(
    policy: Policy,
    every: Sequence[Model],
    columns: tuple[str, ...],
    number: int,
    values: Mapping[str, Values],
) -> Judge:
    models = [(i, model) for i, model in enumerate(every) if _columns(model, policy) == columns]
    of = {name for _, model in models if (name := model.column)}
    return Judge(
        keys=tuple(f"k{policy.quasi.index(name)}" for name in columns),
        exempt=f"e{number}",
        sensitive=tuple((f"s{i}", name) for i, name in enumerate(values) if name in of),
        meanings={name: values[name].meaning for name in values if name in of},
        totals={
            name: one.meaning.totals(np.arange(len(one.texts)), one.counts)
            for name, one in values.items()
            if name in of
        },
        models=tuple(models),
    )


def _finding(model: Model, columns: tuple[str, ...], pieces: list[dict[str, Any]]) -> Finding:
    classes, rows = (sum(one[name] for one in pieces) for name in ("classes", "rows"))
    failing = sum(one["failing"] for one in pieces)
    smallest = min((s for one in pieces if (s := one["smallest"]) is not None), default=None)
    figures = [json.loads(one["reached"]) for one in pieces]
    weaker = min if model.high_is_strong else max
    reached = weaker(figures) if figures else inf
    judged = model.over(classes, rows) if pieces else None
    if judged is not None:  # as a whole: single classes may fall short
        holds, reached = judged
        failing, smallest = (0, None) if holds else (failing, smallest)
    return Finding(
        model=model.name,
        asked=model.figure,
        reached=reached,
        columns=columns,
        of=model.column or None,
        rows=rows,
        classes=classes,
        failing=failing,
        smallest_failing=smallest,
        options=model.options,
    )


# The fingerprint of a published table in a session: the one that the same rows have in memory.


def fingerprint(
    session: Session, table: str, columns: Mapping[str, str], schema: pa.Schema
) -> Fingerprint:
    """Rows are written as texts where they are, and hashed piece by piece.

    columns: by its name in the release, in the release's order, where each column stands in the
    table. schema: the types of these, in the same order, in the release's files.
    """
    n = int(session.ask(how_many_rows(table)).column("n")[0].as_py())
    places = tuple(zip(columns.values(), schema.types, strict=True))
    spell, shorten = SpellOut(places, n_pieces(n)), Shorten(len(places))
    spelled, short, times = (f"{table}_{what}" for what in ("canonical", "short", "times"))
    session.map(spelled, rows_of(table, list(columns.values())), spell, spell.schema)
    # rows that are equal come as one, so that a piece never grows with them
    rows, sizes = counted(spelled, spell.schema.names), [PIECE] * spell.pieces
    session.map_groups(short, rows, "b", shorten, shorten.schema, sizes, once=True)
    made = put_together(list(columns), n, shorten.pieces(session.ask(rows_of(short, ["*"]))))
    count = CountTimes(tuple(one_chunk(column) for column in made.some.columns))
    session.map(
        times, rows_of(spelled, [f"x{j}" for j in range(len(places))]), count, TIMES, once=True
    )
    found = session.ask(rows_of(times, TIMES.names))
    for name in (spelled, short, times):
        session.drop(name)
    return replace(made, times=count.together(found))


@dataclass(frozen=True)
class SpellOut:
    """Published rows as the texts that count: x0, x1, ..., their hash h, and the piece b."""

    columns: tuple[tuple[str, pa.DataType], ...]
    """The place and type of every column."""
    pieces: int

    @property
    def schema(self) -> pa.Schema:
        """What comes out."""
        return _schema([("b", pa.int32()), ("h", pa.int64())], len(self.columns))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        texts = [canonical(as_read(batch.column(place), kind)) for place, kind in self.columns]
        words = hash_rows(batch.num_rows, (), texts, 0)
        piece = (words % np.uint64(self.pieces)).astype(np.int32)
        held = [text.dictionary_decode().cast(pa.string()) for text in texts]
        found = [pa.array(piece), pa.array(as_signed(words)), *held]
        return pa.RecordBatch.from_arrays(found, schema=self.schema)


@dataclass(frozen=True)
class Shorten:
    """The different rows of a piece to its digest and its first rows."""

    columns: int

    @property
    def schema(self) -> pa.Schema:
        """What comes out: a row for each of the first rows, all with the digest of their piece."""
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
        held = [column.cast(pa.string()) for column in piece.some]
        return pa.Table.from_arrays([*head, *held], schema=self.schema)

    def pieces(self, told: pa.Table) -> dict[int, Piece]:
        """What all pieces told, by their numbers."""
        number = told["b"].to_numpy()
        found = {}
        for one in np.unique(number).tolist():
            rows = told.filter(pa.array(number == one)).sort_by("h")
            some = [one_chunk(rows[f"x{j}"]) for j in range(self.columns)]
            digest, words = rows["digest"][0].as_py(), as_unsigned(one_chunk(rows["h"]))
            found[one] = Piece(digest, words, some)
        return found


TIMES = pa.schema([("j", pa.int32()), ("i", pa.int32()), ("n", pa.int64())])
"""n rows of a batch have in column j the text of the i-th row that is shown."""


@dataclass(frozen=True)
class CountTimes:
    """How many rows of a batch share each cell that is shown."""

    some: tuple[pa.Array, ...]
    """Per column the texts that are shown."""

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

    def together(self, told: pa.Table) -> tuple[np.ndarray, ...]:
        """What was counted in all batches."""
        found = tuple(np.zeros(len(some), np.int64) for some in self.some)
        for j, i, n in zip(*(told[name].to_pylist() for name in TIMES.names), strict=True):
            found[j][i] += n
        return found


def _schema(first: list[tuple[str, pa.DataType]], columns: int) -> pa.Schema:
    return pa.schema([*first, *((f"x{j}", pa.string()) for j in range(columns))])
