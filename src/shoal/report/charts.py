"""The charts of a report, drawn from figures alone.

All bars are horizontal: names of values are long, and stand to the left of their bars on one line. The
room for them is estimated and not measured, since the reader's font may be another one. Charts are as
wide as a phone's screen and need no box that scrolls.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from shoal.drawing.chart import GRID, INK, PAPER, SERIES, SOFT, chart, inline, percent_ticks
from shoal.report.formatting import cut, percent, width

WIDTH = 4.2
"""Inches of every chart."""
ROW, TOP, BOTTOM = 0.24, 0.3, 0.22
"""Inches of a row, of the legend above and of the scale below."""
SIZE = 9.5
"""Of the letters, in points."""
POINTS = 72
WIDEST_LABELS = 0.44
"""The share of a chart that names may take."""
UNTOUCHED = ("as it was", "in a table apart")
"""Levels of values without loss: they alone are drawn in full colour."""
SUPPRESSED = "suppressed"
"""The level of values that are not published; it has a colour of its own."""
BEFORE, AFTER = SERIES[7], SERIES[0]


def shares(name: str, of: Mapping[str, float], mean: float, title: str) -> str:
    """A share of each column: bars on a track that stands for all of it."""
    rows = [("all columns", mean), *of.items()]
    height = ROW * 1.06 * len(rows) + 0.1
    left, labels = _room([label for label, _ in rows])
    right = 0.62
    with chart(WIDTH, height) as (figure, axes):
        _place(figure, axes, left, right, 0.05, 0.05)
        at = list(range(len(rows)))
        axes.barh(at, [1.0] * len(rows), height=0.56, color=GRID, alpha=0.6)
        colours = [AFTER if i else SOFT for i in at]
        axes.barh(at, [share for _, share in rows], height=0.56, color=colours)
        for i, (_, share) in enumerate(rows):
            axes.text(1.02, i, percent(share), va="center_baseline", size=SIZE)
        if len(rows) > 1:
            axes.axhline(0.5, color=SOFT, linewidth=0.8, clip_on=False)
        _rows(axes, labels)
        axes.set_xlim(0, 1)
        axes.set_xticks([])
        axes.grid(visible=False)
        worst = min(of.items(), key=lambda one: one[1], default=None)
        least = f" The shortest is that of {worst[0]}, {percent(worst[1])}." if worst else ""
        description = f"One bar per column, {len(of)} in all.{least}"
        return inline(figure, name, title, description)


def pairs(
    name: str,
    bars: Sequence[tuple[str, float, float]],
    title: str,
    description: str,
    what: str = "share of rows",
    mark: tuple[int, str] | None = None,
) -> str:
    """Label, before and after: a wide pale bar, and a narrow strong one upon it.

    mark: a line above the bars of this place, and its words in the legend.
    """
    left, labels = _room([label for label, _, _ in bars])
    with chart(WIDTH, TOP + ROW * len(bars) + BOTTOM) as (figure, axes):
        _place(figure, axes, left, 0.18, TOP, BOTTOM)
        at = list(range(len(bars)))
        axes.barh(
            at,
            [before for _, before, _ in bars],
            height=0.74,
            color=BEFORE,
            alpha=0.5,
            label="before",
        )
        axes.barh(at, [after for _, _, after in bars], height=0.34, color=AFTER, label="after")
        _rows(axes, labels)
        axes.set_xlim(0, max(0.01, 1.04 * max((max(b, a) for _, b, a in bars), default=0.0)))
        percent_ticks(axes.xaxis, at_most=4)
        axes.tick_params(axis="x", length=0, labelsize=SIZE, labelcolor=SOFT)
        figure.text(0.0, 1 - 0.02 / figure.get_figheight(), what, va="top", size=SIZE, color=SOFT)
        if mark is not None:
            line = {"color": INK, "linewidth": 1.2, "linestyle": (0, (3, 1.5)), "clip_on": False}
            axes.axhline(mark[0] - 0.5, label=mark[1], **line)
        figure.legend(
            loc="upper right",
            ncols=3,
            fontsize=SIZE,
            borderpad=0,
            borderaxespad=0.3,
            handlelength=1.6,
            columnspacing=1.2,
        )
        return inline(figure, name, title, description)


def generality(name: str, levels: Sequence[tuple[str, float]], title: str) -> str:
    """One bar of all rows, cut by how general their values are, from exact and strong to pale."""
    height = 0.5 + ROW * len(levels)
    with chart(WIDTH, height) as (figure, axes):
        _place(figure, axes, 0.05, 0.05, 0.05, 0.0)
        axes.set_axis_off()
        axes.set_xlim(0, 1)
        axes.set_ylim(height - 0.05, 0)  # inches, downwards
        first = 0 if levels[0][0] in UNTOUCHED else 1
        shades = [_shade(i, label, len(levels)) for i, (label, _) in enumerate(levels, first)]
        shares = [share for _, share in levels]
        ends = list(accumulate(shares))
        starts = [end - share for end, share in zip(ends, shares, strict=True)]
        rows = [0.5 + ROW * i for i in range(len(levels))]
        axes.barh([0.17] * len(levels), shares, 0.28, starts, color=shades, linewidth=0)
        inner = [start for start in starts if start > 0.001]
        axes.vlines(inner, 0.03, 0.31, color=PAPER, linewidth=1.2)
        axes.barh(0.17, 1, 0.28, facecolor="none", edgecolor=SOFT, linewidth=0.6)
        axes.barh(rows, 0.03, 0.15, color=shades, edgecolor=SOFT, linewidth=0.6)
        room = (WIDTH - 1.0) * POINTS
        for y, (label, share) in zip(rows, levels, strict=True):
            axes.text(0.045, y, cut(label, room, SIZE), va="center_baseline", size=SIZE)
            axes.text(1, y, percent(share), va="center_baseline", ha="right", size=SIZE)
        description = "One bar from left to right, its parts listed below it in the same order."
        return inline(figure, name, title, description)


def _shade(place: int, label: str, of: int) -> tuple[str, float]:
    """Strong for what is exact, paler for every step from there."""
    if label == SUPPRESSED:
        return SOFT, 0.5
    return AFTER, 1 - 0.88 * place / max(4, of)


def _room(labels: Sequence[str]) -> tuple[float, list[str]]:
    """Inches for the names at the left, and the names cut to them."""
    most = WIDTH * WIDEST_LABELS * POINTS
    texts = [cut(label, most, SIZE) for label in labels]
    widest = max((width(text, SIZE) for text in texts), default=0.0)
    return max(0.5, (widest + 9) / POINTS), texts


def _place(figure: Any, axes: Any, left: float, right: float, top: float, low: float) -> None:
    """Where the axes lie, by the inches around them; what lies behind is the page's own."""
    wide, high = figure.get_size_inches()
    figure.set_layout_engine("none")
    figure.patch.set_visible(False)
    axes.set_position((left / wide, low / high, 1 - (left + right) / wide, 1 - (top + low) / high))


def _rows(axes: Any, labels: Sequence[str]) -> None:
    """Names beside the rows. They are no ticks: those take several times as long to draw."""
    beside = axes.get_yaxis_transform()
    for i, label in enumerate(labels):
        axes.text(-0.02, i, label, transform=beside, ha="right", va="center_baseline", size=SIZE)
    axes.set_yticks([])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(False)
