"""From the raw table of a session to the coded one: what `cells` are to a table in memory.

The columns are counted where they are; the counts come here and number the values. The rows are then
coded where they are, with the hash and the canonical order that they would have in memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.domain import Domain
from shoal.cells.number import sensitive_domain
from shoal.cells.rowhash import hash_rows
from shoal.cells.table import domain_of
from shoal.cells.tally import Tally, tally_of_counts
from shoal.engines.large.profiling import how_many, numbered, rows_of
from shoal.engines.large.profiling import tallies as tallies_of
from shoal.engines.large.session import Session
from shoal.errors import InputError
from shoal.io.arrow import one_chunk
from shoal.kernels.hashing import stir
from shoal.large.kinds import as_read, check_kinds, stored_kind
from shoal.large.lookup import Lookup, lookup_of
from shoal.large.watching import passing
from shoal.policy import Policy
from shoal.progress import Progress, not_told

MOST_VALUES = 1_000_000
"""Different values that a column may have: they and their counts are held here."""
COUNTED, HASHED = 0.1, 0.6
"""Shares of the work that are done when all values are counted, and all rows coded."""
SIGN = np.uint64(1 << 63)
Ints = npt.NDArray[np.int64]


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
    progress: Progress = not_told,
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
        how = policy.how(column)
        is_quasi = column in quasi
        domain, codes = domain_of(
            found, how if is_quasi else None, None if is_quasi else how, policy.folder
        )
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


def as_signed(words: npt.NDArray[np.uint64]) -> Ints:
    """Unsigned words as signed numbers of the same order."""
    return (words ^ SIGN).view(np.int64)


def as_unsigned(numbers: pa.Array) -> npt.NDArray[np.uint64]:
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


def _rows_of_values(found: Tally, domain: Domain, codes: npt.NDArray[np.int32]) -> Ints:
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
