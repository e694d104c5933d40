"""Stronger requirements in a tiny table: all hold what is asked, and a weaker one looks at them too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.errors import Infeasible
from shoal.methods import blocks, local_recoding, stronger
from shoal.methods.k_clustering import KClustering
from shoal.methods.local_recoding import LocalRecoding
from shoal.methods.refinement import loss_of
from shoal.methods.stronger import NEAR, NEAR_OF_FEW, groupings, is_near, shortfall
from shoal.models.alpha import Alpha
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.k import K
from shoal.models.l import EntropyL, L
from shoal.models.requirement import Requirement
from shoal.models.t import T
from tests.coded import Coded, coded_tables
from tests.examples import examples

OF = "illness"
STEPS: tuple[tuple[Callable[[Any, str], Model], list[float]], ...] = (
    (L, [1, 2, 3]),
    (EntropyL, [1.5, 2.0, 2.5]),
    (Alpha, [0.8, 0.6, 0.5]),
    (T, [0.6, 0.4, 0.3]),
    (Beta, [4.0, 2.0, 1.0]),
    (Delta, [3.0, 2.0, 1.0]),
)
"""Models with figures of the lists, weakest first."""


def found_for(table: Coded, requirement: Requirement) -> list[tuple[Requirement, Grouping]]:
    """What is tried, with local recoding; nothing where the requirement cannot be met."""
    columns = local_recoding.levels_of(table.cells, requirement)

    def form(required: Requirement) -> Grouping:
        return local_recoding.recoded(table.cells, required, columns, lambda _: None)

    try:
        return list(groupings(table.cells, requirement, form))
    except Infeasible:
        return []


def held(table: Coded, model: Model, group: list[int]) -> bool:
    """Whether a group holds one of the models that a few words describe."""
    values = [table.sensitive[i] for i in group if table.sensitive[i] is not None]
    if isinstance(model, K):
        return len(group) >= model.k
    if isinstance(model, L):
        return len(set(values)) >= model.l
    if isinstance(model, Alpha):
        return max(map(values.count, set(values)), default=0) <= model.alpha * len(group) + 1e-9
    return True


@examples(16)
@given(
    table=coded_tables(max_rows=24), k=st.integers(1, 4), model=st.integers(0, 5),
    at=st.integers(0, 2),
)  # fmt: skip
def test_all_hold_what_they_say_and_that_is_no_less_than_is_asked(
    table: Coded, k: int, model: int, at: int
) -> None:
    make, figures = STEPS[model]
    requirement = Requirement((K(k), make(figures[at], OF)))
    for required, grouping in found_for(table, requirement):
        assert required.min_rows >= requirement.min_rows
        for group in range(grouping.n_groups):
            rows = np.flatnonzero(grouping.group == group).tolist()
            for one in (*required.models, *requirement.models):
                assert held(table, one, rows), (one, rows)
        assert grouping.group.min() >= SUPPRESSED


@examples(10)
@given(
    table=coded_tables(max_rows=12), k=st.integers(1, 3), more=st.integers(0, 2),
    model=st.integers(0, 5), ends=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)  # fmt: skip
def test_where_nothing_is_too_far_a_stronger_requirement_never_loses_less(
    table: Coded, k: int, more: int, model: int, ends: tuple[int, int]
) -> None:
    """Without the bounds that save time, a requirement looks at all that stronger ones look at."""
    make, figures = STEPS[model]
    weak, strong = (
        Requirement((K(rows), make(figures[at], OF)))
        for rows, at in ((k, min(ends)), (k + more, max(ends)))
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NEAR", "NEAR_OF_FEW"):
            patch.setattr(stronger, name, (1_000_000, 1))
        patch.setattr(stronger, "PAIRS", 1_000_000)
        weaker, harder = found_for(table, weak), found_for(table, strong)
    assume(weaker and harder and max(one.n_groups for _, one in weaker) > 1)
    least, other = (
        min(shortfall(table.cells, weak, one) for _, one in found) for found in (weaker, harder)
    )
    assert least <= other


def test_what_is_near_the_best() -> None:
    assert is_near((False, 110, 0), (False, 100, 0), NEAR)
    assert not is_near((False, 111, 0), (False, 100, 0), NEAR)
    assert is_near((False, 130, 0), (False, 100, 0), NEAR_OF_FEW)
    assert not is_near((False, 131, 0), (False, 100, 0), NEAR_OF_FEW)
    assert not is_near((True, 100, 0), (False, 100, 0), NEAR_OF_FEW)
    assert is_near((True, 900, 9), (True, 100, 1), NEAR)
    assert is_near((False, 0, 0), (False, 0, 0), NEAR)


@examples(10)
@given(
    table=coded_tables(), k=st.integers(1, 5), diverse=st.integers(0, 3),
    recoding=st.booleans(), seed=st.integers(0, 9),
)  # fmt: skip
def test_refinement_loses_no_more_than_from_any_of_its_starts(
    table: Coded, k: int, diverse: int, recoding: bool, seed: int
) -> None:
    models: tuple[Model, ...] = (K(k), L(diverse, OF)) if diverse else (K(k),)
    requirement, cells = Requirement(models), table.cells
    assume(table.holds(k, diverse)(range(cells.n_rows)))  # type: ignore[arg-type]
    method = LocalRecoding(block_rows=1_000) if recoding else KClustering(block_rows=1_000)
    groups = blocks.group_rows(method, cells, requirement, seed, lambda _: None)
    (after,) = blocks.refine_rows(method, cells, requirement, groups, 3, seed, lambda _: None)
    for start in (*groups, *(one for _, one in method.starts(cells, requirement))):
        assert loss_of(cells, after) <= loss_of(cells, start)
    counts = np.bincount(after.group[after.group >= 0])
    assert counts.min() >= max(k, diverse)


@examples(16)
@given(table=coded_tables(), k=st.integers(1, 6), recoding=st.booleans())
def test_refinement_begins_with_a_partition_too_where_most_rows_have_equals(
    table: Coded, k: int, recoding: bool
) -> None:
    requirement = Requirement((K(k),))
    assume(len(table.rows) >= k)
    equals = [table.rows.count(row) for row in table.rows]
    most = 2 * sum(one >= k for one in equals) >= len(equals)
    method = LocalRecoding() if recoding else KClustering()
    starts = list(method.starts(table.cells, requirement))
    assert len(starts) == most
    for required, one in starts:
        assert required == requirement
        assert np.bincount(one.group).min() >= k
        for row in set(table.rows):  # equal rows are together
            same = {one.group[i] for i, other in enumerate(table.rows) if other == row}
            assert len(same) == 1
