"""Write a comparison: a page and JSON beside it, both or none."""

import json
from pathlib import Path

from shoal.comparison.comparison import Comparison
from shoal.drawing.needs import require_drawing
from shoal.errors import InputError
from shoal.io.atomic import check_target
from shoal.io.together import replacing_all

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
        from shoal.comparison.page import page

        return page(comparison)
    return json.dumps(comparison.to_dict(), indent=2) + "\n"
