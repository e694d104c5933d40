"""Top-down and its repair make the very groups of their slow, plain twins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import Infeasible
from shoal.methods.top_down import TopDown
from shoal.models.alpha import Alpha
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from tests.coded import Coded, coded_tables
from tests.examples import examples
from tests.personal import naive

SEEDS = st.one_of(st.integers(0, 2**40), st.integers(2**128, 2**129 - 1))
"""Small ones, and such as are drawn."""


def holds(table: Coded, k: int, diverse: int, alpha: float) -> naive.Callable[[list[int]], bool]:
    def held(group: list[int]) -> bool:
        values = [table.sensitive[i] for i in group]
        known = [value for value in values if value is not None]
        most = max((known.count(value) for value in known), default=0)
        return len(group) >= k and len(set(known)) >= diverse and most / max(1, len(known)) <= alpha

    return held


@examples(60)
@given(table=coded_tables(), k=st.integers(1, 6), seed=SEEDS)
def test_plain_k_splits_as_the_twin(table: Coded, k: int, seed: int) -> None:
    if len(table.rows) < k:
        with pytest.raises(Infeasible):
            TopDown().group(table.cells, Requirement((K(k),)), seed, lambda _: None)
        return
    (grouping,) = TopDown().group(table.cells, Requirement((K(k),)), seed, lambda _: None)
    twin = naive.TopDown(table.columns, table.rows)
    everyone = list(range(len(table.rows)))
    assert table.groups(grouping) == sorted(twin.groups(everyone, k, naive.fresh(seed, 0)))


@examples(75)
@given(
    table=coded_tables(),
    k=st.integers(1, 4),
    diverse=st.integers(1, 3),
    alpha=st.sampled_from([0.3, 0.5, 0.6, 0.8, 1.0]),
    seed=SEEDS,
)
def test_repair_equals_the_twins(
    table: Coded, k: int, diverse: int, alpha: float, seed: int
) -> None:
    models = (K(k), L(diverse, "illness"), Alpha(alpha, "illness"))
    requirement = Requirement(models)
    held = holds(table, k, diverse, alpha)
    if not held(list(range(len(table.rows)))):
        with pytest.raises(Infeasible):
            TopDown().group(table.cells, requirement, seed, lambda _: None)
        return
    (grouping,) = TopDown().group(table.cells, requirement, seed, lambda _: None)
    twin = naive.TopDown(table.columns, table.rows)
    good, left = twin.repaired(requirement.min_rows, seed, held)
    found: dict[int, list[int]] = {}
    for row, group in enumerate(grouping.group.tolist()):
        found.setdefault(group, []).append(row)
    assert found.pop(-1, []) == left
    assert sorted(found.values()) == sorted(good)


@pytest.mark.parametrize("seed", range(4))
def test_large_lopsided_groups_are_halved_as_in_the_twin(seed: int) -> None:
    import numpy as np
    import pyarrow as pa

    from shoal.encoding.domain import UNIT, Domain, Kind
    from tests.coded import coded
    from tests.naive import range_column

    n = 130
    # most rows lie together, a few far off: what splits into k rows and all others
    places = np.array([*range(n - 2), UNIT // 2, UNIT], np.int64)
    domain = Domain("range", Kind.RANGE, pa.array([str(i) for i in range(n)]), -1, places)
    rows = [(i, i) for i in range(n)]
    column = (domain, range_column(places.tolist()))
    table = coded(rows, [column, column])
    (grouping,) = TopDown().group(table.cells, Requirement((K(2),)), seed, lambda _: None)
    twin = naive.TopDown(table.columns, table.rows)
    assert table.groups(grouping) == sorted(twin.groups(list(range(n)), 2, naive.fresh(seed, 0)))
