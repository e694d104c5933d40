"""Published labels read back: which raw values a label may stand for.

The counterpart of `labels`. In a label a backslash makes the character after it an ordinary one; what
is left bare (a star, a bracket, a comma) has a meaning.

Parsing is exact for every label that Shoal writes: the label of a row covers the row's own value, and a
label for one value covers nothing else. Ranges are also read in the forms of other tools (`[20, 30)`,
`20-30`, `>=65`). A text that is none of these, and no value or node of its column, covers nothing and is
counted as unread.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.columns import BOOLEANS, ColumnSpec, interval_ends
from shoal.encoding.values import ordered_values
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DATE, DateParts
from shoal.hierarchy.function import FunctionHierarchy
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.nested import NestedTree
from shoal.publish.labels import ANY, MISSING, escape_alone

Piece = tuple[str, bool]
"""A character, and whether it is bare."""
BACKSLASH = "\\"

Place = tuple[int, Decimal | int]
"""The sort of an ordered value (number, moment, time of day, duration), and its place among these.
Numbers are exact, times are whole nanoseconds. No range contains places of two sorts."""
NUMBER, MOMENT, CLOCK, DURATION = range(4)

IS_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?", re.ASCII)
_CLOCK = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
IS_CLOCK = re.compile(_CLOCK, re.ASCII)
IS_DAY = re.compile(r"(\d{1,4})([-/])(\d{1,2})\2(\d{1,2})", re.ASCII)
IS_GERMAN_DAY = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{1,4})", re.ASCII)
IS_MOMENT = re.compile(
    rf"(\d{{4}}-\d\d-\d\d)[T ]{_CLOCK}(Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
IS_DURATION = re.compile(rf"(-?)(\d+) days(?: {_CLOCK})?", re.ASCII)
NANOSECONDS = 10**9
DAY = 86_400 * NANOSECONDS

IS_ISO = re.compile(DATE)
IS_PART = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|-Q([1-4])|(s))?", re.ASCII)
IS_HALF_OPEN = re.compile(r"\[(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)\)", re.ASCII)
IN_BRACKETS = re.compile(r"([\[(])(.*)([\])])", re.S)
AT_ONE_END = re.compile(r"(<=|>=|<|>|≤|≥)\s*(.+)", re.S)
BETWEEN = ("..", "~", "–", " to ", "-")
"""What may separate the ends of a range; inside brackets also a comma or semicolon."""

NOTHING = (0, -1)
"""A span that holds no place."""


@dataclass(frozen=True)
class Range:
    """Two places and everything between them."""

    low: Any
    high: Any
    with_low: bool = True
    with_high: bool = True


@dataclass(frozen=True)
class Axis:
    """What orders the values of a column."""

    of: Literal["places", "numbers", "days", "list", "intervals"]
    """Numbers, dates and times; numbers alone, distinguished by their text; the days of dates; a list
    of values, or of intervals."""
    order: Sequence[str] = ()

    def place(self, text: str) -> Place | None:
        """The place of a value; None if it has none."""
        if self.order:
            return (NUMBER, self.order.index(text)) if text in self.order else None
        if self.of == "days":
            day = day_of(text[:10]) if IS_ISO.search(text) else None
            return None if day is None else (NUMBER, day)
        found = place_of(text)
        return None if found and self.of == "numbers" and found[0] != NUMBER else found

    def rounds(self, texts: Sequence[str]) -> bool:
        """Whether a column of these texts may have been read as floats, which keep 15 digits."""
        scientific = any("e" in text or "E" in text for text in texts)
        return self.of == "places" and scientific and any(len(text) > 15 for text in texts)

    def rounded(self, text: str) -> Place | None:
        """The place of a value as a float."""
        found = place_of(text)
        if found is None or found[0] != NUMBER:
            return found
        number = float(found[1])
        return (NUMBER, Decimal(repr(number))) if abs(number) != float("inf") else found


@dataclass(frozen=True)
class LabelCoverage:
    """Which of some values each label of a column covers.

    The last entry of `axis` is that of the missing value, so there is one more than there are values.
    """

    axis: Ints
    """(values + 1,) the place of each value; -1 where it has none."""
    rounded: Ints | None
    """The same for numbers as floats, where the column may have been read as floats."""
    low: Ints
    """(labels,) the first place that a label covers."""
    high: Ints
    """(labels,) the last one; below `low` where it covers none."""
    anything: Bools
    """(labels,) whether it covers every value and the missing one."""
    listed: Ints
    """(entries, 2) a value and a label that covers it by name, by value."""
    unread: Bools
    """(labels,) labels that could not be read."""

    @property
    def n_values(self) -> int:
        """Values, and the missing one."""
        return len(self.axis)

    def covers(self, begin: int = 0, end: int | None = None) -> Bools:
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

    def covers_pairs(self, values: Ints, labels: Ints) -> Bools:
        """(pairs,) whether each of some labels covers the value beside it."""
        low, high = self.low[labels], self.high[labels]
        found: Bools = self.anything[labels]
        for axis in (self.axis, self.rounded):
            if axis is not None:
                place = axis[values]
                found = found | ((place >= low) & (place <= high) & (place >= 0))
        n = len(self.low)
        by_name = self.listed[:, 0] * n + self.listed[:, 1]
        return found | np.isin(values * n + labels, by_name)

    def _inside(self, axis: Ints) -> Bools:
        place = axis[:, None]
        inside: Bools = (place >= self.low) & (place <= self.high) & (place >= 0)
        return inside


def parse_labels(
    name: str,
    labels: Sequence[str | None],
    values: Sequence[str],
    spec: ColumnSpec,
    folder: Path = Path(),
) -> LabelCoverage:
    """Match the different labels of a column with different raw values, both as text.

    `spec` is what the policy says about the column; where it says nothing, the labels or else the
    values decide. A missing label is None; no value is missing.
    """
    reader = _Reader(values, len(labels))
    if isinstance(spec.hierarchy, CsvFile | NestedTree | FunctionHierarchy):
        nodes = read_nodes(name, pa.array(values, pa.string()), spec.hierarchy, folder)
        reader.axis[:-1] = nodes.codes
        for i, label in enumerate(labels):
            if label is not None and (span := nodes.span(label)):
                reader.span(i, *span)
                if nodes.is_root(label):
                    reader.list(i, None)
            else:
                reader.word(i, label, None, known=False)
        return reader.done()
    axis = value_axis(labels, values, spec)
    if axis is not None:
        reader.put_on(axis)
    mask = spec.hierarchy.side if isinstance(spec.hierarchy, Mask) else None
    for i, label in enumerate(labels):
        places = None if label is None or axis is None else _range(label, axis, spec, reader)
        if places is not None:
            reader.between(i, places)
        elif label is None or not reader.masked(i, label, mask):
            reader.word(i, label, axis, known=axis is None)
    return reader.done()


def value_axis(
    labels: Sequence[str | None], values: Sequence[str], spec: ColumnSpec
) -> Axis | None:
    """How the values of a column are ordered; None where they are not."""
    if isinstance(spec.hierarchy, Mask):
        return None
    if isinstance(spec.hierarchy, DateParts):
        return Axis("days")
    if isinstance(spec.hierarchy, Intervals):
        return Axis("numbers")
    if spec.order is not None:
        is_cut = spec.from_categories and interval_ends(spec.order) is not None
        return Axis("intervals" if is_cut else "list", spec.order)
    if spec.kind == "ordered":
        return Axis("places", BOOLEANS if values and set(values) <= {*BOOLEANS} else ())
    if spec.kind is None and _looks_ordered(labels, values):
        return Axis("places")
    return None


def _looks_ordered(labels: Sequence[str | None], values: Sequence[str]) -> bool:
    bracketed = [pieces(label) for label in labels if label is not None and label[:1] in ("[", "{")]
    if any(enclosed(label, "[", "]") and len(split_at(label, "~")) == 2 for label in bracketed):
        return True
    if any(enclosed(label, "{", "}") for label in bracketed):
        return False
    return bool(values) and ordered_values(pa.array(values, pa.string()), guess=True) is not None


def _range(label: str, axis: Axis, spec: ColumnSpec, reader: "_Reader") -> Range | None:
    """The range that a label describes, if it is one and not a value."""
    if isinstance(spec.hierarchy, DateParts):
        found = date_part(label, "day" in spec.hierarchy.parts)
    elif axis.of == "intervals":
        return joined_intervals(label, axis)
    else:
        found = half_open(label) if axis.of == "numbers" else our_range(label, axis)
    return found if found or reader.is_value(label) else foreign_range(label, axis)


class _Reader:
    """Collects what each label covers."""

    def __init__(self, values: Sequence[str], n_labels: int) -> None:
        self.values = values
        self.code = {value: i for i, value in enumerate(values)}
        self.axis = np.full(len(values) + 1, -1, np.int64)
        self.rounded: Ints | None = None
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
        """A label for one value, for a set of values, or for anything.

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
                self.list(i, None if missing else join_pieces(member))
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
        """Read a label such as `0213*` as a mask, if it is one."""
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
            kept, hidden = join_pieces(found[begin:]), begin
        else:
            kept, hidden = join_pieces(found[: len(found) - end]), end
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

    def done(self) -> LabelCoverage:
        listed = np.array(sorted(self.entries), np.int64).reshape(-1, 2)
        low, high = self.spans.T.copy()
        return LabelCoverage(self.axis, self.rounded, low, high, self.anything, listed, self.unread)


def our_range(label: str, axis: Axis) -> Range | None:
    """`[a~b]`."""
    if label[:1] != "[":
        return None
    found = pieces(label)
    ends = split_at(found[1:-1], "~") if enclosed(found, "[", "]") else []
    if len(ends) != 2:
        return None
    low, high = (axis.place(join_pieces(end)) for end in ends)
    return None if low is None or high is None else Range(low, high)


def joined_intervals(label: str, axis: Axis) -> Range | None:
    """`(a, d]`, from the lower end of the interval `(a, b]` to the upper end of `(c, d]`."""
    lower, _, upper = label.partition(", ")
    ends = interval_ends(axis.order)
    if ends is None or lower not in ends[0] or upper not in ends[1]:
        return None
    return Range((NUMBER, ends[0].index(lower)), (NUMBER, ends[1].index(upper)))


def half_open(label: str) -> Range | None:
    """`[a-b)`, of a hierarchy of intervals."""
    found = IS_HALF_OPEN.fullmatch(label)
    if not found:
        return None
    low, high = (NUMBER, Decimal(found[1])), (NUMBER, Decimal(found[2]))
    return Range(low, high, with_high=False)


def date_part(label: str, days: bool) -> Range | None:
    """`1964-03`, `1964-Q1`, `1964` or `1960s`; `1964-03-07` if days are parts too."""
    found = IS_PART.fullmatch(label)
    if not found or (found[3] and not days):
        return None
    year, month = int(found[1]), int(found[2] or 1)
    if found[3]:
        day = day_of(label)
        return None if day is None else Range((NUMBER, day), (NUMBER, day))
    months = 1 if found[2] else 12
    if found[4]:
        month, months = int(found[4]) * 3 - 2, 3
    elif found[5]:
        year, months = year // 10 * 10, 120
    if not 1 <= month <= 12:
        return None
    return Range((NUMBER, _first(year, month)), (NUMBER, _first(year, month + months) - 1))


def _first(year: int, month: int) -> int:
    """The number of a month's first day, also beyond the years of the calendar."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if year < 1:
        return 0
    first = day_of(f"{min(year, 9999)}-{month:02}-01")
    assert first is not None
    return first + (366 if year > 9999 else 0)


def foreign_range(label: str, axis: Axis) -> Range | None:
    """`[20, 30)`, `20-30`, `20..30`, `>= 65`, `65+` and the like."""
    text = label.strip()
    if found := AT_ONE_END.fullmatch(text):
        end = axis.place(found[2])
        return None if end is None else _at_one_end(found[1], end)
    if text.endswith("+") and (end := axis.place(text[:-1])) is not None:
        return _at_one_end(">=", end)
    brackets = IN_BRACKETS.fullmatch(text)
    inner, separators = (brackets[2], (",", ";", *BETWEEN)) if brackets else (text, BETWEEN)
    with_low, with_high = (brackets[1] == "[", brackets[3] == "]") if brackets else (True, True)
    for left, right in _halves(inner, separators):
        low, high = axis.place(left.strip()), axis.place(right.strip())
        if low is not None and high is not None and low[0] == high[0] and low[1] <= high[1]:
            return Range(low, high, with_low, with_high)
    return None


def _at_one_end(sign: str, end: Place) -> Range:
    """Everything of the same sort on one side of a place."""
    closed = sign not in ("<", ">")
    if sign in ("<", "<=", "≤"):
        return Range((end[0],), end, with_high=closed)
    return Range(end, (end[0] + 1,), with_low=closed)


def _halves(text: str, separators: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A text cut in two at each separator, wherever it occurs."""
    for separator in separators:
        at = text.find(separator, 1)
        while at > 0:
            yield text[:at], text[at + len(separator) :]
            at = text.find(separator, at + 1)


@dataclass(frozen=True)
class Nodes:
    """What the labels of a hierarchy cover: the texts of its nodes, and of its leaves as published."""

    codes: Codes
    """(values,) the leaf of each value, or -1."""
    nodes: dict[str, tuple[int, int]]
    """The first and the last leaf under each node's text; of two equal texts the higher node counts."""
    leaves: dict[str, tuple[int, int]]
    """The same for the leaves, as they are published."""
    root: str
    texts: tuple[str, ...]
    """The raw text of each leaf."""

    def span(self, label: str) -> tuple[int, int] | None:
        """The first and the last leaf that a label covers; None if it is no node and no leaf."""
        return self.nodes.get(label) or self.leaves.get(label)

    def is_root(self, label: str) -> bool:
        """Whether a label covers the missing value too."""
        return label == self.root


def read_nodes(name: str, values: pa.Array, hierarchy: Hierarchy, folder: Path) -> Nodes:
    """The nodes of a hierarchy, and the leaves of some values."""
    tree, codes = hierarchy.build(values, name, folder)
    nodes: dict[str, tuple[int, int]] = {}
    several: set[str] = set()
    for level in range(1, tree.height + 1):
        first, last = tree.spans(level)
        for text, a, b in zip(tree.labels[level], first.tolist(), last.tolist(), strict=True):
            nodes[text] = (a, b)  # levels rise, so the widest stays
            if b > a:
                several.add(text)
    texts = escape_alone(pa.array(tree.labels[0], pa.string())).to_pylist()
    leaves = {f"\\{t}" if t in several else t: (i, i) for i, t in enumerate(texts)}
    # where a node over one leaf has the text of another leaf, the label is the leaf
    nodes = {text: span for text, span in nodes.items() if text in several or text not in leaves}
    return Nodes(codes, nodes, leaves, tree.labels[-1][0], tuple(tree.labels[0]))


def place_of(text: str) -> Place | None:
    """The place of a text that is a number, a date, a time or a duration, else None."""
    text = text.strip()
    if IS_NUMBER.fullmatch(text):
        return NUMBER, Decimal(text)
    day = day_of(text)
    if day is not None:
        return MOMENT, day * DAY
    if found := IS_CLOCK.fullmatch(text):
        return CLOCK, _nanoseconds(*found.groups())
    if found := IS_DURATION.fullmatch(text):
        sign, days, *clock = found.groups()
        length = int(days) * DAY + (_nanoseconds(*clock) if clock[0] else 0)
        return DURATION, -length if sign else length
    found = IS_MOMENT.fullmatch(text)
    day = day_of(found[1]) if found else None
    if found is None or day is None:
        return None
    _, *clock, zone = found.groups()
    return MOMENT, day * DAY + _nanoseconds(*clock) - _offset(zone)


def day_of(text: str) -> int | None:
    """The number of a day that is written as 1964-03-07, 1964/03/07 or 07.03.1964."""
    if found := IS_DAY.fullmatch(text):
        year, month, day = found[1], found[3], found[4]
    elif found := IS_GERMAN_DAY.fullmatch(text):
        day, month, year = found.groups()
    else:
        return None
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None


def _nanoseconds(hour: str, minute: str, second: str | None, part: str | None) -> int:
    seconds = (int(hour) * 60 + int(minute)) * 60 + int(second or 0)
    return seconds * NANOSECONDS + int((part or "").ljust(9, "0"))


def _offset(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    assert zone is not None
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return (-1 if zone[0] == "-" else 1) * minutes * 60 * NANOSECONDS


def pieces(text: str) -> list[Piece]:
    """The characters of a label; a backslash at the very end stands for itself."""
    if BACKSLASH not in text:
        return [(character, True) for character in text]
    found: list[Piece] = []
    at = 0
    while at < len(text):
        escaped = text[at] == BACKSLASH and at + 1 < len(text)
        at += escaped
        found.append((text[at], not escaped))
        at += 1
    return found


def join_pieces(found: Sequence[Piece]) -> str:
    """The characters alone."""
    return "".join(character for character, _ in found)


def unescaped(text: str) -> str:
    """The raw value of a label that stands for one value."""
    return join_pieces(pieces(text)) if BACKSLASH in text else text


def split_at(found: Sequence[Piece], separator: str) -> list[list[Piece]]:
    """The pieces between bare separators."""
    parts: list[list[Piece]] = [[]]
    for piece in found:
        if piece == (separator, True):
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def enclosed(found: Sequence[Piece], first: str, last: str) -> bool:
    """Whether a label begins and ends with these bare characters."""
    return len(found) >= 2 and found[0] == (first, True) and found[-1] == (last, True)


def stars(found: Sequence[Piece]) -> tuple[int, int]:
    """How many bare stars a label begins and ends with; if it is all stars, they are its end."""
    bare = [piece == ("*", True) for piece in found]
    end = 0
    while end < len(bare) and bare[-1 - end]:
        end += 1
    begin = 0
    while begin < len(bare) - end and bare[begin]:
        begin += 1
    return begin, end
