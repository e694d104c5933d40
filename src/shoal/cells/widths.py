"""How wide labels are: the tables of `kernels/labels.py`, made from the columns' domains."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import UNIT, Domain, Kind
from shoal.cells.units import places as places_of
from shoal.kernels.labels import Columns, Label


def loss_columns(domains: Sequence[Domain], weights: Sequence[float]) -> Columns:
    """Widths as the loss L counts them: units of a range, values of a set, leaves of a node.

    Whole numbers and dates are measured in their own units (1, a day), other ordered values by rank.
    """
    places = [places_of(domain) for domain in domains]
    counted = [np.arange(domain.size + 1, dtype=np.float64) for domain in domains]
    return _columns(domains, weights, places, counted, one=1.0, plus=1.0, most=np.inf)


def ncp_columns(domains: Sequence[Domain]) -> Columns:
    """Widths as NCP counts them, in whole numbers of 1/UNIT."""
    places, counted = [], []
    for domain in domains:
        places.append(
            np.zeros(domain.size) if domain.positions is None else domain.positions.astype(float)
        )
        cost = np.arange(domain.size + 1, dtype=np.int64) * UNIT // max(1, domain.size)
        cost[:2] = 0
        counted.append(cost.astype(np.float64))
    weights = [1.0] * len(domains)
    return _columns(domains, weights, places, counted, one=0.0, plus=0.0, most=float(UNIT))


def no_labels(columns: Columns, n: int) -> Label:
    """Room for n labels."""
    d, words = len(columns.kind), int(columns.word[-1])
    return Label(
        np.zeros((n, d), np.int32),
        np.zeros((n, d), np.int32),
        np.zeros((n, max(1, words)), np.uint64),
        np.zeros((n, d)),
    )


def _columns(
    domains: Sequence[Domain],
    weights: Sequence[float],
    places: Sequence[npt.NDArray[np.float64]],
    counted: Sequence[npt.NDArray[np.float64]],
    one: float,
    plus: float,
    most: float,
) -> Columns:
    firsts, lasts = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for domain in domains:
        if domain.hierarchy is not None:
            for row in domain.hierarchy.nodes:
                firsts.append(np.searchsorted(row, row).astype(np.int32))
                lasts.append((np.searchsorted(row, row, side="right") - 1).astype(np.int32))
    levels = [0 if d.hierarchy is None else d.hierarchy.height + 1 for d in domains]
    in_tree = [levels[j] * d.size for j, d in enumerate(domains)]
    words = [(d.size + 63) // 64 if d.kind == Kind.SET else 0 for d in domains]
    return Columns(
        kind=np.array([int(d.kind) for d in domains], np.int64),
        size=np.array([d.size for d in domains], np.int64),
        missing=np.array([d.missing if d.kind == Kind.RANGE else -1 for d in domains], np.int64),
        weight=np.array(weights, np.float64),
        one=one,
        plus=plus,
        most=most,
        base=np.cumsum([0, *(d.size for d in domains)]).astype(np.int64),
        place=np.concatenate(places),
        counted=np.concatenate(counted),
        tree=np.cumsum([0, *in_tree[:-1]]).astype(np.int64),
        levels=np.array(levels, np.int64),
        first=np.concatenate(firsts),
        last=np.concatenate(lasts),
        word=np.cumsum([0, *words]).astype(np.int64),
    )
