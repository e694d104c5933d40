"""Column types that every place for large tables holds exactly, and the way back to them."""

from collections.abc import Sequence

import pyarrow as pa

from shoal.errors import InputError, listed

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
