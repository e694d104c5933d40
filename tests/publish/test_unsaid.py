"""Labels a reader could misread, found by trying to: each published as what it is."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import HierarchyError, PolicyError


def labels(values: list[str], **keys: Any) -> list[str]:
    release = shoal.anonymize(pa.table({"q": values}), quasi="q", k=2, **keys)
    return sorted(release.table["q"].to_pylist())


@pytest.mark.parametrize(
    "values",
    [
        [".1234567890123456789", ".1234567890123456712", ".5", ".5"],
        ["12345678901234567890", "12345678901234567891", "1e5", "1e5"],
        ["9007199254740993", "9007199254740992", "1e3", "1e3"],
        ["1e-400", "2e-400", "1", "1"],
    ],
)
def test_different_numbers_never_read_the_same(values: list[str]) -> None:
    exact = {Decimal(value) for value in values}
    for label in set(labels(values)):
        # whatever is too long for a float stands beside another in one label
        assert label.startswith(("[", "{")) or Decimal(label) in exact, label


def test_a_short_text_under_a_mask_is_escaped() -> None:
    texts = ["{a, b}", "{a, b}", "abcdefghi", "abcdefghj"]
    tree = {"q": {"mask": "right"}}
    found = labels(texts, hierarchies=tree, method="datafly", suppression=0)
    assert "{a, b}" not in found
    assert "\\{a, b}" in found


def test_a_leaf_that_stands_high_is_escaped_as_a_leaf() -> None:
    tree = {"q": {"tree": ["*", {"N": ["x", "y"]}]}}
    found = labels(["*", "*", "x", "y"], hierarchies=tree, method="datafly", suppression=0)
    assert found == ["N", "N", "\\*", "\\*"]


def test_free_text_under_a_mask_is_refused() -> None:
    with pytest.raises(HierarchyError, match="at most 512"):
        labels(["x" * 4000, "y" * 4000], hierarchies={"q": {"mask": "right"}})


def test_what_is_missing_from_a_call_is_said() -> None:
    table = pa.table({"q": [1, 1]})
    with pytest.raises(PolicyError, match="Give a policy"):
        shoal.anonymize(table)
