"""Every partition method makes the very groups of its slow, plain twin."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import Infeasible
from shoal.methods.base import Method
from shoal.methods.bottom_up import BottomUp
from shoal.methods.flexible_partition import FlexiblePartition
from shoal.methods.least_loss_partition import LeastLossPartition
from shoal.methods.mondrian import Mondrian
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from tests import naive
from tests.coded import Coded, coded_tables
from tests.examples import examples
from tests.personal import naive as splits

Twin = Callable[[Coded, int, naive.Holds], list[naive.Group] | None]
TWINS: list[tuple[Method, Twin]] = [
    (
        FlexiblePartition(),
        lambda t, k, holds: naive.flexible(t.columns, t.rows, k, holds, "least-loss"),
    ),
    (
        FlexiblePartition(dimension="widest"),
        lambda t, k, holds: naive.flexible(t.columns, t.rows, k, holds, "widest"),
    ),
    (
        LeastLossPartition(),
        lambda t, k, holds: naive.least_loss(t.columns, t.rows, k, holds, len(t.rows)),
    ),
    (Mondrian(), lambda t, k, holds: naive.mondrian(t.columns, t.rows, k, holds, True)),
    (
        Mondrian(strict=False),
        lambda t, k, holds: naive.mondrian(t.columns, t.rows, k, holds, False),
    ),
    (
        Mondrian(median="below"),
        lambda t, k, holds: naive.mondrian(t.columns, t.rows, k, holds, True, published=True),
    ),
    (BottomUp(), lambda t, k, holds: naive.bottom_up(t.columns, t.rows, k, holds)),
    (
        BottomUp(nearest="union"),
        lambda t, k, holds: naive.bottom_up(t.columns, t.rows, k, holds, by_union=True),
    ),
    (
        BottomUp(nearest="union", split="ends"),
        lambda t, k, holds: naive.bottom_up(
            t.columns, t.rows, k, holds, split_from_ends(t, k, holds), by_union=True
        ),
    ),
]


def split_from_ends(
    table: Coded, k: int, holds: naive.Holds
) -> Callable[[naive.Group], list[naive.Group]]:
    """In two as `top-down` splits, and so on, while both sides hold."""
    twin = splits.TopDown(table.columns, table.rows)

    def split(group: naive.Group, state: int) -> list[naive.Group]:
        if len(group) < 2 * k:
            return [group]
        sides = twin.split(group, k, state)
        if not all(map(holds, sides)):
            return [group]
        return [p for i, side in enumerate(sides) for p in split(side, splits.mix(state, 1 + i))]

    return lambda group: split(sorted(group), min(group))


@pytest.mark.parametrize(
    ("method", "twin"), TWINS, ids=lambda v: str(v) if isinstance(v, str) else ""
)
@examples(100)
@given(table=coded_tables(), k=st.integers(1, 7), diverse=st.integers(0, 4))
def test_groups_equal_the_twins(
    method: Method, twin: Twin, table: Coded, k: int, diverse: int
) -> None:
    models = (K(k), L(diverse, "illness")) if diverse else (K(k),)
    requirement = Requirement(models)
    holds = table.holds(k, diverse)
    if not holds(list(range(len(table.rows)))):
        with pytest.raises(Infeasible):
            method.group(table.cells, requirement, 0, lambda _: None)
        return
    (grouping,) = method.group(table.cells, requirement, 0, lambda _: None)
    expected = twin(table, requirement.min_rows, holds)
    assert expected is not None
    assert table.groups(grouping) == sorted(sorted(group) for group in expected)
