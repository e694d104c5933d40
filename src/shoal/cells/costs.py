"""The kernels' cost tables, made from the columns' domains."""

from collections.abc import Sequence

import numpy as np

from shoal.cells.domain import UNIT, Domain, Kind
from shoal.kernels.costs import Costs


def costs_of(domains: Sequence[Domain]) -> Costs:
    """The tables from which kernels read the loss of any label over these columns."""
    tables = [_tables(domain) for domain in domains]
    lengths = [len(cost) for cost, _ in tables]
    marks = [d.size if d.kind == Kind.SET else 0 for d in domains]
    return Costs(
        kind=np.array([int(d.kind) for d in domains], np.int64),
        size=np.array([d.size for d in domains], np.int64),
        levels=np.array([d.hierarchy.height + 1 if d.hierarchy else 1 for d in domains], np.int64),
        base=np.cumsum([0, *lengths[:-1]]).astype(np.int64),
        cost=np.concatenate([cost for cost, _ in tables]),
        node=np.concatenate([node for _, node in tables]),
        seen=np.cumsum([0, *marks]).astype(np.int64),
    )


def _tables(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    if domain.kind == Kind.RANGE:
        assert domain.positions is not None
        return domain.positions, np.zeros(domain.size, np.int32)
    if domain.kind == Kind.SET:
        cost = np.arange(domain.size + 1, dtype=np.int64) * UNIT // max(1, domain.size)
        cost[:2] = 0
        return cost, np.zeros(len(cost), np.int32)
    assert domain.hierarchy is not None
    nodes = domain.hierarchy.nodes
    costs = np.stack([np.bincount(row)[row] for row in nodes]) * UNIT // domain.size
    costs[0] = 0
    return costs.ravel(), nodes.ravel()
