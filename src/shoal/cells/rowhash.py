"""A hash of each row from what will be published of it beside the quasi-identifiers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.kernels.hashing import hash_texts, stir

Words = npt.NDArray[np.uint64]
MISSING = np.uint64(0x5A17_0F_F15E5)


def hash_rows(
    n: int, sensitive: Sequence[npt.NDArray[np.int32]], plain: Sequence[pa.Array], seed: int
) -> Words:
    """(n,) one hash per row; equal rows have equal hashes, whatever their order."""
    state = np.full(n, (seed * 0x9E37 + 1) % (1 << 64), np.uint64)
    for codes in sensitive:
        stir(state, codes.astype(np.uint64))
    for column in plain:
        stir(state, words_of(column))
    return state


def words_of(column: pa.Array) -> Words:
    """(n,) a 64-bit word for each value: the value itself where it fits, else a hash of it."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = words_of(column.dictionary)
        codes = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
        out = words[codes] if len(words) else np.zeros(len(column), np.uint64)
    elif pa.types.is_null(kind):
        out = np.zeros(len(column), np.uint64)
    elif _is_word(kind):
        out = _fixed(column)
    else:
        out = _texts(column)
    if column.null_count:
        out = np.where(column.is_null().to_numpy(zero_copy_only=False), MISSING, out)
    return out


def _is_word(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_date(kind)
        or types.is_time(kind)
        or types.is_timestamp(kind)
        or types.is_duration(kind)
    )


def _fixed(column: pa.Array) -> Words:
    kind = column.type
    if pa.types.is_floating(kind):
        return (
            column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False).view(np.uint64)
        )
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not pa.types.is_integer(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    return (
        values.astype(np.int64, copy=False).view(np.uint64)
        if values.dtype.kind == "i"
        else values.astype(np.uint64)
    )


def _texts(column: pa.Array) -> Words:
    """Hash the bytes; what has none of its own (decimals, lists) goes by its text."""
    kind = column.type
    if (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        column = column.cast(pa.large_binary())
    elif not pa.types.is_large_string(kind):
        try:
            column = column.cast(pa.large_string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            column = pa.array([repr(value) for value in column.to_pylist()], pa.large_string())
    _, offsets, data = column.buffers()
    at = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return hash_texts(at, np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8))
