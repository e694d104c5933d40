"""What the labels of a column stand for, from the release and its policy alone.

A label stands for one value, for a range, for a set of values, for anything, or for a missing value.
Where the policy does not say whether a column is ordered, its labels do. Nothing is taken from the raw
table: this is what anybody who has the release and the policy can know.
"""

import re
from abc import ABC
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Bools, Ints
from shoal.decoding.value_types import category_type, typed
from shoal.encoding.columns import BOOLEANS, INTERVAL, ColumnSpec
from shoal.encoding.rules import ColumnRule
from shoal.errors import InputError, counted
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.function import FunctionHierarchy
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.nested import NestedTree
from shoal.publish.label_parser import (
    CLOCK,
    DAY,
    DURATION,
    MOMENT,
    NUMBER,
    Axis,
    Nodes,
    Place,
    Range,
    date_part,
    enclosed,
    foreign_range,
    half_open,
    join_pieces,
    pieces,
    place_of,
    read_nodes,
    split_at,
    stars,
    unescaped,
)
from shoal.publish.labels import ANY, MISSING

Exact: TypeAlias = Decimal | int
"""A number, or a time in whole nanoseconds or days."""
Sort: TypeAlias = Literal["number", "date", "moment", "clock", "duration"]
SORTS: dict[int, Sort] = {
    NUMBER: "number",
    MOMENT: "moment",
    CLOCK: "clock",
    DURATION: "duration",
}
VALUE, RANGE, SET, ANYTHING, GONE, MASKED = range(6)
"""What a label is: one value, a range, a set or node, anything, missing, or a text with hidden parts."""
FIRST_DAY = 719_163
"""The number of 1970-01-01, where days of Arrow begin."""
LONGEST_DECIMAL = 76
STATISTICS = ("midpoint", "mean", "median", "mode")
"""Forms of labels that are one value for a group, and need not be that of a row."""
STANDARD = re.compile(
    r"[+-]?(?!0\d)(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?"
    r"|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?"
    r"|\d\d:\d\d:\d\d(\.\d{1,9})?|-?\d+ days( .*)?",
    re.ASCII,
)
"""Numbers without leading zeros, dates and times as a release writes them."""


@dataclass(frozen=True)
class Meaning(ABC):
    """What the labels of one column stand for."""

    name: str
    labels: tuple[str | None, ...]
    """The different labels; None is the missing one."""
    state: npt.NDArray[np.int8]
    """(labels,) what each is."""
    statistic: str = field(default="", kw_only=True)
    """What the labels are of their group, such as `mean`; empty where they cover its values."""
    forms: ClassVar[tuple[str, ...]]
    """The forms that such a column can be decoded to."""

    @property
    def is_lossless(self) -> bool:
        """Whether every label stands for one value."""
        return bool(np.isin(self.state, (VALUE, GONE)).all())

    def values(self) -> pa.Array | None:
        """(labels,) the values of a column that lost nothing, in their type; None for others."""
        return None


@dataclass(frozen=True)
class Measured(Meaning):
    """Numbers, dates or times."""

    sort: Sort
    low: tuple[Exact | None, ...]
    """(labels,) the lowest value that a label may stand for; None where there is none."""
    high: tuple[Exact | None, ...]
    first: tuple[Exact | None, ...]
    """(labels,) the lowest value that is written in a label; rounding makes it differ from `low`."""
    last: tuple[Exact | None, ...]
    with_low: Bools
    """(labels,) whether a label includes its lowest value."""
    with_high: Bools
    tight: Bools
    """(labels,) whether both ends of a range are values of its class, as in `[46~49]`."""
    zoned: bool = False
    """Whether times have a zone; they are then in UTC."""
    whole: bool | None = None
    """Whether the values are known to be whole numbers, or known not to be; None where neither is."""
    forms: ClassVar[tuple[str, ...]] = (
        "midpoint",
        "bounds",
        "interval",
        "expected",
        "sample",
        "label",
    )

    def values(self) -> pa.Array | None:
        """The values of a column that lost nothing."""
        return self.typed(self.first) if self.is_lossless else None

    def typed(self, values: Sequence[Exact | None]) -> pa.Array:
        """Exact values in the narrowest type for all of them."""
        if self.sort == "number":
            return _numbers(values)
        if self.sort == "date":
            days = [None if value is None else int(value) - FIRST_DAY for value in values]
            return pa.array(days, pa.int32()).view(pa.date32())
        return self._times(values)

    def _times(self, values: Sequence[Exact | None]) -> pa.Array:
        first = FIRST_DAY * DAY if self.sort == "moment" else 0
        counts = [None if value is None else int(value) - first for value in values]
        fine = any(count is not None and count % 1000 for count in counts)
        unit, per = ("ns", 1) if fine else ("us", 1000)
        kinds = {
            "moment": pa.timestamp(unit, "UTC" if self.zoned else None),
            "clock": pa.time64(unit),
            "duration": pa.duration(unit),
        }
        whole = [None if count is None else count // per for count in counts]
        return pa.array(whole, pa.int64()).view(kinds[self.sort])

    @property
    def half_open(self) -> Bools:
        """(labels,) which are intervals without one of their ends, such as `[30-35)`."""
        return (self.state == RANGE) & ~(self.with_low & self.with_high)

    @property
    def is_whole(self) -> bool:
        """Whether the values are days or whole numbers.

        A number before the end of `[1-2)` need not be 1. So where there are such labels, the policy says
        that the values are whole, or at least two other labels do: `45`, or the ends of `[46~49]`.
        """
        ends = {end for end in (*self.first, *self.last) if end is not None}
        if self.sort not in ("number", "date") or any(end != int(end) for end in ends):
            return False
        if self.sort == "date" or self.whole is not None:
            return self.sort == "date" or bool(self.whole)
        if not self.half_open.any():
            return True
        exact = (self.state == VALUE) | self.tight
        pairs = zip(exact.tolist(), self.first, self.last, strict=True)
        return len({end for is_exact, *both in pairs if is_exact for end in both}) >= 2

    @property
    def closed(self) -> Literal["both", "left", "right"]:
        """Which ends all ranges include; `both` where they differ."""
        spans = self.state == RANGE
        others = bool((self.state == VALUE).any())
        if others or not spans.any() or (self.with_low[spans] & self.with_high[spans]).any():
            return "both"
        if self.with_low[spans].all():
            return "left"
        return "right" if self.with_high[spans].all() else "both"


@dataclass(frozen=True)
class Categories(Meaning):
    """Values of a list: sets, nodes of a tree, ranges of an ordered list."""

    texts: tuple[str, ...]
    """Every value that the policy or the release names, in order."""
    typed_values: pa.Array
    """The same in their type."""
    starts: Ints
    """(labels + 1,) where the entries of each label begin."""
    entries: Ints
    """The values that labels may stand for; the number of values stands for a missing one."""
    known_starts: Ints
    known: Ints
    """In the same form, values that every class with the label has: all members of a set."""
    unlisted: str = ""
    """Why the values behind some labels are not known; empty where they are."""
    forms: ClassVar[tuple[str, ...]] = ("label", "list", "indicators", "shares", "sample")

    @property
    def has_missing(self) -> bool:
        """Whether some label may stand for a missing value."""
        return bool((self.entries == len(self.texts)).any())

    def values(self) -> pa.Array | None:
        """The values of a column that lost nothing."""
        if not self.is_lossless:
            return None
        code = np.where(self.state == VALUE, self.entries[self.starts[:-1]], 0)
        return self.typed_values.take(pa.array(code, mask=self.state != VALUE))


@dataclass(frozen=True)
class Unlisted(Meaning):
    """Labels whose values neither the release nor its policy lists."""

    why: str
    forms: ClassVar[tuple[str, ...]] = ("label",)


def meaning_of(
    name: str,
    labels: Sequence[str | None],
    rows: Ints,
    spec: ColumnSpec,
    folder: Path = Path(),
) -> Meaning:
    """What the different labels of a column stand for.

    Parameters
    ----------
    name
        The column.
    labels
        Its different labels; None is the missing one.
    rows
        (labels,) how many rows have each, for messages.
    spec
        What the policy says about the column.
    folder
        Where relative paths of hierarchies start.

    Raises
    ------
    InputError
        If the policy cannot read some labels.
    """
    if spec.labels in STATISTICS:
        plain = replace(spec, labels="range", hierarchy=None)
        if spec.labels != "mode" and spec.order is None and not any(x != ANY for x in labels if x):
            plain = replace(plain, kind="ordered")  # of stars alone: what has a mean is a number
        found = meaning_of(name, labels, rows, plain)
        return replace(found, statistic=spec.labels)
    reader = _Labels(name, tuple(labels), rows, spec)
    if isinstance(spec.hierarchy, FunctionHierarchy):
        why = "its hierarchy is a function, which does not list the values under a label"
        return Unlisted(name, reader.labels, reader.simple_states(), why)
    if isinstance(spec.hierarchy, CsvFile | NestedTree):
        return reader.tree(read_nodes(name, pa.array([], pa.string()), spec.hierarchy, folder))
    if isinstance(spec.hierarchy, Intervals):
        return reader.measured(reader.place, "a number or an interval `[a-b)`")
    if isinstance(spec.hierarchy, DateParts):
        return reader.measured(reader.part_of_date, "a date or a part of one")
    if spec.order is not None:
        return reader.listed(spec.order)
    if spec.kind == "ordered" and reader.ends() and reader.ends() <= {*BOOLEANS}:
        return reader.listed(BOOLEANS)
    if isinstance(spec.rule, ColumnRule) and spec.kind != "unordered":
        return reader.measured(reader.ruled, "a number or a range of numbers")
    if spec.kind == "ordered":
        return reader.measured(reader.place, "a number, a date, or a range of these")
    declared = spec.reading.type in ("number", "date") and not reader.words()
    if spec.kind is None and spec.reading.type != "text" and (declared or reader.looks_measured()):
        return reader.measured(reader.place, "a number, a date, or a range of these")
    return reader.sets()


@dataclass(frozen=True)
class _Span:
    """A label of an ordered column: both ends as they are written, and what they may stand for."""

    sort: int
    first: Exact | None
    last: Exact | None
    low: Exact | None
    high: Exact | None
    with_low: bool = True
    with_high: bool = True
    tight: bool = False
    is_value: bool = False
    zoned: bool = False


class _Labels:
    """The labels of one column, read in the way that its policy asks for."""

    def __init__(
        self, name: str, labels: tuple[str | None, ...], rows: Ints, spec: ColumnSpec
    ) -> None:
        self.name, self.labels, self.rows, self.spec = name, labels, rows, spec

    def simple_states(self) -> npt.NDArray[np.int8]:
        """Labels of which only the missing ones and `*` are known."""
        found = [GONE if x is None else ANYTHING if x == ANY else SET for x in self.labels]
        return np.array(found, np.int8)

    def words(self) -> list[str]:
        """The labels that say something."""
        return [label for label in self.labels if label is not None and label != ANY]

    def ends(self) -> set[str]:
        """The values that are written in ranges, and those on their own."""
        found: set[str] = set()
        for label in self.words():
            halves = range_ends(label)
            found |= {unescaped(label)} if halves is None else {*halves}
        return found

    def looks_measured(self) -> bool:
        """Whether labels without a policy's word on them are numbers, dates or times."""
        words = self.words()
        if not words or any(enclosed(pieces(x), "{", "}") for x in words if x[:1] == "{"):
            return False
        if all(INTERVAL.fullmatch(label) for label in words):
            return all(self.place(label) is not None for label in words)
        if self.spec.labels == "uniform" and any(half_open(label) for label in words):
            # values that look so have a backslash: these are intervals that were made for decimals
            return all(half_open(label) or place_of(label) is not None for label in words)
        if any(range_ends(label) for label in words):
            return all(place_of(end) is not None for end in self.ends())
        return all(STANDARD.fullmatch(end) for end in self.ends())

    # ordered columns

    def place(self, label: str) -> _Span | None:
        """`46`, `[46~49]`, `[30-35)`, `(0, 20]`, or a range as other tools write it."""
        halves = range_ends(label)
        if halves is not None:
            low, high = place_of(halves[0]), place_of(halves[1])
            if low is None or high is None or low[0] != high[0]:
                return None
            zoned = any(_has_zone(half) for half in halves)
            return _Span(*_both(low, high), tight=True, zoned=zoned)
        value = place_of(unescaped(label))
        if value is not None:
            return _Span(*_both(value, value), is_value=True, zoned=_has_zone(label))
        decimals = half_open(label)
        if decimals is not None:
            return _from_range(decimals)
        return _interval_of_cut(label) or _foreign(label, "places")

    def part_of_date(self, label: str) -> _Span | None:
        """`1964-03` of a hierarchy."""
        found = date_part(label, days=False)
        if found is None:
            return self.place(label)
        low, high = found.low[1] * DAY, found.high[1] * DAY
        return _Span(MOMENT, low, high, low, high)

    def ruled(self, label: str) -> _Span | None:
        """Numbers that were rounded, or coded at an end."""
        rule = self.spec.rule
        assert isinstance(rule, ColumnRule), "the column has one"
        halves = range_ends(label)
        texts = halves or (unescaped(label),) * 2
        ends = [_end(text, rule) for text in texts]
        if any(end is None for end in ends):
            return None
        (first, low, _), (last, _, high) = (end for end in ends if end is not None)
        alone = halves is None
        return _Span(NUMBER, first, last, low, high, tight=not alone, is_value=alone)

    def measured(self, read: Callable[[str], _Span | None], allowed: str) -> Meaning:
        """The column as numbers, dates or times."""
        spans: list[_Span | None] = []
        unread = []
        for i, label in enumerate(self.labels):
            span = None if label is None or label == ANY else read(label)
            if span is None and label is not None and label != ANY:
                unread.append(i)
            if span is not None and not (span.first is None or span.last is None):
                unread += [i] if span.first > span.last else []
            spans.append(span)
        self.refuse(unread, allowed)
        sorts = {span.sort for span in spans if span is not None}
        if len(sorts) > 1:
            self.refuse([i for i, span in enumerate(spans) if span is not None], allowed)
        return self._measured(spans, SORTS[sorts.pop()] if sorts else "number")

    def _measured(self, spans: Sequence[_Span | None], sort: Sort) -> Measured:
        if sort == "moment" and all(span is None or _is_of_days(span) for span in spans):
            sort = "date"
            spans = [None if span is None else _in_days(span) for span in spans]
        state = [
            (GONE if label is None else ANYTHING) if span is None else _state_of(span)
            for label, span in zip(self.labels, spans, strict=True)
        ]
        whole, rule = None, self.spec.rule
        if isinstance(rule, ColumnRule) and rule.base is not None:
            whole = True if rule.base == int(rule.base) else None
        elif self.spec.labels == "uniform" and self.spec.hierarchy is None:
            # whole numbers are published as `[20~24]`, decimals as `[20-22.5)`
            open_ends = (span.with_low and span.with_high for span in spans if span is not None)
            whole = None if all(open_ends) else False
        return Measured(
            self.name,
            self.labels,
            np.array(state, np.int8),
            sort,
            tuple(None if span is None else span.low for span in spans),
            tuple(None if span is None else span.high for span in spans),
            tuple(None if span is None else span.first for span in spans),
            tuple(None if span is None else span.last for span in spans),
            np.array([span is None or span.with_low for span in spans], np.bool_),
            np.array([span is None or span.with_high for span in spans], np.bool_),
            np.array([span is not None and span.tight for span in spans], np.bool_),
            any(span is not None and span.zoned for span in spans),
            whole,
        )

    # categories

    def listed(self, order: Sequence[str]) -> Categories:
        """Values and ranges of an ordered list."""
        axis, unread = Axis("list", tuple(order)), []
        entries: list[Sequence[int]] = []
        known: list[Sequence[int]] = []
        state = self.simple_states()
        for i, label in enumerate(self.labels):
            halves = None if label is None else range_ends(label)
            texts = halves or (() if label is None else (unescaped(label),))
            places = [axis.place(text) for text in texts] if state[i] == SET else []
            if state[i] == SET and (not places or None in places):
                unread.append(i)
            codes = [int(place[1]) for place in places if place is not None]
            state[i] = state[i] if state[i] != SET else RANGE if halves else VALUE
            span = range(min(codes), max(codes) + 1) if codes else range(0)
            entries.append(_with_missing(span, state[i], len(order)))
            known.append(sorted(set(codes)) if halves else ())
        self.refuse(unread, "a value of its `order`, or a range of these")
        return self._categories(state, order, entries, known)

    def sets(self) -> Meaning:
        """Values and sets of an unordered column."""
        state = self.simple_states()
        members: list[Sequence[str | None]] = []
        for i, label in enumerate(self.labels):
            if label is None or state[i] == ANYTHING:
                members.append((None,) if label is None else ())
                continue
            found = pieces(label)
            if enclosed(found, "{", "}"):
                members.append(set_members(label))
            elif any(stars(found)):
                state[i] = MASKED
                members.append(())
            elif range_ends(label) is not None:
                why = "the order of its values is not in the policy, so nobody can list what is between"
                return Unlisted(self.name, self.labels, self.simple_states(), why)
            else:
                state[i] = VALUE
                members.append((unescaped(label),))
        values = sorted({m for some in members for m in some if m is not None})
        code: dict[str | None, int] = {value: i for i, value in enumerate(values)}
        code[None] = len(values)
        entries = [[code[m] for m in some] for some in members]
        known = [some if state[i] == SET else () for i, some in enumerate(entries)]
        found_categories = self._categories(state, values, entries, known)
        if (state == MASKED).any():
            why = "some of its labels hide characters, and the values behind them are not listed"
            return replace(found_categories, unlisted=why)
        return found_categories

    def tree(self, nodes: Nodes) -> Meaning:
        """Leaves and nodes of a tree."""
        state = self.simple_states()
        leaves = nodes.texts
        spans = [
            None if label is None or state[i] != SET else nodes.span(label)
            for i, label in enumerate(self.labels)
        ]
        unread = [i for i, span in enumerate(spans) if span is None and state[i] == SET]
        self.refuse(unread, "a leaf or a node of its hierarchy")
        entries: list[Sequence[int]] = []
        for i, (label, span) in enumerate(zip(self.labels, spans, strict=True)):
            if label is not None and nodes.is_root(label):
                state[i], span = ANYTHING, None
            if span is not None and span[0] == span[1]:
                state[i] = VALUE
            within = range(0) if span is None else range(span[0], span[1] + 1)
            entries.append(_with_missing(within, state[i], len(leaves)))
        numbers = self._numbers_of(nodes)
        if numbers is None:
            return self._categories(state, leaves, entries, [()] * len(entries))
        return self._measured([_over(numbers, codes, len(leaves)) for codes in entries], "number")

    def _numbers_of(self, nodes: Nodes) -> list[Exact] | None:
        """The leaves as numbers, where the tree cuts numbers into ranges such as `20-39`."""
        found = [place_of(leaf) for leaf in nodes.texts]
        numbers = [place[1] for place in found if place is not None and place[0] == NUMBER]
        padded = any(leaf != "0" and leaf[:1] == "0" and "." not in leaf for leaf in nodes.texts)
        if len(numbers) < len(nodes.texts) or padded or self.spec.reading.type == "text":
            return None
        if self.spec.reading.type == "number":
            return numbers
        for text, (a, b) in nodes.nodes.items():
            if a == b or nodes.is_root(text):
                continue
            span = _foreign(text, "numbers")
            within = numbers[a : b + 1]
            if span is None or span.low is None or span.high is None:
                return None
            if min(within) < span.low or max(within) > span.high:
                return None
        return numbers

    def _categories(
        self,
        state: npt.NDArray[np.int8],
        texts: Sequence[str],
        entries: Sequence[Sequence[int]],
        known: Sequence[Sequence[int]],
    ) -> Categories:
        column = pa.array(list(texts), pa.string())
        kind = category_type(column, self.spec.reading)
        return Categories(
            self.name,
            self.labels,
            state,
            tuple(texts),
            typed(column, kind, self.spec.reading),
            *_ragged(entries),
            *_ragged(known),
        )

    def refuse(self, unread: Sequence[int], allowed: str) -> None:
        """Raise `InputError` where some labels cannot be read."""
        if not unread:
            return
        rows = int(self.rows[list(unread)].sum())
        raise InputError(
            f"Column '{self.name}': {counted(len(unread), 'label')} in {counted(rows, 'row')} "
            f"cannot be read by the policy: none is {allowed}. Is this the policy that the release "
            "was made with?"
        )


def range_ends(label: str) -> tuple[str, str] | None:
    """The raw ends of `[a~b]`; None for any other label."""
    if label[:1] != "[":
        return None
    found = pieces(label)
    ends = split_at(found[1:-1], "~") if enclosed(found, "[", "]") else []
    return (join_pieces(ends[0]), join_pieces(ends[1])) if len(ends) == 2 else None


def set_members(label: str) -> list[str | None]:
    """The raw members of `{a, b}`; None is the missing value."""
    members: list[str | None] = []
    for position, part in enumerate(split_at(pieces(label)[1:-1], ",")):
        member = part[1:] if position and part[:1] == [(" ", True)] else part
        members.append(None if member == pieces(MISSING) else join_pieces(member))
    return members


def _both(low: Place, high: Place) -> tuple[int, Exact, Exact, Exact, Exact]:
    return low[0], low[1], high[1], low[1], high[1]


def _from_range(found: Range) -> _Span:
    """A range of other places; an end without a place is open."""
    low = found.low[1] if len(found.low) > 1 else None
    high = found.high[1] if len(found.high) > 1 else None
    return _Span(found.low[0], low, high, low, high, found.with_low, found.with_high)


def _foreign(label: str, of: Literal["places", "numbers"]) -> _Span | None:
    found = foreign_range(label, Axis(of))
    return None if found is None else _from_range(found)


def _interval_of_cut(label: str) -> _Span | None:
    """`(0, 20]` of a column that was cut; an end may be infinite."""
    match = INTERVAL.fullmatch(label)
    if match is None:
        return None
    texts = (match[1][1:].strip(), match[2][:-1].strip())
    ends = [None if text in ("-inf", "inf") else place_of(text) for text in texts]
    open_ends = (texts[0] == "-inf", texts[1] == "inf")
    known = [end for end in ends if end is not None]
    if not known or len(known) + sum(open_ends) < 2 or len({end[0] for end in known}) > 1:
        return None
    low, high = (None if end is None else end[1] for end in ends)
    closed = (label[0] == "[", label[-1] == "]")
    return _Span(known[0][0], low, high, low, high, *closed)


def _end(text: str, rule: ColumnRule) -> tuple[Exact, Exact | None, Exact | None] | None:
    """A number of a label with the lowest and the highest raw number that it may stand for."""
    half = Decimal(0) if rule.base is None else rule.base / 2
    if rule.top is not None and text == rule.top_label:
        return rule.top, _multiple(rule.top, rule.base, ROUND_CEILING) - half, None
    if rule.bottom is not None and text == rule.bottom_label:
        return rule.bottom, None, _multiple(rule.bottom, rule.base, ROUND_FLOOR) + half
    place = place_of(text)
    if place is None or place[0] != NUMBER:
        return None
    return place[1], place[1] - half, place[1] + half


def _multiple(number: Decimal, base: Decimal | None, rounding: str) -> Decimal:
    """The nearest multiple of a base from a number on."""
    if base is None:
        return number
    return (number / base).to_integral_value(rounding) * base


def _over(numbers: Sequence[Exact], codes: Sequence[int], missing: int) -> _Span | None:
    """The numbers of some leaves as a range; None for the root and the missing value."""
    known = [numbers[code] for code in codes if code < missing]
    if not known:
        return None
    low, high = min(known), max(known)
    return _Span(NUMBER, low, high, low, high, is_value=len(known) == 1)


def _is_of_days(span: _Span) -> bool:
    """Whether a range is from one day to another; midnights without a zone are written as days."""
    ends = (span.low, span.high)
    return not span.zoned and all(end is None or end % DAY == 0 for end in ends)


def _in_days(span: _Span) -> _Span:
    first, last, low, high = (
        None if end is None else end // DAY for end in (span.first, span.last, span.low, span.high)
    )
    return replace(span, first=first, last=last, low=low, high=high)


def _state_of(span: _Span) -> int:
    return VALUE if span.is_value and span.low == span.high == span.first else RANGE


def _with_missing(codes: Iterable[int], state: int, missing: int) -> Sequence[int]:
    return [missing] if state == GONE else list(codes)


def _ragged(parts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Lists of different lengths: where each begins, and all of them in a row."""
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    return starts, np.array([code for part in parts for code in part], np.int64)


def _has_zone(text: str) -> bool:
    """Whether a time is written with a zone."""
    clock = text.rpartition("T")[2]
    return "T" in text and ("Z" in clock or "+" in clock or "-" in clock)


def _numbers(values: Sequence[Exact | None]) -> pa.Array:
    """Whole numbers, floats where every number is one, decimals otherwise."""
    known = [Decimal(value) for value in values if value is not None]
    if all(value == value.to_integral_value() for value in known):
        if all(-(2**63) <= value < 2**63 for value in known):
            whole = [None if value is None else int(value) for value in values]
            return pa.array(whole, pa.int64())
    elif all(_is_float(value) for value in known):
        return _floats(values)
    scale = max((-int(value.normalize().as_tuple().exponent) for value in known), default=0)
    digits = max((value.adjusted() + 1 for value in known), default=0)
    scale = max(scale, 0)
    if max(digits, 1) + scale > LONGEST_DECIMAL:
        return _floats(values)
    kind = pa.decimal256(LONGEST_DECIMAL, scale)
    return pa.array([None if value is None else Decimal(value) for value in values], kind)


def _is_float(value: Decimal) -> bool:
    return Decimal(repr(float(value))) == value


def _floats(values: Sequence[Any]) -> pa.Array:
    return pa.array([None if value is None else float(value) for value in values], pa.float64())
