"""DuckDB relations in and out, on the user's own connection.

The relation is evaluated once and its rows are kept as Arrow, since a second evaluation might return
others. A type without an exact counterpart in Arrow is kept as text. The release is a relation again:
the published rows as Arrow, each unchanged column cast back to its SQL type.
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
from shoal.io.tables import check_names

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
"""SQL types that Arrow and DuckDB exchange exactly."""
WIDE_INTEGERS = frozenset({"hugeint", "uhugeint", "bignum"})
AS_TEXT = WIDE_INTEGERS | {"uuid", "time with time zone", "time_ns", "interval", "bit", "null"}
"""SQL types whose text, cast back, is the same value."""


@dataclass(frozen=True)
class RelationTable:
    """A DuckDB relation."""

    relation: Any
    rows: pa.Table
    """Every column under the name c0, c1, ...: exact, or as text."""

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self.relation.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.num_rows)

    def column(self, name: str) -> pa.Array:
        """One column in one chunk; a type that Arrow does not have is text."""
        place = self._place(name)
        column = one_chunk(self.rows.column(place))
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
                arrays.append(gather(self.rows.column(place), rows))
                shown.append(f"CAST(c{i} AS {self.relation.types[place]}) AS {quoted(name)}")
        published = pa.table(arrays, names=[f"c{i}" for i in range(len(arrays))])
        return _query_arrow(self.relation, published, ", ".join(shown))

    def _place(self, name: str) -> int:
        """The position of a column that can be returned unchanged."""
        place = self.names.index(name)
        kind = self.relation.types[place]
        if _exchange_type(kind) is None:
            raise InputError(
                f"Column '{name}' is of the SQL type {kind}, whose values cannot be returned exactly. "
                "Cast it first, for instance to VARCHAR, or drop it."
            )
        return place


def _query_arrow(relation: Any, _shoal_published: pa.Table, shown: str) -> Any:
    """A relation over Arrow rows on the connection of `relation`.

    DuckDB finds the rows by the name of this function's parameter. `query` uses the relation's
    connection without creating anything in it.
    """
    return relation.query("_shoal_input", f"SELECT {shown} FROM _shoal_published")


def wrap_relation(relation: Any) -> RelationTable:
    """The relation, evaluated once."""
    try:
        _query_arrow(relation, pa.table({"c0": pa.array([], pa.int8())}), "c0")
    except duckdb.CatalogException:
        raise InputError(
            "This DuckDB connection does not accept tables from Python (python_enable_replacements or "
            "enable_external_access is off), so the release cannot be returned on it. "
            "Pass relation.to_arrow_table() instead."
        ) from None
    # in SQL, names that differ only in case are one name
    check_names([column.lower() for column in relation.columns])
    shown = ", ".join(
        f"CAST({quoted(column)} AS {_exchange_type(kind) or 'VARCHAR'}) AS c{i}"
        for i, (column, kind) in enumerate(zip(relation.columns, relation.types, strict=True))
    )
    return RelationTable(relation, relation.project(shown).to_arrow_table())


def _exchange_type(kind: Any) -> str | None:
    """The SQL type in which values are exchanged with Arrow, or None if none is exact."""
    if kind.id in EXACT:
        return str(kind)
    if kind.id in AS_TEXT:
        return "VARCHAR"
    if kind.id not in ("list", "array", "struct", "map"):
        return None
    inner = {part: _exchange_type(of) for part, of in kind.children if part != "size"}
    if None in inner.values():
        return None
    if kind.id == "struct":
        return f"STRUCT({', '.join(f'{quoted(part)} {of}' for part, of in inner.items())})"
    if kind.id == "map":
        return f"MAP({inner['key']}, {inner['value']})"
    size = dict(kind.children).get("size", "") if kind.id == "array" else ""
    return f"{inner['child']}[{size}]"
