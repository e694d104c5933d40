"""Random tables for the clustering methods, as cells and as the twins' plain lists."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.encoding.cells import Cells
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.encoding.grouping import Grouping
from shoal.hierarchy.tree import HierarchyTree
from tests import naive_clusters as naive

WEIGHTS = (0.0, 0.3, 1.0, 1.0, 1.0, 2.5)


@dataclass(frozen=True)
class Clustered:
    """The same table twice."""

    cells: Cells
    columns: list[naive.Column]
    rows: list[naive.Row]
    sensitive: list[list[int | None]]
    weights: dict[str, float]

    def groups(self, grouping: Grouping) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for row, group in enumerate(grouping.group.tolist()):
            found.setdefault(group, []).append(row)
        return sorted(found.values())


@st.composite
def columns(draw: st.DrawFn, name: str) -> tuple[Domain, naive.Column]:
    weight = draw(st.sampled_from(WEIGHTS))
    kind = draw(st.sampled_from(list(Kind)))
    size = draw(st.integers(1, 8))
    texts = [f"v{i}" for i in range(size)]
    missing = size - 1 if size > 1 and draw(st.booleans()) else None
    at = -1 if missing is None else missing
    words = pa.array([None if i == at else t for i, t in enumerate(texts)], pa.string())
    if kind == Kind.SET:
        return Domain(name, kind, words, at), naive.unordered(weight)
    if kind == Kind.RANGE:
        present = size - (missing is not None)
        steps = draw(st.lists(st.integers(1, 5), min_size=present - 1, max_size=present - 1))
        places = np.concatenate([[0], np.cumsum(steps)]).astype(float)
        if missing is not None:
            places = np.append(places, places[-1])
        positions = np.rint(places / max(1.0, places.max()) * UNIT).astype(np.int64)
        if missing is not None:
            positions[-1] = 2 * UNIT
        domain = Domain(name, kind, words, at, positions, units=places)
        return domain, naive.ordered(places.tolist(), missing, weight)
    levels = [list(range(size))]
    while max(levels[-1]) > 0:
        below = levels[-1]
        starts = [draw(st.booleans()) and len(levels) < 4 for _ in range(max(below))]
        above = np.concatenate([[0], np.cumsum(starts)]).astype(int)
        levels.append([int(above[node]) for node in below])
    if len(levels) == 1:
        levels.append([0] * size)
    labels = tuple(tuple(f"n{i}.{n}" for n in range(max(row) + 1)) for i, row in enumerate(levels))
    tree = HierarchyTree(labels, np.array(levels, np.int32))
    domain = Domain(name, kind, pa.array(texts, pa.string()), -1, hierarchy=tree)
    return domain, naive.tree(levels, weight)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 30) -> Clustered:
    """A table of any mix of columns, with ties, missing values and one or two sensitive columns."""
    d = draw(st.integers(1, 4))
    pairs = [draw(columns(f"c{j}")) for j in range(d)]
    row = st.tuples(*(st.integers(0, domain.size - 1) for domain, _ in pairs))
    pool = draw(st.lists(row, min_size=1, max_size=20))
    rows = sorted(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=max_rows)))
    n, values = len(rows), draw(st.integers(1, 5))
    one = st.lists(st.none() | st.integers(0, values - 1), min_size=n, max_size=n)
    sensitive = draw(st.lists(one, min_size=1, max_size=2))
    return clustered(rows, pairs, sensitive)


def clustered(
    rows: list[naive.Row],
    pairs: list[tuple[Domain, naive.Column]],
    sensitive: list[list[int | None]],
    values: int = 5,
) -> Clustered:
    """The table with these sorted rows."""
    codes = np.array(rows, np.int32).reshape(len(rows), len(pairs))
    distinct, starts = np.unique(codes, axis=0, return_index=True)
    texts = pa.array([*map(str, range(values)), None], pa.string())
    names = [f"s{a}" for a in range(len(sensitive))]
    cells = Cells(
        domains=tuple(domain for domain, _ in pairs),
        codes=distinct,
        starts=np.append(starts, len(rows)).astype(np.int64),
        rows=np.arange(len(rows), dtype=np.int64),
        hashes=np.arange(len(rows), dtype=np.uint64),
        sensitive={
            name: np.array([values if s is None else s for s in column], np.int32)
            for name, column in zip(names, sensitive, strict=True)
        },
        sensitive_domains={name: Domain(name, Kind.SET, texts, values) for name in names},
    )
    plain = [column for _, column in pairs]
    weights = {domain.name: column.weight for domain, column in pairs}
    return Clustered(cells, plain, rows, sensitive, weights)
