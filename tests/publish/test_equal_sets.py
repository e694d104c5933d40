"""Labels of sets are the same whether equal sets are labelled once or one by one."""

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.publish import labels
from tests.examples import examples


@examples(30)
@given(st.lists(st.sampled_from("abcd,{\\*"), min_size=6, max_size=40), st.integers(2, 4))
def test_sets_as_numbers(values: list[str], k: int) -> None:
    table = pa.table({"town": values, "age": list(range(len(values)))})
    asked: dict[str, Any] = {"quasi": ["town", "age"], "k": k, "seed": 1, "method": "mondrian"}
    found = shoal.anonymize(table, **asked).table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "MOST_BITS", 0)
        assert shoal.anonymize(table, **asked).table.equals(found)


def test_each_set_once() -> None:
    starts, codes = np.array([0, 2, 3, 5, 6]), np.array([1, 63, 0, 1, 63, 0], np.int32)
    begins, once, of_set = labels._once(starts, codes)
    sets = [set(once[a:b].tolist()) for a, b in itertools.pairwise(begins)]
    assert [sets[i] for i in of_set] == [{1, 63}, {0}, {1, 63}, {0}]
    assert len(sets) == 2
