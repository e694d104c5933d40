"""The texts of a published table, the same for a frame and for any file that holds its rows.

A CSV file knows only texts, and writes some numbers and times in a way of its own. So a number with a
point or an exponent counts by its exact value, a moment by its ISO text, and an empty text as a missing
value.
"""

from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk

NUMBER = r"^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?$"
FLOAT = r"[.eE]"
MOMENT = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$"
EXACT = Context(prec=10_000)


def read_text(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """As a CSV file tells it, in which an empty text is a missing one."""
    texts = text_of(column).cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), None, texts)


def canonical(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """The texts of a column, one for each way to write a number or a moment; no two codes share one."""
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = _spelled(column)
    texts = read_text(column)
    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in texts.chunks])
    coded = texts.dictionary_encode()
    values = coded.dictionary
    numbers = pc.and_(
        pc.match_substring_regex(values, NUMBER), pc.match_substring_regex(values, FLOAT)
    )
    moments = pc.match_substring_regex(values, MOMENT)
    if not pc.any(pc.or_(numbers, moments)).as_py():
        return coded
    values = pc.if_else(moments, _moments(values), values)
    values = pc.if_else(numbers, _numbers(values, numbers), values).dictionary_encode()
    indices = values.indices.take(coded.indices)
    return pa.DictionaryArray.from_arrays(indices, values.dictionary)


def _spelled(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Bytes as a CSV file tells them: plain letters as they are, others by their numbers."""
    coded = one_chunk(column).dictionary_encode()
    texts = [
        "".join(chr(b) if 32 <= b <= 126 and b not in b"\\'\"" else f"\\x{b:02X}" for b in value)
        for value in coded.dictionary.to_pylist()
    ]
    return pa.array(texts, pa.string()).take(coded.indices)


def _numbers(texts: pa.Array, where: pa.Array) -> pa.Array:
    """Exactly: a float would take numbers that differ in a far digit for one."""
    chosen = zip(texts.to_pylist(), where.to_pylist(), strict=True)
    return pa.array([_number(t) if yes else None for t, yes in chosen], texts.type)


def _number(text: str) -> str:
    exact = f"{Decimal(text).normalize(EXACT):f}"
    return "0" if exact == "-0" else exact  # as in `text_of`


def _moments(texts: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(texts, "^(.{10}) ", r"\1T")
    texts = pc.replace_substring_regex(texts, r"(\.\d*?)0+(Z|[+-]|$)", r"\1\2")
    texts = pc.replace_substring_regex(texts, r"\.(Z|[+-]|$)", r"\1")
    texts = pc.replace_substring_regex(texts, r"[+-]00(:?00)?$", "Z")
    texts = pc.replace_substring_regex(texts, r"([+-]\d\d)$", r"\1:00")
    return pc.replace_substring_regex(texts, "T00:00:00$", "")
