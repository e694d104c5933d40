"""The files of a reproduction: a page, and per figure a drawing and a table."""

import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from shoal.drawing.chart import MARKERS, SERIES, chart, inline, legend_below, svg
from shoal.drawing.page import render, require_drawing
from shoal.errors import InputError, counted
from shoal.io.commit import replacing_all
from shoal.reproduction.base import VERDICTS, Figure, Reproduction, Verdict

SIZE = (5.4, 3.3)
BARS_WIDTH = 0.8
"""The share of a place on the horizontal axis that its bars fill."""
BADGES: dict[Verdict, str] = {
    "holds": "good",
    "does not hold": "bad",
    "depends": "warn",
    "cannot tell": "warn",
}

PAPER = "What the paper says, in our words, and what we found."
OURS = "What we expected beforehand, and what we found."


def check_folder(folder: Path, force: bool) -> None:
    """Raise `InputError` unless the files can be written; to be called before any work."""
    require_drawing("The page of a reproduction")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file. Name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise InputError(
            f"{folder} has files in it already. Name another folder, or pass --force (in Python "
            "force=True) to replace those of an earlier run."
        )
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not existing.is_dir():
        raise InputError(f"{folder} cannot be made: {existing} is not a folder.")
    if not os.access(existing, os.W_OK):
        raise InputError(f"{folder} cannot be written: no right to write into {existing}.")


def write(found: Reproduction, folder: Path, force: bool) -> None:
    """Write all files, or none."""
    figures = found.result.figures
    charts = [draw(figure) for figure in figures]
    names = ["index.html", "result.json", "claims.csv"]
    names += [f"{figure.name}.{ending}" for figure in figures for ending in ("svg", "csv")]
    new_folders = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with replacing_all([folder / name for name in names], force) as files:
            text, data, claims, *others = files.paths
            text.write_text(page(found, [chart.element for chart in charts]), encoding="utf-8")
            document = json.dumps(found.to_dict(), indent=1, ensure_ascii=False)
            data.write_text(document + "\n", encoding="utf-8")
            rows = ((c.text, c.verdict, c.reason, c.found) for c in found.result.claims)
            _write_csv(claims, ("claim", "verdict", "reason", "found"), rows)
            each = zip(figures, charts, others[::2], others[1::2], strict=True)
            for figure, chart, drawing, table in each:
                drawing.write_text(chart.file, encoding="utf-8")
                _write_csv(table, header(figure), table_of(figure))
            files.commit()
    except BaseException:
        for one in new_folders:  # the innermost first; only empty ones can be removed
            one.rmdir()
        raise


def page(found: Reproduction, charts: Sequence[str]) -> str:
    """The findings as HTML that needs nothing else; with a chart for each figure."""
    return render(
        "shoal.reproduction/reproduction.html",
        found=found,
        caption=PAPER if found.is_paper else OURS,
        claims=[
            {
                "text": _joined(claim.text),
                "found": _joined(claim.found),
                "reason": _joined(claim.reason),
                "verdict": claim.verdict,
                "class": BADGES[claim.verdict],
            }
            for claim in found.result.claims
        ],
        counts=[(VERDICTS[verdict], count) for verdict, count in found.verdicts.items() if count],
        figures=[
            {
                "figure": figure,
                "chart": chart,
                "header": header(figure),
                "rows": [[formatted(cell) for cell in row] for row in table_of(figure)],
            }
            for figure, chart in zip(found.result.figures, charts, strict=True)
        ],
        time=duration(found.seconds),
    )


def duration(seconds: float) -> str:
    """`40 seconds`, `12 minutes`."""
    if seconds < 100:
        return counted(round(seconds), "second")
    return f"{seconds / 60:.0f} minutes"


def header(figure: Figure) -> list[str]:
    """The column names of a figure's table."""
    return [figure.x_label, *(line.label for line in figure.lines)]


def table_of(figure: Figure) -> list[list[float | None]]:
    """A figure as a table: a row per place on the horizontal axis, a column per line."""
    lines = [dict(zip(line.x, line.y, strict=True)) for line in figure.lines]
    return [
        [int(x) if x == int(x) else x, *(line.get(x) for line in lines)] for x in _places(figure)
    ]


def formatted(number: float | None) -> str:
    """A number for people: four significant digits, no decimals for a large one."""
    if number is None:
        return "–"
    if number == int(number) or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.4g}" if abs(number) >= 1e-4 else f"{number:.1e}"


class Drawing(NamedTuple):
    """A figure, drawn."""

    file: str
    """The text of an SVG file."""
    element: str
    """The same for a page, with a description for screen readers."""


def draw(figure: Figure) -> Drawing:
    """The chart as a file and as a part of a page."""
    labels = ", ".join(line.label for line in figure.lines)
    description = f"{figure.y_label} against {figure.x_label}, for: {labels}."
    with drawn(figure) as picture:
        file = svg(picture, figure.name)
        return Drawing(file, inline(picture, figure.name, figure.title, description, file))


@contextmanager
def drawn(figure: Figure) -> Iterator[Any]:
    """The chart as a Matplotlib figure."""
    with chart(*SIZE) as (picture, axes):
        (_draw_bars if figure.kind == "bars" else _draw_lines)(figure, axes)
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


def _draw_lines(figure: Figure, axes: Any) -> None:
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


def _draw_bars(figure: Figure, axes: Any) -> None:
    at = {x: i for i, x in enumerate(_places(figure))}
    width = BARS_WIDTH / len(figure.lines)
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
    axes.set_xticks(list(at.values()), [formatted(x) for x in at])


def _places(figure: Figure) -> list[float]:
    """Every place on the horizontal axis where some line has a figure."""
    return sorted({x for line in figure.lines for x in line.x})


def _is_near_zero(figure: Figure) -> bool:
    """Whether an axis from zero on leaves enough room for the lines; else it begins below them."""
    every = [y for line in figure.lines for y in line.y if y is not None]
    return bool(every) and 0 <= 4 * min(every) <= max(every)


def _tick(number: float, ticks: Iterable[float], log: bool) -> str:
    """The label of a tick, with as many decimals as the others have."""
    if log:
        return formatted(float(f"{number:.10g}"))
    # steps of an axis are a little off in their last digits
    digits = max(len(f"{each:.6f}".rstrip("0").partition(".")[2]) for each in ticks)
    return f"{number:,.{digits}f}"


def _joined(text: str) -> str:
    """No line breaks before a percent sign."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _write_csv(path: Path, head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
