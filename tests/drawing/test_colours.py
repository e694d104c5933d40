"""The theme's colours can be told apart, in light and in dark."""

import re
from importlib.resources import files

import pytest

TEXT, SHAPE = 4.5, 3.0
"""The contrast that text and the parts of a chart need (WCAG 2.1, 1.4.3 and 1.4.11)."""
TEXTS = [
    *(
        (ink, back)
        for ink in ("ink", "soft", "link", "good", "bad", "warn")
        for back in ("paper", "card")
    ),
    *(("ink", back) for back in ("good-back", "warn-back", "bad-back")),
    *((mood, f"{mood}-back") for mood in ("good", "warn", "bad")),
]


def theme(which: str) -> dict[str, str]:
    css = (files("shoal.drawing") / "templates" / "style.css").read_text(encoding="utf-8")
    screen = css[: css.index("@media print")]
    light, _, dark = screen.partition("prefers-color-scheme: dark")
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light if which == "light" else dark))
    assert len(found) > 18
    return found


def contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("which", ["light", "dark"])
def test_text_can_be_read(which: str) -> None:
    colours = theme(which)
    poor = {
        pair: round(found, 2)
        for pair in TEXTS
        if (found := contrast(colours[pair[0]], colours[pair[1]])) < TEXT
    }
    assert not poor


@pytest.mark.parametrize("which", ["light", "dark"])
def test_lines_and_bars_stand_out(which: str) -> None:
    colours = theme(which)
    series = {name: colour for name, colour in colours.items() if name.startswith("series")}
    assert len(series) == 8
    assert all(contrast(colour, colours["paper"]) >= SHAPE for colour in series.values())
