"""Rows leave in an order made from published content alone."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from tests.releases import Fixed, every_method, shuffled, text_rows


def test_rows_of_a_class_are_not_in_the_order_of_the_input() -> None:
    n = 200
    table = pa.table({"age": [40] * n, "ward": list(range(n))})
    released = shoal.anonymize(table, quasi="age", plain="ward", k=5).table
    wards = released["ward"].to_pylist()
    assert sorted(wards) == list(range(n))
    rises = sum(a < b for a, b in pairwise(wards))
    assert n * 0.35 < rises < n * 0.65, "neither rising nor falling with the input"
    turned = shoal.anonymize(table.take(pa.array(range(n)[::-1])), quasi="age", plain="ward", k=5)
    assert turned.table.equals(released)


def test_another_seed_gives_another_order_of_the_same_rows() -> None:
    table = pa.table({"age": [40] * 50, "ward": list(range(50))})
    first, second, largest = (
        shoal.anonymize(table, quasi="age", plain="ward", k=5, seed=seed).table
        for seed in (1, 2, 2**63 - 1)
    )
    assert not first.equals(second)
    assert not first.equals(largest)
    assert Counter(text_rows(first)) == Counter(text_rows(second)) == Counter(text_rows(largest))


def test_what_is_not_published_does_not_move_a_row() -> None:
    """Raw ages inside a label, names and row numbers: none of them shows in the order."""
    groups = tuple(i % 4 for i in range(40))
    ends = [10 * (i % 4) + (0 if i < 4 else 9 if i < 8 else 5) for i in range(40)]
    inner = [10 * (i % 4) + (0 if i < 4 else 9 if i < 8 else i % 10) for i in range(40)]
    found = []
    for ages in (ends, inner):
        table = pa.table(
            {
                "name": [f"p{age}" for age in ages],
                "age": ages,
                "ill": [f"i{i % 7}" for i in range(40)],
                "ward": [i * 37 % 11 for i in range(40)],
            }
        )
        release = shoal.anonymize(
            table,
            quasi="age",
            sensitive="ill",
            plain="ward",
            identifiers="name",
            k=2,
            method=Fixed((groups,)),
        )
        found.append(release.table)
    assert found[0].equals(found[1])


@pytest.mark.parametrize("method", every_method())
def test_classes_leave_in_the_order_of_their_labels(method: dict[str, object]) -> None:
    rng = np.random.default_rng(5)
    table = pa.table({"age": rng.integers(0, 99, 80), "town": [f"t{i % 5}" for i in range(80)]})
    released = shoal.anonymize(table, quasi=["age", "town"], k=4, method=method).table
    rows = text_rows(released)
    lows = [int(str(age).strip("[]").split("~")[0]) for age, _ in dict.fromkeys(rows)]
    assert lows == sorted(lows)
    # a class stands in one piece
    assert len(dict.fromkeys(rows)) == 1 + sum(a != b for a, b in pairwise(rows))


def test_rows_of_a_parted_cell_are_not_handed_out_by_their_sensitive_value() -> None:
    """Six equal rows, three ill with A and three with B, are parted between two groups.

    Handed out by a hash of the value alone, all three of A would always end up together.
    """
    table = pa.table({"age": [1] * 6 + [2] * 3 + [0] * 3, "ill": list("AAABBB") + list("CDEFGH")})
    together = 0
    for seed in range(30):
        release = shoal.anonymize(
            table, quasi="age", sensitive="ill", k=6, method="flexible-partition", seed=seed
        )
        rows = text_rows(release.table)
        assert {age for age, _ in rows} == {"[0~1]", "[1~2]"}
        together += {ill for age, ill in rows if age == "[0~1]"} & {"A", "B"} != {"A", "B"}
    assert together < 15, f"{together} of 30 times all of one illness went to one side"


def test_kept_order_keeps_rows_and_index_and_warns() -> None:
    frame = pd.DataFrame({"age": [5, 1, 4, 2], "ward": list("abcd")}, index=[10, 30, 20, 40])
    kept = shoal.anonymize(frame, quasi="age", plain="ward", k=2, order="kept")
    assert kept.table["ward"].tolist() == list("abcd")
    assert kept.table.index.tolist() == [10, 30, 20, 40]
    assert any("whose row is whose" in warning for warning in kept.warnings)
    moved = shoal.anonymize(frame, quasi="age", plain="ward", k=2)
    assert moved.table.index.tolist() == [0, 1, 2, 3]
    assert not any("whose row is whose" in warning for warning in moved.warnings)


def test_rows_equal_in_all_that_is_published_change_nothing() -> None:
    table = pa.table({"age": [1, 1, 1, 2, 2, 2], "ward": list("aabbaa")})
    first = shoal.anonymize(table, quasi="age", plain="ward", k=3).table
    for seed in range(5):
        again = shoal.anonymize(shuffled(table, seed), quasi="age", plain="ward", k=3)
        assert again.table.equals(first)
