"""What the rounded partition's paper proves, as properties of the real method.

n = ak + b rows with 0 <= b < k, k being the only requirement.
"""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.cells import Cells, build_cells
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.methods.flexible_partition import FlexiblePartition
from shoal.models.k import K
from shoal.models.requirement import Requirement
from tests.coded import Coded, coded_tables
from tests.examples import examples

either = pytest.mark.parametrize("dimension", ["least-loss", "widest"])


def sizes_of(cells: Cells, k: int, dimension: str) -> np.ndarray:
    """Rows of each group, largest first."""
    method = FlexiblePartition(dimension=dimension)  # type: ignore[arg-type]
    (grouping,) = method.group(cells, Requirement((K(k),)), 0, lambda _: None)
    assert grouping.group.min() >= 0, "nothing is suppressed"
    sizes = np.bincount(grouping.group, minlength=grouping.n_groups)
    assert len(sizes) == grouping.n_groups
    return np.sort(sizes)[::-1]


def check(sizes: np.ndarray, n: int, k: int) -> None:
    a, b = divmod(n, k)
    assert sizes.sum() == n
    assert sizes[-1] >= k
    assert len(sizes) == a, "Theorem 1: exactly ⌊n/k⌋ groups"
    x = a.bit_length() - 1
    assert sizes[0] <= k + -(-b // 2**x), "Theorem 2: none above k + ⌈b / 2^⌊log2 a⌋⌉"
    if n >= 2 * k * k:
        assert sizes[0] <= k + 1, "Corollary: at most k + 1"
        assert b or sizes[0] == k, "Corollary: exactly k when k divides n"
    if n >= 2 * k and k > 3:
        assert sizes[0] < 2 * k - 1, "the largest is below 2k - 1"


@either
@examples(40)
@given(table=coded_tables(max_rows=60), data=st.data())
def test_theorems_hold_for_any_table(dimension: str, table: Coded, data: st.DataObject) -> None:
    n = len(table.rows)
    k = data.draw(st.integers(1, n), label="k")
    check(sizes_of(table.cells, k, dimension), n, k)


def large_table(n: int, kinds: list[int], seed: int) -> Cells:
    """n rows over columns of these kinds; how varied each column is depends on the seed."""
    rng = np.random.default_rng(seed)
    columns = []
    for j, kind in enumerate(kinds):
        size = int(rng.choice([1, 2, 7, 90, 2000]))
        # squared: some values are far more common than others
        codes = (rng.random(n) ** 2 * size).astype(np.int32)
        texts = pa.array([f"{i}" for i in range(size)], pa.string())
        places = np.sort(rng.integers(0, UNIT, size)) if kind == Kind.RANGE else None
        columns.append((Domain(f"c{j}", Kind(kind), texts, -1, places), codes))
    return build_cells(columns, {}, [], 0)


@either
@examples(20)
@given(
    n=st.integers(1, 4000),
    k=st.integers(1, 40),
    kinds=st.lists(st.sampled_from([Kind.RANGE, Kind.SET]), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_theorems_hold_for_larger_tables(
    dimension: str, n: int, k: int, kinds: list[int], seed: int
) -> None:
    k = min(k, n)
    check(sizes_of(large_table(n, kinds, seed), k, dimension), n, k)


@either
@pytest.mark.parametrize(("n", "k"), [(2 * 9 * 9, 9), (2 * 9 * 9 + 5, 9), (3 * 9, 9), (3000, 25)])
def test_corollaries_at_their_edges(dimension: str, n: int, k: int) -> None:
    for seed in range(5):
        check(sizes_of(large_table(n, [Kind.RANGE, Kind.SET], seed), k, dimension), n, k)


@either
def test_the_mean_size_tends_to_k(dimension: str) -> None:
    k, means = 7, []
    for n in (20, 200, 2000, 20_000):
        sizes = sizes_of(large_table(n, [Kind.RANGE, Kind.SET], 3), k, dimension)
        means.append(sizes.mean())
    assert means == sorted(means, reverse=True)
    assert means[-1] < k * 1.001
