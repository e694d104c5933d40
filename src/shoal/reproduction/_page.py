"""The page of a run."""

from collections.abc import Sequence

from shoal.drawing.page import render
from shoal.reproduction._tables import header, rows, shown
from shoal.reproduction.base import WORDS, Claim, Figure, Reproduction

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
