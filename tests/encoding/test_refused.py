"""Columns that cannot be numbered, and the words that say so without naming anybody's value."""

from typing import Any

import pyarrow as pa
import pytest

from shoal.encoding.columns import ColumnSpec, encode_quasi, encode_sensitive
from shoal.errors import HierarchyError, InputError
from shoal.hierarchy import parse_hierarchy


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(3, pa.string()),
        pa.nulls(3),
        pa.nulls(3, pa.int64()),
        pa.array([float("nan")] * 3),
        pa.array([None] * 3, pa.string()).dictionary_encode(),
    ],
    ids=lambda c: str(c.type),
)
def test_a_column_without_any_value_is_refused(column: pa.Array) -> None:
    for kind in (None, "ordered", "unordered"):
        with pytest.raises(
            InputError, match=r"'c' is a quasi-identifier but all of its values .* missing"
        ):
            encode_quasi("c", column, ColumnSpec(kind))


def test_infinite_values_are_refused() -> None:
    for column in (pa.array([1.0, float("inf")]), pa.array(["1", "1e999"])):
        with pytest.raises(InputError, match="'c' has infinite values"):
            encode_quasi("c", column, ColumnSpec("ordered"))


@pytest.mark.parametrize(
    "column", [pa.array([[1], [2]]), pa.array([{"a": 1}, {"a": 2}])], ids=lambda c: str(c.type)
)
def test_lists_and_structs_are_refused(column: pa.Array) -> None:
    for number in (encode_quasi, encode_sensitive):
        with pytest.raises(InputError, match=r"Column 'c' has the type .* several"):
            number("c", column)


TREE = {"hierarchy": parse_hierarchy({"tree": {"any": ["a", "b"]}})}
ORDER = {"order": ("a", "b")}


@pytest.mark.parametrize("how", [TREE, ORDER], ids=["hierarchy", "order"])
def test_uncovered_values_are_told_by_row_and_named_only_when_common(how: dict[str, Any]) -> None:
    rare, common = "RARE-7731", "Common"
    column = pa.array(["a"] * 3 + [rare] + [common] * 10 + ["RARE-2"] * 9 + [None])
    with pytest.raises(HierarchyError) as error:
        encode_quasi("c", column, ColumnSpec(**how))
    words = str(error.value)
    assert "Column 'c': 3 distinct values in 20 rows" in words
    assert "data rows 4, 5, 6, 7, 8, …" in words
    assert f"'{common}'" in words
    assert "RARE" not in words


def test_unreadable_numbers_are_told_by_row() -> None:
    with pytest.raises(
        HierarchyError, match=r"1 distinct value in 1 row is neither .* \(data row 3\)"
    ) as error:
        encode_quasi("c", pa.array(["1", "2", "SECRET"]), ColumnSpec("ordered"))
    assert "SECRET" not in str(error.value)


def test_a_value_without_a_level_is_told_where_to_add_it() -> None:
    with pytest.raises(HierarchyError, match="1 distinct value in 2 rows has no level") as error:
        encode_sensitive("ill", pa.array(["a", "b", "b"]), ColumnSpec(levels={"a": 1}))
    assert str(error.value).endswith("Add what is missing to the `levels` of column 'ill'.")
