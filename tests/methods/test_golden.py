"""The worked examples of the rounded partition's paper and of NCP, through the real methods."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.methods.partition import rows_below
from tests.releases import Fixed

# The paper's Table 1.
TABLE_1 = pa.table({"Age": [20, 20, 30, 40, 50, 50], "Zipcode": [101, 103, 102, 102, 101, 103]})
ROUNDED = {"name": "flexible-partition"}
WIDEST = {"name": "flexible-partition", "dimension": "widest"}
HALVING = {"name": "mondrian", "strict": False}


def labels(table: pa.Table, method: Any, k: int) -> tuple[shoal.Release, list[tuple[str, ...]]]:
    release = shoal.anonymize(table, quasi=table.column_names, k=k, method=method, order="kept")
    return release, [tuple(row.values()) for row in release.table.to_pylist()]


def test_table_1_rounded_cut_makes_three_groups_of_two() -> None:
    # 6 = 3 * 2 + 0, so 4 rows go below. Cut by age: 4 * (20/30 + 1) + 2 * (0 + 1) = 26/3; by zip:
    # 4 * (1 + 1/2) + 2 * (1 + 0) = 8, which is less. The 4 rows are cut by zip again: 2 + 2 * 1/3
    # against 2 * 2 * (1/3 + 1/2) by age.
    release, rows = labels(TABLE_1, ROUNDED, k=2)
    assert rows == [
        ("[20~50]", "101"),
        ("[20~50]", "103"),
        ("[30~40]", "102"),
        ("[30~40]", "102"),
        ("[20~50]", "101"),
        ("[20~50]", "103"),
    ]
    assert release.groups == release.published_classes == 3
    assert release.metrics["largest-group"] == 2
    assert release.metrics["ncp"] == pytest.approx(2 + 2 / 3 + 2, abs=1e-6)


def test_table_1_by_the_widest_column_makes_three_groups_of_two() -> None:
    # Both columns are as wide as can be, so the first one, age, is cut: the two of 50 are above. Of
    # the 4 below zip is wider, 1 against 2/3.
    release, rows = labels(TABLE_1, WIDEST, k=2)
    assert rows == [
        ("[20~30]", "[101~102]"),
        ("[20~40]", "[102~103]"),
        ("[20~30]", "[101~102]"),
        ("[20~40]", "[102~103]"),
        ("50", "[101~103]"),
        ("50", "[101~103]"),
    ]
    assert release.groups == 3


@pytest.mark.parametrize(
    "method", [HALVING, {"name": "mondrian"}, {"name": "least-loss-partition"}]
)
def test_table_1_balanced_halving_makes_two_groups_of_three(method: dict[str, Any]) -> None:
    # The least loss is a tie at 8 between three cuts; the first column's comes first.
    release, rows = labels(TABLE_1, method, k=2)
    assert rows == [("[20~30]", "[101~103]")] * 3 + [("[40~50]", "[101~103]")] * 3
    assert release.groups == 2


def test_table_1_published_order_is_that_of_the_labels() -> None:
    release = shoal.anonymize(TABLE_1, quasi=["Age", "Zipcode"], k=2, method=ROUNDED)
    assert [tuple(row.values()) for row in release.table.to_pylist()] == [
        ("[20~50]", "101"),
        ("[20~50]", "101"),
        ("[20~50]", "103"),
        ("[20~50]", "103"),
        ("[30~40]", "102"),
        ("[30~40]", "102"),
    ]


def test_seven_rows_split_into_five_and_two() -> None:
    # 7 = 3 * 2 + 1: ⌈3/2⌉ * 2 + ⌈1/2⌉ = 5 below; then 5 = 2 * 2 + 1: 2 + 1 = 3 below.
    assert rows_below(np.array([7, 5]), 2).tolist() == [5, 3]
    for method in (ROUNDED, WIDEST):
        release, rows = labels(pa.table({"v": [1, 2, 3, 4, 5, 6, 7]}), method, k=2)
        assert rows == [("[1~3]",)] * 3 + [("[4~5]",)] * 2 + [("[6~7]",)] * 2
        assert release.groups == 3


def test_rounded_sizes_of_the_paper() -> None:
    # n = ak + b rows, k = 3: ⌈a/2⌉k + ⌈b/2⌉ below
    below = {6: 3, 7: 4, 8: 4, 9: 6, 10: 7, 11: 7, 12: 6, 13: 7, 14: 7, 15: 9}
    assert rows_below(np.array(list(below)), 3).tolist() == list(below.values())


def test_ncp_of_an_age_between_30_and_45() -> None:
    # 35 published as [30~45] where ages run from 0 to 90: 15 / 90
    ages = pa.table({"age": [0, 30, 35, 45, 90]})
    method = Fixed(((0, 1, 1, 1, 2),))
    release = shoal.anonymize(ages, quasi="age", k=1, method=method, order="kept")
    assert release.table["age"].to_pylist() == ["0", "[30~45]", "[30~45]", "[30~45]", "90"]
    assert release.metrics["ncp"] == pytest.approx(3 * 1 / 6, abs=1e-7)
    assert release.metrics["mean-ncp"] == pytest.approx(3 / 5 * 1 / 6, abs=1e-7)
    assert release.column_loss == {"age": pytest.approx(3 / 5 * 1 / 6, abs=1e-7)}


DISEASES = {
    "any disease": [
        {
            "cardio-respiratory": [
                {"respiratory infection": ["Flu", "Phthisis"]},
                {"chest disease": ["Asthma", "Heart Disease"]},
            ]
        },
        {
            "other": [
                {"digestive disease": ["Indigestion", "Hepatitis"]},
                {"systemic disease": ["HIV", "Cancer"]},
            ]
        },
    ]
}


def test_ncp_of_a_node_over_two_of_eight_leaves() -> None:
    table = pa.table({"disease": ["Flu", "Phthisis", "Cancer", "Flu", "Asthma"]})
    release = shoal.anonymize(
        table,
        quasi="disease",
        hierarchies={"disease": {"tree": DISEASES}},
        k=1,
        method=Fixed(((0, 0, 1, 2, 2),)),
        order="kept",
    )
    assert release.table["disease"].to_pylist() == [
        "respiratory infection",
        "respiratory infection",
        "Cancer",
        "cardio-respiratory",
        "cardio-respiratory",
    ]
    # 2 of 8 leaves for two rows, one row as it is, 4 of 8 leaves for two rows
    assert release.metrics["ncp"] == 2 * 1 / 4 + 0 + 2 * 1 / 2


def test_a_method_that_fixes_the_level_publishes_and_pays_for_it() -> None:
    table = pa.table({"disease": ["Flu", "Phthisis", "Cancer", "HIV"]})
    release = shoal.anonymize(
        table,
        quasi="disease",
        hierarchies={"disease": {"tree": DISEASES}},
        k=2,
        method=Fixed(((0, 0, 1, 1),), levels=((2,), (1,))),
        order="kept",
    )
    assert release.table["disease"].to_pylist() == [
        "cardio-respiratory",
        "cardio-respiratory",
        "systemic disease",
        "systemic disease",
    ]
    assert release.metrics["ncp"] == 2 * 4 / 8 + 2 * 2 / 8
