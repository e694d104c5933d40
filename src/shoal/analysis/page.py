"""Utility as a page and as JSON."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from shoal.analysis.utility import Utility
from shoal.drawing.chart import chart, inline
from shoal.drawing.page import render, require_drawing
from shoal.errors import InputError, percent
from shoal.io.commit import check_target, replacing_all
from shoal.version import __version__

PAGES = (".html", ".htm")
LETTERS = 18
"""Letters of a column's name in a chart."""


def check_output(path: Path, force: bool) -> None:
    """Raise unless a result may be written here; to be called before any work."""
    for target in _targets(path):
        check_target(target, force)
    if path.suffix.lower() in PAGES:
        require_drawing("A page")


def write_utility(found: Utility, path: Path, force: bool = False) -> list[Path]:
    """Write the page and the JSON beside it, or the JSON alone; all files or none."""
    check_output(path, force)
    targets = _targets(path)
    with replacing_all(targets, force) as places:
        for target, place in zip(targets, places.paths, strict=True):
            is_page = target.suffix.lower() in PAGES
            text = page(found) if is_page else json.dumps(found.to_dict(), indent=2) + "\n"
            place.write_text(text, encoding="utf-8")
        places.commit()
    return targets


def page(found: Utility) -> str:
    """One self-contained HTML document."""
    return render(
        "shoal.analysis/utility.html",
        found=found,
        percent=percent,
        version=__version__,
        heat=_heat_map(found) if len(found.pairs) > 1 else "",
        strongest=sorted(found.pairs, key=lambda one: -abs(one.change))[:10],
    )


def _targets(path: Path) -> list[Path]:
    if path.suffix.lower() in PAGES:
        return [path, path.with_suffix(".json")]
    if path.suffix.lower() == ".json":
        return [path]
    raise InputError(
        f"{path}: the extension decides the format. Use .html for a page with JSON beside it, or .json "
        "for JSON alone."
    )


def _heat_map(found: Utility) -> str:
    """The change of every association: blue where it got weaker, red where it got stronger."""
    names = list(dict.fromkeys(name for one in found.pairs for name in (one.first, one.second)))
    at = {name: i for i, name in enumerate(names)}
    changes = np.full((len(names), len(names)), np.nan)
    for one in found.pairs:
        changes[at[one.second], at[one.first]] = one.change
    far = max(0.1, float(np.nanmax(np.abs(changes))))
    side = min(8.0, 2.4 + 0.42 * len(names))
    with chart(side + 0.8, side) as (figure, axes):
        drawn = axes.pcolormesh(
            changes, cmap="coolwarm", vmin=-far, vmax=far, edgecolors="#fffffe", linewidth=1.0
        )
        places, words = np.arange(len(names)) + 0.5, [_short(name) for name in names]
        axes.set_xticks(places[:-1], words[:-1], rotation=90)  # the last one has no column
        axes.set_yticks(places[1:], words[1:])
        axes.set(xlim=(0, len(names) - 1), ylim=(len(names), 1))
        axes.set_aspect("equal")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        if len(names) <= 14:
            _write_changes(axes, changes, far)
        bar = figure.colorbar(drawn, ax=axes, shrink=0.7)
        bar.set_label("weaker  ←  association  →  stronger")
        bar.outline.set_visible(False)
        return inline(
            figure,
            "pairs",
            "Change of the association of every pair of columns",
            "; ".join(
                f"{one.first} and {one.second}: {one.change:+.2f}" for one in found.pairs[:60]
            ),
        )


def _write_changes(axes: Any, changes: np.ndarray, far: float) -> None:
    for row, column in zip(*np.nonzero(~np.isnan(changes)), strict=True):
        value = changes[row, column]
        text = f"{value:+.2f}".replace("-", "−") if abs(value) >= 0.005 else "0"
        axes.text(
            column + 0.5,
            row + 0.5,
            text,
            ha="center",
            va="center",
            fontsize=8,
            color="#fffffd" if abs(value) > far * 0.6 else "#1b1f23",
        )


def _short(name: str) -> str:
    return name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
