"""How figures go: in a line, by a power, up or down."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from shoal.errors import listed

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
