"""A column's distribution before and after in a few bars, none of which stands for few people.

Numbers and dates are put into bins with round edges, so that bins show no value of the table. Which bar
a value belongs to follows from the input alone, so the rows of a release can be counted in parts that
are added up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Floats, Ints
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.values import COMMON, ordered_values
from shoal.evidence.evidence import Bar

MOST_BINS = 10
"""About this many bins between the ends."""
ENDS = (0.02, 0.98)
"""The rows outside of these shares fall into the open bins at the ends."""
FAR = Decimal(10) ** 15
"""Numbers from here on are written with an exponent."""
EPOCH = date(1970, 1, 1)
MOST_BARS = 12
"""Besides those of others and of the missing value."""
MOST_ROWS = 0.75
"""A level of a hierarchy is shown if its bars hold this share of the rows."""
OTHERS, MISSING = "others", "missing"


@dataclass(frozen=True)
class Axis:
    """The numeric axis of a column's values, with the edges at which bins may begin."""

    at: Floats
    """(values,) the position of each value, in units."""
    step: Decimal
    """Edges are multiples of it."""
    whole: bool
    """Whether all positions are whole units."""
    format: Callable[[Decimal], str]
    """The text of an edge."""
    words: tuple[str, str] = ("under {}", "{} and over")

    def label(self, low: Decimal | None, high: Decimal | None) -> str:
        """The label of a bin; its upper edge does not belong to it."""
        if low is None and high is None:
            return "any value"
        if low is None:
            assert high is not None
            return self.words[0].format(self.format(high))
        if high is None:
            return self.words[1].format(self.format(low))
        if not self.whole:
            return f"{self.format(low)} to under {self.format(high)}"
        first, last = self.format(low), self.format(high - 1)
        return first if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class Bars:
    """The bars of a column; the last is for all other values."""

    labels: tuple[str, ...]
    place: npt.NDArray[np.int8]
    """(values,) the bar that each value belongs to."""
    before: tuple[float, ...]
    """The share of the input rows that each bar has."""
    lumped: int
    """How many values that occur are counted together as others."""

    def rows(self, after: npt.NDArray[np.number]) -> Floats:
        """(bars,) the published rows of each, from those of each value."""
        return np.bincount(self.place, after, len(self.labels)).astype(np.float64)

    def distribution(self, after: npt.NDArray[np.number]) -> tuple[Bar, ...]:
        """The distribution; `after` are the published rows of each bar."""
        shares = zip(self.labels, self.before, _shares(after).tolist(), strict=True)
        found = [Bar(label, was, now) for label, was, now in shares]
        return tuple(found[:-1] if not self.lumped and not found[-1].after else found)


def choose_bars(
    domain: Domain, rows: Ints, sensitive: bool = False, people: Ints | None = None
) -> Bars:
    """The bars of a column; `rows` are those of the input that hold each value.

    people: where people are counted, how many hold each value: what few of them share is not named.
    sensitive: numbers are put into bins even where the policy does not call the column ordered.
    """
    known = domain.size if domain.missing < 0 else domain.missing
    shared = rows if people is None else people
    before = shared[:known]
    bars = _tree(domain, before) if domain.kind == Kind.TREE else None
    if domain.kind == Kind.RANGE or (sensitive and domain.kind == Kind.SET):
        bars = _binned(domain, before, guess=domain.kind == Kind.SET)
    if bars is None:
        bars = _frequent_values(_text_at(domain), before, in_order=domain.kind == Kind.RANGE)
    labels, place = list(bars.labels), np.full(domain.size, -1, np.int64)
    place[:known] = bars.of_value
    if domain.missing >= 0 and shared[domain.missing] >= COMMON:
        place[domain.missing] = len(labels)
        labels.append(MISSING)
    place[place < 0] = len(labels)
    counts = np.bincount(place, rows.astype(np.float64), len(labels) + 1)
    lumped = int(((place == len(labels)) & (rows > 0)).sum())
    shares = tuple(_shares(counts).tolist())
    return Bars((*labels, OTHERS), place.astype(np.int8), shares, lumped)


@dataclass(frozen=True)
class _Choice:
    """Which bar each known value belongs to."""

    labels: list[str]
    of_value: Ints
    """(values,) -1 for others."""


def _frequent_values(text: Callable[[int], str], before: Ints, in_order: bool) -> _Choice:
    """The most frequent values by name; the rare ones and those too many are others."""
    common = np.flatnonzero(before >= COMMON)
    common = common[np.argsort(-before[common], kind="stable")][:MOST_BARS]
    if in_order:
        common = np.sort(common)
    of_value = np.full(len(before), -1, np.int64)
    of_value[common] = np.arange(len(common))
    return _Choice([_quoted(text(int(i))) for i in common], of_value)


def _quoted(text: str) -> str:
    """A value that reads like one of our own labels is quoted."""
    return f"'{text}'" if text in (OTHERS, MISSING) else text


def _text_at(domain: Domain) -> Callable[[int], str]:
    texts = domain.texts
    return lambda code: texts[code].as_py()  # only values that are shown are converted


def _tree(domain: Domain, before: Ints) -> _Choice:
    """The nodes of the lowest level on which a few of them hold most rows."""
    tree, known = domain.hierarchy, len(before)
    assert tree is not None
    for level in range(max(1, tree.height)):
        nodes = tree.nodes[level][:known].astype(np.int64)
        rows = np.bincount(nodes, before, len(tree.labels[level])).astype(np.int64)
        bars = _frequent_values(tree.labels[level].__getitem__, rows, in_order=True)
        of_value = bars.of_value[nodes]
        if before[of_value >= 0].sum() >= MOST_ROWS * before.sum():
            break
    return _Choice(bars.labels, of_value)


def _binned(domain: Domain, before: Ints, guess: bool) -> _Choice | None:
    """Bins with round edges; None where single values can be shown, or nothing else."""
    occurring = np.flatnonzero(before)
    if len(occurring) <= MOST_BARS and (before[occurring] >= COMMON).all():
        return None
    axis = axis_of(domain.texts.slice(0, len(before)), before, guess)
    if axis is None or (not guess and (np.diff(axis.at) < 0).any()):
        return None  # the policy orders these numbers otherwise, so they are labels
    edges = _edges(axis, before)
    ends: list[Decimal | None] = [None, *edges, None]
    labels = [axis.label(low, high) for low, high in pairwise(ends)]
    return _Choice(labels, _cut(axis, edges))


def _edges(axis: Axis, before: Ints) -> list[Decimal]:
    """Round edges, with enough rows in every bin."""
    low, high = ends_of(axis.at, before)
    first, last = (int(np.floor(end / float(axis.step))) for end in (low, high))
    if last - first > 2 * MOST_BARS:  # further apart than floats can count
        return []
    edges = [axis.step * k for k in range(first + 1, last + 1)]
    rows = np.bincount(_cut(axis, edges), before, len(edges) + 1)
    kept, inside = [], 0
    for edge, count in zip(edges, rows.tolist(), strict=False):
        inside += count
        if inside >= COMMON:
            kept.append(edge)
            inside = 0
    if kept and inside + rows[-1] < COMMON:
        kept.pop()
    return kept


def _cut(axis: Axis, edges: Sequence[Decimal]) -> Ints:
    at: Ints = np.searchsorted([float(edge) for edge in edges], axis.at, side="right")
    return at


def _shares(rows: npt.NDArray[np.number]) -> Floats:
    # the last digits of a float depend on the order of sums
    shares: Floats = np.round(rows / max(float(rows.sum()), 1.0), 9)
    return shares


def axis_of(texts: pa.Array, rows: npt.NDArray[np.integer], guess: bool) -> Axis | None:
    """The axis of a column's values, None where they are neither numbers nor dates."""
    values = ordered_values(texts, guess)
    if values is None or values.null_count:
        return None
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _dates(values.cast(pa.date32(), safe=False), rows)
    if pa.types.is_temporal(kind):
        return None
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        return None
    low, high = ends_of(numbers, rows)
    if not np.isfinite(high - low):
        return None
    whole = bool((numbers == np.rint(numbers)).all())
    step = round_step((high - low) / MOST_BINS)
    return Axis(numbers, max(step, Decimal(1)) if whole else step, whole, _number)


def _dates(days: pa.Array, rows: npt.NDArray[np.integer]) -> Axis:
    """In years, months or days, by the span of the values."""
    number = days.view(pa.int32()).to_numpy(zero_copy_only=False).astype(np.int64)
    moments = number.astype("datetime64[D]")
    months = moments.astype("datetime64[M]").astype(np.int64) + 1970 * 12
    words = ("before {}", "{} and later")
    low, high = ends_of(months.astype(np.float64), rows)
    if high - low >= 5 * 12:
        step = max(round_step((high - low) / 12 / MOST_BINS), Decimal(1))
        return Axis((months // 12).astype(np.float64), step, True, lambda y: f"{y:04f}", words)
    if high - low >= 3:
        step = next(Decimal(n) for n in (1, 3, 6) if (high - low) / n <= MOST_BINS + 2)
        return Axis(months.astype(np.float64), step, True, _month, words)
    low, high = ends_of(number.astype(np.float64), rows)
    step = next(Decimal(n) for n in (1, 7, 14) if (high - low) / n <= MOST_BINS + 2)
    return Axis(number.astype(np.float64), step, True, _day, words)


def ends_of(at: Floats, rows: npt.NDArray[np.integer]) -> tuple[float, float]:
    """The positions between which most rows lie."""
    order = np.argsort(at, kind="stable")
    upto = np.cumsum(rows[order])
    low, high = (at[order[np.searchsorted(upto, share * upto[-1])]] for share in ENDS)
    return (float(low), float(high)) if low < high else (float(at.min()), float(at.max()))


def round_step(width: float) -> Decimal:
    """The next of 1, 2, 5, 10, 20, 50 and so on, or of such parts of 1."""
    if width <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(int(np.floor(np.log10(width))))
    steps = (power * first for first in (1, 2, 5))
    return next((step for step in steps if float(step) >= width), power * 10)


def _number(edge: Decimal) -> str:
    if abs(edge) >= FAR:
        return f"{edge:.6g}"
    return f"{edge + 0:,f}" if edge == edge.to_integral() else f"{edge.normalize():,f}"


def _month(edge: Decimal) -> str:
    year, month = divmod(int(edge), 12)
    return f"{year:04}-{month + 1:02}"


def _day(edge: Decimal) -> str:
    return (EPOCH + timedelta(days=int(edge))).isoformat()
