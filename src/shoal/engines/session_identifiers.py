"""Identifiers that a run drops, of a table in a session: whether they repeat.

They are read for this alone. Those that repeat stay beside the encoded rows as hashes; where their rows
look like one person's, also beside the published ones, until the classes with too few ids are counted.
`dropped_identifiers.py` does the same for tables in memory.
"""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from shoal.engines.column_types import is_supported, value_type_of
from shoal.engines.database.staging import open_table
from shoal.engines.encode import EncodedTable
from shoal.engines.formats.base import format_of
from shoal.engines.queries import ENCODED, agreement_counts, classes_of_ids
from shoal.engines.sessions import Session
from shoal.engines.sources import Source
from shoal.errors import InputError
from shoal.evidence.repeated_ids import (
    Agreement,
    RepeatedId,
    agree,
    contradicts,
    equal_by_chance,
    is_own,
    is_panel,
)
from shoal.io.address import Address, Place
from shoal.policy import Policy

AT_ONCE = 8
"""Columns that one query counts."""

Types = Callable[[Sequence[str]], Mapping[str, pa.DataType]]
"""The types of some columns, without those that cannot be read."""


def dropped_columns(policy: Policy, names: Sequence[str], types: Types) -> tuple[str, ...]:
    """The identifiers that are read to see whether they repeat.

    None where the policy names a person: which rows are one person's is then known.
    """
    wanted = [name for name in policy.identifiers if name in names]
    if policy.person is not None or not wanted or least_rows(policy) < 2:
        return ()
    return tuple(name for name, kind in types(wanted).items() if _may_be_ids(kind))


def _may_be_ids(kind: pa.DataType) -> bool:
    kind = value_type_of(kind)
    decimal = pa.types.is_decimal(kind) and kind.scale < 0  # which Spark does not store
    return is_supported(kind) and not pa.types.is_null(kind) and not decimal


def least_rows(policy: Policy) -> int:
    """The k that the policy asks for, by whatever model."""
    return max(model.min_rows for model in policy.constraints)


def types_in(source: Source) -> Types:
    """What gives the types of the columns of files, or of a database's table."""

    def types(names: Sequence[str]) -> Mapping[str, pa.DataType]:
        found = {}
        for name in names:
            try:
                kinds = {_type_in(place, name, source) for place in source.files}
            except (InputError, pa.ArrowException):
                continue
            if len(kinds) == 1:
                found[name] = kinds.pop()
        return found

    return types


def _type_in(place: Place, name: str, source: Source) -> pa.DataType:
    if isinstance(place, Address):
        with open_table(place) as table:
            return table.schema([name]).types[0]
    return format_of(place).schema(place, source.options, [name]).types[0]


def ids_of_people(session: Session, encoded: EncodedTable) -> dict[str, str]:
    """The repeating identifiers whose rows look like one person's: their places by name."""
    found = {}
    codes = {f"c{j}": rows for j, rows in enumerate(encoded.rows_of_values)}
    chances = {code: equal_by_chance(rows) for code, rows in codes.items()}
    for i, one in enumerate(encoded.ids):
        place = f"i{i}"
        agreeing = agreements_in_session(session, ENCODED, place, chances, f"{place} >= 0")
        if not agree(agreeing) and not is_panel(agreeing):
            continue
        own = [f"i{j}" for j, other in enumerate(encoded.ids) if j != i and is_own(other.name)]
        if not any(_contradicts(session, other, place) for other in own):
            found[one.name] = place
    return found


def _contradicts(session: Session, other: str, ids: str) -> bool:
    both, found = f"{other} >= 0 AND {ids} >= 0", []
    for one, column in ((ids, other), (other, ids)):
        # how often rows are equal by chance is not asked
        found += agreements_in_session(session, ENCODED, one, {column: 0.0}, both)
    return contradicts(*found)


def agreements_in_session(
    session: Session, table: str, ids: str, chances: Mapping[str, float], where: str
) -> list[Agreement]:
    """How the rows of ids agree in some columns; see `repeated_ids.agreements`.

    chances: the columns, each with how often two rows at random are equal. where: SQL that is true for
    rows with an id.
    """
    columns, found = list(chances), []
    for begin in range(0, len(columns), AT_ONCE):
        some = columns[begin : begin + AT_ONCE]
        answer = session.query(agreement_counts(table, ids, some, where)).sort_by("size")
        j, size, n, equal = (
            answer.column(name).cast(pa.int64()).to_numpy()
            for name in ("j", "size", "ids", "equal")
        )
        for at, column in enumerate(some):
            mine = j == at
            found.append(Agreement(size[mine], n[mine], equal[mine], chances[column]))
    return found


def repeated_in_session(
    session: Session,
    policy: Policy,
    encoded: EncodedTable,
    places: Mapping[str, str],
    table: str,
    where: str,
) -> tuple[RepeatedId, ...]:
    """What is said of the ids of people in published rows.

    places: by name, where the rows have the ids: -1 for none, -2 in rows that are not counted.
    """
    k, labels = least_rows(policy), [f"q{j}" for j in range(len(encoded.domains))]
    counted = {one.name: one for one in encoded.ids}
    found = []
    for name, place in places.items():
        (answer,) = session.query(classes_of_ids(table, labels, place, where, k)).to_pylist()
        classes, below = int(answer["classes"]), int(answer["below"] or 0)
        role = policy.columns[name].role
        one = counted[name]
        found.append(RepeatedId(name, role, one.rows, one.ids, k, classes, below))
    return tuple(found)
