"""Different keys and those that occur once, against plain counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import uniqueness
from shoal.kernels.uniqueness import are_in_lists, count_keys, distinct_pairs
from tests.examples import examples


@examples(100)
@given(st.integers(0, 2000), st.sampled_from([1, 2, 7, 300, 5000, 1 << 63]), st.integers(0, 99))
def test_as_many_as_a_counter_finds(n: int, most: int, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniqueness, "MANY", 1000)
        compare(n, most, seed)


def compare(n: int, most: int, seed: int) -> None:
    keys = np.random.default_rng(seed).integers(0, most, n, np.uint64)
    times = Counter(keys.tolist()).values()
    expected = len(times), sum(many == 1 for many in times), sum(many**2 for many in times)
    assert tuple(map(int, count_keys(keys))) == expected


@examples(100)
@given(st.integers(0, 300), st.integers(1, 90), st.integers(1, 90), st.integers(0, 99))
def test_pairs_are_those_of_a_set(n: int, height: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = (random.integers(0, most, n).astype(np.int32) for most in (height, width))
    pairs = [a * width + b for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    found = distinct_pairs(first, second, width, height * width)
    assert found.tolist() == list(dict.fromkeys(pairs))


@examples(100)
@given(st.integers(0, 30), st.integers(1, 90), st.integers(0, 99))
def test_lists_hold_what_they_hold(n: int, size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    lists = [random.integers(0, size, random.integers(0, 9)).tolist() for _ in range(n)]
    starts = np.cumsum([0, *map(len, lists)])
    listed = np.array([one for each in lists for one in each], np.int64)
    which = random.integers(0, n, 50 if n else 0)
    wanted = random.integers(0, size, len(which))
    for order in (np.arange(len(which)), np.argsort(which)):  # lists in turns, or one by one
        found = are_in_lists(which[order], wanted[order], starts, listed, size)
        pairs = zip(which[order].tolist(), wanted[order].tolist(), strict=True)
        assert found.tolist() == [one in lists[j] for j, one in pairs]
