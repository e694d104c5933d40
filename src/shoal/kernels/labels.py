"""Labels of growing groups: what they cover, how wide they are, what one more value makes of them.

A label is, per column, a range of codes and, where the column generalises to sets, a set of bits.
Ranges are kept whole: a hierarchy's label spans all leaves of its node, and a range that holds the
missing value and another spans the column. A value then lies inside a label exactly when it changes
nothing.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import inlined, kernel

RANGE, SET, TREE = 0, 1, 2


class Columns(NamedTuple):
    """Per column, the tables from which the width of any label is read."""

    kind: npt.NDArray[np.int64]
    """(d,) RANGE, SET or TREE."""
    size: npt.NDArray[np.int64]
    """(d,) number of codes."""
    missing: npt.NDArray[np.int64]
    """(d,) RANGE: the code of the missing value, or -1."""
    weight: npt.NDArray[np.float64]
    """(d,) how much the column counts."""
    one: float
    """Width of a single value."""
    plus: float
    """What a range is wider than the way between its ends."""
    most: float
    """No range is wider."""
    base: npt.NDArray[np.int64]
    """(d + 1,) where the column's codes begin in `place` and in every table by code."""
    place: npt.NDArray[np.float64]
    """RANGE: where each code stands."""
    counted: npt.NDArray[np.float64]
    """SET, TREE: width of a label over 0..size values, from base + column on."""
    tree: npt.NDArray[np.int64]
    """(d,) TREE: where the column begins in the next two arrays."""
    levels: npt.NDArray[np.int64]
    """(d,) TREE: number of levels, the leaves' included."""
    first: npt.NDArray[np.int32]
    """TREE: the first leaf under the node above a code, at tree + level * size + code."""
    last: npt.NDArray[np.int32]
    """TREE: the last one."""
    word: npt.NDArray[np.int64]
    """(d + 1,) SET: where the column's bits begin among the words of a label."""


class Label(NamedTuple):
    """Labels of many groups; the first axis is the group."""

    low: npt.NDArray[np.int32]
    """(g, d) the smallest code; of a set of several values, -1."""
    high: npt.NDArray[np.int32]
    """(g, d) the largest code; of a set of several values, -1."""
    bits: npt.NDArray[np.uint64]
    """(g, words) the members of sets."""
    width: npt.NDArray[np.float64]
    """(g, d)"""


@inlined
def range_width(columns: Columns, j: int, low: int, high: int) -> float:
    """Width of a range or node that spans these codes."""
    if low == high:
        return columns.one
    base = columns.base[j]
    if columns.kind[j] == RANGE:
        return min(
            columns.most, columns.place[base + high] - columns.place[base + low] + columns.plus
        )
    return columns.counted[base + j + high - low + 1]


@inlined
def range_over(columns: Columns, j: int, low: int, high: int) -> tuple[int, int]:
    """The whole range or node over these codes."""
    if low == high:
        return low, high
    if columns.kind[j] == RANGE:
        if high == columns.missing[j]:
            low = 0
        return low, high
    size = columns.size[j]
    at = columns.tree[j] + low
    while columns.last[at] < high:
        at += size
    return columns.first[at], columns.last[at]


@inlined
def has(label: Label, g: int, word: int, code: int) -> bool:
    """Whether a set whose bits begin at `word` holds a code."""
    return (label.bits[g, word + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) != 0


@inlined
def inside(columns: Columns, label: Label, g: int, j: int, code: int) -> bool:
    """Whether the label already covers a code."""
    if columns.kind[j] == SET:
        return has(label, g, columns.word[j], code)
    return label.low[g, j] <= code <= label.high[g, j]


@inlined
def ones(word: np.uint64) -> int:
    """Number of bits that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def start_label(columns: Columns, label: Label, g: int, codes: npt.NDArray[np.int32]) -> None:
    """Make the label of one row."""
    label.bits[g, :] = 0
    for j in range(len(columns.kind)):
        code = codes[j]
        label.low[g, j] = label.high[g, j] = code
        label.width[g, j] = columns.one
        if columns.kind[j] == SET:
            label.bits[g, columns.word[j] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)


@kernel
def widen(columns: Columns, label: Label, g: int, codes: npt.NDArray[np.int32]) -> None:
    """Let the label cover one more row."""
    for j in range(len(columns.kind)):
        code = codes[j]
        if inside(columns, label, g, j, code):
            continue
        if columns.kind[j] == SET:
            label.bits[g, columns.word[j] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
            label.low[g, j] = label.high[g, j] = -1
            recount(columns, label, g, j)
        else:
            low, high = range_over(
                columns, j, min(label.low[g, j], code), max(label.high[g, j], code)
            )
            label.low[g, j], label.high[g, j] = low, high
            label.width[g, j] = range_width(columns, j, low, high)


@kernel
def recount(columns: Columns, label: Label, g: int, j: int) -> None:
    """Work out the width of a set of several values."""
    members = 0
    for at in range(columns.word[j], columns.word[j + 1]):
        members += ones(label.bits[g, at])
    label.width[g, j] = columns.counted[columns.base[j] + j + members]


@kernel
def unite(columns: Columns, label: Label, g: int, other: Label, h: int) -> None:
    """Let label g cover label h of another array as well."""
    for j in range(len(columns.kind)):
        if columns.kind[j] == SET:
            if label.low[g, j] >= 0 and label.low[g, j] == other.low[h, j]:
                continue
            for at in range(columns.word[j], columns.word[j + 1]):
                label.bits[g, at] |= other.bits[h, at]
            label.low[g, j] = label.high[g, j] = -1
            recount(columns, label, g, j)
        else:
            low = min(label.low[g, j], other.low[h, j])
            high = max(label.high[g, j], other.high[h, j])
            low, high = range_over(columns, j, low, high)
            label.low[g, j], label.high[g, j] = low, high
            label.width[g, j] = range_width(columns, j, low, high)


@kernel
def widths_with(
    columns: Columns, label: Label, g: int, j: int, widths: npt.NDArray[np.float64]
) -> None:
    """Per code of a column, the width of the label once it covers that code too."""
    base, size, now = columns.base[j], columns.size[j], label.width[g, j]
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    mine, first_leaf, last_leaf = widths[base : base + size], columns.first, columns.last
    if columns.kind[j] == SET:
        bits = label.bits[g, columns.word[j] : columns.word[j + 1]]
        members = 0
        for at in range(len(bits)):
            members += ones(bits[at])
        more = columns.counted[base + j + members + 1] if members < size else now
        mine[:] = more
        for at in range(len(bits)):
            left = bits[at]
            while left:
                mine[64 * at + ones((left & (~left + np.uint64(1))) - np.uint64(1))] = now
                left &= left - np.uint64(1)
        return
    low, high = label.low[g, j], label.high[g, j]
    mine[low : high + 1] = now
    if columns.kind[j] == RANGE:
        place, missing = columns.place[base : base + size], columns.missing[j]
        most, plus, top = columns.most, columns.plus, place[high]
        whole = min(most, place[max(missing, 0)] - place[0] + plus)
        if high == missing:
            mine[:low] = whole
            return
        for code in range(low):
            mine[code] = min(most, top - place[code] + plus)
        bottom = place[low]
        for code in range(high + 1, size):
            mine[code] = min(most, place[code] - bottom + plus)
        if missing >= 0:
            mine[missing] = whole
        return
    counted = columns.counted[base + j : base + j + size + 1]
    at = columns.tree[j] + low
    left, right = low, high
    while right - left + 1 < size:
        first, last = first_leaf[at], last_leaf[at]
        at += size
        if first >= left and last <= right:
            continue
        mine[first:left] = counted[last - first + 1]
        mine[right + 1 : last + 1] = counted[last - first + 1]
        left, right = first, last
