"""Different keys and those that occur once, against plain counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import uniqueness
from shoal.kernels.uniqueness import count_keys
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
