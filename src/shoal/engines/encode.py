"""Column types that every place for large tables holds exactly, and the way back to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.cells import hash_rows, words_of
from shoal.encoding.columns import check_no_star, quasi_domain, sensitive_domain
from shoal.encoding.domain import Domain
from shoal.encoding.values import Tally, canonical, countable, tally_of_counts
from shoal.engines.base import Session, passing
from shoal.engines.queries import how_many, numbered, rows_of
from shoal.engines.queries import tallies as tallies_of
from shoal.errors import InputError, listed
from shoal.io.arrow import one_chunk
from shoal.kernels.hashing import stir
from shoal.policy import Policy
from shoal.progress import Progress, no_progress

ADVICE = {
    "timestamp[ns]": "Round it to microseconds",
    "zone": "Turn it into UTC, or into a time without a zone,",
    "decimal256": "Write it with at most 38 digits, or as text",
    "nested": "Take it apart into columns of single values",
}
"""What to do about types that do not fit."""
ZONES = (None, "UTC", "Etc/UTC", "+00:00")
"""Zones of time that no place for tables turns into another."""


def check_kinds(names: Sequence[str], schema: pa.Schema) -> None:
    """Refuse columns of types that would not come back as they were."""
    for name, kind in zip(names, schema.types, strict=True):
        if not _fits(value_kind(kind)):
            advice = ADVICE.get(_family(value_kind(kind)), "Turn it into text, numbers or dates")
            raise InputError(
                f"Column '{name}' is of the type {kind}, which large runs cannot hold exactly; they "
                f"hold {listed(HELD)}. {advice} first, or leave the column out."
            )


HELD = (
    "texts and bytes",
    "whole numbers",
    "floats of 32 and 64 bits",
    "decimals of up to 38 digits",
    "booleans",
    "dates",
    "timestamps in UTC or without a zone, down to microseconds",
)


def value_kind(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves, where a column holds them in a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def as_read(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column that went through a database, in the type that its file has; never with a loss."""
    wanted = value_kind(kind)
    if pa.types.is_null(wanted):
        return pa.nulls(len(column))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if column.type == wanted else column.cast(wanted)


def stored_kind(kind: pa.DataType) -> pa.DataType:
    """The type in which a column waits in a session: one that every place knows, with all values of
    its own."""
    kind = value_kind(kind)
    types = pa.types
    if types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if types.is_unsigned_integer(kind):
        return SIGNED[kind.bit_width]
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_null(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    return pa.binary() if types.is_large_binary(kind) else kind


SIGNED = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
"""Where numbers without a sign find room, by their bits."""


def _fits(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_float32(kind)
        or types.is_float64(kind)
        or types.is_boolean(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_date32(kind)
        or (types.is_timestamp(kind) and kind.unit != "ns" and kind.tz in ZONES)
        or types.is_decimal32(kind)
        or types.is_decimal64(kind)
        or types.is_decimal128(kind)
        or types.is_null(kind)
    )


def _family(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "timestamp[ns]" if kind.unit == "ns" else "zone"
    if pa.types.is_decimal256(kind):
        return "decimal256"
    return "nested" if pa.types.is_nested(kind) else ""


# From the values of a batch to their codes, wherever the batch is.


@dataclass(frozen=True)
class Lookup:
    """The codes of one column's values."""

    name: str
    place: str
    """The column in the raw table."""
    kind: pa.DataType
    """Its type in the file."""
    words: Words | None
    """(m,) the values' words, ascending; None where two values share one."""
    values: pa.Array | None
    """(m,) the values themselves, where words do not tell them apart."""
    codes: Codes
    """(m,) the code of each."""
    missing: int
    """The code of the missing value, or -1."""

    def __call__(self, column: pa.Array) -> Codes:
        """(n,) the code of each row."""
        column = canonical(countable(self.name, as_read(column, self.kind)))
        gone = column.is_null().to_numpy(zero_copy_only=False)
        place, found = self._places(column)
        if not (found | gone).all() or (gone.any() and self.missing < 0):
            raise InputError(
                f"Column '{self.name}' holds other values than when it was first read. Do not change "
                "the table while it is being worked on; run again."
            )
        return np.where(gone, self.missing, np.append(self.codes, 0)[place]).astype(np.int32)

    def _places(self, column: pa.Array) -> tuple[npt.NDArray[np.integer], Bools]:
        """(n,) twice: where each value stands, and whether it is there at all."""
        if self.words is None:
            at = pc.fill_null(pc.index_in(column, self.values), -1).to_numpy(zero_copy_only=False)
            return at, at >= 0
        words = words_of(column)
        at = np.searchsorted(self.words, words)
        # one word more, for what lies above all: it is compared with a place that is not its own
        return at, np.append(self.words, 0)[at] == words


def lookup_of(tally: Tally, place: str, kind: pa.DataType, codes: Codes, missing: int) -> Lookup:
    """What finds the codes that a tally's values were given."""
    words = words_of(tally.values)
    order = np.argsort(words)
    if (np.diff(words[order]) == 0).any():
        return Lookup(tally.name, place, kind, None, tally.values, codes, missing)
    return Lookup(tally.name, place, kind, words[order], None, codes[order], missing)


# From the raw table of a session to the coded one: what `cells` are to a table in memory.


MOST_VALUES = 1_000_000
"""Different values that a column may have: they and their counts are held here."""
COUNTED, HASHED = 0.1, 0.6
"""Shares of the work that are done when all values are counted, and all rows coded."""
SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class Coded:
    """What the coded table of a session means.

    Its columns: `node` (0), `c0..` the quasi codes, `s0..` the sensitive codes, `t` the code of the
    target if the policy has one, `h` the rows' hash and `key` what orders the rows of a cell (both
    unsigned, as signed numbers of the same order), `p0..` the other published columns as they are.
    """

    domains: tuple[Domain, ...]
    sensitive_domains: dict[str, Domain]
    totals: dict[str, Ints]
    """Per sensitive column, rows with each value; none are missing."""
    n_rows: int
    rows_of_values: tuple[Ints, ...]
    """Per quasi-identifier, rows with each value."""
    quasi: tuple[str, ...]
    """In the policy's order, as c0, c1, ..."""
    sensitive: tuple[str, ...]
    """In the order of their names, as s0, s1, ..."""
    payload: tuple[str, ...]
    """The published columns p0, p1, ...: plain ones, then sensitive ones, each by name."""
    schema: pa.Schema
    """The types of p0, p1, ... in the file."""
    has_target: bool
    """Whether there is a column t."""

    def rows(self, name: str) -> Ints:
        """(size,) rows with each value of a sensitive column, a missing one too."""
        rows, missing = self.totals[name].copy(), self.sensitive_domains[name].missing
        if missing >= 0:
            rows[missing] = self.n_rows - rows.sum()
        return rows


def columns_to_read(policy: Policy) -> list[str]:
    """The columns of the raw table p0, p1, ..., in this order."""
    return [*sorted(policy.plain), *sorted(policy.sensitive), *policy.quasi]


def code(
    session: Session,
    policy: Policy,
    schema: pa.Schema,
    raw: str = "raw",
    name: str = "coded",
    most_values: int = MOST_VALUES,
    progress: Progress = no_progress,
) -> Coded:
    """Make the coded table of a raw one, whose columns have the types of `schema` in their file."""
    names = columns_to_read(policy)
    check_kinds(names, schema)
    place = {column: f"p{i}" for i, column in enumerate(names)}
    kinds = dict(zip(names, schema.types, strict=True))
    quasi, sensitive = tuple(policy.quasi), tuple(sorted(policy.sensitive))
    target = () if policy.target is None else (policy.target,)
    asked = dict.fromkeys((*quasi, *sensitive, *target))
    with passing(session, progress, 0, COUNTED, None):
        tallies = _tallies(session, raw, {c: place[c] for c in asked}, kinds, most_values)
    domains: dict[str, Domain] = {}
    lookups: dict[str, Lookup] = {}
    rows: dict[str, Ints] = {}
    for column in (*quasi, *sensitive):
        found = tallies[column]
        spec = policy.column_spec(column)
        if column in quasi:
            domain, codes = quasi_domain(found, spec, policy.folder)
        else:
            check_no_star(found)
            domain, codes = sensitive_domain(found, spec, policy.folder)
        at = codes.astype(np.int32)
        lookups[column] = lookup_of(found, place[column], kinds[column], at, domain.missing)
        domains[column] = domain
        rows[column] = _rows_of_values(found, domain, at)
    encode = Encode(
        tuple(lookups[column] for column in quasi),
        tuple(lookups[column] for column in sensitive),
        _target(policy, tallies, place, kinds),
        tuple((place[c], kinds[c]) for c in names[: len(names) - len(quasi)]),
        policy.seed,
    )
    n_rows = _n_rows(tallies[quasi[0]])
    _make(session, raw, name, encode, n_rows, progress)
    return Coded(
        domains=tuple(domains[column] for column in quasi),
        sensitive_domains={column: domains[column] for column in sensitive},
        totals={c: _known(rows[c], domains[c]) for c in sensitive},
        n_rows=n_rows,
        rows_of_values=tuple(rows[column] for column in quasi),
        quasi=quasi,
        sensitive=sensitive,
        payload=tuple(names[: len(names) - len(quasi)]),
        schema=pa.schema([schema.field(i) for i in range(len(names) - len(quasi))]),
        has_target=encode.target is not None,
    )


@dataclass(frozen=True)
class Encode:
    """Raw rows to coded ones, without the key."""

    quasi: tuple[Lookup, ...]
    sensitive: tuple[Lookup, ...]
    target: Lookup | None
    payload: tuple[tuple[str, pa.DataType], ...]
    """The place and the type in the file of each published column that is no quasi-identifier."""
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch in codes."""
        n = batch.num_rows
        secret = [look(batch.column(look.place)) for look in self.sensitive]
        others = [as_read(batch.column(place), kind) for place, kind in self.payload]
        made: dict[str, pa.Array] = {"node": pa.array(np.zeros(n, np.int64))}
        for i, look in enumerate(self.quasi):
            made[f"c{i}"] = pa.array(look(batch.column(look.place)))
        for i, codes in enumerate(secret):
            made[f"s{i}"] = pa.array(codes)
        if self.target is not None:
            made["t"] = pa.array(self.target(batch.column(self.target.place)))
        made["h"] = pa.array(as_signed(hash_rows(n, secret, others, self.seed)))
        for i, column in enumerate(others):
            made[f"p{i}"] = column.cast(stored_kind(column.type))
        return pa.RecordBatch.from_pydict(made)


@dataclass(frozen=True)
class AddKey:
    """Coded rows with `nth` to coded rows with `key`."""

    names: tuple[str, ...]
    """The columns to give back."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Scatter the rows of a cell, equal ones too."""
        keys = as_unsigned(batch.column("h"))
        nth = batch.column("nth").cast(pa.int64()).to_numpy(zero_copy_only=False)
        stir(keys, (nth - 1).astype(np.uint64))
        columns = [
            pa.array(as_signed(keys)) if name == "key" else batch.column(name)
            for name in self.names
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(self.names))


def as_signed(words: Words) -> Ints:
    """Unsigned words as signed numbers of the same order."""
    return (words ^ SIGN).view(np.int64)


def as_unsigned(numbers: pa.Array) -> Words:
    """The way back."""
    signed = numbers.to_numpy(zero_copy_only=False).astype(np.int64)
    return signed.view(np.uint64) ^ SIGN


def _make(
    session: Session, raw: str, name: str, encode: Encode, n_rows: int, progress: Progress
) -> None:
    d, s = len(encode.quasi), len(encode.sensitive)
    codes = [f"c{i}" for i in range(d)]
    small = [*codes, *(f"s{i}" for i in range(s)), *(["t"] if encode.target else [])]
    shown = [(f"p{i}", stored_kind(kind)) for i, (_, kind) in enumerate(encode.payload)]
    first = pa.schema(
        [
            ("node", pa.int64()),
            *((column, pa.int32()) for column in small),
            ("h", pa.int64()),
            *shown,
        ]
    )
    last = first.insert(first.get_field_index("h") + 1, pa.field("key", pa.int64()))
    every = [f"p{i}" for i in range(len(encode.payload) + d)]
    hashed = f"{name}_hashed"
    with passing(session, progress, COUNTED, HASHED, n_rows):
        session.map(hashed, rows_of(raw, every), encode, first, once=True)
    alike = numbered(hashed, first.names, [*codes, "h"])
    with passing(session, progress, HASHED, 1, n_rows):
        session.map(name, alike, AddKey(tuple(last.names)), last)
    session.drop(hashed)


def _tallies(
    session: Session,
    raw: str,
    place: Mapping[str, str],
    kinds: Mapping[str, pa.DataType],
    most: int,
) -> dict[str, Tally]:
    """The values of all columns and their counts; columns of one type are asked for together."""
    alike: dict[pa.DataType, list[str]] = {}
    for name in place:
        alike.setdefault(kinds[name], []).append(name)
    made = {}
    for kind, names in alike.items():
        # three more than are too many: null, not a number, and 0 beside -0 are no values of their own
        answer = session.ask(tallies_of(raw, [place[name] for name in names], most + 4))
        if len(answer) >= len(names) * (most + 4):  # then some may be left out, of any column
            many = {name: _how_many(session, raw, place[name]) for name in names}
            name = max(many, key=many.__getitem__)
            raise _too_many(name, many[name], most)
        of = answer.column("i").to_numpy()
        for i, name in enumerate(names):
            found = answer.filter(pa.array(of == i))
            made[name] = _tally(session, raw, name, place[name], kind, most, found)
    return made


def _tally(
    session: Session,
    raw: str,
    name: str,
    place: str,
    kind: pa.DataType,
    most: int,
    found: pa.Table,
) -> Tally:
    values = as_read(one_chunk(found.column("v")), kind)
    counts = found.column("n").cast(pa.int64()).to_numpy()
    made = tally_of_counts(name, values, counts)
    if len(made.values) > most:
        raise _too_many(name, _how_many(session, raw, place), most)
    if not _n_rows(made):
        raise InputError("The table has column names but no rows: there is nothing to publish.")
    return made


def _how_many(session: Session, raw: str, place: str) -> int:
    return int(session.ask(how_many(raw, place)).column("n")[0].as_py())


def _too_many(name: str, n: int, most: int) -> InputError:
    return InputError(
        f"Column '{name}' has {n:,} different values, but a large run can number at most {most:,} of "
        "a quasi-identifier or sensitive column. Make its values coarser first (fewer digits, days "
        "instead of seconds), or give it the role `identifier`, so that it is dropped."
    )


def _target(
    policy: Policy,
    tallies: Mapping[str, Tally],
    place: Mapping[str, str],
    kinds: Mapping[str, pa.DataType],
) -> Lookup | None:
    """The classes of the target: any different numbers for different values."""
    name = policy.target
    if name is None:
        return None
    found = tallies[name]
    domain, codes = sensitive_domain(found)
    return lookup_of(found, place[name], kinds[name], codes.astype(np.int32), domain.missing)


def _n_rows(found: Tally) -> int:
    return int(found.counts.sum()) + found.missing


def _rows_of_values(found: Tally, domain: Domain, codes: Codes) -> Ints:
    """(size,) rows with each code, the missing value's included."""
    rows = np.zeros(domain.size, np.int64)
    np.add.at(rows, codes, found.counts)
    if domain.missing >= 0:
        rows[domain.missing] += found.missing
    return rows


def _known(rows: Ints, domain: Domain) -> Ints:
    known = rows.copy()
    known[rows.size if domain.missing < 0 else domain.missing :] = 0
    return known
