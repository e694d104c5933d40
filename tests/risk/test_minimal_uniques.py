"""Minimal sample uniques against all subsets, tried plainly."""

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.risk.columns import contents_of
from shoal.risk.uniqueness import minimal_uniques
from tests.examples import examples


def plainly(rows, d, largest):
    """{columns: rows that are alone there and on no smaller part}."""

    def alone(row, chosen):
        return sum(all(other[j] == row[j] for j in chosen) for other in rows) == 1

    found = Counter()
    for row in rows:
        for size in range(1, largest + 1):
            for chosen in combinations(range(d), size):
                parts = [p for s in range(1, size) for p in combinations(chosen, s)]
                if alone(row, chosen) and not any(alone(row, part) for part in parts):
                    found[chosen] += 1
    return found


@examples(30)
@given(st.data(), st.integers(1, 4), st.integers(1, 4))
def test_as_found_plainly(data, d, largest):
    value = st.none() | st.integers(0, 2)
    rows = data.draw(st.lists(st.tuples(*[value] * d), min_size=2, max_size=14))
    table = pa.table({f"c{j}": pa.array([row[j] for row in rows], pa.int64()) for j in range(d)})
    columns = [contents_of(name, table.column(name)) for name in table.column_names]
    found = minimal_uniques(columns, len(rows), largest)
    plain = plainly(rows, d, min(largest, d))
    told = {tuple(int(name[1:]) for name in one.columns): one.count for one in found.sets}
    assert told == dict(plain)
    assert found.total == sum(plain.values()) == sum(found.sizes)
    for j in range(d):
        part = sum(count for chosen, count in plain.items() if j in chosen)
        assert found.columns[f"c{j}"] == (part / found.total if found.total else 0.0)


def test_by_hand():
    # the third row alone has b = 2; the first, second and last are alone on a and c; the fourth
    # shares a and b with the last, a and c with the third, b and c with the first
    table = pa.table({"a": [1, 1, 2, 2, 2], "b": [1, 1, 2, 1, 1], "c": [1, 2, 1, 1, 2]})
    found = shoal.assess(table, ["a", "b", "c"], msu=3).minimal_uniques
    assert {one.columns: one.count for one in found.sets} == {
        ("a", "c"): 3,
        ("b",): 1,
        ("a", "b", "c"): 1,
    }
    assert (found.rows, found.total, found.sizes) == (5, 5, (1, 3, 1))
    assert found.columns == {"a": 4 / 5, "b": 2 / 5, "c": 4 / 5}


def test_too_much_work_is_refused(monkeypatch):
    monkeypatch.setattr("shoal.risk.uniqueness.MOST_WORK", 3)
    with pytest.raises(InputError, match="Choose a smaller size"):
        shoal.assess(pa.table({"a": [1, 2], "b": [1, 2]}), ["a", "b"], msu=2)
