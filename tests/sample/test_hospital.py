"""The hospital table: repeatable, skewed as real ones are, and free of contradictions."""

from collections import Counter
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.sample import people
from shoal.sample.hospital import REFERENCE_DAY, TOWNS, hospital

COLUMNS = {
    "name": pa.string(),
    "birth_date": pa.date32(),
    "age": pa.int64(),
    "sex": pa.string(),
    "race": pa.string(),
    "zip": pa.string(),
    "education": pa.string(),
    "nationality": pa.string(),
    "work_hours": pa.int64(),
    "salary": pa.int64(),
    "disease": pa.string(),
    "protection_level": pa.int64(),
}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return hospital()


@pytest.fixture(scope="module")
def rows(table: pa.Table) -> list[dict[str, Any]]:
    patients: list[dict[str, Any]] = table.to_pylist()
    return patients


def shares(table: pa.Table, column: str) -> dict[Any, float]:
    counted = Counter(table[column].to_pylist())
    return {value: count / table.num_rows for value, count in counted.most_common()}


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_shape(table: pa.Table) -> None:
    assert table.num_rows == 10_000
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == COLUMNS
    with_gaps = {"education", "work_hours", "protection_level"}
    assert {name for name in COLUMNS if table[name].null_count} == with_gaps


def test_same_seed_same_table() -> None:
    assert hospital(500, 3).equals(hospital(500, 3))
    assert not hospital(500, 3).equals(hospital(500, 4))


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_small_tables(rows: int) -> None:
    small = hospital(rows)
    assert small.num_rows == rows
    assert small.schema.types == list(COLUMNS.values())


def test_refuses_what_cannot_be_meant() -> None:
    with pytest.raises(InputError, match="rows -1"):
        hospital(-1)
    with pytest.raises(InputError, match="seed -2"):
        hospital(5, -2)


def test_age_is_counted_from_the_birth_date(rows: list[dict[str, Any]]) -> None:
    def years(born: date) -> int:
        later = (born.month, born.day) > (REFERENCE_DAY.month, REFERENCE_DAY.day)
        return REFERENCE_DAY.year - born.year - later

    assert all(row["age"] == years(row["birth_date"]) for row in rows)
    assert all(0 <= row["age"] <= 99 for row in rows)
    months = Counter(row["birth_date"].month for row in rows)
    assert min(months.values()) > 500, "births fall in every month"


def test_nobody_works_or_has_a_degree_too_early(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["education"] is not None:
            assert row["age"] >= people.EDUCATION[row["education"]][0]
        if row["age"] < people.WORKING_AGE:
            assert row["work_hours"] in (0, None)
            assert row["salary"] == 0


def test_pay_goes_with_work(rows: list[dict[str, Any]]) -> None:
    stated = [row for row in rows if row["work_hours"] is not None]
    assert all((row["work_hours"] > 0) == (row["salary"] > 0) for row in stated)
    assert max(row["work_hours"] for row in stated) <= 80
    pay = sorted(row["salary"] for row in rows if row["salary"])
    assert mean(pay) > 1.1 * pay[len(pay) // 2], "a long tail to the right"
    full_time = [row for row in stated if row["work_hours"] == 40]
    by_level = {
        level: mean([row["salary"] for row in full_time if row["education"] == level])
        for level in ("lower secondary", "upper secondary", "bachelor", "master")
    }
    assert list(by_level.values()) == sorted(by_level.values())


def test_names_fit_the_sex_and_hold_unicode(rows: list[dict[str, Any]]) -> None:
    first = {"female": set(people.FEMALE), "male": set(people.MALE)}
    assert not first["female"] & first["male"]
    for row in rows:
        given, family = row["name"].split(" ")
        assert given in first[row["sex"]]
        assert family in people.FAMILY
    assert sum(not row["name"].isascii() for row in rows) > 2_000
    for listed in (people.FEMALE, people.MALE, people.FAMILY):
        assert len(set(listed)) == len(listed) >= 60


def test_zip_codes_cluster_in_towns(table: pa.Table) -> None:
    spread = shares(table, "zip")
    assert all(len(code) == 5 and code.isdigit() for code in spread)
    in_towns = {f"{first + i:05d}" for first, (size, _) in TOWNS.items() for i in range(size)}
    assert 0.9 < sum(share for code, share in spread.items() if code in in_towns) < 0.97
    assert sum(share for code, share in spread.items() if code.startswith("0")) > 0.9
    assert len(spread) > 150


def test_one_nationality_and_a_long_tail(table: pa.Table) -> None:
    spread = list(shares(table, "nationality").items())
    assert spread[0][0] == people.HOME
    assert 0.8 < spread[0][1] < 0.92
    assert 38 <= len(spread) <= len(people.NATIONALITIES)
    assert spread[1][1] < 0.03
    assert len(set(people.NATIONALITIES)) == len(people.NATIONALITIES)


def test_all_races_and_levels_of_education_occur(table: pa.Table) -> None:
    assert set(shares(table, "race")) == set(people.RACES)
    education = shares(table, "education")
    assert set(education) == {*people.EDUCATION, None}
    assert 0.01 < education[None] < 0.03
    assert 0.02 < table["work_hours"].null_count / table.num_rows < 0.04


def test_diseases_depend_on_age_and_sex(rows: list[dict[str, Any]]) -> None:
    assert {row["disease"] for row in rows} == set(people.DISEASES)

    def share(disease: str, people: list[dict[str, Any]]) -> float:
        return mean([row["disease"] == disease for row in people])

    young = [row for row in rows if row["age"] < 30]
    old = [row for row in rows if row["age"] >= 60]
    men = [row for row in rows if row["sex"] == "male"]
    women = [row for row in rows if row["sex"] == "female"]
    assert share("Heart Disease", old) > 5 * share("Heart Disease", young)
    assert share("Cancer", old) > 5 * share("Cancer", young)
    assert share("Asthma", young) > share("Asthma", old)
    assert share("HIV", men) > share("HIV", women)
    assert 0.005 < share("HIV", rows) < share("Flu", rows) < 0.4


def test_a_quarter_states_a_protection_level(table: pa.Table) -> None:
    levels = shares(table, "protection_level")
    assert set(levels) == {None, 1, 2, 3, 4}
    assert 0.72 < levels[None] < 0.78


def test_levels_of_the_diseases() -> None:
    assert sorted(people.LEVELS.values()) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert people.LEVELS["HIV"] == people.LEVELS["Cancer"] == 4
    assert people.LEVELS["Flu"] == people.LEVELS["Indigestion"] == 1
