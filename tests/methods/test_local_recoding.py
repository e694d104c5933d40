"""Local recoding makes the very groups of its slow, plain twin, and keeps any requirement."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.domain import Domain, Kind
from shoal.errors import Infeasible
from shoal.methods import left_over, local_recoding
from shoal.methods.local_recoding import LocalRecoding, recoded
from shoal.methods.refinement import loss_of
from shoal.models.alpha import Alpha
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.models.t import T
from shoal.testing import check_method
from tests import naive_clusters as naive
from tests.examples import examples
from tests.methods.clustered import Clustered, tables
from tests.methods.test_k_clustering_twin import by_ncp

UNIT = 1 << 28
Holds = Callable[[Sequence[int]], bool]
Node = tuple[frozenset[int], int]


def test_conformance() -> None:
    check_method(LocalRecoding)


def partitions(domain: Domain, rows: Counter[int]) -> Iterator[list[list[int]]]:
    """Per level, the values of the table that share a node."""
    codes = sorted(rows)
    if domain.hierarchy is not None:
        for level in domain.hierarchy.nodes.tolist():
            yield [[c for c in codes if level[c] == node] for node in sorted(set(level))]
        return
    yield [[code] for code in codes]
    if domain.kind == Kind.RANGE:
        known = [code for code in codes if code != domain.missing]
        missing = [code for code in codes if code == domain.missing]
        for width in (2, 3, 4, 6, 8, 12):
            for shift in (0, width // 2):
                if width < len(codes):
                    parts: dict[int, list[int]] = {}
                    for i, code in enumerate(known):
                        parts.setdefault((i + shift) // width, []).append(code)
                    yield [*parts.values(), missing]
        yield [known, missing]
    yield [codes]


def levels_of(domain: Domain, column: naive.Column, rows: Counter[int]) -> list[dict[int, Node]]:
    """Per level, what is over each value: the values of the table there, and the loss."""
    costs: dict[frozenset[int], int] = {}
    found: list[dict[int, Node]] = []
    for i, level in enumerate(partitions(domain, rows)):
        nodes: dict[int, Node] = {}
        for part in filter(None, level):
            cover = frozenset(part)
            if domain.hierarchy is not None:
                row = domain.hierarchy.nodes[i].tolist()
                loss = row.count(row[part[0]]) * UNIT // domain.size
            else:
                loss = int(column.width(cover))
            costs.setdefault(cover, 0 if len(part) == 1 else round(loss * domain.share))
            nodes |= dict.fromkeys(part, (cover, costs[cover]))
        if not found or found[-1] != nodes:
            found.append(nodes)
    return found


def twin(
    domains: Sequence[Domain], columns: Sequence[naive.Column], rows: Sequence[naive.Row],
    holds: Holds, least: int,
) -> list[list[int]]:  # fmt: skip
    """The groups, by the definition."""
    d = len(domains)
    levels = [levels_of(domains[j], columns[j], Counter(row[j] for row in rows)) for j in range(d)]

    def label(row: naive.Row, vector: Sequence[int]) -> tuple[Node, ...]:
        return tuple(levels[j][vector[j]][row[j]] for j in range(d))

    def lowest(row: naive.Row, vector: Sequence[int]) -> bool:
        return all(
            levels[j][vector[j]][row[j]] not in [levels[j][i][row[j]] for i in range(vector[j])]
            for j in range(d)
        )

    def price(nodes: tuple[Node, ...]) -> int:
        return sum((cost + UNIT // 512) // (UNIT // 256) for _, cost in nodes)

    def total(vector: Sequence[int]) -> int:
        return sum(cost for row in rows for _, cost in label(row, vector))

    vectors = sorted(product(*(range(len(one)) for one in levels)), key=lambda v: (total(v), v))
    groups: list[list[int]] = []
    open_rows = set(range(len(rows)))
    for number in range(20 * d + 1):
        some = vectors
        while some:
            classes = []
            for v in some:
                found: dict[tuple[Node, ...], list[int]] = {}
                for i in sorted(open_rows):
                    nodes = label(rows[i], v)
                    at = price(nodes) * (UNIT // 256) // (UNIT // 20)
                    if at == number and lowest(rows[i], v):
                        found.setdefault(nodes, []).append(i)
                for nodes, mine in found.items():
                    if len(mine) >= least:
                        classes.append((sum(cost for _, cost in nodes), v, mine, holds(mine)))
            classes.sort(key=lambda one: one[0])
            before, again = len(groups), set()
            for _, v, mine, held in classes:
                left = [i for i in mine if i in open_rows]
                if len(left) < len(mine):
                    again |= {v} if len(left) >= least else set()
                elif held:
                    groups.append(mine)
                    open_rows -= set(mine)
            some = [v for v in some if v in again and len(groups) > before]
    return with_rest(domains, columns, rows, sorted(groups), sorted(open_rows), holds)


def with_rest(
    domains: Sequence[Domain], columns: Sequence[naive.Column], rows: Sequence[naive.Row],
    groups: list[list[int]], left: list[int], holds: Holds,
) -> list[list[int]]:  # fmt: skip
    """Equal rows left over join the group to which they add least, of those that hold with them."""

    def cost(group: Sequence[int]) -> int:
        total = 0
        for j, (domain, column) in enumerate(zip(domains, columns, strict=True)):
            cover = column.cover(frozenset(rows[i][j] for i in group))
            if len(cover) > 1:
                total += round(int(column.width(cover)) * domain.share)
        return total

    moved = True
    while moved:
        moved = False
        for row in sorted({rows[i] for i in left}):
            mine = [i for i in left if rows[i] == row]
            far = [cost(g + mine) * len(g + mine) - cost(g) * len(g) for g in groups]
            for g in sorted(range(len(groups)), key=lambda g: far[g]):
                if holds(groups[g] + mine):
                    groups[g] = groups[g] + mine
                    left, moved = [i for i in left if i not in mine], True
                    break
    n = 1
    while left and groups and cost(range(len(rows))) == 0 and n < 2 * len(groups):
        # keeping them loses nothing, where no column has any importance
        together = sorted(sum(groups[:n], left))
        if holds(together):
            groups, left = [*groups[n:], together], []
        n *= 2
    return [sorted(group) for group in groups] + ([left] if left else [])


@examples(60)
@given(
    table=tables(), k=st.integers(1, 7), diverse=st.integers(0, 4), half=st.booleans(),
    shares=st.sampled_from([(1.0,), (0.0,), (0.0, 1.0), (1.0, 0.25, 0.0)]),
)  # fmt: skip
def test_groups_equal_the_twins(
    table: Clustered, k: int, diverse: int, half: bool, shares: tuple[float, ...]
) -> None:
    domains = tuple(
        replace(domain, share=shares[j % len(shares)])
        for j, domain in enumerate(table.cells.domains)
    )
    cells = replace(table.cells, domains=domains)
    models: tuple[Model, ...] = (K(k), *([L(diverse, "s0")] if diverse else []))
    models = (*models, *([Alpha(0.6, "s0")] if half else []))

    def holds(group: Sequence[int]) -> bool:
        values = Counter(table.sensitive[0][i] for i in group)
        values.pop(None, None)
        if half and values and max(values.values()) > 0.6 * values.total():
            return False
        return len(group) >= k and len(values) >= diverse

    requirement = Requirement(models)
    if not holds(range(len(table.rows))):
        with pytest.raises(Infeasible):
            LocalRecoding().group(cells, requirement, 0, lambda _: None)
        return
    columns = local_recoding.levels_of(cells, requirement)
    grouping = recoded(cells, requirement, columns, lambda _: None)
    pairs = zip(domains, table.columns, strict=True)
    plain = [by_ncp(domain, column) for domain, column in pairs]
    expected = twin(domains, plain, table.rows, holds, requirement.min_rows)
    assert table.groups(grouping) == sorted(expected)
    # stronger requirements are tried too: they never make it worse
    (kept,) = LocalRecoding().group(cells, requirement, 0, lambda _: None)
    assert loss_of(cells, kept) <= loss_of(cells, grouping)
    if loss_of(cells, kept) == loss_of(cells, grouping):
        assert (kept.group < 0).sum() <= (grouping.group < 0).sum()


MODELS: list[tuple[Model, ...]] = [
    (K(3),), (K(2), L(2, "s0")), (K(2), T(0.4, "s0")), (K(2), Alpha(0.7, "s0")),
]  # fmt: skip


@examples(40)
@given(
    table=tables(), models=st.sampled_from(MODELS), may=st.sampled_from([None, 0, 3]),
    vectors=st.sampled_from([1, 1 << 15]), entries=st.sampled_from([1, 1 << 24]),
    large=st.booleans(),
)  # fmt: skip
def test_requirement_holds_however_few_vectors_are_visited(
    table: Clustered, models: tuple[Model, ...], may: int | None, vectors: int, entries: int,
    large: bool,
) -> None:  # fmt: skip
    """With few level vectors, coarse costs and little room, and as in large tables; and no row is
    suppressed that may not."""
    requirement = Requirement(models, may_suppress=may)
    cells = table.cells
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(local_recoding, "MOST_VECTORS", vectors)
        patched.setattr(local_recoding, "MOST_ENTRIES", entries)
        patched.setattr(local_recoding, "ROOM", 1)
        if large:
            patched.setattr(local_recoding, "MOST_LOOKS", 0)
            patched.setattr(left_over, "MOST_COMPARED", 0)
            patched.setattr(left_over, "NEAR", 1)
        try:
            (grouping,) = LocalRecoding().group(cells, requirement, 0, lambda _: None)
        except Infeasible:
            return
    from shoal.encoding.grouping import rows_by_group
    from shoal.methods.base import counts_of_runs

    rows, starts = rows_by_group(grouping.group, grouping.n_groups)
    totals = cells.totals_of_rows(rows)
    assert requirement.holds(counts_of_runs(cells, requirement, rows, starts, totals)).all()
    if may is not None and requirement.holds_when_merged:
        assert cells.n_rows - len(rows) <= may


def wide_table(columns: int, rows: int) -> tuple[pa.Table, dict[str, Any]]:
    """Sixteen columns with hierarchies of four levels: 4^16 level vectors."""
    rng = np.random.default_rng(7)
    kind = rng.integers(0, 4, rows)
    tree = {"a": {"b": ["0", "1"], "c": ["2", "3"]}, "d": {"e": ["4", "5"], "f": ["6", "7"]}}
    data = {
        f"q{j}": pa.array(
            np.where(rng.random(rows) < 0.2, rng.integers(0, 8, rows), 2 * kind).astype(str)
        )
        for j in range(columns)
    }
    quasi = {name: {"role": "quasi", "hierarchy": {"tree": tree}} for name in data}
    return pa.table(data), {"columns": quasi, "constraints": [{"k": 4}]}


def test_sixteen_quasi_identifiers() -> None:
    """The level vectors are too many to visit, and yet less is lost than by a partition."""
    table, policy = wide_table(16, 600)
    found = shoal.anonymize(table, policy, method="local-recoding")
    assert found.verified
    assert not found.suppressed_rows
    other = shoal.anonymize(table, policy, method="least-loss-partition")
    assert found.metrics["mean-ncp"] < other.metrics["mean-ncp"]


def test_no_row_is_suppressed_where_keeping_it_loses_nothing() -> None:
    """Only a column with one value has any importance."""
    table = pa.table(
        {
            "a": ["a2", "a1", "a1", "a0", "a2"],
            "b": ["x"] * 5,
            "ill": ["s1", "s2", "s1", "s1", "s0"],
        }
    )
    found = shoal.anonymize(
        table,
        quasi=["a", "b"],
        sensitive="ill",
        constraints=[{"k": 2}, {"alpha": 0.6, "of": "ill"}],
        importance={"a": 0, "b": 1},
        method="local-recoding",
    )
    assert found.published_rows == 5
    assert found.verified


def test_no_seed_changes_anything() -> None:
    table, policy = wide_table(5, 200)
    one, other = (
        shoal.anonymize(table, {**policy, "seed": seed}, method="local-recoding").table
        for seed in (1, 2)
    )
    assert Counter(map(str, one.to_pylist())) == Counter(map(str, other.to_pylist()))


def test_rows_of_a_person_together() -> None:
    table, policy = wide_table(3, 200)
    table = table.append_column("id", pa.array(np.arange(200) % 60))
    columns = {**policy["columns"], "id": {"role": "person", "together": True}}
    found = shoal.anonymize(table, {**policy, "columns": columns}, method="local-recoding")
    assert found.verified


@examples(30)
@given(seed=st.integers(0, 1 << 30), groups=st.integers(1, 40), rows=st.integers(1, 10))
def test_groups_near_a_row_are_those_next_to_it_in_sorted_orders(
    seed: int, groups: int, rows: int
) -> None:
    """Counted in sorted lists, order by order."""
    rng = np.random.default_rng(seed)
    first, left = (rng.integers(0, 4, (n, 3)).astype(np.int32) for n in (groups, rows))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(left_over, "NEAR", 2)
        found = left_over.nearest_groups(first, left)
    orders = np.random.default_rng(0)
    expected: list[list[int]] = [[] for _ in range(rows)]
    for _ in range(left_over.ORDERS):
        columns = orders.permutation(3).tolist()[::-1]
        ranked = sorted(range(groups), key=lambda g: ([int(first[g, j]) for j in columns], g))
        for i in range(rows):
            own = [int(left[i, j]) for j in columns]
            before = sum([int(first[g, j]) for j in columns] <= own for g in ranked)
            for place in range(before - 2, before + 2):
                expected[i].append(ranked[min(max(place, 0), groups - 1)])
    assert found.tolist() == [sorted(some) for some in expected]
