"""The studio's charts, as options of ECharts in the studio's own colours."""

from itertools import pairwise
from typing import Any

from shoal import api
from shoal.studio.tasks import Candidate, CurvePoint
from shoal.studio.words import THRESHOLDS, words_for

Options = dict[str, Any]
FONT = '"Inter", "Segoe UI", -apple-system, BlinkMacSystemFont, "Roboto", sans-serif'
"""As in `style.css`: charts are drawn on a canvas, which inherits no font."""


MARGIN = 52
"""Pixels left and right of what a guarantee costs, and of its slider."""
LETTER = 0.024
"""How wide a letter of the label beside the dot is, in widths of a narrow chart."""
TALL, GAP, MOST_HIGH = 19, 12, 112
"""How high that label is, how far from the middle of the dot, and where it ends at most, in per cent of
the chart's height."""


def colours(dark: bool) -> tuple[str, str, str]:
    """The colours of texts, of lines and of what matters, as in `style.css`."""
    if dark:
        return "#a9b1c1", "#2e3440", "#94a9ff"
    return "#565f70", "#dedbd2", "#2f4fc7"


def cost_chart(
    points: tuple[CurvePoint, ...],
    figure: float,
    model: str,
    dark: bool,
    title: str,
    whole: float | None = None,
    most: float | None = None,
) -> Options:
    """What a guarantee costs: its figure across, the information lost upwards, always from 0 to 100 %.

    Figures that cannot be met are shaded; a dot marks the figure of the policy. It is as wide as the
    slider above it. whole: what the policy loses on the whole table, where the points are of a sample.
    most: the strongest figure that can be met, where that is known.
    """
    ink, line, accent = colours(dark)
    ground = "#1a1e26" if dark else "#ffffff"
    words = words_for(model)
    known = [[one.figure, round((one.lost or 0) * 100, 1)] for one in points if not one.reason]
    low, high = min(words.low, figure), max(words.high, figure)
    here = next((pair[1] for pair in known if pair[0] == figure), None)
    along = (figure - low) / max(high - low, 1e-9)
    known.sort()
    said = "" if here is None else f"{here:g} %"
    if whole is not None and here is not None:
        here = round(whole * 100, 1)
        said = f"{here:g} % on the whole table"
    small = {"color": ink, "fontSize": 11}
    place, align = _beside(known, along, 0 if here is None else here, low, high, len(said))
    return {
        "animation": False,
        "grid": {"left": MARGIN, "right": MARGIN, "top": 32, "bottom": 26},
        "textStyle": {"fontFamily": FONT, "color": ink},
        "title": {
            "text": title,
            "textStyle": {"fontSize": 12, "fontWeight": "normal", "color": ink},
            "left": 0,
            "top": 0,
        },
        "xAxis": {
            "type": "value",
            "min": low,
            "max": high,
            "axisLabel": small,
            "axisLine": {"lineStyle": {"color": line}},
            "splitLine": {"show": False},
        },
        "yAxis": {
            "type": "value",
            "min": 0,
            "max": 100,
            "interval": 50,
            "axisLabel": small | {"formatter": "{value} %"},
            "splitLine": {"lineStyle": {"color": line}},
        },
        "series": [
            {
                "type": "line",
                "data": known,
                "symbolSize": 5,
                "color": accent,
                "lineStyle": {"width": 2},
                "markArea": {
                    "silent": True,
                    "itemStyle": {"color": line, "opacity": 0.6},
                    "data": _shaded(points, low, high, words.strong_when_high, most),
                },
            },
            {
                "type": "scatter",
                "symbolSize": 13,
                "color": accent,
                "itemStyle": {"opacity": 1},
                "data": [] if here is None else [[figure, here]],
                "label": {
                    "show": True,
                    "position": place,
                    "align": align,
                    "distance": 8,
                    "color": ink,
                    "fontSize": 12,
                    "formatter": said,
                    "backgroundColor": ground,  # lines of the scale run on behind it
                    "padding": [1, 4],
                },
            },
        ],
    }


def _beside(
    known: list[list[float]], along: float, here: float, low: float, high: float, letters: int
) -> tuple[str, str]:
    """Above or below the dot, and to its right (`left` is where it begins) or left: where its label is
    not crossed by the curve and stays within the chart; the curve is crossed least where all are."""
    width = letters * LETTER
    best, fewest = ("top", "left" if along < 0.5 else "right"), float("inf")
    for align, begin in (("left", along), ("right", along - width), ("center", along - width / 2)):
        for place, foot in (("top", here + GAP), ("bottom", here - GAP - TALL)):
            if begin < -0.1 or begin + width > 1.1 or foot < 0 or foot + TALL > MOST_HIGH:
                continue
            steps = [low + (begin + width * i / 20) * (high - low) for i in range(21)]
            heights = [_height(known, x) for x in steps]
            crossed = sum(y is not None and foot - 3 < y < foot + TALL + 3 for y in heights)
            if crossed < fewest:
                best, fewest = (place, align), crossed
    return best


def _height(known: list[list[float]], x: float) -> float | None:
    """How high the curve is at a figure; None where it is not drawn."""
    for (left, low), (right, high) in pairwise(known):
        if left <= x <= right:
            return low + (high - low) * (x - left) / max(right - left, 1e-9)
    return None


def _shaded(
    points: tuple[CurvePoint, ...],
    low: float,
    high: float,
    strong_when_high: bool,
    most: float | None,
) -> list[Any]:
    """The figures that cannot be met: all that are stronger than the strongest that can."""
    met = [one.figure for one in points if not one.reason] + ([] if most is None else [most])
    if not any(one.reason for one in points):
        return []
    if strong_when_high:
        return [[{"xAxis": max(met, default=low)}, {"xAxis": high}]]
    return [[{"xAxis": low}, {"xAxis": min(met, default=high)}]]


def frontier_chart(found: list[Candidate], now: tuple[float, float] | None, dark: bool) -> Options:
    """Releases by the information lost (across) and the highest risk (upwards), both low is good.

    Limits of named authorities cross it; a line joins the points that no other beats in both.
    """
    ink, line, accent = colours(dark)
    ks = {one.name: one.k for one in found}
    points = [
        (
            one.name,
            round((one.figures.lost or 0) * 100, 1),
            round(one.figures.now.prosecutor * 100, 2),
        )
        for one in found
        if one.figures is not None
    ]
    best = [
        p
        for p in points
        if not any(q[1] <= p[1] and q[2] <= p[2] and q[1:] != p[1:] for q in points)
    ]
    highest = max([p[2] for p in points] + [35.0])
    limits = [
        {
            "yAxis": round(limit * 100, 2),
            "label": {"formatter": f"limit {limit:.0%}".replace("%", " %")},
        }
        for limit, _, _ in THRESHOLDS
        if limit * 100 <= highest
    ]
    small = {"color": ink, "fontSize": 11}
    named = {p[0] for p in best}
    ringed = None if now is None else (round(now[0] * 100, 1), round(now[1] * 100, 2))
    return {
        "animation": False,
        "grid": {"left": 44, "right": 64, "top": 40, "bottom": 44},
        "textStyle": {"fontFamily": FONT, "color": ink},
        "tooltip": {"formatter": "{b}", "confine": True},
        "xAxis": {
            "type": "value",
            "scale": True,
            "name": "information lost, % (less is better)",
            "nameLocation": "middle",
            "nameGap": 26,
            "axisLabel": small,
            "splitLine": {"show": False},
            "axisLine": {"lineStyle": {"color": line}},
        },
        "yAxis": {
            "type": "value",
            "min": 0,
            "max": max(35, highest),
            "name": "highest chance that somebody is found, % (less is better)",
            "nameTextStyle": {"align": "left", "color": ink, "padding": [0, 0, 8, -36]},
            "interval": 10,
            "axisLabel": small | {"showMaxLabel": False},
            "splitLine": {"show": False},
        },
        "series": [
            {
                "type": "line",
                "data": [[p[1], p[2]] for p in sorted(best, key=lambda p: p[1])],
                "symbol": "none",
                "silent": True,
                "lineStyle": {"color": accent, "width": 1.5, "opacity": 0.6},
                "markLine": {
                    "silent": True,
                    "symbol": "none",
                    "lineStyle": {"color": ink, "type": "dashed", "opacity": 0.35},
                    "label": {
                        "position": "end",
                        "color": ink,
                        "fontSize": 11,
                        "opacity": 1,
                    },
                    "data": limits,
                },
            },
            {
                "type": "scatter",
                "symbolSize": 11,
                "data": [
                    {
                        "name": p[0],
                        "value": [p[1], p[2]],
                        "itemStyle": {
                            "color": accent if p[0] in named else ink,
                            "opacity": 1 if p[0] in named else 0.35,
                        },
                        "label": {
                            "show": p[0] in named,
                            "formatter": str(ks[p[0]]),
                            "distance": 12 if p[1:] == ringed else 4,
                        },
                    }
                    for p in points
                ],
                "label": {
                    "position": "left",
                    "color": ink,
                    "fontSize": 11,
                },
                # below and left of its point, where the line of the best never runs; a layout
                # replaces the offset that the labels themselves ask for
                "labelLayout": {"hideOverlap": True, "dx": 3, "dy": 9},
            },
            {
                "type": "scatter",
                "name": "now",
                "symbolSize": 20,
                "silent": True,
                "itemStyle": {
                    "color": "transparent",
                    "borderColor": ink,
                    "borderWidth": 2,
                    "opacity": 1,
                },
                "data": []
                if now is None
                else [{"name": "the policy now", "value": [now[0] * 100, now[1] * 100]}],
                "label": {
                    "show": True,
                    "formatter": "now",
                    "position": "top",
                    "color": ink,
                    "fontWeight": "bold",
                },
            },
        ],
    }


def pairs_chart(pairs: "tuple[api.PairUtility, ...]", dark: bool) -> Options:
    """How much the association of each pair of columns changed, as a map of cells."""
    ink, _, _ = colours(dark)
    # blues on which one colour of figures is read
    figure, blues = (
        ("#e9ebf1", ["#222732", "#4a5aa3"]) if dark else ("#1c2230", ["#efede7", "#8ea2ea"])
    )
    across = list(dict.fromkeys(one.first for one in pairs))
    upwards = list(dict.fromkeys(one.second for one in pairs))
    cells = [
        {
            "name": f"{one.first} and {one.second}: {one.raw:.2f} in the table, "
            f"{one.release:.2f} in the release",
            "value": [
                across.index(one.first),
                upwards.index(one.second),
                round(abs(one.change), 2),
            ],
        }
        for one in pairs
    ]
    small = {"color": ink, "fontSize": 11}
    below = {"type": "category", "data": across, "axisLabel": small | {"rotate": 35}}
    return {
        "animation": False,
        "grid": {"left": 8, "right": 16, "top": 8, "bottom": 8, "containLabel": True},
        "textStyle": {"fontFamily": FONT, "color": ink},
        "tooltip": {"formatter": "{b}", "confine": True},
        "xAxis": below | {"axisTick": {"show": False}, "axisLine": {"show": False}},
        "yAxis": {
            "type": "category",
            "data": upwards,
            "axisLabel": small,
            "axisTick": {"show": False},
            "axisLine": {"show": False},
        },
        "visualMap": {
            "show": False,
            "min": 0,
            "max": 0.5,
            "inRange": {"color": blues},
        },
        "series": [
            {
                "type": "heatmap",
                "data": cells,
                "label": {"show": len(upwards) <= 12, "fontSize": 11, "color": figure},
                "labelLayout": {"hideOverlap": True},
                "itemStyle": {"borderWidth": 2, "borderColor": "transparent"},
            }
        ],
    }
