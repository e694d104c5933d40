"""Which types of columns Spark holds without changing a value, and what they come back as."""

import re

import pyarrow as pa

from shoal.errors import InputError

PLAIN = re.compile(
    r"string|boolean|tinyint|smallint|int|bigint|float|double|date|timestamp|timestamp_ntz|binary"
    r"|decimal\(\d+,\d+\)"
)
"""Spark's own names of the types."""
SAME = frozenset(
    {
        *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
        *(pa.string(), pa.binary(), pa.date32()),
    }
)
OTHERS = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.date64(): pa.date32(),
}
UTC = ("UTC", "Etc/UTC", "+00:00", "Z")


def held(kind: pa.DataType) -> pa.DataType | None:
    """The type in which a Parquet column comes back from Spark; None where values would change."""
    if pa.types.is_dictionary(kind):
        return held(kind.value_type)
    if kind in SAME or (pa.types.is_decimal128(kind) and kind.scale >= 0):
        return kind
    if pa.types.is_timestamp(kind) and kind.unit != "ns" and kind.tz in (None, *UTC):
        return pa.timestamp("us", tz=None if kind.tz is None else "UTC")
    return OTHERS.get(kind)


def refused(where: str, column: str, kind: object) -> InputError:
    """The error for a column that Spark cannot hold as it is."""
    return InputError(
        f"{where}: column '{column}' is of type {kind}, which Spark does not hold as it is. Allowed "
        "are text, whole numbers, floats of 32 or 64 bits, decimals of at most 38 digits, booleans, "
        "dates, bytes, and dates with a time up to microseconds, without a zone or in UTC. Cast "
        "the column first, or run with the local engine."
    )


def fit(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The column in the one type that Spark takes for it."""
    return column if column.type == kind else column.cast(kind)


def carried(schema: pa.Schema) -> pa.Schema:
    """The schema in the types in which Spark carries it."""
    fields = []
    for field in schema:
        kind = held(field.type)
        if kind is None:
            raise refused("A table", field.name, field.type)
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)
