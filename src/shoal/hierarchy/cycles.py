"""Finding a circle among "lies under" pairs."""

import numpy as np
import numpy.typing as npt


def find_cycle(below: npt.NDArray[np.int64], above: npt.NDArray[np.int64], size: int) -> list[int]:
    """The numbers on one circle, the first one again at the end; empty when there is none.

    below[i] lies under above[i]; numbers are 0..size-1. A number right under itself is no circle.
    Numbers with nothing below or nothing above are taken away until none is left, or a circle is.
    """
    on_top = np.zeros(size, dtype=np.bool_)
    on_top[above] = True
    # most numbers are leaves: they go before anything is sorted
    pairs = np.unique((below * size + above)[on_top[below] & (below != above)])
    while len(pairs):
        below, above = pairs // size, pairs % size
        inside = np.isin(above, below) & np.isin(below, above)
        if inside.all():
            return _climb(dict(zip(below.tolist(), above.tolist(), strict=True)))
        pairs = pairs[inside]
    return []


def _climb(parent: dict[int, int]) -> list[int]:
    """Every number has a parent here, so climbing comes back to where it has been."""
    at = min(parent)
    seen: dict[int, None] = {}
    while at not in seen:
        seen[at] = None
        at = parent[at]
    path = list(seen)
    return [*path[path.index(at) :], at]
