"""The text of a value: what a hierarchy is matched with and what a reader sees.

One rule for every kind of table, so that 39 read from a file, 39 in a frame and 39.0 in a frame
with gaps are the same value to a hierarchy.
"""

import pyarrow as pa
import pyarrow.compute as pc

WHOLE = 2.0**53
"""Below this a float without a fraction is one whole number and no other."""
WRITTEN = "^b['\"]"
"""How bytes begin that are written out."""


def text_of(values: pa.Array) -> pa.Array:
    """(n,) string: each value as text; a missing value stays missing.

    Whole floats have no decimals (`39`), dates and times are ISO (`1964-03-07`,
    `1964-03-07T12:30:00`), a time of midnight without a zone is its date alone, durations are
    `3 days` or `3 days 12:30:00`, booleans are `true` and `false`, decimals keep their places and
    never have an exponent. Bytes are their text in UTF-8, if any.
    """
    kind = values.type
    if isinstance(values, pa.ChunkedArray):
        return text_of(values.combine_chunks())
    if isinstance(kind, pa.BaseExtensionType):
        return text_of(values.storage)
    if pa.types.is_dictionary(kind):
        return text_of(values.dictionary_decode())
    if pa.types.is_floating(kind):
        return _text_of_floats(values)
    if pa.types.is_decimal(kind):
        return _text_of_decimals(values)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return _text_of_times(values)
    if pa.types.is_duration(kind):
        return _text_of_durations(values)
    if is_bytes(kind):
        return text_of_bytes(values)
    return _text_of_others(values)


def known_text(values: pa.Array) -> pa.Array:
    """The same, where not a number means not known."""
    if not pa.types.is_floating(values.type):
        return text_of(values)
    wide = values.cast(pa.float32()) if pa.types.is_float16(values.type) else values
    return text_of(pc.if_else(pc.is_nan(wide), None, wide))


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values of this type are bytes, of any number."""
    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def text_of_bytes(values: pa.Array) -> pa.Array:
    """(n,) string: each by itself, whatever stands beside it; different bytes read differently.

    Bytes that are UTF-8 are their text; others, and what would read like them, are as Python
    writes them: `b'\\xff'`.
    """
    wide = values.cast(pa.binary())
    try:
        texts = wide.cast(pa.string())
        if not pc.any(pc.match_substring_regex(texts, WRITTEN)).as_py():
            return texts
    except pa.ArrowInvalid:
        pass
    coded = wide.dictionary_encode()
    once = [_text_of_one(value) for value in coded.dictionary.to_pylist()]
    return pa.array(once, pa.string()).take(coded.indices)


def _text_of_one(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return repr(value)
    return repr(value) if text.startswith(("b'", 'b"')) else text


def _text_of_floats(values: pa.Array) -> pa.Array:
    wide = values.cast(pa.float64())
    whole = pc.and_(pc.equal(pc.floor(wide), wide), pc.less(pc.abs(wide), WHOLE))
    numbers = pc.if_else(whole, wide, 0.0).cast(pa.int64())
    return pc.if_else(whole, numbers.cast(pa.string()), values.cast(pa.string()))


def _text_of_decimals(values: pa.Array) -> pa.Array:
    texts = values.cast(pa.string())
    if not pc.any(pc.match_substring(texts, "E")).as_py():
        return texts
    return pa.array([None if v is None else f"{v:f}" for v in values.to_pylist()], pa.string())


def _text_of_times(values: pa.Array) -> pa.Array:
    texts = pc.replace_substring(values.cast(pa.string()), " ", "T")
    texts = pc.replace_substring_regex(texts, r"\.0+(Z|[+-]|$)", r"\1")
    texts = pc.replace_substring_regex(texts, r"(\.\d*[1-9])0+(Z|[+-]|$)", r"\1\2")
    texts = pc.replace_substring_regex(texts, r"([+-]\d\d)(\d\d)$", r"\1:\2")
    # frames without a date type hold dates as midnights
    return pc.replace_substring_regex(texts, "T00:00:00$", "")


def _text_of_durations(values: pa.Array) -> pa.Array:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
    coded = values.dictionary_encode()
    counts = coded.dictionary.view(pa.int64()).to_pylist()
    texts = pa.array([_text_of_duration(count, per_second) for count in counts], pa.string())
    return texts.take(coded.indices)


def _text_of_duration(count: int, per_second: int) -> str:
    seconds, fraction = divmod(abs(count), per_second)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    part = f".{fraction:0{len(str(per_second)) - 1}}".rstrip("0") if fraction else ""
    clock = f" {hour:02}:{minute:02}:{second:02}{part}" if seconds % 86_400 or fraction else ""
    return f"{'-' if count < 0 else ''}{days} days{clock}"


def _text_of_others(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if v is None else str(v) for v in values.to_pylist()], pa.string())
