"""Loss against risk: one line per method, k by k, the runs on the frontier marked."""

import math
from collections.abc import Sequence
from typing import Any

from shoal.comparison.comparison import Comparison
from shoal.comparison.labels import place_labels
from shoal.comparison.outcome import Outcome
from shoal.drawing.chart import (
    FAINT,
    INK,
    MARKERS,
    PAPER,
    SERIES,
    SOFT,
    chart,
    inline,
    legend_below,
)

WIDE = 8.0
"""From this ratio of the largest to the smallest figure on an axis is logarithmic."""
NICE = (1, 2, 3, 5, 7)
POINT, RING = 6.0, 11.0
"""Pixels from the middle of a point to its edge, and to that of the ring around the recommended one."""
TITLE = "Loss against risk"


def picture(comparison: Comparison, name: str = "frontier") -> str:
    """The chart as an SVG element for a page; nothing where there is nothing to draw."""
    done = comparison.done
    if not done or comparison.by_risk:
        return ""
    with chart(5.6, 4.0) as (figure, axes):
        _draw(axes, comparison)
        legend_below(figure)
        figure.draw_without_rendering()  # places everything, so that labels can keep clear of it
        _label(axes, comparison)
        figure.set_layout_engine("none")
        return inline(figure, name, TITLE, _description(comparison))


def points_of(outcomes: Sequence[Outcome]) -> list[tuple[float, float]]:
    """Average risk and loss of each run that is done."""
    return [(f.risk.average, f.loss) for one in outcomes if (f := one.figures) is not None]


def _draw(axes: Any, comparison: Comparison) -> None:
    done, best = comparison.done, comparison.frontier
    for i, method in enumerate(dict.fromkeys(one.method for one in done)):
        x, y = zip(*points_of([one for one in done if one.method == method]), strict=True)
        colour, marker = SERIES[i % len(SERIES)], MARKERS[(i + i // len(SERIES)) % len(MARKERS)]
        axes.plot(x, y, color=colour, marker=marker, label=method, zorder=3, lw=1.2, ms=6)
    x, y = zip(*points_of(best), strict=True)
    around = {"marker": "o", "ms": 19, "mew": 0, "ls": "none"}
    axes.plot(x, y, color=SOFT, alpha=FAINT, zorder=1, label="the frontier", **around)
    axes.plot(
        *points_of([_chosen(comparison)])[0],
        marker="o",
        ms=15,
        mfc="none",
        mec=INK,
        mew=1.6,
        ls="none",
        zorder=4,
        label="recommended",
    )
    every = points_of(done)
    _scale(axes, "x", [point[0] for point in every])
    _scale(axes, "y", [point[1] for point in every])
    axes.set_xlabel("average risk: the chance to pick a person's row")
    axes.set_ylabel("loss (mean NCP)")


def _chosen(comparison: Comparison) -> Outcome:
    """The run that is recommended."""
    found = comparison.chosen
    assert found is not None
    return found


def _scale(axes: Any, side: str, values: Sequence[float]) -> None:
    """Percents, on a logarithmic scale where the figures lie far apart."""
    low, high = min(values), max(values)
    axis = axes.xaxis if side == "x" else axes.yaxis
    limits = axes.set_xlim if side == "x" else axes.set_ylim
    if low > 0 and high / low >= WIDE:
        (axes.set_xscale if side == "x" else axes.set_yscale)("log")
        limits(low / 1.25, high * 1.25)
        axis.set_ticks(_ticks(low / 1.25, high * 1.25))
        axis.set_ticks([], minor=True)
    else:
        room = max((high - low) * 0.12, high * 0.08, 1e-4)
        limits(max(low - room, -0.002), high + room)
    axis.set_major_formatter(lambda value, _: f"{value * 100:.4g} %")


def _ticks(low: float, high: float) -> list[float]:
    """Round figures between two, not too many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in (NICE, (1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**decade for decade in decades for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) <= 8:
            break
    return found


def _label(axes: Any, comparison: Comparison) -> None:
    """The k beside the points of the frontier, and of others where there is room."""
    if len(comparison.ks) == 1:
        return
    ks: dict[tuple[float, float], list[str]] = {}
    best = comparison.frontier
    for one in (*best, *(one for one in comparison.done if one not in best)):
        ks.setdefault(points_of([one])[0], []).append(str(one.k))
    texts = [f"k={','.join(dict.fromkeys(each))}" for each in ks.values()]
    where = axes.transData.transform(list(ks))
    ringed = points_of([_chosen(comparison)])[0]
    clear = [RING if point == ringed else POINT for point in ks]
    back = axes.transAxes.inverted()
    places = place_labels(texts, where, axes.get_window_extent(), clear)
    for text, at in zip(texts, places, strict=True):
        if at is not None:
            place = back.transform(at)
            axes.annotate(text, place, xycoords="axes fraction", **_SMALL)


_SMALL: dict[str, Any] = {
    "fontsize": 8,
    "color": SOFT,
    "ha": "center",
    "va": "center",
    "zorder": 5,
    "bbox": {"boxstyle": "square,pad=0.05", "fc": PAPER, "ec": "none", "alpha": 0.6},
}


def _description(comparison: Comparison) -> str:
    """What the chart shows, for those who do not see it."""
    methods = list(dict.fromkeys(one.method for one in comparison.done))
    best = ", ".join(
        f"{one.method}" + (f" at k = {one.k}" if one.k is not None else "")
        for one in comparison.frontier
    )
    return (
        f"{len(methods)} methods as lines over k, with average risk to the right and loss upwards; "
        f"low is good in both. On the frontier: {best}."
    )
