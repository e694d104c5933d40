"""Random releases of random tables, once as the metrics see them and once cell by cell."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Grouping, spans_of
from shoal.metrics.base import ReleaseView
from tests import naive_metrics as naive
from tests.coded import Coded, coded_tables


@dataclass(frozen=True)
class Both:
    """The same release twice."""

    parts: ReleaseView
    columns: list[naive.Column]
    release: list[naive.Row]
    weights: list[float]


def plain_column(domain: Domain) -> naive.Column:
    """What the twins know of a column."""
    units = list(range(domain.size)) if domain.units is None else domain.units.tolist()
    kind = {Kind.RANGE: "range", Kind.SET: "set", Kind.TREE: "tree"}[domain.kind]
    nodes = None if domain.hierarchy is None else domain.hierarchy.nodes.tolist()
    return {
        "kind": kind,
        "size": domain.size,
        "missing": domain.missing,
        "units": units,
        "nodes": nodes,
    }


def label(column: naive.Column, codes: list[int], level: int | None) -> tuple[int, ...] | None:
    """The codes under the label of a group with these codes; None where it is the raw value."""
    size, low, high = column["size"], min(codes), max(codes)
    if column["kind"] == "tree":
        nodes = column["nodes"]
        if level is None:
            level = min(i for i, row in enumerate(nodes) if row[low] == row[high])
        found = tuple(c for c in range(size) if nodes[level][c] == nodes[level][low])
        return None if level == 0 or found == (column["missing"],) else found
    if low == high:
        return None
    if column["kind"] == "set":
        return tuple(sorted(set(codes)))
    return tuple(range(size)) if high == column["missing"] else tuple(range(low, high + 1))


def both(
    table: Coded,
    groups: list[list[int]],
    of: list[tuple[int, ...]],
    levels: list[list[list[int]] | None],
    weights: dict[str, float] | None = None,
) -> Both:
    """The release with these groups (-1: suppressed), one list per grouping over the columns `of`."""
    columns = [plain_column(domain) for domain in table.cells.domains]
    release: list[naive.Row] = [[(code, None) for code in row] for row in table.rows]
    made = []
    for group, owned, fixed in zip(groups, of, levels, strict=True):
        at = None if fixed is None else np.array(fixed, np.int32).reshape(-1, len(owned))
        made.append(Grouping(np.array(group, np.int32), max([*group, -1]) + 1, owned, at))
        for place, j in enumerate(owned):
            for i, g in enumerate(group):
                raw = table.rows[i][j]
                if g < 0:
                    release[i][j] = (raw, tuple(range(columns[j]["size"])))
                    continue
                inside = [table.rows[other][j] for other in range(len(group)) if group[other] == g]
                level = None if fixed is None else fixed[g][place]
                release[i][j] = (raw, label(columns[j], inside, level))
    gone = np.array([all(group[i] < 0 for group in groups) for i in range(len(table.rows))])
    seen = {tuple(map(naive.covered, row)) for row, g in zip(release, gone, strict=True) if not g}
    spans = tuple(spans_of(table.cells, grouping) for grouping in made)
    parts = ReleaseView(table.cells, tuple(made), spans, len(seen), gone, None, weights)
    names = [domain.name for domain in table.cells.domains]
    return Both(parts, columns, release, [(weights or {}).get(name, 1.0) for name in names])


@st.composite
def releases(draw: st.DrawFn) -> Both:
    """Any table and any groups over all columns, or over some of them and the others."""
    table = draw(coded_tables(max_rows=18))
    names = [f"c{j}" for j in range(len(table.columns))]
    domains = tuple(
        replace(d, name=name) for d, name in zip(table.cells.domains, names, strict=True)
    )
    table = replace(table, cells=replace(table.cells, domains=domains))
    n, d = len(table.rows), len(names)
    cut = draw(st.integers(1, d))
    of = [tuple(range(cut)), tuple(range(cut, d))] if cut < d else [tuple(range(d))]
    groups, levels = [], []
    for owned in of:
        drawn = draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n))
        numbers = {g: i for i, g in enumerate(sorted(set(drawn) - {-1}))} | {-1: -1}
        group = [numbers[g] for g in drawn]
        groups.append(group)
        levels.append(_fixed(draw, table, owned, group))
    weighed = st.dictionaries(st.sampled_from(names), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    return both(table, groups, of, levels, draw(st.none() | weighed))


def _fixed(
    draw: st.DrawFn, table: Coded, owned: tuple[int, ...], group: list[int]
) -> list[list[int]] | None:
    """Levels at or above the lowest label of each group, as methods that climb fix them."""
    trees = [table.cells.domains[j].hierarchy for j in owned]
    if any(tree is None for tree in trees) or not draw(st.booleans()):
        return None
    found = []
    for g in range(max([*group, -1]) + 1):
        inside = [table.rows[i] for i, own in enumerate(group) if own == g]
        at = []
        for j, tree in zip(owned, trees, strict=True):
            assert tree is not None
            rows, codes = tree.nodes.tolist(), [row[j] for row in inside]
            lowest = min(i for i, row in enumerate(rows) if len({row[c] for c in codes}) == 1)
            at.append(draw(st.integers(lowest, tree.height)))
        found.append(at)
    return found
