"""Truth of a release in a session: no row has a number there, so rows are compared as a whole.

Three tables are summed up: the rows as they were read, the published rows with the values behind them,
and the rows as they were written. A row counts by a keyed hash of its texts, and tables hold the same
rows if the sums of their hashes are equal (Bellare and Micciancio, "A new paradigm for collision-free
hashing", 1997). So the written rows are the published ones, the values behind these are rows of the
input, none of them lost or doubled, and every label is compared with the value behind it.
"""

import json
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Words
from shoal.encoding.cells import MISSING_WORD, words_of
from shoal.encoding.columns import ColumnSpec
from shoal.engines.column_types import restore_type
from shoal.engines.encode import EncodedTable, Witness, findings
from shoal.engines.fragments import NO_GROUP
from shoal.engines.full_domain import BEHIND, BLANK
from shoal.engines.queries import count_combinations, select
from shoal.engines.session_release import SessionRelease
from shoal.engines.sessions import BatchFunction, Session
from shoal.engines.truth import coded_texts, covered_pairs, uncovered, without_nan
from shoal.errors import InputError, VerificationFailed
from shoal.hierarchy.text import is_bytes, text_of
from shoal.io.arrow import one_chunk
from shoal.policy import Policy
from shoal.verification.digest import canonical

FOUND = pa.schema([("found", pa.string())])
"""What was found in a batch, as JSON."""
WORD = 2**64
Place = tuple[str, pa.DataType]
"""A column of a session's table, and its type in the file."""
Keys = tuple[int, int, int, int]
HASHED_ROWS = 1 << 13
"""Rows that are hashed at a time."""


def new_keys() -> Keys:
    """Random keys of two hashes."""
    a, b, c, d = (secrets.randbits(64) for _ in range(4))
    return a, b, c, d


class RowWords:
    """The words of a batch's columns, from which its rows are hashed; each is read once."""

    def __init__(
        self, batch: pa.RecordBatch | pa.Table, values: Mapping[str, pa.Array] | None = None
    ) -> None:
        """values: of columns that have places of values, these."""
        self._batch, self._values = batch, values or {}
        self._known: dict[tuple[str, pa.DataType, bool, bool], Words] = {}

    def sums(
        self,
        columns: Sequence[Place],
        keys: Keys,
        rows: Bools,
        written: bool = False,
        bare: Collection[str] = (),
    ) -> list[int]:
        """The sums of two hashes of some rows, modulo 2**64.

        written: bytes count as a CSV file has them, and not by their text. bare: columns whose numbers
        count by their value and not by their text, which is enough where types are the same.
        """
        from shoal.kernels.hashing import keyed_hash

        n, every = int(rows.sum()), bool(rows.all())
        if not n:
            return [0, 0]
        words = [self._words(*place, written, place[0] in bare) for place in columns]
        chosen = words if every else [one[rows] for one in words]
        totals = [0, 0]
        for begin in range(0, n, HASHED_ROWS):  # few enough that their states stay in the cache
            some = [one[begin : begin + HASHED_ROWS] for one in chosen]
            both = (keyed_hash(len(some[0]), some, one) for one in (keys[:2], keys[2:]))
            with np.errstate(over="ignore"):
                found = [int(np.add.reduce(hashes)) for hashes in both]
            totals = _added([totals, found])
        return totals

    def _words(self, place: str, kind: pa.DataType, written: bool, bare: bool) -> Words:
        as_bytes = written and is_bytes(kind)
        key = place, kind, as_bytes, bare
        if key not in self._known:
            column = one_chunk(self._batch.column(place))
            if place in self._values:
                found = _at_places(self._values[place], column, written, bare)
            elif pa.types.is_dictionary(column.type):
                found = _at_places(column.dictionary, column.indices, written, bare)
            else:
                found = _words_of_values(restore_type(column, kind), written, bare)
            self._known[key] = found
        return self._known[key]


def _at_places(values: pa.Array, places: pa.Array, written: bool, bare: bool) -> Words:
    """(n,) the words of the values at some places; a missing place is a missing value."""
    words = np.append(_words_of_values(values, written, bare), MISSING_WORD)
    if places.null_count:
        places = pc.fill_null(places, len(values))
    return words[places.to_numpy(zero_copy_only=False)]


def _words_of_values(column: pa.Array, written: bool, bare: bool) -> Words:
    column = without_nan(column)
    if bare and (pa.types.is_integer(column.type) or pa.types.is_float64(column.type)):
        # 0 and -0 are one
        return words_of(pc.add(column, pa.scalar(0, column.type)))
    if is_bytes(column.type) and not written:
        column = text_of(column)
    return words_of(canonical(column))


@dataclass(frozen=True)
class SumRows:
    """The number of rows of a batch, and their sums."""

    columns: tuple[Place, ...]
    keys: Keys
    written: bool
    bare: tuple[str, ...] = ()

    reads_codes: ClassVar[bool] = True

    def found(self, batch: pa.RecordBatch | pa.Table) -> str:
        """Sum up a batch."""
        every = np.ones(batch.num_rows, np.bool_)
        sums = RowWords(batch).sums(self.columns, self.keys, every, self.written, self.bare)
        return json.dumps({"n": batch.num_rows, "sums": sums})

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The same as a table."""
        return pa.RecordBatch.from_pydict({"found": [self.found(batch)]}, schema=FOUND)


@dataclass(frozen=True)
class SumPublished:
    """What the published rows of a batch are, and what is behind them."""

    state: str
    """The column that says what a row is: `g` or `x`."""
    outside: tuple[Place, ...]
    """What is published of a row, in the order of the release."""
    inside: tuple[Place, ...]
    """What is behind it, in the order of the input."""
    behind: tuple[Place, ...]
    """The values behind the labels."""
    labels: tuple[tuple[str, str, ColumnSpec], ...]
    """Columns without a hierarchy: the name, the label's place and what the policy says."""
    places: Mapping[str, Place]
    """The values of these, by name."""
    keys: Keys
    values: Mapping[str, pa.Array]
    """Of values that are kept as places in a list, these, by where the places are."""
    bare: tuple[str, ...]
    """Which columns of what is behind are compared in the types of the input."""
    typed: tuple[str, ...]
    """Which columns of what is published are compared in their types."""

    def found(self, batch: pa.RecordBatch | pa.Table) -> str:
        """Sum up a batch."""
        state = one_chunk(batch.column(self.state)).to_numpy(zero_copy_only=False)
        if self.state == "g":
            if len(state) and state[-1] == NO_GROUP:  # the row of a fragment's sums
                batch, state = batch.slice(0, len(state) - 1), state[:-1]
            is_out, is_row = state >= 0, state != NO_GROUP
            blank, shadow = np.zeros((2, len(state)), np.bool_)
        else:
            is_out, blank, shadow = state <= BLANK, state == BLANK, state == BEHIND
            is_row = ~blank
        words = RowWords(batch, self.values)
        found: dict[str, Any] = {
            "n": int(is_out.sum()),
            "rows": int(is_row.sum()),
            "blank": int(blank.sum()),
            "shadows": int(shadow.sum()),
            "unsaid": self._without_stars(batch.filter(pa.array(blank))) if blank.any() else 0,
            "outside": words.sums(self.outside, self.keys, is_out, written=True, bare=self.typed),
            "inside": words.sums(self.inside, self.keys, is_row, bare=self.bare),
            "blank_values": words.sums(self.behind, self.keys, blank),
            "shadow_values": words.sums(self.behind, self.keys, shadow),
        }
        wrong = {}
        for name, label, spec in self.labels:
            labels, values = (self._some(batch, at, is_out) for at in (label, self.places[name][0]))
            if pa.types.is_dictionary(labels.type) and labels.dictionary.null_count:
                labels = labels.dictionary_decode()
            bad = uncovered(name, labels, self._texts(values, *self.places[name]), spec)
            wrong[name] = 0 if bad is None else int(bad.sum())
        found["wrong"] = wrong
        return json.dumps(found)

    def _some(self, batch: pa.RecordBatch | pa.Table, place: str, rows: Bools) -> pa.Array:
        column = one_chunk(batch.column(place))
        return column if rows.all() else column.filter(pa.array(rows))

    def _texts(self, values: pa.Array, place: str, kind: pa.DataType) -> pa.DictionaryArray:
        """Values as codes of different texts."""
        if place not in self.values:
            return coded_texts(restore_type(values, kind))
        every = coded_texts(self.values[place])
        return pa.DictionaryArray.from_arrays(every.indices.take(values), every.dictionary)

    def _without_stars(self, blank: pa.RecordBatch | pa.Table) -> int:
        """Cells of blank rows that are no labels and say something."""
        others = [place for place, _ in self.outside if not place.startswith("q")]
        stars = [pc.sum(pc.equal(blank.column(place), "*")).as_py() or 0 for place in others]
        return len(others) * blank.num_rows - sum(stars)


@dataclass
class SessionTruth:
    """What is known of the rows of one run, from table to table."""

    session: Session
    policy: Policy
    raw: tuple[Place, ...]
    """The columns of the raw table, payload first, then the quasi-identifiers."""
    keeps_types: bool = False
    """Whether the written file will have the types of what is published."""
    keys: Keys = field(default_factory=new_keys)

    def _bare(self, columns: Iterable[Place]) -> tuple[str, ...]:
        """The columns that go through in their types: where rows are starred, numbers become texts."""
        starred = self.policy.method.only_counts
        return () if starred else tuple(place for place, _ in columns)

    @property
    def raw_witness(self) -> Witness:
        """What sums up the rows as they are read."""
        return SumRows(self.raw, self.keys, written=False, bare=self._bare(self.raw)).found

    def count_raw(self, encoded: EncodedTable) -> None:
        """Take what the witness of the raw rows found."""
        self.encoded = encoded
        found = [json.loads(text) for text in encoded.found]
        self._read = sum(one["n"] for one in found), _added(one["sums"] for one in found)
        if self._read[0] != encoded.n_rows:
            raise InputError(
                f"The table has {self._read[0]:,} rows, but {encoded.n_rows:,} when its values were "
                "counted. Do not change it during a run; run again."
            )

    @property
    def _behind(self) -> dict[str, Place]:
        """Where the values of the quasi-identifiers are beside the published rows, and their types."""
        raw = self.raw[len(self.encoded.payload) :]
        pairs = enumerate(zip(self.encoded.quasi, raw, strict=True))
        return {name: (f"v{j}", kind) for j, (name, (_, kind)) in pairs}

    @property
    def _specs(self) -> dict[str, ColumnSpec]:
        return {
            domain.name: self.policy.column_spec(domain.name).as_read(domain)
            for domain in self.encoded.domains
        }

    @property
    def _values(self) -> dict[str, pa.Array]:
        """The values at whose places there are only numbers, by where these are."""
        return {f"v{j}": one for j, one in enumerate(self.encoded.behind) if one is not None}

    def witness(self, types: pa.Schema, names: Mapping[str, str], state: str) -> Witness:
        """What sums up the published rows and what is behind them.

        names: the place of every published column, in the order of the release. types: those of the
        columns that are published as they are.
        """
        payload, behind = {f.name: f.type for f in types}, self._behind
        specs = self._specs
        plain = [name for name, spec in specs.items() if spec.hierarchy is None]
        inside = (*payload.items(), *behind.values())
        self._typed = {
            name
            for name, place in names.items()
            if self.keeps_types and place in payload and _is_kept(payload[place])
        }
        return SumPublished(
            state=state,
            outside=tuple((place, payload.get(place, pa.string())) for place in names.values()),
            inside=inside,
            behind=tuple(behind.values()),
            labels=tuple((name, names[name], specs[name]) for name in plain),
            places={name: behind[name] for name in plain},
            keys=self.keys,
            values=self._values,
            bare=self._bare(inside),
            typed=tuple(names[name] for name in names if name in self._typed),
        ).found

    def count_published(self, table: str, names: Mapping[str, str], state: str) -> None:
        """Take what the witness of the published rows found, and look at labels of hierarchies."""
        found = [json.loads(text) for text in findings(self.session, table)]
        self._published = {
            name: _added(one[name] for one in found)
            for name in ("outside", "inside", "blank_values", "shadow_values")
        }
        self._counts = {
            name: sum(one[name] for one in found)
            for name in ("n", "rows", "blank", "shadows", "unsaid")
        }
        self._wrong = {
            name: self._under_hierarchy(table, name, names[name], state, spec)
            if spec.hierarchy is not None
            else sum(one["wrong"][name] for one in found)
            for name, spec in self._specs.items()
        }

    def _under_hierarchy(
        self, table: str, name: str, label: str, state: str, spec: ColumnSpec
    ) -> int:
        """Rows whose label does not cover their value; here, where the hierarchy's file is."""
        place, kind = self._behind[name]
        kept = "g >= 0" if state == "g" else f"x <= {BLANK}"
        rows = f"({select(table, [label, place])} WHERE {kept}) AS kept"
        answer = self.session.query(count_combinations(rows, [label, place]))
        values = one_chunk(answer.column(place))
        if place in self._values:
            values = self._values[place].take(values)
        return hierarchy_faults(
            name,
            one_chunk(answer.column(label)),
            restore_type(values, kind),
            answer.column("n").cast(pa.int64()).to_numpy(),
            spec,
            self.policy.folder,
        )

    def require(
        self, released: SessionRelease, names: Sequence[str], confirmed: bool = False
    ) -> None:
        """Raise `VerificationFailed` unless the written rows are true.

        confirmed: the rows are in a database, which is asked elsewhere whether it has all of them.
        """
        for name, rows in self._wrong.items():
            if rows:
                raise VerificationFailed(
                    f"The release would not be true: in column '{name}' the label does not cover the "
                    f"row's own value in {rows:,} of {self._counts['n']:,} rows."
                )
        rows, sums = self._read
        if self._counts["rows"] != rows or self._counts["blank"] != self._counts["shadows"]:
            raise VerificationFailed(
                f"The release would not be true: {self._counts['rows']:,} rows were published or "
                f"withheld, but the table has {rows:,}: some were lost or doubled."
            )
        if self._counts["unsaid"]:
            raise VerificationFailed(
                "The release would not be true: suppressed rows are published with other cells than *."
            )
        same = self._published["blank_values"] == self._published["shadow_values"]
        if self._published["inside"] != sums or not same:
            raise VerificationFailed(
                "The release would not be true: values of published rows are not those of the table, "
                "or of other rows."
            )
        if confirmed:
            return
        places = [released.stored(name) for name in names]
        bare = [released.stored(name)[0] for name in names if name in self._typed]
        written = sum_table(self.session, released.table, places, self.keys, bare=bare)
        if written != (self._counts["n"], self._published["outside"]):
            raise VerificationFailed(
                "The written file does not hold the rows that were to be published: their digests "
                "differ."
            )


def sum_table(
    session: Session,
    table: str,
    columns: Sequence[Place],
    keys: Keys,
    bare: Sequence[str] = (),
) -> tuple[int, list[int]]:
    """The rows of a written table, and the sums of their hashes; `bare` as in `RowWords`."""
    function = SumRows(tuple(columns), keys, written=True, bare=tuple(bare))
    found = _each_batch(session, table, [place for place, _ in columns], function)
    return sum(one["n"] for one in found), _added(one["sums"] for one in found)


def _each_batch(
    session: Session, table: str, columns: Sequence[str], function: BatchFunction
) -> list[dict[str, Any]]:
    name = f"{table}_sums"
    session.map(name, select(table, columns), function, FOUND, once=True)
    answer = session.query(select(name, FOUND.names))
    session.drop(name)
    return [json.loads(text) for text in answer.column("found").to_pylist()]


def _is_kept(kind: pa.DataType) -> bool:
    """Whether a type is the same in the input, in a session and in a file that keeps types."""
    return bool(pa.types.is_signed_integer(kind) or pa.types.is_float64(kind))


def _added(sums: Iterable[Sequence[int]]) -> list[int]:
    totals = [0, 0]
    for one in sums:
        totals = [(mine + more) % WORD for mine, more in zip(totals, one, strict=True)]
    return totals


def hierarchy_faults(
    name: str, labels: pa.Array, values: pa.Array, times: Any, spec: ColumnSpec, folder: Path
) -> int:
    """Rows whose label does not cover their value, from different pairs and how often each occurs."""
    texts = labels.dictionary_encode()
    coded = coded_texts(values)
    at_label, at_value = (
        pc.fill_null(one.indices.cast(pa.int64()), len(one.dictionary)).to_numpy(
            zero_copy_only=False
        )
        for one in (texts, coded)
    )
    good = covered_pairs(name, texts.dictionary, coded.dictionary, at_label, at_value, spec, folder)
    return int(times[~good].sum())
