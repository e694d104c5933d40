"""How often the values of a raw column occur, without naming any that few rows share."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.arrow import one_chunk

COMMON = 10
"""A value is named where at least as many rows share it."""
MOST_BARS = 12
"""Bars of one column; the other values are counted together."""
NUMBERS = 0.9
"""The share of values that are numbers from which a column of texts is shown as ranges."""


@dataclass(frozen=True)
class ValueBar:
    """A value, or a range of numbers, and how many rows have it."""

    label: str
    rows: int


@dataclass(frozen=True)
class ValueCounts:
    """The values of a column."""

    bars: tuple[ValueBar, ...]
    """The most common values first, or ranges of numbers in their order."""
    ranges: bool
    """Whether the bars are ranges of numbers."""
    distinct: int
    missing: int
    """Rows without a value."""
    hidden_values: int
    """Values that are in no bar: too few rows share them, or too many others are more common."""
    hidden_rows: int
    """The rows with such values."""


def value_counts(column: pa.Array | pa.ChunkedArray, rare: bool = False) -> ValueCounts:
    """Count the values of a column; `rare`: name also those that few rows share."""
    values = one_chunk(column) if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    texts = values.cast(pa.string())
    counted = texts.drop_null().value_counts()
    names, rows = counted.field("values"), counted.field("counts").to_numpy()
    least = 1 if rare else COMMON
    missing = int(values.null_count)
    if len(names) > MOST_BARS and (ranges := _ranges(names, rows, least)) is not None:
        return ValueCounts(
            ranges, True, len(names), missing, 0, int(rows.sum()) - sum(bar.rows for bar in ranges)
        )
    order = np.lexsort((np.array(names.to_pylist(), object), -rows))
    shown = [i for i in order if rows[i] >= least][:MOST_BARS]
    bars = tuple(ValueBar(names[int(i)].as_py(), int(rows[i])) for i in shown)
    return ValueCounts(
        bars,
        False,
        len(names),
        missing,
        len(names) - len(bars),
        int(rows.sum()) - sum(bar.rows for bar in bars),
    )


def _ranges(names: pa.Array, rows: np.ndarray, least: int) -> tuple[ValueBar, ...] | None:
    """Equally wide ranges that hold enough rows, where the values are numbers."""
    plain = pc.match_substring_regex(names, r"^\s*[-+]?[0-9]{1,15}(\.[0-9]+)?\s*$")
    # codes such as 02138 are no numbers to make ranges of
    coded = pc.any(pc.match_substring_regex(names, r"^\s*0[0-9]")).as_py()
    mask = plain.to_numpy(zero_copy_only=False)
    if coded or rows[mask].sum() < NUMBERS * rows.sum():
        return None
    numbers = pc.utf8_trim_whitespace(names.filter(plain)).cast(pa.float64()).to_numpy()
    edges = np.linspace(numbers.min(), numbers.max(), MOST_BARS + 1)
    which = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, MOST_BARS - 1)
    sums = np.bincount(which, rows[mask], MOST_BARS).astype(int)
    return tuple(
        ValueBar(f"{edges[i]:.4g} to {edges[i + 1]:.4g}", int(sums[i]))
        for i in range(MOST_BARS)
        if sums[i] >= least
    )
