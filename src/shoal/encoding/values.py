"""The distinct values of a column and how often they occur, and their reading as ordered values."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.date_format import MONTHS, PIVOT, date_format
from shoal.errors import HierarchyError, InputError, data_rows, listed
from shoal.hierarchy.text import text_of
from shoal.io.arrow import whole_numbers

SINGULAR = (
    ("have", "has"),
    ("are not dates", "is not a date"),
    ("are not numbers", "is not a number"),
    ("are not texts", "is not a text"),
    ("are not whole numbers", "is not a whole number"),
    ("are", "is"),
)
"""How a problem is worded for several values, and for one."""
AT_ONCE = 1 << 15
"""Codes that are looked at before it is asked whether all have occurred."""
COMMON = 10
"""A value may be named in a message only if at least this many rows share it."""
DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y")
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
WHOLE_NUMBER = r"^[+-]?\d+$"
LONG_NUMBER = r"^[+-]?\.?(\d\.?){16}"
"""Sixteen digits or more: a float may not represent all of them."""
FAR_EXPONENT = r"[eE][+-]?\d{3}"
"""An exponent of three digits: it may be out of a float's range."""
PADDED_NUMBER = r"^[+-]?0\d"


def countable(name: str, column: pa.Array) -> pa.Array:
    """The same values in the nearest type whose values Arrow can count and sort.

    Lists, structs and maps have none and are refused.
    """
    kind, types = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return countable(name, column.storage)
    if types.is_dictionary(kind):
        return countable(name, column.cast(kind.value_type))
    if types.is_run_end_encoded(kind):
        return countable(name, pc.run_end_decode(column))
    if types.is_nested(kind):
        raise InputError(
            f"Column '{name}' has the type {kind}, in which a value consists of several. "
            "Split it into columns of single values, or leave it out."
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


@dataclass(frozen=True)
class Tally:
    """The distinct values of one column, from rows in memory or counted by an engine."""

    name: str
    values: pa.Array
    """(m,) each value once, none missing, in any order."""
    counts: Ints
    """(m,) rows that hold each."""
    missing: int
    """Rows without a value."""
    index: Codes | None = None
    """(n,) for rows in memory: each row's place among the values, -1 where it is missing."""

    def only(self, kept: Bools) -> "Tally":
        """The same with some of the values only; rows with the others count as missing."""
        index = self.index
        if index is not None:
            place = np.where(kept, np.cumsum(kept) - 1, -1)
            index = np.append(place, -1).astype(np.int32)[index]
        return Tally(
            self.name,
            self.values.filter(pa.array(kept)),
            self.counts[kept],
            self.missing + int(self.counts[~kept].sum()),
            index,
        )

    def rows(self, codes: npt.NDArray[np.integer], missing: int) -> Codes:
        """(n,) the code of each row, from the codes of the values and of the missing value."""
        assert self.index is not None, "rows that an engine counted are encoded there"
        # index -1 reads the last entry: the missing value's code
        return np.append(codes, missing).astype(np.int32)[self.index]

    def where(self, chosen: npt.NDArray[np.integer]) -> str:
        """The first few rows with some values, for messages; nothing unless rows are in memory."""
        if self.index is None:
            return ""
        rows = np.flatnonzero(np.isin(self.index, chosen))
        return f" ({data_rows(rows[:5].tolist(), len(rows))})"


def tally_of(name: str, column: pa.Array) -> Tally:
    """The distinct values of a column in memory."""
    values, index = distinct(name, column)
    counts = np.bincount(index + 1, minlength=len(values) + 1).astype(np.int64)
    return Tally(name, values, counts[1:], int(counts[0]), index)


def tally_of_counts(name: str, values: pa.Array, counts: Ints) -> Tally:
    """The same from values with counts, among which equal and missing ones may be repeated."""
    once, index = distinct(name, values)
    total = np.zeros(len(once) + 1, np.int64)
    np.add.at(total, index, counts)  # index -1 is the last place: the missing ones
    return Tally(name, once, total[:-1], int(total[-1]))


def distinct(name: str, column: pa.Array) -> tuple[pa.Array, Codes]:
    """The distinct values without nulls, and (n,) each row's place among them, -1 where missing."""
    encoded = column
    if not is_numbered(column):
        encoded = canonical(countable(name, column)).dictionary_encode()
    index = encoded.indices
    if index.null_count:
        index = pc.fill_null(index, -1)
    return encoded.dictionary, index.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)


def is_numbered(column: pa.Array) -> bool:
    """Whether a column has the numbers of its different texts already, each of which occurs."""
    if not pa.types.is_dictionary(column.type) or not pa.types.is_string(column.type.value_type):
        return False
    texts = column.dictionary
    if texts.null_count or column.type.index_type != pa.int32() or len(texts) > len(column):
        return False
    codes = column.indices.drop_null() if column.indices.null_count else column.indices
    return all_occur(codes.to_numpy(zero_copy_only=False), len(texts)) and len(texts) == len(
        pc.unique(texts)
    )


def all_occur(codes: npt.NDArray[np.integer], size: int) -> bool:
    """Whether every number below `size` is among the codes, all of which are below it."""
    used = np.zeros(size, np.bool_)
    for begin in range(0, len(codes), AT_ONCE):  # mostly, all occur among the first ones
        used[codes[begin : begin + AT_ONCE]] = True
        if used.all():
            return True
    return size == 0


def canonical(column: pa.Array) -> pa.Array:
    """The column with one representation of each value: NaN is missing, -0 is 0."""
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), None, pc.add(column, pa.scalar(0, column.type)))


def require_covered(what: str, covered: Bools, tally: Tally) -> None:
    """Raise a `HierarchyError` where some values are not covered; see `describe_uncovered`."""
    if description := describe_uncovered(what, covered, tally):
        raise HierarchyError(
            f"{description} Correct them in the table, add them to the hierarchy or list if there is "
            "one, or choose another treatment for the column."
        )


def describe_uncovered(what: str, covered: Bools, tally: Tally) -> str:
    """What is wrong with the values that are not covered, empty where all are.

    Values that many rows share are named; of the others only the row numbers are given.
    """
    if covered.all():
        return ""
    bad = np.flatnonzero(~covered)
    rows = int(tally.counts[bad].sum())
    common = bad[tally.counts[bad] >= COMMON]
    named = [f"'{text}'" for text in text_of(tally.values.take(pa.array(common[:5]))).to_pylist()]
    which = f" Among them: {listed(named)}." if named else ""
    if len(bad) == 1:
        what = next(what.replace(many, one, 1) for many, one in SINGULAR if what.startswith(many))
    return (
        f"Column '{tally.name}': {len(bad):,} distinct value{'s' if len(bad) > 1 else ''} in "
        f"{rows:,} row{'s' if rows > 1 else ''} {what}{tally.where(bad)}.{which}"
    )


def ordered_values(values: pa.Array, guess: bool) -> pa.Array | None:
    """The distinct values as numbers, dates or times, null where one cannot be read.

    With `guess` the result is None unless every value can be read without loss: texts such as zip
    codes with leading zeros stay texts. Without it the reading with the most values is taken.
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
    if guess and not pc.all(pc.match_substring_regex(values, "[0-9]")).as_py():
        return None  # neither a number nor a date
    best: pa.Array | None = None
    for reading in _readings(values, guess):
        if best is None or reading.null_count < best.null_count:
            best = reading
        if not best.null_count:
            break
    if guess and best is not None and (best.null_count or is_padded(values, best.type)):
        return None
    return best


def _readings(values: pa.Array, guess: bool) -> Iterator[pa.Array]:
    """Texts as numbers, as dates and as times."""
    yield parse_numbers(values, guess)
    for form in DATE_FORMATS:
        yield parse_dates(values, form)
    yield parse_times(values)


def is_padded(values: pa.Array, kind: pa.DataType) -> bool:
    """Whether reading some value as a number would lose its leading zeros."""
    return not pa.types.is_temporal(kind) and _any(pc.match_substring_regex(values, PADDED_NUMBER))


def _any(flags: pa.Array) -> bool:
    return bool(pc.any(flags).as_py())


def _matching(values: pa.Array, pattern: str) -> pa.Array:
    """The trimmed values that match, null elsewhere."""
    trimmed = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.match_substring_regex(trimmed, pattern), trimmed, None)


def parse_numbers(values: pa.Array, guess: bool) -> pa.Array:
    """Exact numbers; where that is impossible, none when it is a guess, else the nearest floats."""
    numbers = _matching(values, NUMBER)
    plain = pc.replace_substring_regex(numbers, r"^\+", "")
    if not _any(pc.invert(pc.match_substring_regex(numbers, WHOLE_NUMBER))):
        whole = whole_numbers(plain)
        return pa.nulls(len(plain), pa.int64()) if whole is plain else whole  # too long to read
    long = _any(pc.match_substring_regex(plain, LONG_NUMBER))
    scientific = _any(pc.match_substring_regex(plain, "[eE]"))
    if long and not scientific:
        exact = _decimals(plain)
        if exact is not None:
            return exact
    if guess and (long or _any(pc.match_substring_regex(plain, FAR_EXPONENT))):
        return pa.nulls(len(plain), pa.float64())
    # adding 0 makes one zero of 0 and -0
    return pc.add(plain.cast(pa.float64()), 0.0)


def _decimals(texts: pa.Array) -> pa.Array | None:
    """Numbers with more digits than a float has; None where they are too long for a decimal too."""
    places = pc.utf8_length(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))
    scale = pc.max(places).as_py()
    whole = pc.max(pc.utf8_length(pc.replace_substring_regex(texts, r"\..*$", ""))).as_py()
    return texts.cast(pa.decimal256(76, scale)) if whole + scale <= 75 else None


def parse_dates(texts: pa.Array, form: str) -> pa.Array:
    """Texts in a format such as `%d/%m/%Y` as dates or times; null where one is not such a date."""
    given = date_format(form)
    found = pc.extract_regex(pc.utf8_trim_whitespace(texts), given.pattern)
    if found.null_count == len(found):
        return pa.nulls(len(texts), pa.timestamp("us") if given.has_time else pa.date32())
    there = found.is_valid().to_numpy(zero_copy_only=False)

    def part(name: str, default: int = 0) -> Ints:
        if found.type.get_field_index(name) < 0:
            return np.full(len(texts), default, np.int64)
        digits = pc.struct_field(found, name)
        return pc.fill_null(digits.cast(pa.int64()), default).to_numpy(zero_copy_only=False)

    year = part("year")
    if "%y" in given.parts:
        short = part("short")
        year = short + np.where(short >= PIVOT, 1900, 2000)
    month, day = part("month"), part("day")
    if "%m" not in given.parts:
        names = pc.utf8_slice_codeunits(pc.utf8_lower(pc.struct_field(found, "name")), 0, 3)
        place = pc.index_in(names, pa.array(MONTHS, pa.string()))
        month = pc.fill_null(place, -1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    hour, minute, second = part("hour"), part("minute"), part("second")
    there = there & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    there &= (hour <= 23) & (minute <= 59) & (second <= 59)
    months = np.where(there, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    first = months.astype("datetime64[D]")
    there &= day <= ((months + np.timedelta64(1, "M")).astype("datetime64[D]") - first).astype(
        np.int64
    )
    days = first + np.where(there, day - 1, 0).astype("timedelta64[D]")
    if not given.has_time:
        return pa.array(days, pa.date32(), mask=~there)
    seconds = ((hour * 60 + minute) * 60 + second).astype("timedelta64[s]")
    moment = days.astype("datetime64[us]") + seconds
    if "%f" in given.parts:
        digits = pc.utf8_rpad(pc.struct_field(found, "fraction"), 6, "0")
        fraction = pc.fill_null(digits.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        moment += fraction.astype("timedelta64[us]")
    return pa.array(moment, pa.timestamp("us"), mask=~there)


def parse_times(values: pa.Array) -> pa.Array:
    """ISO dates with a time of day, without a zone."""
    iso = _matching(values, r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$")
    try:
        return iso.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return pa.nulls(len(values), pa.timestamp("us"))
