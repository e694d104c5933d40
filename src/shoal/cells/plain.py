"""Bring a column into a type whose values Arrow can tell apart and sort."""

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError


def plain(name: str, column: pa.Array) -> pa.Array:
    """The same values in the nearest type that can be counted; lists and the like have none."""
    kind, types = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain(name, column.storage)
    if types.is_dictionary(kind):
        return plain(name, column.cast(kind.value_type))
    if types.is_run_end_encoded(kind):
        return plain(name, pc.run_end_decode(column))
    if types.is_nested(kind):
        raise InputError(
            f"Column '{name}' holds {kind}, in which a value is made of several. "
            "Take it apart into columns of single values, or leave it out."
        )
    if types.is_null(kind) or types.is_string_view(kind):
        return column.cast(pa.string())
    if types.is_binary_view(kind):
        return column.cast(pa.binary())
    if types.is_float16(kind):
        return column.cast(pa.float32())
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    return column
