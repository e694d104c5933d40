"""The files of a run: a page, and per figure a drawing and a table."""

import csv
import json
import os
from collections.abc import Iterable
from pathlib import Path

from shoal.drawing.needs import require_drawing
from shoal.errors import InputError
from shoal.io.together import replacing_all
from shoal.reproduction._tables import header, rows
from shoal.reproduction.base import WORDS, Reproduction


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
    from shoal.reproduction._charts import draw
    from shoal.reproduction._page import page

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
