"""The whole inspection, against plain counting."""

import json
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import assume, given

from shoal.errors import InputError
from shoal.risk.inspection import inspect, inspection_of
from shoal.risk.table import TableInMemory
from shoal.sample.hospital import hospital
from tests.risk import naive
from tests.risk.tables import tables


def comparable(column):
    """Lists of values that compare as the inspection does: not a number is missing."""
    values = [str(v) if isinstance(v, list) else v for v in column.to_pylist()]
    return [None if v != v else v for v in values]


@given(tables())
def test_counts_as_done_plainly(table):
    found = inspection_of(TableInMemory(table))
    assume(found.people is None)  # these are counted in tests/people/test_risk.py
    plain = {name: comparable(table.column(name)) for name in table.column_names}
    quasi = list(found.quasi)
    rows = table.num_rows
    assert found.rows == rows
    assert found.unique_rows == (naive.unique(naive.on(plain, quasi)) if quasi else int(rows == 1))
    for column in found.columns:
        values = plain[column.name]
        times = Counter(values)
        assert column.missing == times[None]
        assert column.distinct == len(set(times) - {None})
        assert column.unique_alone * rows == pytest.approx(naive.unique(values))
        if column.name in quasi:
            others = [name for name in quasi if name != column.name]
            left = naive.unique(naive.on(plain, others)) if others else int(rows == 1)
            assert column.unique_caused * rows == pytest.approx(found.unique_rows - left)
        else:
            assert column.unique_caused is None


@given(tables())
def test_it_can_be_written_as_json(table):
    data = inspection_of(TableInMemory(table)).to_dict()
    assert json.loads(json.dumps(data, allow_nan=False))["rows"] == table.num_rows


def test_no_value_of_the_table_comes_out():
    secret = [f"Zyx{i}wv" for i in range(60)]
    table = pa.table({"name": secret, "city": secret[:30] * 2, "disease": secret[:6] * 10})
    assert "Zyx" not in json.dumps(inspect(table).to_dict())


def test_the_sample_is_understood():
    found = inspect(hospital())
    assert {column.name: (column.role, column.treatment) for column in found.columns} == {
        "name": ("identifier", "dropped"),
        "birth_date": ("quasi", "date"),
        "age": ("quasi", "ordered"),
        "sex": ("quasi", "unordered"),
        "race": ("quasi", "unordered"),
        "zip": ("quasi", "mask"),
        "education": ("quasi", "unordered"),
        "nationality": ("quasi", "unordered"),
        "work_hours": ("quasi", "ordered"),
        "salary": ("sensitive", "kept"),
        "disease": ("sensitive", "kept"),
        "protection_level": ("preference", "read"),
    }
    assert found.unique_share > 0.99
    assert found.search.found[0].columns == ("birth_date",)
    assert found.keys == ()


def test_keys_are_columns_that_differ_in_every_row():
    table = pa.table({"id": range(50), "age": [1, 2] * 25, "v": [None, *range(49)]})
    assert inspect(table).keys == ("id", "v")


def test_doubled_names_are_refused():
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(InputError, match="several columns of one name: a"):
        inspect(table)


def test_an_empty_table_has_nobody_in_it():
    empty = pa.table({"age": pa.array([], pa.int64())})
    found = inspection_of(TableInMemory(empty))
    assert (found.rows, found.unique_rows, found.unique_share) == (0, 0, 0.0)


def test_a_table_without_columns():
    assert inspection_of(TableInMemory(pa.table({}))).columns == ()
    with pytest.raises(InputError, match="no rows"):
        inspect(pa.table({}))
