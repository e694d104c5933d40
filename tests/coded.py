"""Random coded tables, once as the package's cells and once as the twins' plain lists."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.encoding.cells import Cells
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.encoding.grouping import Grouping
from shoal.hierarchy.tree import HierarchyTree
from tests import naive


@dataclass(frozen=True)
class Coded:
    """The same table twice."""

    cells: Cells
    columns: list[naive.Column]
    rows: list[naive.Row]
    sensitive: list[int | None]

    def groups(self, grouping: Grouping) -> list[naive.Group]:
        """A grouping as the twins write it."""
        found: dict[int, list[int]] = {}
        for row, group in enumerate(grouping.group.tolist()):
            found.setdefault(group, []).append(row)
        assert -1 not in found
        assert sorted(found) == list(range(grouping.n_groups))
        return sorted(found.values())

    def holds(self, k: int, diverse: int) -> naive.Holds:
        """k rows and `diverse` different sensitive values."""

        def held(group: naive.Group) -> bool:
            values = {self.sensitive[i] for i in group} - {None}
            return len(group) >= k and len(values) >= diverse

        return held


@st.composite
def ranges(draw: st.DrawFn) -> tuple[Domain, naive.Column]:
    places = sorted(draw(st.lists(st.integers(0, UNIT), min_size=1, max_size=6, unique=True)))
    units = [place - places[0] for place in places]
    missing = -1
    if draw(st.booleans()):
        missing = len(places)
        places.append(2 * UNIT)
        units.append(units[-1])
    texts = pa.array([None if i == missing else str(i) for i in range(len(places))], pa.string())
    return (
        Domain(
            "range",
            Kind.RANGE,
            texts,
            missing,
            np.array(places, np.int64),
            units=np.array(units, np.float64) if draw(st.booleans()) else None,
        ),
        naive.range_column(places),
    )


@st.composite
def sets(draw: st.DrawFn) -> tuple[Domain, naive.Column]:
    size = draw(st.sampled_from([1, 2, 3, 5, 8, 70]))
    texts = pa.array([f"v{i}" for i in range(size)], pa.string())
    return Domain("set", Kind.SET, texts, -1), naive.set_column(size)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Domain, naive.Column]:
    size = draw(st.integers(1, 8))
    levels = [list(range(size))]
    while max(levels[-1]) > 0:
        below = levels[-1]
        starts = [draw(st.booleans()) and len(levels) < 4 for _ in range(max(below))]
        above = np.concatenate([[0], np.cumsum(starts)]).astype(int)
        levels.append([int(above[node]) for node in below])
    if len(levels) == 1:
        levels.append([0] * size)
    nodes = np.array(levels, np.int32)
    labels = tuple(
        tuple(f"n{level}.{node}" for node in range(max(row) + 1))
        for level, row in enumerate(levels)
    )
    texts = pa.array(list(labels[0]), pa.string())
    domain = Domain("tree", Kind.TREE, texts, -1, hierarchy=HierarchyTree(labels, nodes))
    return domain, naive.tree_column(levels)


@st.composite
def coded_tables(draw: st.DrawFn, max_rows: int = 40) -> Coded:
    """A table of any mix of columns, with ties, missing values and a sensitive column."""
    pairs = draw(st.lists(ranges() | sets() | trees(), min_size=1, max_size=4))
    sizes = [domain.size for domain, _ in pairs]
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    pool = draw(st.lists(row, min_size=1, max_size=20))
    rows = sorted(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=max_rows)))
    sensitive = draw(
        st.lists(st.none() | st.integers(0, 4), min_size=len(rows), max_size=len(rows))
    )
    return coded(rows, pairs, sensitive)


def coded(
    rows: list[naive.Row],
    pairs: list[tuple[Domain, naive.Column]],
    sensitive: list[int | None] | None = None,
) -> Coded:
    """The table with these rows, sorted as a canonical order wants them."""
    assert rows == sorted(rows)
    kinds = sensitive if sensitive is not None else [0] * len(rows)
    distinct = sorted(set(rows))
    starts = np.searchsorted([distinct.index(r) for r in rows], np.arange(len(distinct) + 1))
    texts = pa.array([*map(str, range(5)), None], pa.string())
    cells = Cells(
        domains=tuple(domain for domain, _ in pairs),
        codes=np.array(distinct, np.int32).reshape(len(distinct), len(pairs)),
        starts=starts.astype(np.int64),
        rows=np.arange(len(rows), dtype=np.int64),
        hashes=np.arange(len(rows), dtype=np.uint64),
        sensitive={"illness": np.array([5 if s is None else s for s in kinds], np.int32)},
        sensitive_domains={"illness": Domain("illness", Kind.SET, texts, 5)},
    )
    return Coded(cells, [column for _, column in pairs], rows, kinds)


def weighed(table: Coded, shares: list[float]) -> Coded:
    """The same table, its columns counting by these shares."""
    domains = table.cells.domains
    wide = [shares[j % len(shares)] for j in range(len(domains))]
    cells = replace(
        table.cells,
        domains=tuple(replace(d, share=share) for d, share in zip(domains, wide, strict=True)),
    )
    columns = [naive.weighed(c, share) for c, share in zip(table.columns, wide, strict=True)]
    return replace(table, cells=cells, columns=columns)
