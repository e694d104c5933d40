"""Sorts of our own, compiled and interpreted, compared with Python's."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.equivalence_classes import count_runs
from shoal.kernels.hashing import stir
from shoal.kernels.jit import Kernel, interpreting
from shoal.kernels.labels import members
from shoal.kernels.sorting import radix_argsort, sort_codes, sort_runs
from tests.examples import examples

LENGTHS = st.lists(st.sampled_from([0, 1, 2, 31, 32, 33, 64, 65, 100]), max_size=5)


@pytest.fixture(autouse=True, scope="module")
def compiled() -> None:
    """From the first kernel on that numba compiles, it does so whatever the number of rows."""
    assert isinstance(stir, Kernel)
    stir.compile()
    assert Kernel.left < 0


@examples(40)
@given(lengths=LENGTHS, values=st.integers(1, 60), seed=st.integers(0, 999))
def test_runs_are_sorted_as_python_sorts_them(lengths: list[int], values: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *lengths]).astype(np.int64)
    n = int(starts[-1])
    keys = rng.integers(0, values, n).astype(np.uint64)
    order = rng.permutation(n).astype(np.int64)
    expected = [
        row
        for begin, end in pairwise(starts)
        for row in sorted(order[begin:end].tolist(), key=lambda row: int(keys[row]))
    ]
    mine, plain = order.copy(), order.copy()
    sort_runs(mine, starts, keys)
    with interpreting():
        sort_runs(plain, starts, keys)
    assert mine.tolist() == plain.tolist() == expected


@pytest.mark.parametrize("n", [0, 1, 256, 257, 600])
@pytest.mark.parametrize("bits", [1, 11, 12, 30, 64])
def test_digits_are_sorted_as_python_sorts_them(n: int, bits: int) -> None:
    rng = np.random.default_rng(n + bits)
    keys = rng.integers(0, 2**bits, n, np.uint64)
    order = rng.permutation(n).astype(np.int64)
    given_order = order.copy()
    expected = sorted(order.tolist(), key=lambda row: int(keys[row]))
    assert radix_argsort(keys, bits, order).tolist() == expected
    assert order.tolist() == given_order.tolist()


@examples(40)
@given(lengths=LENGTHS, size=st.integers(1, 80), seed=st.integers(0, 999))
def test_values_ascend_in_runs_and_sets(lengths: list[int], size: int, seed: int) -> None:
    starts = np.cumsum([0, *lengths]).astype(np.int64)
    codes = np.random.default_rng(seed).integers(0, size, int(starts[-1])).astype(np.int32)
    runs = [codes[a:b].tolist() for a, b in pairwise(starts)]
    found_starts, values, counts = count_runs(codes, starts, size, size)
    set_starts, sets = members(codes, np.arange(len(codes), dtype=np.int32), starts, size)
    for i, run in enumerate(runs):
        part, listed = slice(*found_starts[i : i + 2]), slice(*set_starts[i : i + 2])
        histogram = sorted(Counter(run).items())
        assert list(zip(values[part].tolist(), counts[part].tolist(), strict=True)) == histogram
        assert sets[listed].tolist() == [value for value, _ in histogram]


@given(codes=st.lists(st.integers(-5, 200), max_size=60), left=st.integers(0, 9))
def test_codes_in_place(codes: list[int], left: int) -> None:
    n = max(0, len(codes) - left)
    array = np.array(codes, np.int32)
    sort_codes(array, n)
    assert array.tolist() == sorted(codes[:n]) + codes[n:]
