"""The worked figures of personalised (α,l)-diversity k-anonymity."""

import numpy as np
import pyarrow as pa
import pytest

import shoal
from tests.personal.table6 import DISEASE, ROWS, policy, table6

TABLE_7 = [
    *[("Female", "[36~55]", "1786**", value) for value in ("Cancer", "Flu", "Hepatitis")],
    *[("Female", "[66~70]", "200***", value) for value in ("Asthma", "HIV")],
    *[("Male", "[34~43]", "1007**", value) for value in ("Cancer", "respiratory infection")],
]


def rows_of(table: pa.Table) -> list[tuple[str, ...]]:
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_table_6_gives_table_7_for_any_seed(seed: int) -> None:
    release = shoal.anonymize(table6(), policy(seed=seed * 7919))
    assert rows_of(release.table) == TABLE_7
    assert release.groups == 3


def test_the_report_of_table_7() -> None:
    release = shoal.anonymize(table6(), policy())
    report = release.personal["disease"]
    assert (report.raised_rows, report.levels) == (1, {2: 1})
    (label,) = report.labels
    assert (label.label, label.leaves, label.effective_leaves) == ("respiratory infection", 2, 1)
    assert (report.diversity_before, report.diversity_after) == (2, 2)
    # groups: {1/2, 1/4}, {1/2, 1/2}, {1/3, 1/3, 1/3}; knowing the rule the raised row is 1/2
    assert report.recognition_rate == pytest.approx((3 / 8 + 1 / 2 + 1 / 3) / 3)
    assert report.effective_recognition_rate == pytest.approx((1 / 2 + 1 / 2 + 1 / 3) / 3)
    assert release.metrics["recognition-rate"] == pytest.approx((3 / 8 + 1 / 2 + 1 / 3) / 3)
    assert any("can only mean one value" in warning for warning in release.warnings)
    # Flu is published as 2 of 8 values: 1/4 of one row of seven
    assert release.column_loss["disease"] == pytest.approx(1 / 4 / 7)
    assert "ppl" not in release.table.column_names


def test_an_age_in_a_sixth_of_the_domain_costs_a_sixth() -> None:
    table = pa.table({"age": [0, 0, 35, 30, 45, 90, 90]})
    release = shoal.anonymize(table, quasi="age", k=2, method="top-down", order="kept")
    assert release.table["age"].to_pylist()[2] == "[30~45]"
    assert release.metrics["ncp"] == pytest.approx(3 / 6)


def test_a_group_of_cancer_and_a_raised_flu() -> None:
    table = table6().slice(0, 2)
    release = shoal.anonymize(table, policy())
    assert release.metrics["recognition-rate"] == pytest.approx(3 / 8)


def test_other_wishes_that_raise_the_same_values_give_the_same_release() -> None:
    """Nothing but the raised labels tells what people asked for, not even the order of rows."""
    heard = shoal.anonymize(table6(), policy()).table
    other = table6().set_column(4, "ppl", pa.array([1, 2, 1, 1, None, None, 3]))
    assert shoal.anonymize(other, policy()).table.equals(heard)


def test_files_and_frames_of_any_type(tmp_path: pytest.TempPathFactory) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    csv.write_csv(table6(), folder / "in.csv")
    parquet.write_table(table6(), folder / "in.parquet")
    for source, target in (("in.csv", "a.csv"), ("in.parquet", "b.parquet"), ("in.csv", "c.arrow")):
        release = shoal.run(folder / source, policy(), folder / target)
        assert rows_of(release.table) == TABLE_7
    frames = [table6().to_pandas(), __import__("polars").from_arrow(table6())]
    for frame in frames:
        made = shoal.anonymize(frame, policy())
        assert rows_of(pa.table(made.table)) == TABLE_7
        made.write(folder / "out.csv", force=True)
        assert rows_of(csv.read_csv(folder / "out.csv")) == TABLE_7


def test_order_kept_and_starred_rows() -> None:
    made = shoal.anonymize(table6(), policy(order="kept")).table
    assert made["disease"].to_pylist()[1] == "respiratory infection"
    assert made["disease"].to_pylist()[4:] == [row[3] for row in ROWS[4:]]
    constraints = [{"k": 2}, {"alpha": 0.5, "of": "disease"}]
    lonely = pa.concat_tables([table6(), table6().slice(0, 1), table6().slice(0, 1)])
    asked = policy(
        constraints=constraints, suppressed="starred", suppression=0.5, order="kept", seed=3
    )
    release = shoal.anonymize(lonely, asked)
    columns = release.table.to_pydict().values()
    stars = np.array([row == ("*",) * 4 for row in zip(*columns, strict=True)])
    assert stars.sum() == release.suppressed_rows
    assert release.published_rows == 9


def test_whole_numbers_as_sensitive_values() -> None:
    tree = {"all": {"low": [1, 2], "high": [3, 4]}}
    column = DISEASE | {"hierarchy": {"tree": tree}, "levels": {1: 1, 2: 1, 3: 2, 4: 3}}
    table = pa.table({"age": [1, 1, 2, 2], "n": [1, 3, 2, 4], "ppl": ["2", "", "3.0", None]})
    columns = {"age": "quasi", "n": column, "ppl": "preference"}
    asked = {"columns": columns, "constraints": [{"k": 2}], "order": "kept"}
    made = shoal.anonymize(table, asked).table
    assert made["n"].to_pylist() == ["low", "3", "all", "4"]
