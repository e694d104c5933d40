"""Where a run was made: times mean little without it."""

import csv
import json
import math
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.drawing.chart import MARKERS, SERIES, chart, inline, legend_below, svg
from shoal.drawing.page import render, require_drawing
from shoal.errors import InputError, listed
from shoal.io.commit import replacing_all
from shoal.reproduction.base import WORDS, Claim, Figure, Reproduction

COMPUTES = ("numpy", "numba", "pyarrow")


def machine() -> str:
    """The processor, how many cores may be used, and the system; never whose machine it is."""
    from shoal.threads import workers

    cores = workers()
    words = f"{cores} core{'' if cores == 1 else 's'}"
    return f"{_processor()}, {words}{_memory()}, {platform.system()} {platform.machine()}"


def versions() -> dict[str, str]:
    """Of Shoal, of Python and of what computes."""
    from shoal.version import __version__

    own = {"shoal": __version__, "python": platform.python_version()}
    return own | {package: version(package) for package in COMPUTES}


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8", errors="replace") if told.exists() else ""
    for line in lines.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return value.strip()
    return platform.processor() or "unknown processor"


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return ""
    return f", {size / 2**30:.0f} GB"


# A figure as a table: one row per place on the level axis, one column per line.


def places(figure: Figure) -> list[float]:
    """Every place on the level axis where some line has a figure."""
    return sorted({x for line in figure.lines for x in line.x})


def header(figure: Figure) -> list[str]:
    """What each column holds."""
    return [figure.x_label, *(line.label for line in figure.lines)]


def rows(figure: Figure) -> list[list[float | None]]:
    """The figures as they are; None where a line has none."""
    lines = [dict(zip(line.x, line.y, strict=True)) for line in figure.lines]
    return [[_whole(x), *(line.get(x) for line in lines)] for x in places(figure)]


def shown(number: float | None) -> str:
    """A figure for the eye: four digits that count, none after the point of a large one."""
    if number is None:
        return "–"
    if number == int(number) or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.4g}" if abs(number) >= 1e-4 else f"{number:.1e}"


def _whole(x: float) -> float:
    return int(x) if x == int(x) else x


# How figures go: in a line, by a power, up or down.


Numbers = Sequence[float]


def fit(x: Numbers, y: Numbers) -> float:
    """How well a straight line fits: r squared; 1 where all are equal."""
    if len(set(y)) < 2 or len(set(x)) < 2:
        return 1.0
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def slope(x: Numbers, y: Numbers) -> float:
    """Of the straight line that fits best."""
    return float(np.polyfit(x, y, 1)[0])


def exponent(x: Numbers, y: Numbers) -> float:
    """The power of x with which y grows, from the first to the last."""
    return math.log(y[-1] / y[0]) / math.log(x[-1] / x[0])


def falls(x: Numbers, lines: dict[str, list[float]]) -> str:
    """Where which lines fall: `not for ours (2 to 3)`; nothing where none does."""
    found = {}
    for name, y in lines.items():
        steps = [f"{x[i]:,g} to {x[i + 1]:,g}" for i, (a, b) in enumerate(pairwise(y)) if b < a]
        if steps:
            found[name] = f"{name} ({listed(steps, 2)})"
    return f"not for {listed(found.values(), 3)}" if found else ""


def between(y: Numbers, form: str = ".3g") -> str:
    """`0.12 to 3`, or one figure where they look the same."""
    low, high = format(min(y), form), format(max(y), form)
    return low if low == high else f"{low} to {high}"


# A figure as a chart.


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


# The page of a run.


CLASSES = {True: "good", False: "bad", None: "warn"}


def page(found: Reproduction, charts: Sequence[str]) -> str:
    """All that was found, as HTML that needs nothing else; with a chart for each figure."""
    return render(
        "shoal.reproduction/reproduction.html",
        found=found,
        claims=[_claim(one) for one in found.result.claims],
        counts=[(word, count) for word, count in found.held.items() if count],
        figures=[_figure(*each) for each in zip(found.result.figures, charts, strict=True)],
        time=duration(found.seconds),
    )


def _claim(claim: Claim) -> dict[str, str]:
    words = {"text": claim.text, "found": claim.found}
    together = {name: text.replace(" %", "\N{NO-BREAK SPACE}%") for name, text in words.items()}
    return {**together, "outcome": WORDS[claim.held], "class": CLASSES[claim.held]}


def duration(seconds: float) -> str:
    """`40 seconds`, `12 minutes`."""
    if seconds < 100:
        return f"{seconds:.0f} second{'' if round(seconds) == 1 else 's'}"
    return f"{seconds / 60:.0f} minutes"


def _figure(figure: Figure, chart: str) -> dict[str, object]:
    lines = [[shown(cell) for cell in row] for row in rows(figure)]
    return {"figure": figure, "chart": chart, "header": header(figure), "rows": lines}


# The files of a run: a page, and per figure a drawing and a table.


def check_folder(folder: Path, force: bool) -> None:
    """Raise `InputError` unless the files can be made; to be asked before any work."""
    require_drawing("The page of a reproduction")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file. Name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise InputError(
            f"{folder} has files in it already. Name another folder, or pass --force (in Python "
            "force=True) to replace those of an earlier run."
        )
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not there.is_dir():
        raise InputError(f"{folder} cannot be made: {there} is not a folder.")
    if not os.access(there, os.W_OK):
        raise InputError(f"{folder} cannot be written: no right to write into {there}.")


def write(found: Reproduction, folder: Path, force: bool) -> None:
    """Write all files, or none."""

    figures = found.result.figures
    charts = [draw(figure) for figure in figures]
    names = ["index.html", "result.json", "claims.csv"]
    names += [f"{figure.name}.{ending}" for figure in figures for ending in ("svg", "csv")]
    made = _made(folder)
    try:
        with replacing_all([folder / name for name in names], force) as files:
            text, data, claims, *others = files.paths
            text.write_text(page(found, [chart.element for chart in charts]), encoding="utf-8")
            shown = json.dumps(found.to_dict(), indent=1, ensure_ascii=False)
            data.write_text(shown + "\n", encoding="utf-8")
            words = ((one.text, WORDS[one.held], one.found) for one in found.result.claims)
            _write_csv(claims, ("claim", "outcome", "found"), words)
            each = zip(figures, charts, others[::2], others[1::2], strict=True)
            for figure, chart, drawing, table in each:
                drawing.write_text(chart.file, encoding="utf-8")
                _write_csv(table, header(figure), rows(figure))
            files.commit()
    except BaseException:
        for one in made:  # only what is empty goes
            one.rmdir()
        raise


def _made(folder: Path) -> list[Path]:
    """Make a folder and those it lies in; gives those that were not there, the innermost first."""
    lacking = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return lacking


def _write_csv(path: Path, head: Iterable[str], lines: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(lines)
