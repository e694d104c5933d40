"""DuckDB relations in and out, on the user's own connection.

The relation is asked once and its answer held as Arrow, since asking twice might give other rows.
A type that Arrow has no exact twin for is held as text. The release is a relation again: the
published rows as Arrow, each untouched column cast back to the SQL type it came with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from shoal.arrays import Ints
from shoal.engines.duckdb.connection import name as quoted
from shoal.errors import InputError
from shoal.io.arrow import gather, one_chunk, whole_numbers
from shoal.io.frames import check_names

EXACT = frozenset(
    {
        "boolean",
        "tinyint",
        "smallint",
        "integer",
        "bigint",
        "utinyint",
        "usmallint",
        "uinteger",
        "ubigint",
        "float",
        "double",
        "decimal",
        "varchar",
        "blob",
        "date",
        "time",
        "timestamp",
        "timestamp_s",
        "timestamp_ms",
        "timestamp_ns",
        "enum",
        "timestamp with time zone",
    }
)
"""SQL types whose values Arrow holds exactly, and DuckDB takes back."""
WIDE_INTEGERS = frozenset({"hugeint", "uhugeint", "bignum"})
AS_TEXT = WIDE_INTEGERS | {"uuid", "time with time zone", "time_ns", "interval", "bit", "null"}
"""SQL types whose text, cast back, is the same value."""


@dataclass(frozen=True)
class RelationTable:
    """A DuckDB relation."""

    relation: Any
    held: pa.Table
    """Every column under the name c0, c1, ...: exact, or as text."""

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self.relation.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.held.num_rows)

    def column(self, name: str) -> pa.Array:
        """One column in one piece; a type that Arrow does not know is text."""
        place = self._place(name)
        column = one_chunk(self.held.column(place))
        wide = self.relation.types[place].id in WIDE_INTEGERS
        return whole_numbers(column) if wide else column

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: Ints,
        keep_index: bool,  # noqa: ARG002 - SQL has no index
    ) -> Any:
        """See Table.release."""
        arrays, shown = [], []
        for i, name in enumerate(columns):
            if name in labels:
                arrays.append(labels[name])
                shown.append(f"c{i} AS {quoted(name)}")
            else:
                place = self._place(name)
                arrays.append(gather(self.held.column(place), rows))
                shown.append(f"CAST(c{i} AS {self.relation.types[place]}) AS {quoted(name)}")
        published = pa.table(arrays, names=[f"c{i}" for i in range(len(arrays))])
        return _asked(self.relation, published, ", ".join(shown))

    def _place(self, name: str) -> int:
        """Where a column stands, if it can come back as it was."""
        place = self.names.index(name)
        kind = self.relation.types[place]
        if _held_type(kind) is None:
            raise InputError(
                f"Column '{name}' is of the SQL type {kind}, which cannot come back exactly. "
                "Cast it first, for instance to VARCHAR, or drop it."
            )
        return place


def _asked(relation: Any, _shoal_published: pa.Table, shown: str) -> Any:
    """A relation over Arrow rows on the connection of `relation`.

    DuckDB finds the rows by the name of this function's variable. `query` is the way to a
    relation's connection that leaves nothing behind in it.
    """
    return relation.query("_shoal_input", f"SELECT {shown} FROM _shoal_published")


def wrap_relation(relation: Any) -> RelationTable:
    """The relation's rows, asked for once."""
    try:
        _asked(relation, pa.table({"c0": pa.array([], pa.int8())}), "c0")
    except duckdb.CatalogException:
        raise InputError(
            "This DuckDB connection takes no tables from Python (python_enable_replacements or "
            "enable_external_access is off), so the release cannot come back on it. "
            "Pass relation.to_arrow_table() instead."
        ) from None
    # SQL takes names that differ in case only for one.
    check_names([column.lower() for column in relation.columns])
    shown = ", ".join(
        f"CAST({quoted(column)} AS {_held_type(kind) or 'VARCHAR'}) AS c{i}"
        for i, (column, kind) in enumerate(zip(relation.columns, relation.types, strict=True))
    )
    return RelationTable(relation, relation.project(shown).to_arrow_table())


def _held_type(kind: Any) -> str | None:
    """The SQL type under which Arrow holds a type's values, or None if none is exact."""
    if kind.id in EXACT:
        return str(kind)
    if kind.id in AS_TEXT:
        return "VARCHAR"
    if kind.id not in ("list", "array", "struct", "map"):
        return None
    inner = {part: _held_type(of) for part, of in kind.children if part != "size"}
    if None in inner.values():
        return None
    if kind.id == "struct":
        return f"STRUCT({', '.join(f'{quoted(part)} {of}' for part, of in inner.items())})"
    if kind.id == "map":
        return f"MAP({inner['key']}, {inner['value']})"
    size = dict(kind.children).get("size", "") if kind.id == "array" else ""
    return f"{inner['child']}[{size}]"
