"""A hash of a published table, the same for a frame and for any file that holds its rows."""

import hashlib
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.hierarchy.text import text_of

NUMBER = r"^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?$"
FLOAT = r"[.eE]"
MOMENT = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$"


EXACT = Context(prec=10_000)


def digest_of(rows: pa.Table) -> str:
    """A hash of column names and cells, in their order, as they read in a file.

    A CSV file knows only texts, and writes some numbers and times in a way of its own. So a number
    with a point or an exponent counts by its exact value, a moment by its ISO text, and an empty text
    as a missing value.
    """
    found = hashlib.sha256()
    for name in rows.column_names:
        texts = _canonical(read_text(rows.column(name))).cast(pa.large_string())
        missing = texts.is_null().to_numpy(zero_copy_only=False)
        filled = pc.fill_null(texts, "")
        offsets = np.frombuffer(filled.buffers()[1], np.int64)
        offsets = offsets[filled.offset : filled.offset + len(filled) + 1]
        lengths = np.where(missing, -1, np.diff(offsets)).astype("<i8")
        told = name.encode()
        found.update(f"{len(told)}:".encode() + told + f"{len(lengths)}:".encode())
        found.update(lengths.tobytes())
        data = filled.buffers()[2]
        if data is not None and len(offsets):
            found.update(memoryview(data)[offsets[0] : offsets[-1]])
    return found.hexdigest()


def read_text(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """As a CSV file tells it, in which an empty text is a missing one."""
    texts = text_of(column).cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _canonical(texts: pa.Array) -> pa.Array:
    """One text for each way to write a number or a moment."""
    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in texts.chunks])
    coded = texts.dictionary_encode()
    values = coded.dictionary
    numbers = pc.and_(
        pc.match_substring_regex(values, NUMBER), pc.match_substring_regex(values, FLOAT)
    )
    moments = pc.match_substring_regex(values, MOMENT)
    if not pc.any(pc.or_(numbers, moments)).as_py():
        return texts
    values = pc.if_else(moments, _moments(values), values)
    values = pc.if_else(numbers, _numbers(values, numbers), values)
    return values.take(coded.indices)


def _numbers(texts: pa.Array, where: pa.Array) -> pa.Array:
    """Exactly: a float would take numbers that differ in a far digit for one."""
    chosen = zip(texts.to_pylist(), where.to_pylist(), strict=True)
    return pa.array(
        [f"{Decimal(t).normalize(EXACT):f}" if yes else None for t, yes in chosen], texts.type
    )


def _moments(texts: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(texts, "^(.{10}) ", r"\1T")
    texts = pc.replace_substring_regex(texts, r"(\.\d*?)0+(Z|[+-]|$)", r"\1\2")
    texts = pc.replace_substring_regex(texts, r"\.(Z|[+-]|$)", r"\1")
    texts = pc.replace_substring_regex(texts, r"[+-]00(:?00)?$", "Z")
    texts = pc.replace_substring_regex(texts, r"([+-]\d\d)$", r"\1:00")
    return pc.replace_substring_regex(texts, "T00:00:00$", "")
