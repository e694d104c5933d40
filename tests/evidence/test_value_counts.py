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
    assert ages.bars[0].label == "20 to 29"
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


def test_ends_of_ranges_are_round_and_written_out() -> None:
    spent = value_counts(pa.array([1_000_000 + 977 * i for i in range(400)]), rare=True)
    assert spent.bars[0].label == "1000000 to 1049999"
    rates = value_counts(pa.array([f"{i / 1000:.3f}" for i in range(400)]))
    assert [bar.label for bar in rates.bars[:2]] == ["0.00 to 0.05", "0.05 to 0.10"]
    assert sum(bar.rows for bar in rates.bars) == 400
    assert [bar.label for bar in value_counts(pa.array(list(range(1, 13)) * 9)).bars] == []


def test_codes_for_missing_values_are_no_values() -> None:
    ages = [str(20 + i % 60) for i in range(600)] + ["-9"] * 30 + ["na"] * 12 + [None]
    found = value_counts(pa.array(ages), missing=["-9", "NA"])
    assert found.missing == 43
    assert found.distinct == 60
    assert found.bars[0].label == "20 to 29"
    assert value_counts(pa.array(ages), missing=["NA"]).bars[0].label == "-10 to -1"


def test_digits_of_codes_are_shown_by_their_beginnings() -> None:
    codes = [f"7{i % 4}{i * 37 % 1000:03d}" for i in range(800)] + ["61000"] * 9
    found = value_counts(pa.array(codes), codes=True)
    assert found.ranges
    assert [(bar.label, bar.rows) for bar in found.bars] == [
        ("70***", 200),
        ("71***", 200),
        ("72***", 200),
        ("73***", 200),
    ]
    assert found.hidden_rows == 9
    assert not value_counts(pa.array(["70001"] * 20), codes=True).ranges
