"""The forms of published labels: exact, a range and its width, one of so many values, or anything.

Labels are read by their text, as anybody may read them. Only what a text cannot say comes from the
policy or the column's domain: the nodes of a tree, the order of a list, and how dates are cut.
"""

from dataclasses import dataclass, field
from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Floats, Ints
from shoal.encoding.characters import FirstCharacters
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.rules import ColumnRule, Recoding
from shoal.encoding.zip_areas import ZipAreas
from shoal.evidence.detail import EXACT, HIDDEN, MASKED, ONE_OF, RANGE, WIDEST, FormCounts
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.tree import HierarchyTree
from shoal.publish.label_parser import (
    CLOCK,
    DAY,
    DURATION,
    MOMENT,
    NUMBER,
    Axis,
    Place,
    Range,
    date_part,
    enclosed,
    half_open,
    joined_intervals,
    our_range,
    pieces,
    place_of,
    split_at,
    stars,
    unescaped,
)
from shoal.publish.labels import ANY, leaf_texts

UNKNOWN = -1.0
"""The width of a range with an open end."""
HOUR = DAY // 24
UNITS = {NUMBER: (1, ""), MOMENT: (DAY, "days"), CLOCK: (HOUR, "hours"), DURATION: (DAY, "days")}
"""What the widths of ranges are counted in: the unit, and its name."""
FIRST_DAY = date(1970, 1, 1).toordinal()
"""The number of the day at which dates of Arrow begin."""
FORMS = pa.schema(
    [
        ("form", pa.int8()),
        ("size", pa.float64()),
        ("n", pa.int64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)
"""Labels by their form; see `FormCounts`."""


@dataclass(frozen=True)
class _Found:
    """What was found of some labels, one by one."""

    form: npt.NDArray[np.int8]
    size: Floats
    low: Floats
    high: Floats

    @staticmethod
    def exact(n: int) -> "_Found":
        """Labels that are exact, unless something else is found."""
        return _Found(np.full(n, EXACT, np.int8), np.zeros(n), *np.full((2, n), np.nan))

    def put(self, i: int, form: int, size: float, low: float, high: float) -> None:
        """What one label is."""
        self.form[i], self.size[i], self.low[i], self.high[i] = form, size, low, high

    def table(self, rows: Ints) -> pa.Table:
        """As `FORMS`; rows: how many have each label."""
        ends = (pa.array(one, from_pandas=True) for one in (self.low, self.high))
        columns = [pa.array(self.form), pa.array(_three_digits(self.size)), pa.array(rows), *ends]
        return pa.Table.from_arrays(columns, schema=FORMS)


@dataclass(frozen=True)
class LabelReader:
    """Reads the labels of one column. It can be sent to executors."""

    axis: Axis | None = None
    """What orders the values of an ordered column."""
    unit: str = ""
    """What widths are counted in, where the axis does not say it: `days` of dates by their parts."""
    dates: bool = False
    """Whether labels are parts of dates."""
    intervals: bool = False
    """Whether labels are intervals of a hierarchy."""
    leaves: dict[str, int] = field(default_factory=dict)
    """Of a tree, how many leaves are under each node, by its label; leaves have 1."""
    root: str = ANY
    """The label that says nothing."""
    mask: bool = False
    """Whether stars hide characters."""
    base: float | None = None
    """What values were rounded to before anything else."""
    shortened: bool = False
    """Whether a rule of the policy cut every value off, as zip codes to their area."""
    open_ends: tuple[str, ...] = ()
    """Labels such as `90+`, which a rule of the policy gives."""

    def forms(self, labels: pa.Array, rows: Ints) -> pa.Table:
        """The forms of different labels; rows: (m,) how many have each."""
        found = _Found.exact(len(labels))
        texts = labels.cast(pa.string())
        whole = _flags(pc.equal(texts, self.root)) | _flags(pc.equal(texts, ANY))
        found.form[whole] = HIDDEN
        rest = np.flatnonzero(~whole & _flags(texts.is_valid()))
        if self.leaves:
            self._nodes(texts, rest, found)
        else:
            self._by_text(texts.take(pa.array(rest)), rest, found)
        if self.shortened:
            found.form[found.form == EXACT] = MASKED
        return found.table(rows)

    def _nodes(self, texts: pa.Array, at: Ints, found: "_Found") -> None:
        under = np.array([self.leaves.get(texts[i].as_py(), 1) for i in at.tolist()], np.int64)
        found.form[at] = np.where(under > 1, ONE_OF, EXACT)
        found.size[at] = np.where(under > 1, under, 0)

    def _by_text(self, texts: pa.Array, at: Ints, found: "_Found") -> None:
        """Read labels; at: (n,) their places in what is found."""
        plain = ~_flags(pc.match_substring(texts, "\\"))
        is_set = plain & _flags(pc.match_substring_regex(texts, r"(?s)^\{.*\}$"))
        members = pc.count_substring(texts, ", ").to_numpy(zero_copy_only=False) + 1
        found.form[at[is_set]], found.size[at[is_set]] = ONE_OF, members[is_set]
        left = np.flatnonzero(~is_set)
        if self.axis is None and not (self.mask or self.open_ends or self.base):
            left = left[~plain[left]]  # what is no set is a value
        elif self._are_places(
            texts.take(pa.array(left[plain[left]])), at[left[plain[left]]], found
        ):
            left = left[~plain[left]]
        for i in left.tolist():
            found.put(at[i], *self._label(texts[i].as_py()))

    def _are_places(self, texts: pa.Array, at: Ints, found: "_Found") -> bool:
        """Read `[a~b]` and values at once; whether all are numbers, or all dates."""
        if self.axis is None or self.axis.of != "places" or self.axis.order or self.open_ends:
            return False
        ends = pc.extract_regex(texts, r"^\[(?P<a>[^~\[\]]+)~(?P<b>[^~\[\]]+)\]$")
        is_range = _flags(ends.is_valid())
        alone = pc.if_else(pa.array(is_range), None, texts)
        # a field of what does not match is empty, and null only by the struct around it
        places = (pc.coalesce(pc.struct_field(ends, name), alone) for name in ("a", "b"))
        low, high = map(_numbers, places)
        if low is None or high is None:
            return False
        found.low[at], found.high[at] = low, high
        with np.errstate(over="ignore"):
            wide = np.minimum(high - low, WIDEST)
        found.form[at], found.size[at] = np.where(is_range, RANGE, EXACT), wide
        if self.base is not None:
            found.form[at], found.size[at] = RANGE, np.maximum(wide, self.base)
        return True

    def _label(self, label: str) -> tuple[int, float, float, float]:
        """One label: its form, its size, and the places that it names."""
        nothing = float("nan")
        if label in self.open_ends:
            return RANGE, UNKNOWN, nothing, nothing
        for mark in self.open_ends:
            label = label.replace(mark, mark.strip("+≤"))
        span = self._range(label)
        if span is not None:
            a, b = self._number(span.low), self._number(span.high)
            # the width of what has no upper end of its own, as 30 days of a month
            wide = min(b - a, WIDEST) + (1 if self.dates else 0)
            return (RANGE, wide, a, b) if wide > int(self.dates) else (EXACT, 0.0, a, b)
        found = pieces(label)
        if enclosed(found, "{", "}"):
            return ONE_OF, len(split_at(found[1:-1], ",")), nothing, nothing
        if self.mask and any(stars(found)):
            hidden = sum(stars(found))
            return (HIDDEN if hidden == len(found) else MASKED), hidden, nothing, nothing
        place = None if self.axis is None else self.axis.place(unescaped(label))
        a = nothing if place is None else self._number(place)
        if self.base is not None:
            return RANGE, self.base, a, a
        return EXACT, 0.0, a, a

    def _range(self, label: str) -> Range | None:
        if self.dates:
            return date_part(label, days=True)
        if self.intervals:
            return half_open(label)
        if self.axis is None:
            return None
        if self.axis.of == "intervals":
            found = joined_intervals(label, self.axis)
            return None if found is None or found.low == found.high else found
        return our_range(label, self.axis) or half_open(label)

    def _number(self, place: Place) -> float:
        sort, value = place
        return float(value) / (1 if self._counts_positions else UNITS[sort][0])

    @property
    def _counts_positions(self) -> bool:
        """Whether places are positions in a list, or days."""
        return self.dates or (self.axis is not None and bool(self.axis.order))


def label_reader(spec: ColumnSpec, domain: Domain) -> LabelReader:
    """How the labels of a quasi-identifier are read.

    domain: what its codes mean. No value of it is needed but the nodes of a tree, and what orders a
    column.
    """
    base, ends = _rounding(spec.rule)
    shortened = isinstance(spec.rule, ZipAreas | FirstCharacters)
    if domain.kind == Kind.SET:
        return LabelReader(open_ends=ends, base=base, shortened=shortened)
    if domain.kind == Kind.RANGE:
        if domain.interval_ends is not None:
            order = tuple(domain.texts.drop_null().to_pylist())
            return LabelReader(Axis("intervals", order), "steps")
        if spec.order is not None or _is_listed(domain):
            order = tuple(domain.texts.drop_null().to_pylist())
            return LabelReader(Axis("list", spec.order or order), "steps")
        return LabelReader(Axis("places"), _unit_of(domain), base=base, open_ends=ends)
    tree = domain.hierarchy
    assert tree is not None
    root = tree.labels[-1][0]
    if isinstance(spec.hierarchy, Mask):
        return LabelReader(mask=True, root=root, shortened=shortened)
    if isinstance(spec.hierarchy, DateParts):
        return LabelReader(Axis("days"), "days", dates=True, root=root)
    if isinstance(spec.hierarchy, Intervals):
        return LabelReader(Axis("numbers"), intervals=True, root=root)
    return LabelReader(leaves=_leaves(domain, tree), root=root)


def _rounding(rule: Recoding | None) -> tuple[float | None, tuple[str, ...]]:
    """What values were rounded to, a year for dates, and the labels of open ends."""
    if not isinstance(rule, ColumnRule):
        return None, ()
    base = 1.0 if rule.year else None if rule.base is None else float(rule.base)
    return base, tuple(filter(None, (rule.top_label, rule.bottom_label)))


def _is_listed(domain: Domain) -> bool:
    """Whether an ordered column has an order of its own: that of a categorical."""
    return domain.size > (domain.missing >= 0) and _first_place(domain) is None


def _unit_of(domain: Domain) -> str:
    place = _first_place(domain)
    return "" if place is None else UNITS[place[0]][1]


def _first_place(domain: Domain) -> Place | None:
    """The place of a column's first value, which has the first code."""
    first = domain.texts.slice(0, 1).to_pylist()
    return None if not first or first[0] is None else place_of(first[0].strip("+≤"))


def _leaves(domain: Domain, tree: HierarchyTree) -> dict[str, int]:
    """How many leaves are under each label of a tree; of two equal texts the higher node counts."""
    leaf = np.arange(tree.n_leaves)
    found = dict.fromkeys(leaf_texts(domain, tree, leaf).drop_null().to_pylist(), 1)
    for level in range(1, tree.height + 1):
        first, last = tree.spans(level)
        for text, many in zip(tree.labels[level], (last - first + 1).tolist(), strict=True):
            if many > 1:
                found[text] = many
    return found


def counted_forms(table: pa.Table) -> list[FormCounts]:
    """The forms of labels, those of one form and size together; see `FORMS`."""
    keys = table.group_by(["form", "size"], use_threads=False)
    found = keys.aggregate([("n", "sum"), ("n", "count"), ("low", "min"), ("high", "max")])
    return forms_of(found.rename_columns(["form", "size", "n_rows", "n_labels", "low", "high"]))


def forms_of(table: pa.Table) -> list[FormCounts]:
    """The same from a table that has them together."""
    found = [
        FormCounts(
            int(one["form"]),
            float(one["size"]),
            int(one["n_rows"]),
            int(one["n_labels"]),
            None if one["low"] is None else float(one["low"]),
            None if one["high"] is None else float(one["high"]),
        )
        for one in table.to_pylist()
    ]
    return sorted(found, key=lambda one: (one.form, one.size))


def _numbers(texts: pa.Array) -> Floats | None:
    """(n,) the places of texts that are all numbers or all dates, else None."""
    for kind, first in ((pa.float64(), 0), (pa.date32(), FIRST_DAY)):
        try:
            found = texts.cast(kind)
        except pa.ArrowInvalid:
            continue
        if pa.types.is_date(kind):
            found = found.view(pa.int32())
        places: Floats = found.cast(pa.float64()).to_numpy(zero_copy_only=False) + first
        return places
    return None


def _flags(values: pa.Array) -> Bools:
    flags: Bools = pc.fill_null(values, False).to_numpy(zero_copy_only=False).astype(np.bool_)
    return flags


def _three_digits(sizes: Floats) -> Floats:
    """Sizes rounded to three digits, so that there are few different ones."""
    different, place = np.unique(sizes, return_inverse=True)
    return np.array([float(f"{one:.3g}") for one in different.tolist()], np.float64)[place]
