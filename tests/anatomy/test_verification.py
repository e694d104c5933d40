"""Reading the tables of an Anatomy release: what they hold, and every way in which they do not fit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding.domain import Kind
from shoal.errors import VerificationFailed
from shoal.verification.anatomy import Values, group_counts, largest_share, require_order, whole

PEOPLE = pa.array([1, 1, 1, 2, 2, 2])


def values(*rows: tuple[int, str | None, int]) -> dict[str, Values]:
    group, value, count = zip(*rows, strict=True) if rows else ((), (), ())
    table = Values(
        pa.array(group, pa.int64()), pa.array(value, pa.string()), pa.array(count, pa.int64())
    )
    return {"ill": table}


GOOD = ((1, "*", 1), (1, "flu", 1), (1, None, 1), (2, "cold", 2), (2, "gout", 1))


def test_what_groups_hold() -> None:
    """A star or a missing value counts as a row, never as a value."""
    counts = group_counts(PEOPLE, values(*GOOD))
    sizes, ill = counts[""], counts["ill"]
    assert (sizes.sizes.tolist(), sizes.starts.tolist()) == ([3, 3], [0, 0, 0])
    assert (sizes.values.tolist(), sizes.counts.tolist()) == ([], [])
    assert ill.domain is not None
    assert (ill.domain.name, ill.domain.kind, ill.domain.missing) == ("ill", Kind.SET, -1)
    assert ill.domain.texts.to_pylist() == ["cold", "flu", "gout"]
    assert (ill.sizes.tolist(), ill.starts.tolist()) == ([3, 3], [0, 1, 3])
    assert (ill.values.tolist(), ill.counts.tolist()) == ([1, 0, 2], [1, 2, 1])
    assert largest_share(ill) == 1, "one row of the first group has a known value"


def test_the_largest_share() -> None:
    table = values((1, "cold", 1), (1, "flu", 1), (1, "gout", 1), (2, "cold", 2), (2, "gout", 1))
    assert largest_share(group_counts(PEOPLE, table)["ill"]) == pytest.approx(2 / 3)
    assert largest_share(group_counts(pa.array([], pa.int64()), values())["ill"]) == 0


@pytest.mark.parametrize(
    ("people", "rows", "words"),
    [
        ([1, 1, 3], [], "has 2 groups, but their ids run up to 3:"),
        ([2, 2, 2, 2], [], "has 1 groups, but their ids run up to 2:"),
        ([1, 1, 0], [], "must be whole numbers from 1 on, but 1 of 3 are not"),
        (["1", "1.0", "x", None], [], "must be whole numbers from 1 on, but 3 of 4 are not"),
        ([1, 1], [(1, "flu", 2), (2, "flu", 1)], "values of 1 group.s. that have no rows"),
        ([1, 1], [(1, "flu", 2), (3, "flu", 1)], "values of 1 group.s. that have no rows"),
        ([1, 1], [(1, "flu", 1)], "In 1 of 1 groups the counts of ill do not add up"),
        ([1, 1], [(1, "flu", 3)], "In 1 of 1 groups the counts of ill do not add up"),
        ([1, 2], [(1, "flu", 1)], "In 1 of 2 groups the counts of ill do not add up"),
        ([1, 1], [(1, "flu", 1), (1, "flu", 1)], "not sorted by group .* each once"),
        ([1, 1], [(1, "flu", 1), (1, "cold", 1)], "not sorted by group .* each once"),
        ([1, 1], [(1, None, 1), (1, "flu", 1)], "not sorted by group .* each once"),
        ([1, 2], [(2, "flu", 1), (1, "flu", 1)], "not sorted by group .* each once"),
        ([1, 1], [(1, "flu", 0), (1, "gout", 2)], "The counts of the table of ill must be whole"),
        ([1, 1], [(0, "flu", 2)], "The group ids of the table of ill must be whole"),
    ],
)
def test_tables_that_do_not_fit(people: list[Any], rows: list[Any], words: str) -> None:
    with pytest.raises(VerificationFailed, match=words):
        group_counts(pa.array(people), values(*rows))


def test_whole_numbers() -> None:
    assert whole(pa.array([], pa.int64()), "x").tolist() == []
    assert whole(pa.array(["7", "10"]), "x").tolist() == [7, 10]
    assert whole(pa.array([2.0, 1.0]), "x").tolist() == [2, 1]
    for wrong in ("0", "01", "-1", "1.5", " 1", "1" * 19, ""):
        with pytest.raises(VerificationFailed, match="but 1 of 1 are not"):
            whole(pa.array([wrong]), "x")


def in_order(group: list[int], *columns: Sequence[Any]) -> bool:
    try:
        require_order(np.array(group, np.int64), [pa.chunked_array([pa.array(c)]) for c in columns])
    except VerificationFailed:
        return False
    return True


def test_the_order_of_people() -> None:
    assert in_order([1, 1, 2], ["a", "b", "a"])
    assert not in_order([2, 1], ["a", "b"])
    assert not in_order([1, 1], ["b", "a"])
    assert not in_order([1, 1, 1], ["a", "c", "b"])
    assert in_order([1, 1], ["a", "a"], ["x", "x"])
    assert in_order([1, 1], ["a", "b"], ["y", "x"])
    assert not in_order([1, 1], ["a", "a"], ["y", "x"])
    assert in_order([1, 2], ["b", "a"])


def test_a_missing_value_may_stand_anywhere() -> None:
    for column in (["b", None, "a"], [None, "a", None], ["a", None, "a"]):
        assert in_order([1, 1, 1], column)
    # and settles the order of the pair, as it may read as another text
    assert in_order([1, 1], ["a", None], ["y", "x"])
    assert not in_order([1, 1], [None, None], ["y", "x"])


def test_numbers_may_be_spelled_otherwise() -> None:
    """As text 1.5 is before 1.50 and 10 before 9; as numbers of a frame 1.5 and 1.5, 10.0 and 9.0."""
    assert in_order([1, 1], ["1.50", "1.5"])
    assert in_order([1, 1], ["1.5", "1.50"])
    assert in_order([1, 1], ["10", "9"])
    assert not in_order([1, 1], ["9", "10"])
    # texts that are no numbers have their one spelling
    assert not in_order([1, 1, 1], ["1.50", "1.5", "x"])
