"""Short labels beside points, so that none lies over another or over a point."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from shoal.comparison.comparison import Comparison
from shoal.comparison.outcome import Outcome
from shoal.comparison.ranking import at_k, memory_words, seconds_words
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
from shoal.errors import InputError, percent
from shoal.io.commit import check_target, replacing_all
from shoal.version import __version__

LETTER, HEIGHT = 7.0, 13.0
"""Pixels that a letter and a line take."""
PLACES = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Where a label is tried: above first, then around."""


def place_labels(
    texts: Sequence[str], points: Any, box: Any, clear: Sequence[float]
) -> list[tuple[float, float] | None]:
    """The centre of each label, in pixels; None where there is no room for it.

    points: (n, 2) in pixels; box: what labels must stay within; clear: (n,) pixels around each point
    that are taken. Earlier labels go first.
    """
    centres = np.asarray(points, float)
    taken: list[tuple[float, float, float, float]] = [
        (x - r, y - r, x + r, y + r) for (x, y), r in zip(centres, clear, strict=True)
    ]
    found: list[tuple[float, float] | None] = []
    for text, (x, y), r in zip(texts, centres, clear, strict=True):
        wide, high = LETTER * len(text) / 2, HEIGHT / 2
        found.append(None)
        for right, up in PLACES:
            at = (x + right * (wide + r + 2), y + up * (high + r + 1))
            own = (at[0] - wide, at[1] - high, at[0] + wide, at[1] + high)
            inside = own[0] >= box.x0 and own[1] >= box.y0 and own[2] <= box.x1 and own[3] <= box.y1
            if inside and not any(_meet(own, other) for other in taken):
                taken.append(own)
                found[-1] = (float(at[0]), float(at[1]))
                break
    return found


def _meet(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


# Loss against risk: one line per method, k by k, the runs on the frontier marked.


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


# The order in which runs are told, and what has no result, for terminal and page alike.


def ranked(comparison: Comparison, k: int | None) -> list[Outcome]:
    """The runs of one k that are done, by what methods are judged by."""

    def cost(outcome: Outcome) -> tuple[float, float, str]:
        figures = outcome.figures
        assert figures is not None
        loss, risk = figures.loss, figures.risk.average
        return (risk, loss, outcome.method) if comparison.by_risk else (loss, risk, outcome.method)

    return sorted((one for one in comparison.done if one.k == k), key=cost)


def missing(comparison: Comparison) -> list[dict[str, Any]]:
    """What is not done: a line per reason, with the methods and the k it speaks of."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in comparison.outcomes:
        if one.status == "done":
            continue
        reason = one.reason.removeprefix(f"{one.method} ")
        # the same reason at another k may name that k: it is one line all the same
        key = (one.method, one.status, re.sub(rf"\b{one.k}\b", "k", reason))
        found.setdefault(key, {"method": one.method, "reason": reason, "ks": []})["ks"].append(
            one.k
        )
    lines: dict[tuple[Any, ...], list[str]] = {}
    for (method, status, _), line in found.items():
        lines.setdefault((status, line["reason"], tuple(line["ks"])), []).append(method)
    order = ("failed", "over budget", "infeasible", "cannot")
    return [
        {
            "methods": methods,
            "status": status,
            "reason": reason[:1].upper() + reason[1:] + ("" if reason.endswith(".") else "."),
            "where": "" if len(ks) == len(comparison.ks) else f"k = {', '.join(map(str, ks))}",
        }
        for (status, reason, ks), methods in sorted(
            lines.items(), key=lambda item: (order.index(item[0][0]), item[1])
        )
    ]


# The comparison as a page, and in short for a notebook.


def page(comparison: Comparison) -> str:
    """One self-contained HTML document."""
    return render("shoal.comparison/comparison.html", **_values(comparison))


def notebook(comparison: Comparison) -> str:
    """The recommendation, the picture and the table at the k it speaks of."""
    name = f"shoal-frontier-{crc32(repr(comparison.outcomes).encode()):x}"  # others have other ids
    values = _values(comparison, name)
    values["levels"] = [
        level for level in values["levels"] if values["chosen"] and level["k"] == values["chosen"].k
    ]
    return render("shoal.comparison/notebook.html", colours=list(enumerate(SERIES, 1)), **values)


def _values(comparison: Comparison, name: str = "frontier") -> dict[str, Any]:
    chosen = comparison.recommended
    best = {id(one) for one in comparison.frontier}
    levels = [_level(comparison, k, best) for k in comparison.ks]
    return {
        "comparison": comparison,
        "chosen": chosen,
        "figures": None if comparison.chosen is None else comparison.chosen.figures,
        "picture": picture(comparison, name),
        "levels": [level for level in levels if level["rows"]],
        "frontier": comparison.frontier,
        "missing": missing(comparison),
        "at_k": at_k,
        "percent": percent,
        "seconds_words": seconds_words,
        "memory_words": memory_words,
        "version": __version__,
        "fingerprint": comparison.policy.fingerprint(),
    }


def _level(comparison: Comparison, k: int | None, best: set[int]) -> dict[str, Any]:
    """The runs of one k that are done, the best first."""
    chosen = comparison.recommended
    rows = [
        {
            "method": one.method,
            "figures": one.figures,
            "own": one.method == comparison.method,
            "frontier": id(one) in best,
            "recommended": chosen is not None and (one.method, one.k) == (chosen.method, chosen.k),
        }
        for one in ranked(comparison, k)
    ]
    return {"k": k, "rows": rows}


# Write a comparison: a page and JSON beside it, both or none.


PAGES = (".html", ".htm")


def check_output(path: Path, force: bool, source: Path | None = None) -> None:
    """Raise unless a comparison may be written here; to be asked before any work."""
    for target in targets_of(path):
        check_target(target, force, source)
    if path.suffix.lower() in PAGES:
        require_drawing("A page")


def targets_of(path: Path) -> list[Path]:
    """The files that belong to a name: page and JSON, or JSON alone."""
    if path.suffix.lower() in PAGES:
        return [path, path.with_suffix(".json")]
    if path.suffix.lower() == ".json":
        return [path]
    raise InputError(
        f"{path} does not tell a form: name it .html for a page with JSON beside it, or .json for "
        "JSON alone."
    )


def write_comparison(comparison: Comparison, path: Path, force: bool = False) -> list[Path]:
    """Write the files and give their paths."""
    check_output(path, force)
    targets = targets_of(path)
    with replacing_all(targets, force) as places:
        for target, place in zip(targets, places.paths, strict=True):
            place.write_text(_text(comparison, target), encoding="utf-8")
        places.commit()
    return targets


def _text(comparison: Comparison, target: Path) -> str:
    if target.suffix.lower() in PAGES:
        return page(comparison)
    return json.dumps(comparison.to_dict(), indent=2) + "\n"
