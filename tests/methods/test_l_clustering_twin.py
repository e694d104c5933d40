"""L-clustering makes the very clusters of its slow, plain twin."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import Infeasible
from shoal.methods.l_clustering import LClustering
from shoal.models.l import L
from shoal.models.requirement import Requirement
from tests import naive_clusters as naive
from tests.examples import examples
from tests.methods.clustered import Clustered, tables


def order_of(n: int, seed: int) -> list[int]:
    """The one random order that a seed stands for."""
    return [int(i) for i in np.random.default_rng(seed).permutation(n)]


@examples(200)
@given(
    table=tables(),
    asked=st.lists(st.integers(1, 5), min_size=2, max_size=2),
    seed=st.integers(0, 9),
    keys=st.sampled_from([2, 256]),
)
def test_clusters_equal_the_twins(table: Clustered, asked: list[int], seed: int, keys: int) -> None:
    """Also where codes must share keys of the index, as those of a large column do."""
    asked = asked[: len(table.sensitive)]
    requirement = Requirement(tuple(L(most, f"s{a}") for a, most in enumerate(asked)))
    expected = naive.l_clusters(
        table.columns, table.rows, table.sensitive, asked, order_of(len(table.rows), seed)
    )
    method = LClustering(weights=table.weights)
    few = mock.patch("shoal.methods.clustering.MOST_KEYS", keys)
    if expected is None:
        with pytest.raises(Infeasible):
            method.group(table.cells, requirement, seed, lambda _: None)
        return
    with few:
        (grouping,) = method.group(table.cells, requirement, seed, lambda _: None)
    assert table.groups(grouping) == sorted(expected)
