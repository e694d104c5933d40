"""Incognito and the optimum against brute force over the whole lattice."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal import plugins
from shoal.encoding.grouping import Grouping
from shoal.errors import Infeasible
from shoal.methods.incognito import Incognito
from shoal.methods.lattice import Counting, Judge, Lattice, NodeCosts
from shoal.methods.optimal import Optimal
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from tests import naive_lattice as naive
from tests.examples import examples
from tests.lattices import Table, tables
from tests.models.every import EVERY

limits = st.just(0) | st.integers(1, 8)
UNWEIGHTED = [model for model in EVERY if not model.needs_weights]
"""The tables here have no weights; `tests/weights` has the others."""
some_models = st.lists(st.sampled_from(UNWEIGHTED), min_size=1, max_size=2, unique_by=repr)
some_models = some_models.map(tuple)


def run(method: Any, table: Table, models: tuple[Model, ...], limit: int) -> Grouping:
    shares: list[float] = []
    (grouping,) = method.group(table.cells, Requirement(models, limit), 0, shares.append)
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    return grouping


def published(grouping: Grouping) -> tuple[naive.Node, list[naive.Group]]:
    """The node of a grouping and its classes."""
    assert grouping.levels is not None
    assert (grouping.levels == grouping.levels[0]).all()
    groups: list[naive.Group] = [[] for _ in range(grouping.n_groups)]
    for row, group in enumerate(grouping.group.tolist()):
        if group >= 0:
            groups[group].append(row)
    return tuple(grouping.levels[0].tolist()), sorted(groups)


def releases(table: Table, judge: naive.Judge) -> dict[naive.Node, list[naive.Group]]:
    """Every valid node with the classes it publishes."""
    found = {}
    for node in naive.nodes(table.columns):
        kept = judge(naive.classes(table.columns, table.rows, node))
        if kept is not None:
            found[node] = sorted(kept)
    return found


@examples(30)
@given(table=tables(), k=st.integers(1, 6), l=st.integers(0, 3), limit=limits)
def test_incognito_finds_every_minimal_node(table: Table, k: int, l: int, limit: int) -> None:  # noqa: E741
    models: tuple[Model, ...] = (K(k), L(l, "ill")) if l else (K(k),)
    expected = releases(table, naive.k_and_l(table.sensitive, k, l, limit))
    if not expected:
        with pytest.raises(Infeasible):
            run(Incognito(), table, models, limit)
        return
    grouping = run(Incognito(), table, models, limit)
    assert list(grouping.minimal) == naive.minimal(table.columns, list(expected))
    node, groups = published(grouping)
    assert node in grouping.minimal
    assert groups == expected[node]


@examples(30)
@given(table=tables(), models=some_models, limit=limits)
def test_incognito_finds_every_minimal_node_of_any_models(
    table: Table, models: tuple[Model, ...], limit: int
) -> None:
    expected = releases(table, table.judge(models, limit))
    if not expected:
        with pytest.raises(Infeasible):
            run(Incognito(), table, models, limit)
        return
    grouping = run(Incognito(), table, models, limit)
    assert list(grouping.minimal) == naive.minimal(table.columns, list(expected))
    node, groups = published(grouping)
    assert groups == expected[node]


def cost(metric: Any, table: Table, node: naive.Node, kept: list[naive.Group]) -> float:
    figure = metric.measure(table.parts(node, kept))
    if figure is None:
        return math.inf
    return -figure if metric.high_is_good else figure


def best(costs: dict[naive.Node, float]) -> naive.Node:
    """The least; figures that differ by rounding alone are equal."""
    least = min(costs.values())
    close = [n for n, c in costs.items() if c == least or math.isclose(c, least, abs_tol=1e-9)]
    return min(close, key=lambda node: (sum(node), node))


SLOW = [name for name, metric in plugins.metrics().items() if metric.on_request]


def quick(name: str) -> Any:
    """A metric, with little work where it lets one choose."""
    metric = plugins.metric(name)()
    return replace(metric, queries=5) if hasattr(metric, "queries") else metric


@examples(40)
@given(
    name=st.sampled_from(
        [name for name in plugins.names("metrics") if not plugins.metric(name).on_request]
    ),
    table=tables(max_rows=20),
    models=some_models,
    limit=limits,
)
def test_the_optimum_is_that_of_brute_force(
    name: str, table: Table, models: tuple[Model, ...], limit: int
) -> None:
    check_optimum(name, table, models, limit)


@examples(2)
@given(table=tables(max_rows=10, max_columns=1), models=some_models, limit=limits)
def test_the_optimum_by_a_metric_that_takes_long(
    table: Table, models: tuple[Model, ...], limit: int
) -> None:
    check_optimum("query-error", table, models, limit)


def check_optimum(name: str, table: Table, models: tuple[Model, ...], limit: int) -> None:
    expected = releases(table, table.judge(models, limit))
    if not expected:
        with pytest.raises(Infeasible):
            run(Optimal(name), table, models, limit)
        return
    metric = plugins.metric(name)()
    costs = {node: cost(metric, table, node, kept) for node, kept in expected.items()}
    node, groups = published(run(Optimal(name), table, models, limit))
    assert node == best(costs)
    assert groups == expected[node]


@examples(25)
@given(table=tables(), k=st.integers(1, 6), l=st.integers(1, 3), limit=limits)
def test_incognito_publishes_the_best_of_the_minimal_nodes(
    table: Table,
    k: int,
    l: int,  # noqa: E741
    limit: int,
) -> None:
    expected = releases(table, naive.k_and_l(table.sensitive, k, l, limit))
    assume(expected)
    for name in ("mean-ncp", "dm", "groups", "cm"):
        grouping = run(Incognito(name), table, (K(k), L(l, "ill")), limit)
        metric = plugins.metric(name)()
        costs = {node: cost(metric, table, node, expected[node]) for node in grouping.minimal}
        assert published(grouping)[0] == best(costs)


def measuring(table: Table, metric: Any) -> NodeCosts:
    trees = tuple(d.hierarchy for d in table.cells.domains if d.hierarchy)
    counting = Counting(table.cells, Lattice(trees), ("ill",))
    return NodeCosts(Judge(counting, Requirement((K(1),))), metric)


@examples(20)
@given(data=st.data(), table=tables())
def test_what_metrics_tell_from_classes_is_what_they_measure(
    data: st.DataObject, table: Table
) -> None:
    node = data.draw(st.sampled_from(list(naive.nodes(table.columns))))
    groups = naive.classes(table.columns, table.rows, node)
    flags = data.draw(st.lists(st.booleans(), min_size=len(groups), max_size=len(groups)))
    for name in plugins.names("metrics"):
        metric = quick(name)
        measured = measuring(table, metric)
        # counted from the raw table, classes come in the order of their first rows
        classes = measured.counting.roll(measured.counting.raw, node)
        assert classes.sizes.tolist() == [len(group) for group in groups]
        kept = [group for group, flag in zip(groups, flags, strict=True) if flag]
        assume(kept)
        expected = cost(metric, table, node, kept)
        assert measured.cost(classes, np.array(flags)) == pytest.approx(expected), name


@examples(20)
@given(data=st.data(), table=tables())
def test_metrics_that_only_worsen_do(data: st.DataObject, table: Table) -> None:
    every = list(naive.nodes(table.columns))
    low = data.draw(st.sampled_from(every))
    high = data.draw(
        st.sampled_from([n for n in every if naive.generalises(table.columns, n, low)])
    )
    below = naive.classes(table.columns, table.rows, low)
    above = naive.classes(table.columns, table.rows, high)
    fewer = data.draw(st.lists(st.sampled_from(above), min_size=1, unique_by=tuple))
    for name, metric in plugins.metrics().items():
        if metric.only_worsens:
            first = cost(metric(), table, low, below)
            for groups in (above, fewer):
                then = cost(metric(), table, high, groups)
                assert then >= first or math.isclose(then, first, abs_tol=1e-9), name
