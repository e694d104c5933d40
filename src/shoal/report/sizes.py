"""How many rows look alike, before and after."""

from dataclasses import dataclass
from typing import Any

from shoal.report.charts import pairs
from shoal.report.figures import percent


@dataclass(frozen=True)
class SizesView:
    """A chart and its figures."""

    chart: str
    rows: list[tuple[str, int, int, int, int]]
    """Of each size: classes and rows before, classes and rows after."""


def sizes_view(certificate: dict[str, Any]) -> SizesView | None:
    """The sizes of classes; None where there are none, or where publishing changes none."""
    if certificate["anatomy"] is not None:
        return None
    before, after = (certificate["class_sizes"][when] for when in ("before", "after"))
    bins = sorted({(one["low"], one["high"]) for one in (*before, *after)})
    if not bins:
        return None
    found = [{(one["low"], one["high"]): one for one in when} for when in (before, after)]
    nothing = {"classes": 0, "rows": 0}
    first, last = ([when.get(size, nothing) for size in bins] for when in found)
    whole = [max(1, sum(one["rows"] for one in when)) for when in (first, last)]
    labels = [_size(low, high) for low, high in bins]
    bars = [
        (label, one["rows"] / whole[0], other["rows"] / whole[1])
        for label, one, other in zip(labels, first, last, strict=True)
    ]
    told = (
        f"One pair of bars per size of a class. Before, {percent(_alone(before, whole[0]))} of the rows "
        f"stood alone; after, {percent(_alone(after, whole[1]))}."
    )
    drawn = pairs(
        "class-sizes",
        bars,
        "Rows by the size of their class, before and after",
        told,
        mark=_asked(certificate, [low for low, _ in bins]),
    )
    return SizesView(
        drawn,
        [
            (label, one["classes"], one["rows"], other["classes"], other["rows"])
            for label, one, other in zip(labels, first, last, strict=True)
        ],
    )


def _size(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,} or more rows"
    if low == high:
        return "1 row" if low == 1 else f"{low:,} rows"
    return f"{low:,} to {high:,} rows"


def _alone(sizes: list[dict[str, Any]], whole: int) -> float:
    rows: int = sum(one["rows"] for one in sizes if one["high"] == 1)
    return rows / whole


def _asked(certificate: dict[str, Any], lows: list[int]) -> tuple[int, str] | None:
    """Where the size that was asked of all columns together begins, if a bin begins there."""
    wide = max((len(one["columns"]) for one in certificate["guarantees"]), default=0)
    asked = [
        int(one["asked"])
        for one in certificate["guarantees"]
        if one["model"] == "k" and len(one["columns"]) == wide
    ]
    k = max(asked, default=0)
    if k < 2 or k not in lows[1:]:
        return None
    return lows.index(k), f"asked: {k:,}"
