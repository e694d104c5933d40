"""Read ordered values out of whatever a column holds."""

import pyarrow as pa
import pyarrow.compute as pc

DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y")
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
WHOLE = r"^[+-]?\d+$"
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
    parsed = _best([_numbers(values), *(_dates(values, form) for form in DATES), _times(values)])
    if guess and (parsed.null_count or _any(pc.match_substring_regex(values, PADDED))):
        return None
    return parsed


def _best(readings: list[pa.Array]) -> pa.Array:
    return min(readings, key=lambda reading: reading.null_count)


def _any(flags: pa.Array) -> bool:
    return bool(pc.any(flags).as_py())


def _where(values: pa.Array, pattern: str) -> pa.Array:
    """The trimmed values that match, null elsewhere."""
    trimmed = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.match_substring_regex(trimmed, pattern), trimmed, None)


def _numbers(values: pa.Array) -> pa.Array:
    numbers = _where(values, NUMBER)
    plain = pc.replace_substring_regex(numbers, r"^\+", "")
    if not _any(pc.invert(pc.match_substring_regex(numbers, WHOLE))):
        for whole in (pa.int64(), pa.decimal128(38, 0)):
            try:
                return plain.cast(whole)
            except pa.ArrowInvalid:
                continue
    return plain.cast(pa.float64())


def _dates(values: pa.Array, form: str) -> pa.Array:
    days = pc.strptime(pc.utf8_trim_whitespace(values), format=form, unit="s", error_is_null=True)
    return days.cast(pa.date32())


def _times(values: pa.Array) -> pa.Array:
    """ISO dates with a time of day, without a zone."""
    iso = _where(values, r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$")
    try:
        return iso.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return pa.nulls(len(values), pa.timestamp("us"))
