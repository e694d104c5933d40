"""Column types that DuckDB and Spark store without changing a value, and the way back to them."""

from collections.abc import Sequence

import pyarrow as pa

from shoal.errors import InputError, listed

SUPPORTED = (
    "texts and bytes",
    "whole numbers",
    "floats of 32 and 64 bits",
    "decimals of up to 38 digits",
    "booleans",
    "dates",
    "timestamps in UTC or without a zone, down to microseconds",
)
UTC_ZONES = (None, "UTC", "Etc/UTC", "+00:00")
"""Time zones that no database converts."""
SIGNED = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
"""Types that hold all unsigned numbers of so many bits."""


def check_types(names: Sequence[str], schema: pa.Schema) -> None:
    """Raise `InputError` for columns whose values would not come back unchanged."""
    for name, kind in zip(names, schema.types, strict=True):
        if not is_supported(kind):
            raise InputError(
                f"Column '{name}' has the type {kind}, which is not supported for tables larger than "
                f"memory; supported are {listed(SUPPORTED)}. {_advice(value_type_of(kind))} first, or "
                "leave the column out."
            )


def value_type_of(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves, also where a column keeps them in a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def restore_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column that went through a database in the type of its file; never with a loss."""
    wanted = value_type_of(kind)
    if pa.types.is_null(wanted):
        return pa.nulls(len(column))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if column.type == wanted else column.cast(wanted)


def with_codes(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same, but texts that are codes and a dictionary stay so."""
    codes = pa.types.is_dictionary(column.type)
    if codes and column.type.value_type == value_type_of(kind) and not column.dictionary.null_count:
        return column
    return restore_type(column, kind)


def storage_type(kind: pa.DataType) -> pa.DataType:
    """The type in which a session stores a column: one that DuckDB and Spark both have."""
    kind = value_type_of(kind)
    types = pa.types
    if types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if types.is_unsigned_integer(kind):
        return SIGNED[kind.bit_width]
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_null(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.binary()
    return pa.date32() if types.is_date64(kind) else kind


def is_supported(kind: pa.DataType) -> bool:
    """Whether values of a type come back unchanged."""
    kind, types = value_type_of(kind), pa.types
    if types.is_timestamp(kind):
        return kind.unit != "ns" and kind.tz in UTC_ZONES
    number = types.is_integer(kind) or types.is_float32(kind) or types.is_float64(kind)
    decimal = types.is_decimal32(kind) or types.is_decimal64(kind) or types.is_decimal128(kind)
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    other = types.is_boolean(kind) or types.is_date32(kind) or types.is_null(kind)
    return bool(
        number or decimal or text or other or types.is_binary(kind) or types.is_large_binary(kind)
    )


def _advice(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        if kind.unit == "ns":
            return "Round it to microseconds"
        return "Convert it to UTC, or to a time without a zone,"
    if pa.types.is_decimal256(kind):
        return "Write it with at most 38 digits, or as text"
    if pa.types.is_nested(kind):
        return "Split it into columns of single values"
    return "Convert it to text, numbers or dates"


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are texts."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))
