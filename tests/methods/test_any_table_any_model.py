"""On any table, every method that takes every model ends, and each of its groups holds."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import plugins
from shoal.errors import Infeasible
from shoal.methods.base import Method
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.k import K
from shoal.models.l import EntropyL, RecursiveL
from shoal.models.requirement import Requirement
from shoal.models.t import T
from tests.coded import Coded, coded_tables
from tests.examples import examples
from tests.models import twins

Values = list[int | None]
ASKED: list[tuple[Model, Callable[[Values, Values], bool]]] = [
    (
        T(0.3, "illness"),
        lambda g, e: bool(twins.present(g)) and twins.total_variation(g, e) <= Fraction(3, 10),
    ),
    (EntropyL(2, "illness"), lambda g, _: twins.entropy(g) >= 0.6931471795),
    (Beta(1, "illness", enhanced=True), lambda g, e: twins.beta(g, e, Fraction(1), True)),
    (Delta(1.2, "illness"), lambda g, e: twins.delta(g, e, 1.2)),
    (RecursiveL(2, "illness", 1), lambda g, _: twins.recursive(g, 2, Fraction(1))),
]
METHODS = [name for name, method in plugins.methods().items() if method.check is Method.check]


@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(table=coded_tables(), asked=st.sampled_from(ASKED), k=st.integers(1, 4))
def test_every_group_holds(method: str, table: Coded, asked: Any, k: int) -> None:
    model, judge = asked
    try:
        (grouping,) = plugins.method(method)().group(
            table.cells, Requirement((K(k), model), 0), 0, lambda _: None
        )
    except Infeasible:
        everyone = table.sensitive
        assert len(everyone) < k or not judge(everyone, everyone)
        return
    kept = [value for value, g in zip(table.sensitive, grouping.group, strict=True) if g >= 0]
    for number in range(grouping.n_groups):
        group = [
            table.sensitive[i] for i in range(len(table.sensitive)) if grouping.group[i] == number
        ]
        assert len(group) >= k
        assert judge(group, kept)
