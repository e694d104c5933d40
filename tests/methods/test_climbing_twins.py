"""Datafly, Classfly and Classfly+ publish, cell for cell, what their slow, plain twins do."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import Infeasible
from shoal.methods.base import Method
from shoal.methods.classfly import Classfly
from shoal.methods.classfly_plus import ClassflyPlus
from shoal.methods.constraints import Constraint, components, without_implied
from shoal.methods.datafly import Datafly
from shoal.models.requirement import Requirement
from tests import naive_constraints as naive
from tests.constrained import Constrained, constrained_tables
from tests.examples import examples

METHODS: list[Method] = [Datafly(), *(ClassflyPlus(v) for v in ("naive", "complete", "partial"))]


def answer_of(
    method: Method, table: Constrained, requirement: Requirement | None = None
) -> naive.Answer:
    shares: list[float] = []
    asked = requirement or table.requirement
    answer = table.answer(method.group(table.cells, asked, 0, shares.append))
    assert all(0 <= share <= 1 for share in shares)
    assert all(before <= after for before, after in pairwise(shares))
    return answer


@pytest.mark.parametrize("variant", ["naive", "complete", "partial"])
@examples(100)
@given(table=constrained_tables())
def test_classfly_plus_against_its_twin(variant: str, table: Constrained) -> None:
    method = ClassflyPlus(variant)  # type: ignore[arg-type]
    if not table.feasible:
        with pytest.raises(Infeasible):
            answer_of(method, table)
        return
    expected = naive.classfly_plus(table.trees, table.rows, table.constraints, variant)
    assert answer_of(method, table) == expected


@examples(100)
@given(table=constrained_tables(), limit=st.none() | st.integers(0, 30))
def test_datafly_against_its_twin(table: Constrained, limit: int | None) -> None:
    if not table.feasible:
        with pytest.raises(Infeasible):
            answer_of(Datafly(), table)
        return
    asked = Requirement(table.requirement.models, limit)
    expected = naive.datafly(table.trees, table.rows, table.constraints, limit)
    assert answer_of(Datafly(), table, asked) == expected


@given(table=constrained_tables())
def test_classfly_against_its_twin(table: Constrained) -> None:
    apart = [part[0] for part in components([Constraint(c, k) for c, k in table.constraints])]
    alone = [(one.columns, one.k) for one in apart]
    only = Constrained(table.cells, table.trees, table.rows, alone)
    if not only.feasible:
        return
    assert answer_of(Classfly(), only) == naive.classfly(table.trees, table.rows, alone)


@pytest.mark.parametrize("method", METHODS, ids=str)
@given(table=constrained_tables())
def test_leaving_out_implied_constraints_changes_nothing(
    method: Method, table: Constrained
) -> None:
    if not table.feasible:
        return
    kept, _ = without_implied([Constraint(columns, k) for columns, k in table.constraints])
    fewer = Constrained(
        table.cells, table.trees, table.rows, [(one.columns, one.k) for one in kept]
    )
    assert answer_of(method, fewer) == answer_of(method, table)


@given(table=constrained_tables())
def test_the_order_of_constraints_does_not_matter(table: Constrained) -> None:
    if not table.feasible:
        return
    turned = Constrained(table.cells, table.trees, table.rows, table.constraints[::-1])
    for method in METHODS:
        assert answer_of(method, turned) == answer_of(method, table)
