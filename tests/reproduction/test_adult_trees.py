"""The trees of Adult's columns: every value has its place, at the heights the paper names."""

import pytest

import shoal
from shoal.reproduction.adult import COLUMNS, HIERARCHIES, adult_like

HEIGHTS = {
    "age": 6,
    "workclass": 3,
    "education": 4,
    "native-country": 3,
    "marital-status": 3,
    "race": 3,
    "sex": 2,
    "salary-class": 2,
}


def leaves(tree: object, depth: int = 1) -> list[tuple[str, int]]:
    """Each value, with how many nodes lie over it, `*` among them."""
    if isinstance(tree, str):
        return [(tree, depth)]
    if isinstance(tree, dict):
        return [leaf for below in tree.values() for leaf in leaves(below, depth + 1)]
    assert isinstance(tree, list)
    return [leaf for below in tree for leaf in leaves(below, depth)]


@pytest.mark.parametrize("column", sorted(set(HEIGHTS) - {"age"}))
def test_every_value_lies_equally_deep(column: str) -> None:
    found = leaves(HIERARCHIES[column]["tree"])
    assert {depth for _, depth in found} == {HEIGHTS[column] - 1}
    names = [name for name, _ in found]
    assert len(names) == len(set(names))
    assert set(adult_like(20_000)[column].to_pylist()) <= set(names)


def test_heights_as_a_release_sees_them() -> None:
    table = adult_like(300)
    columns = {name: {"role": "quasi", "hierarchy": HIERARCHIES[name]} for name in HEIGHTS}
    assert set(HEIGHTS) == set(COLUMNS) - {"occupation"}
    policy = {"columns": columns, "constraints": [{"k": 300}], "default": "drop"}
    release = shoal.anonymize(table, policy | {"method": "incognito"})
    levels = {name: column.levels for name, column in release.columns.items()}
    assert levels == {name: {height - 1: 300} for name, height in HEIGHTS.items()}
