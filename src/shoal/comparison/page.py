"""A comparison as a page, as a notebook display, and as files.

The page shows the recommendation, loss against risk as a chart (a line per method, from k to k, with
the runs on the frontier marked), the figures of every run, and what has no result.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from shoal.comparison.comparison import Comparison
from shoal.comparison.criterion import number
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
from shoal.drawing.page import render, require_drawing
from shoal.errors import InputError, format_memory, format_seconds, percent
from shoal.io.commit import check_target, replacing_all
from shoal.version import __version__

PAGES = (".html", ".htm")
LETTER_WIDTH, LINE_HEIGHT = 7.0, 13.0
"""Pixels that a letter and a line of a label take."""
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Where a label is tried: above its point first, then around it."""
LOG_RATIO = 8.0
"""From this ratio of the largest to the smallest figure on, an axis is logarithmic."""
POINT_RADIUS, RING_RADIUS = 6.0, 11.0
"""Pixels from the middle of a point to its edge, and to that of the ring around the recommended one."""
LABEL_STYLE: dict[str, Any] = {
    "fontsize": 8,
    "color": SOFT,
    "ha": "center",
    "va": "center",
    "zorder": 5,
    "bbox": {"boxstyle": "square,pad=0.05", "fc": PAPER, "ec": "none", "alpha": 0.6},
}


def check_output(path: Path, force: bool, source: Path | None = None) -> None:
    """Raise unless a comparison may be written here; to be called before any work."""
    for target in _targets(path):
        check_target(target, force, source)
    if path.suffix.lower() in PAGES:
        require_drawing("A page")


def write_comparison(comparison: Comparison, path: Path, force: bool = False) -> list[Path]:
    """Write the page and the JSON beside it, or the JSON alone; all files or none."""
    check_output(path, force)
    targets = _targets(path)
    with replacing_all(targets, force) as places:
        for target, place in zip(targets, places.paths, strict=True):
            is_page = target.suffix.lower() in PAGES
            text = (
                page(comparison) if is_page else json.dumps(comparison.to_dict(), indent=2) + "\n"
            )
            place.write_text(text, encoding="utf-8")
        places.commit()
    return targets


def _targets(path: Path) -> list[Path]:
    if path.suffix.lower() in PAGES:
        return [path, path.with_suffix(".json")]
    if path.suffix.lower() == ".json":
        return [path]
    raise InputError(
        f"{path}: the extension decides the format. Use .html for a page with JSON beside it, or .json "
        "for JSON alone."
    )


def page(comparison: Comparison) -> str:
    """One self-contained HTML document."""
    return render("shoal.comparison/comparison.html", **_values(comparison, "frontier"))


def notebook(comparison: Comparison) -> str:
    """The recommendation, the chart and the table at the recommended k."""
    name = (
        f"shoal-frontier-{crc32(repr(comparison.outcomes).encode()):x}"  # ids are unique per page
    )
    values, chosen = _values(comparison, name), comparison.recommended
    values["levels"] = [level for level in values["levels"] if chosen and level["k"] == chosen.k]
    return render("shoal.comparison/notebook.html", colours=list(enumerate(SERIES, 1)), **values)


def _values(comparison: Comparison, name: str) -> dict[str, Any]:
    best = {id(one) for one in comparison.frontier}
    levels = [
        {
            "k": k,
            "rows": [
                {
                    "method": one.method,
                    "figures": one.figures,
                    "shown": comparison.criterion.shown(one),
                    "own": one.method == comparison.method,
                    "frontier": id(one) in best,
                    "recommended": one is comparison.chosen,
                }
                for one in comparison.ranked(k)
            ],
        }
        for k in comparison.ks
    ]
    return {
        "comparison": comparison,
        "chosen": comparison.recommended,
        "figures": None if comparison.chosen is None else comparison.chosen.figures,
        "criterion": comparison.criterion,
        "frontier_title": f"{_capital(comparison.criterion.noun)} against risk",
        "picture": picture(comparison, name),
        "levels": [level for level in levels if level["rows"]],
        "frontier": sorted(comparison.frontier, key=comparison.criterion.rank),
        "missing": comparison.unfinished,
        "percent": percent,
        "format_seconds": format_seconds,
        "format_memory": format_memory,
        "version": __version__,
        "fingerprint": comparison.policy.fingerprint(),
    }


def picture(comparison: Comparison, name: str) -> str:
    """The chart as an SVG element for a page; empty where there is nothing to draw."""
    if comparison.chosen is None or comparison.by_risk:
        return ""
    methods = list(dict.fromkeys(one.method for one in comparison.done))
    best = ", ".join(
        one.method + (f" at k = {one.k}" if one.k is not None else "")
        for one in comparison.frontier
    )
    criterion = comparison.criterion
    good = "low is good in both"
    if criterion.high_is_good:
        good = f"low risk and high {criterion.noun} are good"
    description = (
        f"{len(methods)} methods as lines over k, with average risk to the right and {criterion.noun} "
        f"upwards; {good}. On the frontier: {best}."
    )
    with chart(5.6, 4.0) as (figure, axes):
        _draw(axes, comparison, methods, comparison.chosen)
        legend_below(figure)
        figure.draw_without_rendering()  # places everything, so that labels can keep clear of it
        if len(comparison.ks) > 1:
            _label(axes, comparison, comparison.chosen)
        figure.set_layout_engine("none")
        return inline(figure, name, f"{_capital(criterion.noun)} against risk", description)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _point(comparison: Comparison, outcome: Outcome) -> tuple[float, float]:
    """Average risk and the criterion's figure of a finished run."""
    return outcome.done_figures.risk.average, comparison.criterion.figure(outcome)


def _draw(axes: Any, comparison: Comparison, methods: Sequence[str], chosen: Outcome) -> None:
    for i, method in enumerate(methods):
        x, y = zip(
            *(_point(comparison, one) for one in comparison.done if one.method == method),
            strict=True,
        )
        colour, marker = SERIES[i % len(SERIES)], MARKERS[(i + i // len(SERIES)) % len(MARKERS)]
        axes.plot(x, y, color=colour, marker=marker, label=method, zorder=3, lw=1.2, ms=6)
    x, y = zip(*(_point(comparison, one) for one in comparison.frontier), strict=True)
    dots = {"marker": "o", "ls": "none"}
    axes.plot(x, y, color=SOFT, alpha=FAINT, zorder=1, label="the frontier", ms=19, mew=0, **dots)
    ring = {"ms": 15, "mfc": "none", "mec": INK, "mew": 1.6}
    axes.plot(*_point(comparison, chosen), zorder=4, label="recommended", **ring, **dots)
    points = [_point(comparison, one) for one in comparison.done]
    _scale(axes, "x", [point[0] for point in points])
    _scale(axes, "y", [point[1] for point in points], is_share=not comparison.has_own_figure)
    axes.set_xlabel("average risk: the chance to pick a person's row")
    axes.set_ylabel(comparison.by.name if comparison.has_own_figure else "information lost")


def _scale(axes: Any, side: str, values: Sequence[float], is_share: bool = True) -> None:
    """Percents or plain figures, on a logarithmic scale where the figures lie far apart."""
    low, high = min(values), max(values)
    axis = axes.xaxis if side == "x" else axes.yaxis
    limits = axes.set_xlim if side == "x" else axes.set_ylim
    if low > 0 and high / low >= LOG_RATIO:
        (axes.set_xscale if side == "x" else axes.set_yscale)("log")
        limits(low / 1.25, high * 1.25)
        axis.set_ticks(_ticks(low / 1.25, high * 1.25))
        axis.set_ticks([], minor=True)
    else:
        room = max((high - low) * 0.12, high * 0.08 if is_share else abs(high) * 0.01, 1e-4)
        limits(max(low - room, -0.002) if low >= 0 else low - room, high + room)
    if is_share:
        axis.set_major_formatter(lambda value, _: f"{value * 100:.4g} %")
    else:
        axis.set_major_formatter(lambda value, _: number(value))


def _ticks(low: float, high: float) -> list[float]:
    """Round figures between two, not too many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**decade for decade in decades for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) <= 8:
            break
    return found


def _label(axes: Any, comparison: Comparison, chosen: Outcome) -> None:
    """The k beside the points of the frontier, and of others where there is room."""
    ks: dict[tuple[float, float], list[str]] = {}
    best = comparison.frontier
    for one in (*best, *(one for one in comparison.done if one not in best)):
        ks.setdefault(_point(comparison, one), []).append(str(one.k))
    texts = [f"k={','.join(dict.fromkeys(each))}" for each in ks.values()]
    clear = [RING_RADIUS if point == _point(comparison, chosen) else POINT_RADIUS for point in ks]
    pixels = axes.transData.transform(list(ks))
    to_axes = axes.transAxes.inverted()
    places = place_labels(texts, pixels, axes.get_window_extent(), clear)
    for text, at in zip(texts, places, strict=True):
        if at is not None:
            axes.annotate(text, to_axes.transform(at), xycoords="axes fraction", **LABEL_STYLE)


def place_labels(
    texts: Sequence[str], points: Any, box: Any, clear: Sequence[float]
) -> list[tuple[float, float] | None]:
    """The centre of each label, in pixels, so that none covers another or a point; None where there
    is no room for it.

    points: (n, 2) in pixels; box: what labels must stay within; clear: (n,) pixels around each point
    that are taken. Earlier labels go first.
    """
    centres = np.asarray(points, float)
    taken: list[tuple[float, float, float, float]] = [
        (x - r, y - r, x + r, y + r) for (x, y), r in zip(centres, clear, strict=True)
    ]
    found: list[tuple[float, float] | None] = []
    for text, (x, y), r in zip(texts, centres, clear, strict=True):
        wide, high = LETTER_WIDTH * len(text) / 2, LINE_HEIGHT / 2
        found.append(None)
        for right, up in DIRECTIONS:
            at = (x + right * (wide + r + 2), y + up * (high + r + 1))
            own = (at[0] - wide, at[1] - high, at[0] + wide, at[1] + high)
            inside = own[0] >= box.x0 and own[1] >= box.y0 and own[2] <= box.x1 and own[3] <= box.y1
            if inside and not any(_overlap(own, other) for other in taken):
                taken.append(own)
                found[-1] = (float(at[0]), float(at[1]))
                break
    return found


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
