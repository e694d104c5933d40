"""Ways to make a column coarser, with what each would make of the column's own values.

Examples are never a rare value: a text that ten rows share at least, or a round number where most are.
"""

from dataclasses import dataclass
from math import floor
from typing import Any

from shoal.studio.tasks import COMMON, ColumnValues, Histogram

FEW = 40
"""Numbers with no more different values can be put into groups of one's own."""


@dataclass(frozen=True)
class Way:
    """A way to make a column coarser."""

    key: str
    title: str
    example: str
    """Where nothing is known of the column."""
    settings: dict[str, Any]
    """Of the column in a policy."""


WAYS = (
    Way("ranges", "Ranges that fit", "31 → [30~35]", {"kind": "ordered"}),
    Way(
        "steps",
        "Steps of equal width",
        "31 → [30-35) → [30-40)",
        {"hierarchy": {"intervals": [5, 10, 20]}},
    ),
    Way("sets", "Sets, or your own groups", "Italy → {France, Italy}", {"kind": "unordered"}),
    Way("right", "Hide the end", "02138 → 0213* → 021**", {"hierarchy": {"mask": "right"}}),
    Way("left", "Hide the beginning", "02138 → *2138 → **138", {"hierarchy": {"mask": "left"}}),
    Way(
        "dates",
        "Parts of a date",
        "1964-03-07 → 1964-03 → 1964",
        {"hierarchy": {"date": ["month", "year", "decade"]}},
    ),
)


def written(number: float) -> str:
    """A number as people write it, never as 4e+05."""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def common_values(found: ColumnValues) -> list[str]:
    """The values that many rows share, the most common first."""
    if found.rows is not None:
        return [value for value, rows in found.rows.items() if rows >= COMMON and value.strip()]
    return [] if found.bars.ranges else [bar.label for bar in found.bars.bars]


def parts_of_dates(found: Histogram | None) -> list[str]:
    """The parts that dates are made coarser by: decades say nothing of dates within one year."""
    if found is not None and found.of_years and len(found.rows) == 1 and found.width == 1:
        return ["month", "quarter", "year"]
    return ["month", "year", "decade"]


def fitting(found: ColumnValues, now: str) -> tuple[str, ...]:
    """The ways that fit the values of a column, and the one that it is made coarser by now."""
    histogram = found.histogram
    if histogram is not None and histogram.of_years:
        keys = {"ranges", "dates"}
    elif histogram is not None:
        keys = {"ranges", "steps"}
        if found.rows is not None and len(found.rows) <= FEW:
            keys.add("sets")
        if _are_codes(common_values(found)):
            keys |= {"right", "left"}
    elif _are_words(common_values(found)):
        keys = {"sets"}  # words without their last letter say the same, or nothing
    else:
        keys = {"sets", "right", "left"}
    if now in ("right", "left"):  # codes, though they look like numbers
        keys = {"sets", "right", "left"}
    return tuple(way.key for way in WAYS if way.key in keys | {now})


PARTS = {"month": "{0}-03", "quarter": "{0}-Q1", "year": "{0}", "decade": "{1}s"}
"""What becomes of the seventh of March."""
FOR = {"ranges": "for numbers and dates", "steps": "for numbers", "dates": "for dates"}
"""By way, the columns that it is for, where the values are others."""


def parts_in(settings: dict[str, Any]) -> list[str] | None:
    """The parts of dates that a column is made coarser by now."""
    hierarchy = settings.get("hierarchy")
    parts = hierarchy.get("date") if isinstance(hierarchy, dict) else None
    return [str(part) for part in parts] if isinstance(parts, list) else None


def widths_in(settings: dict[str, Any]) -> list[float] | None:
    """The widths of the steps by which a column is made coarser now, where they begin at 0."""
    hierarchy = settings.get("hierarchy")
    if not isinstance(hierarchy, dict) or "from" in hierarchy:
        return None
    widths = hierarchy.get("intervals")
    if not isinstance(widths, list):
        return None
    try:
        return [float(str(width)) for width in widths]
    except ValueError:
        return None


def example(
    way: Way,
    found: ColumnValues | None,
    parts: list[str] | None = None,
    widths: list[float] | None = None,
) -> str:
    """What a way makes of a common value of the column.

    parts, widths: those of dates and of steps in the policy.
    """
    if found is None:
        return way.example
    values, histogram = common_values(found), found.histogram
    if way.key in FOR and histogram is None:
        return FOR[way.key]
    if way.key in ("right", "left"):
        return " → ".join(masked(values[0], way.key)[:3]) if values else way.example
    if way.key == "sets":
        if len(values) < 2:
            return way.example
        return f"{values[0]} → {{{', '.join(sorted(values[:2]))}}}"
    if histogram is None or not histogram.rows:
        return way.example
    number = typical_number(histogram)
    if way.key == "dates" and histogram.of_years:
        year = int(number)
        known = [PARTS[one] for one in parts or parts_of_dates(histogram) if one in PARTS]
        levels = [one.format(year, year // 10 * 10) for one in known]
        return " → ".join([f"{year}-03-07", *levels])
    if way.key == "ranges":
        if histogram.of_years:
            year = int(number)
            return f"{year}-03-07 → [{year}-02-11~{year}-05-30]"
        low, high = number - histogram.width, number + 2 * histogram.width
        return f"{written(number)} → [{written(max(low, histogram.low))}~{written(high)}]"
    if way.key == "steps" and not histogram.of_years:
        proposed = [2 * histogram.width, 4 * histogram.width]
        labels = [_step(number, width) for width in (widths or proposed)[:3]]
        return " → ".join([written(number), *labels])
    return way.example


def typical_number(found: Histogram) -> float:
    """A round number (or a year) where most rows are: the beginning of the highest bar."""
    return found.low + found.width * found.rows.index(max(found.rows))


def beyond(found: Histogram) -> str:
    """A label for very high numbers of a column: `90+`."""
    rows, left = sum(found.rows), 0
    for place in reversed(range(len(found.rows))):
        left += found.rows[place]
        if left >= rows / 50:
            return f"{written(found.low + found.width * place)}+"
    return f"{written(found.high)}+"


def masked(value: str, side: str) -> list[str]:
    """A value with one more character hidden at each level, up to all of them."""
    hidden = [
        value[: len(value) - n] + "*" * n if side == "right" else "*" * n + value[n:]
        for n in range(1, len(value))
    ]
    return [value, *hidden, "*"]


def _step(number: float, width: float) -> str:
    start = floor(number / width) * width
    return f"[{written(start)}-{written(start + width)})"


def _are_words(values: list[str]) -> bool:
    return bool(values) and all(" " in value or value.isalpha() for value in values)


def _are_codes(values: list[str]) -> bool:
    """Whether numbers are codes of the same length, such as postcodes."""
    return bool(values) and len(values[0]) >= 4 and len({len(value) for value in values}) == 1
