"""What a column holds: codes for counting, and its type in words.

Texts are looked at as a policy's reader would: a file gives every column as text, and numbers or
dates among them are still numbers or dates.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.parse import PADDED, ordered_values
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.text import text_of

SAMPLE = 1000
"""So many values are looked at before all of them are."""
LONGEST_CODE = 12
"""Digits beyond this are no postal code or the like."""
DIGITS = rf"^[0-9]{{2,{LONGEST_CODE}}}$"


class Type(StrEnum):
    """What the values of a column are, in words."""

    EMPTY = "no values"
    BOOLEAN = "true or false"
    WHOLE = "whole numbers"
    DECIMAL = "decimal numbers"
    DATE = "dates"
    OTHER_DATE = "dates, not ISO"
    TIME = "times"
    CODE = "digit codes"
    TEXT = "text"
    OTHER = "other data"


@dataclass(frozen=True)
class Contents:
    """One column, counted."""

    name: str
    type: Type
    codes: npt.NDArray[np.integer]
    """(n,) equal values have equal codes, 0 .. size - 1; missing is a value of its own. Nothing where
    the rows are not at hand."""
    counts: npt.NDArray[np.int64]
    """(size,) rows of each code; those of missing values, if there are any, come last. With `times`:
    (m,) the different counts there are."""
    missing: int
    """Rows without a value."""
    text_length: float
    """Characters of the average different text; 0 for columns that hold no text."""
    longest_text: int
    """Characters of the longest; 0 for columns that hold no text."""
    can_be_ordered: bool
    """Whether every value is a finite number, a date or a time."""
    times: npt.NDArray[np.int64] | None = None
    """(m,) how many codes have each of the counts, where codes were counted elsewhere."""

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int((self.counts * self._times).sum())

    @property
    def size(self) -> int:
        """How many codes there are."""
        return int(self._times.sum())

    @property
    def distinct(self) -> int:
        """Different values; missing is none."""
        return self.size - bool(self.missing)

    @property
    def unique_rows(self) -> int:
        """Rows with a value that no other row has; missing values are alike."""
        return int(self._times[self.counts == 1].sum())

    @property
    def entropy(self) -> float:
        """How much the column tells about a row, in bits."""
        shares = self.counts / max(1, self.rows)
        return float(-(shares * np.log2(shares) * self._times).sum())

    @property
    def _times(self) -> npt.NDArray[np.int64]:
        return np.ones(len(self.counts), np.int64) if self.times is None else self.times


def contents_of(name: str, column: pa.ChunkedArray | pa.Array) -> Contents:
    """Count one column of a table."""
    values, index, nested = _encoded(column)
    known = index >= 0
    missing = len(index) - int(known.sum())
    codes = index if not missing else np.where(known, index, len(values))
    counts = np.bincount(codes, minlength=len(values) + bool(missing)).astype(np.int64)
    kind, ordered = (Type.OTHER, False) if nested else _type(values)
    length, longest = _lengths(values) if kind in (Type.TEXT, Type.CODE) else (0.0, 0)
    return Contents(name, kind, codes, counts, missing, length, longest, ordered)


def _encoded(
    column: pa.ChunkedArray | pa.Array,
) -> tuple[pa.Array, npt.NDArray[np.int64], bool]:
    """The distinct values, (n,) each row's place among them or -1, and whether only their Python
    text could be compared."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # too long for one array of its type
        column = pa.concat_arrays([c.cast(pa.large_string()) for c in column.chunks])
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        wide = column.cast(pa.float64())
        # not a number is not known, and zero has no sign
        column = pc.if_else(pc.is_nan(wide), None, pc.add(wide, 0.0))
    nested = False
    try:
        encoded = column.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        nested = True
        texts = [None if value is None else repr(value) for value in column.to_pylist()]
        encoded = pa.array(texts, pa.large_string()).dictionary_encode()
    index = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return encoded.dictionary, index.astype(np.int64), nested


def _lengths(texts: pa.Array) -> tuple[float, int]:
    lengths = pc.utf8_length(text_of(texts))
    return pc.mean(lengths).as_py(), pc.max(lengths).as_py()


def _type(values: pa.Array) -> tuple[Type, bool]:
    """The type in words, and whether the values can be ordered."""
    kind = values.type
    if not len(values):
        return Type.EMPTY, False
    if pa.types.is_boolean(kind):
        return Type.BOOLEAN, False
    if _is_text(kind):
        return _type_of_texts(values)
    if _is_other(kind):
        return Type.OTHER, False
    return _ordered_type(values, values)


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_other(kind: pa.DataType) -> bool:
    types = pa.types
    numbers = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    moments = types.is_date(kind) or types.is_time(kind) or types.is_timestamp(kind)
    return not (numbers or moments)


def _type_of_texts(texts: pa.Array) -> tuple[Type, bool]:
    texts = texts.cast(pa.string()) if pa.types.is_string_view(texts.type) else texts
    parsed = _parsed(texts.slice(0, SAMPLE))
    if len(texts) > SAMPLE and not parsed.null_count:
        # most texts are no numbers, and the first few tell; only if they do not, all are read
        parsed = _parsed(texts)
    if parsed.null_count:
        return Type.TEXT, False
    if not pa.types.is_temporal(parsed.type) and _any_match(texts, PADDED):
        return (Type.CODE if _all_match(texts, DIGITS) else Type.TEXT), False
    return _ordered_type(texts, parsed)


def _parsed(texts: pa.Array) -> pa.Array:
    """The texts as numbers, dates or times, null where one is none."""
    parsed = ordered_values(texts, guess=False)
    assert parsed is not None  # only a guess may have no answer
    return parsed


def _ordered_type(values: pa.Array, parsed: pa.Array) -> tuple[Type, bool]:
    kind = parsed.type
    if pa.types.is_time(kind):
        return Type.TIME, True
    if pa.types.is_temporal(kind):
        return (Type.DATE if _all_iso(values) else Type.OTHER_DATE), True
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return Type.WHOLE, True
    finite = pc.all(pc.is_finite(parsed.cast(pa.float64()))).as_py()
    whole = pa.types.is_floating(values.type) and finite and _all_whole(parsed)
    return (Type.WHOLE if whole else Type.DECIMAL), bool(finite)


def _all_whole(numbers: pa.Array) -> bool:
    """Frames without a type for gaps hold whole numbers as floats."""
    return bool(pc.all(pc.equal(pc.floor(numbers), numbers)).as_py())


def _all_iso(values: pa.Array) -> bool:
    """Whether date parts can be made of every value."""
    _, leaves = DateParts(("year",)).build(values, "", Path())
    return bool((leaves >= 0).all())


def _any_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())
