"""How often the values of a raw column occur, without naming any that few rows share."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.missing import is_declared
from shoal.evidence.bars import round_step
from shoal.io.arrow import one_chunk

COMMON = 10
"""A value is named where at least as many rows share it."""
MOST_BARS = 12
"""Bars of one column; the other values are counted together."""
NUMBERS = 0.9
"""The share of values that are numbers from which a column of texts is shown as ranges."""


@dataclass(frozen=True)
class ValueBar:
    """A value, a range of numbers or the beginning of codes, and how many rows have it."""

    label: str
    rows: int


@dataclass(frozen=True)
class ValueCounts:
    """The values of a column."""

    bars: tuple[ValueBar, ...]
    """The most common values first, or ranges of numbers or beginnings of codes in their order."""
    ranges: bool
    """Whether the bars are ranges of numbers or beginnings of codes."""
    distinct: int
    missing: int
    """Rows without a value."""
    hidden_values: int
    """Values that are in no bar: too few rows share them, or too many others are more common."""
    hidden_rows: int
    """The rows with such values."""


def value_counts(
    column: pa.Array | pa.ChunkedArray,
    rare: bool = False,
    missing: Sequence[str] = (),
    codes: bool = False,
) -> ValueCounts:
    """Count the values of a column.

    rare: name also those that few rows share. missing: codes that stand for a missing value. codes:
    digits are not numbers to make ranges of, but codes such as those of postal districts.
    """
    names, rows, without = rows_of_values(column, missing)
    least = 1 if rare else COMMON
    if len(names) > MOST_BARS:
        bars = _beginnings(names, rows, least) if codes else _ranges(names, rows, least)
        if bars is not None:
            hidden = int(rows.sum()) - sum(bar.rows for bar in bars)
            return ValueCounts(bars, True, len(names), without, 0, hidden)
    order = np.lexsort((np.array(names.to_pylist(), object), -rows))
    shown = [i for i in order if rows[i] >= least][:MOST_BARS]
    bars = tuple(ValueBar(names[int(i)].as_py(), int(rows[i])) for i in shown)
    return ValueCounts(
        bars,
        False,
        len(names),
        without,
        len(names) - len(bars),
        int(rows.sum()) - sum(bar.rows for bar in bars),
    )


def rows_of_values(
    column: pa.Array | pa.ChunkedArray, missing: Sequence[str] = ()
) -> tuple[pa.Array, Ints, int]:
    """(n,) the different texts of a column, (n,) the rows of each, and the rows without a value.

    missing: codes that stand for a missing value.
    """
    values = one_chunk(column) if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    counted = values.cast(pa.string()).drop_null().value_counts()
    names, rows = counted.field("values"), counted.field("counts").to_numpy()
    without = int(values.null_count)
    if missing:
        there = ~is_declared(names, missing)
        without += int(rows[~there].sum())
        names, rows = names.filter(pa.array(there)), rows[there]
    return names, rows, without


def _ranges(names: pa.Array, rows: Ints, least: int) -> tuple[ValueBar, ...] | None:
    """Equally wide ranges from round numbers that hold enough rows, where the values are numbers."""
    plain = pc.match_substring_regex(names, r"^\s*[-+]?[0-9]{1,15}(\.[0-9]+)?\s*$")
    # codes such as 02138 are no numbers to make ranges of
    coded = pc.any(pc.match_substring_regex(names, r"^\s*0[0-9]")).as_py()
    mask = plain.to_numpy(zero_copy_only=False)
    if coded or rows[mask].sum() < NUMBERS * rows.sum():
        return None
    numbers = pc.utf8_trim_whitespace(names.filter(plain)).cast(pa.float64()).to_numpy()
    whole = bool((numbers == np.floor(numbers)).all())
    step = round_step(float(numbers.max() - numbers.min()) / (MOST_BARS - 1))
    step = max(step, Decimal(1)) if whole else step
    first = int(np.floor(numbers.min() / float(step)))
    which = np.floor(numbers / float(step)).astype(int) - first
    sums = np.bincount(which, rows[mask]).astype(int)
    last = step - 1 if whole else step
    return tuple(
        ValueBar(_range(low := (first + i) * step, low + last), int(sums[i]))
        for i in range(len(sums))
        if sums[i] >= least
    )


def _range(low: Decimal, high: Decimal) -> str:
    """A range as people write it; one number where it holds no other."""
    return f"{low:f}" if low == high else f"{low:f} to {high:f}"


def _beginnings(names: pa.Array, rows: Ints, least: int) -> tuple[ValueBar, ...] | None:
    """As many first characters of codes as few bars can show, such as `71***`."""
    texts = [text.strip() for text in names.to_pylist()]
    for length in range(max(map(len, texts)) - 1, 0, -1):
        sums: Counter[str] = Counter()
        for text, count in zip(texts, rows.tolist(), strict=True):
            sums[text[:length] + "*" * (len(text) - length)] += count
        if len(sums) <= MOST_BARS:
            return tuple(ValueBar(one, n) for one, n in sorted(sums.items()) if n >= least)
    return None
