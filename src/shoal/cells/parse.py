"""Read ordered values out of whatever a column holds."""

import pyarrow as pa
import pyarrow.compute as pc

DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y")
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
WHOLE = r"^[+-]?\d+$"
LONG = r"^[+-]?\.?(\d\.?){16}"
"""Sixteen digits or more: a float may not keep them all."""
FAR = r"[eE][+-]?\d{3}"
"""An exponent of three digits: a float may not reach it."""
PADDED = r"^[+-]?0\d"


def ordered_values(values: pa.Array, guess: bool) -> pa.Array | None:
    """The distinct values as numbers, dates or times, null where one cannot be read.

    With `guess` the answer is None unless every value can be read and nothing is lost by it: texts
    such as zip codes with leading zeros stay texts. Without it a column that holds at least one
    number or date is taken to be meant as such.
    """
    kind = values.type
    if pa.types.is_boolean(kind):
        return None if guess else values.cast(pa.int8())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return values
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return values
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None if guess else pa.nulls(len(values), pa.int64())
    parsed = _best(
        [_numbers(values, guess), *(_dates(values, form) for form in DATES), _times(values)]
    )
    if guess and (parsed.null_count or _is_padded(values, parsed.type)):
        return None
    return parsed


def _is_padded(values: pa.Array, kind: pa.DataType) -> bool:
    """Whether reading some value as a number would lose its leading zeros."""
    return not pa.types.is_temporal(kind) and _any(pc.match_substring_regex(values, PADDED))


def _best(readings: list[pa.Array]) -> pa.Array:
    return min(readings, key=lambda reading: reading.null_count)


def _any(flags: pa.Array) -> bool:
    return bool(pc.any(flags).as_py())


def _where(values: pa.Array, pattern: str) -> pa.Array:
    """The trimmed values that match, null elsewhere."""
    trimmed = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.match_substring_regex(trimmed, pattern), trimmed, None)


def _numbers(values: pa.Array, guess: bool) -> pa.Array:
    """Numbers, exactly; where that cannot be, none when it is a guess, else the nearest floats."""
    numbers = _where(values, NUMBER)
    plain = pc.replace_substring_regex(numbers, r"^\+", "")
    if not _any(pc.invert(pc.match_substring_regex(numbers, WHOLE))):
        return _whole(plain)
    long = _any(pc.match_substring_regex(plain, LONG))
    scientific = _any(pc.match_substring_regex(plain, "[eE]"))
    if long and not scientific:
        exact = _decimals(plain)
        if exact is not None:
            return exact
    if guess and (long or _any(pc.match_substring_regex(plain, FAR))):
        return pa.nulls(len(plain), pa.float64())
    # adding nothing makes one zero of 0 and -0
    return pc.add(plain.cast(pa.float64()), 0.0)


def _decimals(texts: pa.Array) -> pa.Array | None:
    """Numbers with more digits than a float keeps; None where no decimal holds them either."""
    places = pc.utf8_length(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))
    scale = pc.max(places).as_py()
    whole = pc.max(pc.utf8_length(pc.replace_substring_regex(texts, r"\..*$", ""))).as_py()
    return texts.cast(pa.decimal256(76, scale)) if whole + scale <= 75 else None


def _whole(texts: pa.Array) -> pa.Array:
    """Whole numbers of any size; beyond 75 digits they are not read."""
    longest = pc.max(pc.utf8_length(texts)).as_py() or 0
    # by length, not by trying: Arrow wraps a number just too long for a decimal around to another
    for most, kind in ((18, pa.int64()), (37, pa.decimal128(38, 0)), (75, pa.decimal256(76, 0))):
        if longest <= most:
            return texts.cast(kind)
    return pa.nulls(len(texts), pa.int64())


def _dates(values: pa.Array, form: str) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(values)
    days = pc.strptime(trimmed, format=form, unit="s", error_is_null=True)
    if days.null_count == len(days):
        return days.cast(pa.date32())
    # a 30th of February is read as a 2nd of March: the day must be the one that is written
    day = r"^(?P<day>\d{1,2})" if form.startswith("%d") else r"(?P<day>\d{1,2})$"
    written = pc.struct_field(pc.extract_regex(trimmed, day), "day").cast(pa.int64())
    return pc.if_else(pc.equal(pc.day(days), written), days.cast(pa.date32()), None)


def _times(values: pa.Array) -> pa.Array:
    """ISO dates with a time of day, without a zone."""
    iso = _where(values, r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$")
    try:
        return iso.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return pa.nulls(len(values), pa.timestamp("us"))
