"""Short labels beside points, so that none lies over another or over a point."""

from collections.abc import Sequence
from typing import Any

import numpy as np

LETTER, HEIGHT = 7.0, 13.0
"""Pixels that a letter and a line take."""
PLACES = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Where a label is tried: above first, then around."""


def place_labels(
    texts: Sequence[str], points: Any, box: Any, clear: Sequence[float]
) -> list[tuple[float, float] | None]:
    """The centre of each label, in pixels; None where there is no room for it.

    points: (n, 2) in pixels; box: what labels must stay within; clear: (n,) pixels around each point
    that are taken. Earlier labels go first.
    """
    centres = np.asarray(points, float)
    taken: list[tuple[float, float, float, float]] = [
        (x - r, y - r, x + r, y + r) for (x, y), r in zip(centres, clear, strict=True)
    ]
    found: list[tuple[float, float] | None] = []
    for text, (x, y), r in zip(texts, centres, clear, strict=True):
        wide, high = LETTER * len(text) / 2, HEIGHT / 2
        found.append(None)
        for right, up in PLACES:
            at = (x + right * (wide + r + 2), y + up * (high + r + 1))
            own = (at[0] - wide, at[1] - high, at[0] + wide, at[1] + high)
            inside = own[0] >= box.x0 and own[1] >= box.y0 and own[2] <= box.x1 and own[3] <= box.y1
            if inside and not any(_meet(own, other) for other in taken):
                taken.append(own)
                found[-1] = (float(at[0]), float(at[1]))
                break
    return found


def _meet(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
