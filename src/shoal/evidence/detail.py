"""The detail of a release: what an analyst finds in its cells, counted from the published labels.

Normalised certainty penalty divides the size of a label by the size of its column: a set of 40 birthdays
of 3,650 costs 1 %, although nobody can compute with it. Here labels are counted by what they are: values
that are still exact, ranges by their width, sets by their members, and nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from shoal.errors import percent

WIDEST = 1e308
"""The width of what is wider than any number."""
EXACT, ONE_OF, RANGE, MASKED, HIDDEN = range(5)
"""The forms of labels: a value, one of several values (a set, or a node of a tree), a range, a value of
which characters are hidden, and anything."""
MANY_VALUES = 200
"""An unordered column with so many different values is published as sets that say little."""
MANY_MEMBERS = 10
"""A set of so many values says little."""


@dataclass(frozen=True)
class FormCounts:
    """Labels of one form and about one size."""

    form: int
    size: float
    """The members of a set or leaves of a node, the width of a range, to three digits."""
    rows: int
    labels: int
    """Different labels."""
    low: float | None = None
    """The lowest place that any of these labels names, in an ordered column."""
    high: float | None = None


@dataclass(frozen=True)
class Bin:
    """Cells of a column that say about as much."""

    key: str
    """For programs."""
    label: str
    rows: int


EVERY_BIN = {
    "exact": "exact",
    "one-of-2-3": "one of 2 or 3 values",
    "one-of-4-9": "one of 4 to 9 values",
    "one-of-many": "one of 10 or more values",
    "range-5": "range up to 5 % of the column",
    "range-20": "range up to 20 %",
    "range-50": "range up to half",
    "range-wide": "range over half",
    "masked": "partly hidden",
    "hidden": "anything (*)",
    "withheld": "row withheld",
}
"""The bins of a column, from the finest to nothing."""
ONE_OF_BINS = ((3, "one-of-2-3"), (MANY_MEMBERS - 1, "one-of-4-9"), (None, "one-of-many"))
RANGE_BINS = ((0.05, "range-5"), (0.2, "range-20"), (0.5, "range-50"), (None, "range-wide"))
SUMMARY = {
    "exact": ("exact",),
    "in ranges": ("range-5", "range-20", "range-50", "range-wide"),
    "partly hidden": ("masked",),
    "one of 2 to 9 values": ("one-of-2-3", "one-of-4-9"),
    "one of 10 or more values": ("one-of-many",),
    "hidden": ("hidden",),
    "withheld": ("withheld",),
}
"""The bins of all columns together in a few words."""


@dataclass(frozen=True)
class ColumnDetail:
    """What is published of one quasi-identifier."""

    rows: int
    """Published rows, and those withheld where they are counted."""
    bins: tuple[Bin, ...]
    """The cells by what they say, from the finest on; without empty bins."""
    labels: int
    """Different labels."""
    median_width: float | None = None
    """Half of the cells in ranges are in ranges of at most this width; None without ranges."""
    unit: str = ""
    """What widths are counted in: `days`, `hours`, `steps` of an order, or the column's own unit."""
    median_members: float | None = None
    """Half of the cells with one of several values are one of at most so many; None without such."""

    @property
    def exact(self) -> float:
        """The share of cells that are exact."""
        return self.share("exact")

    def share(self, *keys: str) -> float:
        """The share of the cells of some bins."""
        return sum(one.rows for one in self.bins if one.key in keys) / max(1, self.rows)

    @property
    def typical(self) -> str:
        """`8 years wide`, `one of 12`: what a cell that is not exact typically says."""
        found = []
        if self.median_width is not None:
            found.append(f"{_figure(self.median_width)} {self.unit} wide".replace("  ", " "))
        if self.median_members is not None:
            found.append(f"one of {_figure(self.median_members)}")
        found += ["partly hidden"] if self.share("masked") else []
        found += ["*"] if self.share("hidden") else []
        return ", ".join(found)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        bins = [asdict(one) for one in self.bins]
        return asdict(self) | {"exact": self.exact, "typical": self.typical, "bins": bins}


@dataclass(frozen=True)
class Detail:
    """What is published of all quasi-identifiers."""

    columns: dict[str, ColumnDetail] = field(default_factory=dict)
    """In the policy's order."""

    @property
    def exact(self) -> float:
        """The share of the cells in quasi columns that are exact."""
        return self.share("exact")

    def share(self, *keys: str) -> float:
        """The share of the cells of some bins, over all quasi columns."""
        columns = self.columns.values()
        if not columns:
            return float("exact" in keys)
        return sum(one.share(*keys) for one in columns) / len(columns)

    @property
    def summary(self) -> dict[str, float]:
        """The shares of all cells, in a few words; without empty ones, but always with `exact`."""
        shares = {words: self.share(*keys) for words, keys in SUMMARY.items()}
        return {words: share for words, share in shares.items() if share or words == "exact"}

    @property
    def words(self) -> str:
        """`31 % exact, 52 % in ranges, 17 % one of 10 or more values`."""
        return ", ".join(f"{percent(share)} {words}" for words, share in self.summary.items())

    def with_withheld(self, rows: int) -> "Detail":
        """The same with rows that were withheld, which say nothing."""
        return Detail({name: _with_withheld(one, rows) for name, one in self.columns.items()})

    def without_withheld(self) -> "Detail":
        """The same of the published rows alone."""
        return Detail({name: _published(one) for name, one in self.columns.items()})

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "exact": self.exact,
            "summary": [{"label": words, "share": n} for words, n in self.summary.items()],
            "columns": {name: one.to_dict() for name, one in self.columns.items()},
        }


def _with_withheld(column: ColumnDetail, rows: int) -> ColumnDetail:
    if not rows:
        return column
    gone = Bin("withheld", EVERY_BIN["withheld"], rows)
    return replace(column, rows=column.rows + rows, bins=(*column.bins, gone))


def _published(column: ColumnDetail) -> ColumnDetail:
    bins = tuple(one for one in column.bins if one.key != "withheld")
    return replace(column, rows=sum(one.rows for one in bins), bins=bins)


def column_detail(found: Sequence[FormCounts], unit: str = "") -> ColumnDetail:
    """The detail of a column from its labels.

    The width of the column is that between the lowest and the highest place that is published.
    """
    lows = [one.low for one in found if one.low is not None]
    highs = [one.high for one in found if one.high is not None]
    whole = min(max(highs) - min(lows), WIDEST) if lows and highs else 0.0
    rows = dict.fromkeys(EVERY_BIN, 0)
    for one in found:
        rows[_bin(one, whole)] += one.rows
    return ColumnDetail(
        rows=sum(one.rows for one in found),
        bins=tuple(Bin(key, EVERY_BIN[key], n) for key, n in rows.items() if n),
        labels=sum(one.labels for one in found),
        median_width=_median([one for one in found if one.form == RANGE and one.size >= 0]),
        unit=unit,
        median_members=_median([one for one in found if one.form == ONE_OF]),
    )


def _bin(one: FormCounts, whole: float) -> str:
    if one.form == ONE_OF:
        return next(key for most, key in ONE_OF_BINS if most is None or one.size <= most)
    if one.form == RANGE:
        share = one.size / whole if whole > 0 and one.size >= 0 else 1.0
        return next(key for most, key in RANGE_BINS if most is None or share <= most)
    return {EXACT: "exact", MASKED: "masked"}.get(one.form, "hidden")


def _median(found: Sequence[FormCounts]) -> float | None:
    """The least size that half of the rows have at most."""
    rows = sum(one.rows for one in found)
    below = 0
    for one in sorted(found, key=lambda one: one.size):
        below += one.rows
        if 2 * below >= rows:
            return one.size
    return None


def _figure(value: float) -> str:
    if value >= 1e15:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def many_values_warnings(values: Mapping[str, int]) -> Iterator[str]:
    """What to do about unordered columns with many values; values: how many each has."""
    for name, many in values.items():
        if many >= MANY_VALUES:
            yield (
                f"{name} is unordered and has {many:,} different values, so what is not exact is "
                "published as sets of exact values, which say little however small their loss looks. "
                "Give it a `hierarchy`; or `type: number` or `type: date`, with the format under "
                "`dates`, if its texts are such."
            )
