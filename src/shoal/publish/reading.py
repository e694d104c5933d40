"""Labels read back: which raw values a published text may stand for.

The counterpart of `labels` and `escape`. It is exact for every label that Shoal writes: the label of a
row covers the row's own value, and a label that stands for one value covers nothing else. Of other
tools' labels it also knows ranges (`[20, 30)`, `20-30`, `>=65`). A text that is none of these and no
value or node of its column covers nothing, and is counted.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.parse import ordered_values
from shoal.cells.table import How
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.explicit import Tree
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.publish._forms import Axis, Range, date_part, foreign_range, half_open, our_range
from shoal.publish._nodes import read_nodes
from shoal.publish.escape import ANY, MISSING
from shoal.publish.unescape import enclosed, pieces, plain, split_at, stars, unescaped

NOTHING = (0, -1)
"""A span that holds no place."""


@dataclass(frozen=True)
class Reading:
    """What the labels of one column cover among some values.

    The last place of `axis` is that of the missing value, so there is one more than there are values.
    """

    axis: npt.NDArray[np.int64]
    """(values + 1,) where each value stands; -1 where it has no place."""
    rounded: npt.NDArray[np.int64] | None
    """The same for numbers taken as floats, where a column of such may have been read so."""
    low: npt.NDArray[np.int64]
    """(labels,) the first place that a label covers."""
    high: npt.NDArray[np.int64]
    """(labels,) the last one; below `low` where it covers none."""
    anything: npt.NDArray[np.bool_]
    """(labels,) whether it covers every value and the missing one."""
    listed: npt.NDArray[np.int64]
    """(entries, 2) a value and a label that covers it by name, by value."""
    unread: npt.NDArray[np.bool_]
    """(labels,) texts that could not be read."""

    @property
    def n_values(self) -> int:
        """Values, and the missing one."""
        return len(self.axis)

    def covers(self, begin: int = 0, end: int | None = None) -> npt.NDArray[np.bool_]:
        """(values, labels) whether each of the values begin..end is covered by each label."""
        end = self.n_values if end is None else end
        found = self._inside(self.axis[begin:end])
        if self.rounded is not None:
            found |= self._inside(self.rounded[begin:end])
        found |= self.anything
        first, last = np.searchsorted(self.listed[:, 0], [begin, end])
        entries = self.listed[first:last]
        found[entries[:, 0] - begin, entries[:, 1]] = True
        return found

    def _inside(self, axis: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        place = axis[:, None]
        inside: npt.NDArray[np.bool_] = (place >= self.low) & (place <= self.high) & (place >= 0)
        return inside


def read(
    name: str,
    labels: Sequence[str | None],
    values: Sequence[str],
    how: How,
    folder: Path = Path(),
) -> Reading:
    """Read the different labels of a column against different raw values, both as text.

    `how` is what the policy says of the column; a column of which it says nothing is taken as the
    labels, or else the values, suggest. Missing is None among labels; values hold none.
    """
    reader = _Reader(values, len(labels))
    if isinstance(how.hierarchy, CsvFile | Tree):
        nodes = read_nodes(name, pa.array(values, pa.string()), how.hierarchy, folder)
        reader.axis[:-1] = nodes.codes
        for i, label in enumerate(labels):
            if label is not None and (span := nodes.span(label)):
                reader.span(i, *span)
                if nodes.is_root(label):
                    reader.list(i, None)
            else:
                reader.word(i, label, None, known=False)
        return reader.done()
    axis = _axis(labels, values, how)
    if axis is not None:
        reader.put_on(axis)
    mask = how.hierarchy.mask if isinstance(how.hierarchy, Mask) else None
    for i, label in enumerate(labels):
        spelled = None if label is None or axis is None else _range(label, axis, how, reader)
        if spelled is not None:
            reader.between(i, spelled)
        elif label is None or not reader.masked(i, label, mask):
            reader.word(i, label, axis, known=axis is None)
    return reader.done()


def _axis(labels: Sequence[str | None], values: Sequence[str], how: How) -> Axis | None:
    """How the values of a column are ordered; None where they are not."""
    if isinstance(how.hierarchy, Mask):
        return None
    if isinstance(how.hierarchy, DateParts):
        return Axis("days")
    if isinstance(how.hierarchy, Intervals):
        return Axis("numbers")
    if how.order is not None:
        return Axis("list", how.order)
    if how.kind == "ordered":
        return Axis("places", ("false", "true")) if _only_booleans(values) else Axis("places")
    if how.kind is None and _looks_ordered(labels, values):
        return Axis("places")
    return None


def _only_booleans(values: Sequence[str]) -> bool:
    return len(values) > 0 and set(values) <= {"false", "true"}


def _looks_ordered(labels: Sequence[str | None], values: Sequence[str]) -> bool:
    taken = [pieces(label) for label in labels if label is not None and label[:1] in ("[", "{")]
    if any(enclosed(label, "[", "]") and len(split_at(label, "~")) == 2 for label in taken):
        return True
    if any(enclosed(label, "{", "}") for label in taken):
        return False
    return bool(values) and ordered_values(pa.array(values, pa.string()), guess=True) is not None


def _range(label: str, axis: Axis, how: How, reader: "_Reader") -> Range | None:
    """The range that a label spells, if it is one and no value of its own."""
    if isinstance(how.hierarchy, DateParts):
        found = date_part(label, "day" in how.hierarchy.date)
        return found if found or reader.is_value(label) else foreign_range(label, axis)
    found = half_open(label) if axis.of == "numbers" else our_range(label, axis)
    return found if found or reader.is_value(label) else foreign_range(label, axis)


class _Reader:
    """Gathers what each label covers."""

    def __init__(self, values: Sequence[str], n_labels: int) -> None:
        self.values = values
        self.code = {value: i for i, value in enumerate(values)}
        self.axis = np.full(len(values) + 1, -1, np.int64)
        self.rounded: npt.NDArray[np.int64] | None = None
        self.places: list[Any] = []
        self.spans = np.tile(np.array(NOTHING, np.int64), (n_labels, 1))
        self.anything = np.zeros(n_labels, np.bool_)
        self.unread = np.zeros(n_labels, np.bool_)
        self.entries: list[tuple[int, int]] = []
        self.prefixes: dict[tuple[str, int], dict[str, list[int]]] = {}

    def put_on(self, axis: Axis) -> None:
        """Give the values their places."""
        exact = [axis.place(value) for value in self.values]
        floats = [axis.rounded(value) for value in self.values] if axis.rounds(self.values) else []
        self.places = sorted({place for place in (*exact, *floats) if place is not None})
        rank = {place: i for i, place in enumerate(self.places)}
        self.axis[:-1] = [-1 if place is None else rank[place] for place in exact]
        if floats:
            self.rounded = np.full(len(self.axis), -1, np.int64)
            self.rounded[:-1] = [-1 if place is None else rank[place] for place in floats]

    def is_value(self, label: str) -> bool:
        return unescaped(label) in self.code

    def between(self, i: int, span: Range) -> None:
        """The label covers the places of a range."""
        first = (bisect_left if span.with_low else bisect_right)(self.places, span.low)
        after = (bisect_right if span.with_high else bisect_left)(self.places, span.high)
        self.span(i, first, after - 1)

    def span(self, i: int, first: int, last: int) -> None:
        self.spans[i] = first, last

    def list(self, i: int, value: str | None) -> bool:
        """The label covers a value by name; whether there is such a value."""
        code = len(self.values) if value is None else self.code.get(value, -1)
        if code >= 0:
            self.entries.append((code, i))
        return code >= 0

    def word(self, i: int, label: str | None, axis: Axis | None, known: bool) -> None:
        """A label that stands for one value, for a set of them, or for anything.

        known: whether any text may be a value of the column.
        """
        if label is None or label == ANY:
            self.anything[i] = label == ANY
            self.list(i, None)
            return
        found = pieces(label) if label[:1] == "{" else []
        if enclosed(found, "{", "}"):
            for position, part in enumerate(split_at(found[1:-1], ",")):
                member = part[1:] if position and part[:1] == [(" ", True)] else part
                missing = member == pieces(MISSING)
                self.list(i, None if missing else plain(member))
            return
        value = unescaped(label)
        read = self.list(i, value) or known
        place = axis.place(value) if axis is not None else None
        if place is not None:
            read = True
            if axis is not None and axis.of == "places":
                self.between(i, Range(place, place))
        self.unread[i] = not read

    def masked(self, i: int, label: str, side: str | None) -> bool:
        """Take a label such as `0213*` as a mask, if it is one."""
        if ANY not in label or label == ANY:
            return False
        found = pieces(label)
        begin, end = stars(found)
        if not begin + end or (side is None and begin and end):
            return False
        left = side == "left" if begin and end else bool(begin)
        if begin + end == len(found):
            kept, hidden = "", len(found)
        elif left:
            kept, hidden = plain(found[begin:]), begin
        else:
            kept, hidden = plain(found[: len(found) - end]), end
        for code in self._with(kept, left):
            if len(self.values[code]) <= len(kept) + hidden:
                self.entries.append((code, i))
        return True

    def _with(self, kept: str, left: bool) -> Sequence[int]:
        """The values that begin (or end) with some characters."""
        key = ("left" if left else "right", len(kept))
        if key not in self.prefixes:
            groups = self.prefixes.setdefault(key, {})
            for code, value in enumerate(self.values):
                part = value[len(value) - len(kept) :] if left else value[: len(kept)]
                if len(value) >= len(kept):
                    groups.setdefault(part, []).append(code)
        return self.prefixes[key].get(kept, ())

    def done(self) -> Reading:
        listed = np.array(sorted(self.entries), np.int64).reshape(-1, 2)
        low, high = self.spans.T.copy()
        return Reading(self.axis, self.rounded, low, high, self.anything, listed, self.unread)
