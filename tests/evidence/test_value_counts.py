"""Values of a column: rare ones are not named."""

import pyarrow as pa

from shoal.evidence.value_counts import value_counts


def test_rare_values_are_not_named() -> None:
    column = pa.array(["flu"] * 12 + ["gout"] * 9 + [None])
    found = value_counts(column)
    assert [(bar.label, bar.rows) for bar in found.bars] == [("flu", 12)]
    assert (found.distinct, found.missing, found.hidden_values, found.hidden_rows) == (2, 1, 1, 9)
    assert [bar.label for bar in value_counts(column, rare=True).bars] == ["flu", "gout"]


def test_many_numbers_are_ranges_and_codes_are_not() -> None:
    ages = value_counts(pa.array([str(20 + i % 60) for i in range(600)]))
    assert ages.ranges
    assert sum(bar.rows for bar in ages.bars) == 600
    assert ages.bars[0].label == "20 to 24.92"
    assert value_counts(pa.array(list(range(100)) * 10)).ranges
    zips = value_counts(pa.array([f"0{2000 + i % 20}" for i in range(400)]))
    assert not zips.ranges
    assert len(zips.bars) == 12
    assert zips.hidden_values == 8


def test_ranges_that_few_rows_share_are_left_out() -> None:
    column = pa.array([float(i % 20) for i in range(400)] + [1000.0])
    found = value_counts(column)
    assert [bar.rows for bar in found.bars] == [400]
    assert found.hidden_rows == 1
