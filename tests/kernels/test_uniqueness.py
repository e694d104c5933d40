"""Different keys and those that occur once, against plain counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import uniqueness
from shoal.kernels.uniqueness import are_among, count_keys, distinct_pairs
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
    wanted = random.integers(0, height * width, 50)
    among = are_among(wanted, found, height * width)
    assert among.tolist() == [one in set(pairs) for one in wanted.tolist()]
