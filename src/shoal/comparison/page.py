"""The comparison as a page, and in short for a notebook."""

from typing import Any
from zlib import crc32

from shoal.comparison.comparison import Comparison
from shoal.comparison.picture import picture
from shoal.comparison.telling import missing, ranked
from shoal.comparison.words import at_k, memory_words, seconds_words
from shoal.drawing.chart import SERIES
from shoal.drawing.page import render
from shoal.errors import percent
from shoal.version import __version__


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
