"""The hash of rows that Spark calls xxhash64, without Spark.

It decides which rows are in one part of a folder, so that a release is cut alike wherever it is hashed.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.kernels.xxhash import take_bytes, take_numbers

SEED = 42
LONG_DIGITS = 18
"""A decimal with more digits is hashed as the bytes of its number."""


def xxhash64(n: int, columns: Iterable[pa.Array]) -> Ints:
    """(n,) the hash of each row, as the function of the same name in Spark has it."""
    state = np.full(n, SEED, np.uint64)
    for column in columns:
        codes = None
        if pa.types.is_dictionary(column.type):
            present = column.indices.is_valid().to_numpy(zero_copy_only=False)
            codes = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
            column = column.dictionary
            if not len(column):
                continue
            if column.null_count:
                present = present & column.is_valid().to_numpy(zero_copy_only=False)[codes]
        else:
            present = column.is_valid().to_numpy(zero_copy_only=False)
        column = _bytes(column)
        if pa.types.is_large_binary(column.type):
            _, offsets, data = column.buffers()
            at = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
            begins, ends = (at[:-1], at[1:]) if codes is None else (at[codes], at[codes + 1])
            held = np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)
            take_bytes(state, begins.copy(), np.where(present, ends, -1), held)
        else:
            numbers, size = _numbers(column)
            take_numbers(state, numbers if codes is None else numbers[codes], size, present)
    return state.view(np.int64)


def _bytes(column: pa.Array) -> pa.Array:
    """Texts, and numbers of many digits, as bytes; other columns as they are."""
    kind, types = column.type, pa.types
    if types.is_decimal(kind) and kind.precision > LONG_DIGITS:
        return pa.array([_shortest(v) for v in column.to_pylist()], pa.large_binary())
    if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind):
        return column.cast(pa.large_binary())
    return column


def _shortest(value: object) -> bytes | None:
    """The number without its point, in as few bytes as hold it and its sign."""
    if value is None:
        return None
    sign, digits, _ = value.as_tuple()  # type: ignore[attr-defined]
    number = int("".join(map(str, digits)))
    number = -number if sign else number
    bits = (number if number >= 0 else ~number).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def _numbers(column: pa.Array) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], int]:
    """(n,) the bits of each value, and the bytes that Spark takes for such a value."""
    kind, types = column.type, pa.types
    if types.is_decimal(kind):
        # the lower half of 128 bits holds it
        bits = np.frombuffer(column.buffers()[1], np.uint64).reshape(-1, 2)
        return bits[column.offset : column.offset + len(column), 0].copy(), 8
    if types.is_floating(kind):
        column = pc.add(column.fill_null(0.0), pa.scalar(0.0, kind))  # one zero
        column = pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), kind), column)
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif types.is_boolean(kind):
        column = column.cast(pa.int32())
    elif not types.is_integer(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    size = 8 if column.type.bit_width == 64 else 4
    values = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if size == 4:
        return (values & 0xFFFFFFFF).astype(np.uint64), 4
    return values.view(np.uint64), 8
