"""A figure as a chart."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from shoal.drawing.chart import MARKERS, SERIES, chart, inline, legend_below, svg
from shoal.reproduction._tables import places, shown
from shoal.reproduction.base import Figure

SIZE = (5.4, 3.3)
WIDTH = 0.8
"""Of a place on the level axis, the share that its bars fill."""


@contextmanager
def drawn(figure: Figure) -> Iterator[Any]:
    """The chart as Matplotlib has it."""
    with chart(*SIZE) as (picture, axes):
        (_bars if figure.kind == "bars" else _lines)(figure, axes)
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        if figure.log:
            axes.set_yscale("log")
        elif figure.kind == "bars" or _is_near_zero(figure):
            axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda y, _: _tick(y, axes.get_yticks(), figure.log))
        if len(figure.lines) > 1:
            legend_below(picture)
        yield picture


class Drawn(NamedTuple):
    """A figure, drawn."""

    file: str
    """The text of an SVG file."""
    element: str
    """The same for a page, with words for screen readers."""


def draw(figure: Figure) -> Drawn:
    """The chart as a file and as a part of a page."""
    each = ", ".join(line.label for line in figure.lines)
    words = f"{figure.y_label} against {figure.x_label}, for: {each}."
    with drawn(figure) as picture:
        file = svg(picture, figure.name)
        return Drawn(file, inline(picture, figure.name, figure.title, words, file))


def _is_near_zero(figure: Figure) -> bool:
    """Whether an axis from zero on leaves enough room for the lines; else it begins below them."""
    every = [y for line in figure.lines for y in line.y if y is not None]
    return bool(every) and 0 <= 4 * min(every) <= max(every)


def _lines(figure: Figure, axes: Any) -> None:
    labels: dict[tuple[object, ...], list[str]] = {}
    for line in figure.lines:
        labels.setdefault((line.x, line.y), []).append(line.label)
    for i, line in enumerate(figure.lines):
        # lines that coincide are drawn once, with the names of all: one would hide the other
        together = labels.pop((line.x, line.y), None)
        if together is None:
            continue
        points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if y is not None]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=SERIES[i % len(SERIES)],
            marker=MARKERS[i % len(MARKERS)],
            label=",\n".join(together),
        )
    axes.xaxis.set_major_formatter(lambda x, _: _tick(x, axes.get_xticks(), False))


def _bars(figure: Figure, axes: Any) -> None:
    at = {x: i for i, x in enumerate(places(figure))}
    width = WIDTH / len(figure.lines)
    for i, line in enumerate(figure.lines):
        begin = (i - (len(figure.lines) - 1) / 2) * width
        axes.bar(
            [at[x] + begin for x, y in zip(line.x, line.y, strict=True) if y is not None],
            [y for y in line.y if y is not None],
            width * 0.92,
            color=SERIES[i % len(SERIES)],
            label=line.label,
        )
    axes.grid(visible=False, axis="x")
    axes.set_xticks(list(at.values()), [shown(x) for x in at])


def _tick(number: float, every: Iterable[float], log: bool) -> str:
    """The label of a tick, with as many digits after the point as the others have."""
    if log:
        return shown(float(f"{number:.10g}"))
    # steps of an axis are a little off in their last digits
    digits = max(len(f"{each:.6f}".rstrip("0").partition(".")[2]) for each in every)
    return f"{number:,.{digits}f}"
