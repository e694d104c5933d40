"""Ids of people that repeat are noticed, by name or by what their rows hold."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.evidence.repeated_ids import agree, agreements, classes_below, is_own, is_panel
from shoal.risk.people import is_person_id


@pytest.mark.parametrize(
    "name", ["patient_id", "PatientID", "idnr", "pid", "id", "subject no", "USUBJID"]
)
def test_names_of_ids(name: str) -> None:
    assert is_person_id(name)


@pytest.mark.parametrize("name", ["name", "country_id", "zip code", "age", "ward number", "email"])
def test_other_names(name: str) -> None:
    assert not is_person_id(name)


def visits(people: int = 60, each: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(people), each)
    return pd.DataFrame(
        {
            "pid": [f"{w:03}x" for w in who],
            "age": rng.integers(20, 90, people)[who],
            "sex": rng.choice(["f", "m"], people)[who],
            "zip": rng.integers(1000, 1100, people)[who].astype(str),
            "visit": rng.integers(1, 300, len(who)),
            "disease": rng.choice(["flu", "cold", "cough", "none"], len(who)),
        }
    )


def test_inspect_and_init_propose_the_role_person() -> None:
    for table in (visits(), visits().rename(columns={"pid": "thing"})):
        draft = shoal.draft_policy(table)
        first = table.columns[0]
        assert draft.roles[first] == "person"
        assert first not in draft.inspection.quasi
        assert draft.policy.person == first
        release = shoal.anonymize(table, draft.policy)
        assert release.findings[0].counted == "people"
        assert not release.disclosure.repeated


def panel(people: int = 60, years: int = 8) -> pd.DataFrame:
    """People whose rows differ in most columns, with a name for the id that says nothing."""
    rng = np.random.default_rng(9)
    who, year = np.repeat(np.arange(people), years), np.tile(np.arange(years), people)
    began = rng.integers(0, 12, people)
    return pd.DataFrame(
        {
            "nr": 13 + who * 7,
            "year": 1980 + year,
            "hisp": rng.integers(0, 2, people)[who],
            "exper": began[who] + year,
            "hours": rng.integers(0, 3000, len(who)),
            "occupation": rng.integers(1, 10, len(who)),
            "married": rng.integers(0, 2, len(who)),
            "educ": rng.integers(3, 17, people)[who],
            "lwage": rng.normal(1.5, 0.5, len(who)).round(4),
        }
    )


def test_the_people_of_a_panel_are_noticed() -> None:
    table = panel()
    draft = shoal.draft_policy(table)
    assert [name for name, role in draft.roles.items() if role == "person"] == ["nr"]
    release = shoal.anonymize(
        table,
        identifiers="nr",
        quasi=["exper", "hours", "occupation", "married", "educ"],
        plain=["year", "hisp", "lwage"],
        k=5,
    )
    (found,) = release.disclosure.repeated
    labels = release.table[["exper", "hours", "occupation", "married", "educ"]]
    assert (found.column, found.ids, found.classes) == ("nr", 60, len(labels.drop_duplicates()))


def test_a_value_with_several_rows_is_no_panel_without_a_column_that_numbers_them() -> None:
    rng, n = np.random.default_rng(4), 2000
    days = rng.integers(0, 400, n)  # 0 on most rows, and then another column is always the same
    days[: n // 2] = 0
    others = [np.arange(n), (days > 0).astype(int), rng.integers(0, 1000, n), rng.integers(0, 3, n)]
    assert not is_panel(agreements(days, others))
    visit = np.empty(n, int)
    order = np.argsort(days, kind="stable")
    starts = np.searchsorted(days[order], days[order])
    visit[order] = np.arange(n) - starts
    assert is_panel(agreements(days, [*others, visit]))
    assert not is_panel(
        agreements(days, [*others[2:], visit])
    )  # nothing in which the rows of a value agree


def test_names_decide_out_of_core_too(tmp_path) -> None:  # type: ignore[no-untyped-def]
    visits().to_csv(tmp_path / "v.csv", index=False)
    assert shoal.inspect(tmp_path / "v.csv", memory="1GB").columns[0].role == "person"


def test_unique_ids_and_shared_names_are_identifiers() -> None:
    rng, n = np.random.default_rng(3), 400
    table = visits(n, 1)
    table["name"] = rng.choice([f"Name {i}" for i in range(150)], n)  # people who share a name
    table["birth_date"] = [f"{1990 - age}-01-{1 + i % 5:02}" for i, age in enumerate(table["age"])]
    roles = shoal.draft_policy(table).roles
    assert (roles["pid"], roles["name"]) == ("identifier", "identifier")
    assert "person" not in roles.values()
    release = shoal.anonymize(
        table,
        quasi=["age", "sex", "zip"],
        identifiers=["pid", "name", "birth_date", "visit"],
        sensitive="disease",
        k=5,
    )
    assert not release.disclosure.repeated


def families(people: int = 240, dates: int = 40) -> pd.DataFrame:
    """One row per person; birth dates repeat, and all quasi-identifiers but one follow from them."""
    rng = np.random.default_rng(6)
    born = pd.Timestamp("1950-01-01") + pd.to_timedelta(
        rng.integers(0, dates, people) * (12_000 // dates), "D"
    )
    return pd.DataFrame(
        {
            "birth_date": born.strftime("%Y-%m-%d"),
            "ssn": [f"{i:03}-00-{i * 7:04}" for i in range(people)],
            "age": 2024 - born.year,
            "generation": born.year // 15,
            "sex": rng.choice(["f", "m"], people),
            "disease": rng.choice(["flu", "cold", "cough", "none"], people),
        }
    )


@pytest.mark.parametrize("engine", ["memory", "out of core"])
def test_another_identifier_contradicts(tmp_path: Path, engine: str) -> None:
    """That rows with one birth date are one person's is not said where their `ssn` differs."""
    table = families()
    cases = {
        "alone": table.drop(columns="ssn"),
        "one row each": table,
        "several rows each": pd.concat([table] * 3, ignore_index=True),
        "mostly missing": table.assign(ssn=table.ssn.where(table.index < 3)),
        "a row's number": table.rename(columns={"ssn": "uuid"}),
        "the same": table.assign(ssn="x" + table.birth_date),
    }
    found = {}
    for case, rows in cases.items():
        names = [name for name in rows if name in ("birth_date", "ssn", "uuid")]
        asked = shoal.Policy.load(
            {
                "columns": {
                    **dict.fromkeys(names, "identifier"),
                    **dict.fromkeys(["age", "generation", "sex"], "quasi"),
                    "disease": "sensitive",
                },
                "constraints": [{"k": 4}],
                "method": "least-loss-partition",
                "seed": 0,
            }
        )
        rows.to_parquet(tmp_path / "in.parquet")
        memory = {} if engine == "memory" else {"memory": "500MB"}
        release = shoal.run(
            tmp_path / "in.parquet", asked, tmp_path / "out.parquet", force=True, **memory
        )
        found[case] = [one.column for one in release.disclosure.repeated]
    assert found == {
        "alone": ["birth_date"],
        "one row each": [],
        "several rows each": ["ssn"],
        "mostly missing": ["birth_date"],
        "a row's number": ["birth_date"],
        "the same": ["birth_date", "ssn"],
    }


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_a_draft_heeds_what_contradicts(tmp_path: Path, memory: str | None) -> None:
    table = families(600, 150).rename(columns={"birth_date": "thing", "generation": "race"})
    table["thing"] = "t" + table.thing.str.replace("-", "")
    found = []
    for rows in (table, table.drop(columns="ssn")):
        rows.to_csv(tmp_path / "in.csv", index=False)
        inspected = shoal.inspect(tmp_path / "in.csv", memory=memory)
        found.append([column.name for column in inspected.columns if column.role == "person"])
    assert found == [[], ["thing"]]


def test_a_doctor_of_many_patients_contradicts_nothing() -> None:
    rng, table = np.random.default_rng(2), visits()
    table["doctor name"] = rng.choice([f"Dr {i}" for i in range(9)], len(table))
    given = {"quasi": ["age", "sex", "zip"], "sensitive": "disease", "k": 4, "default": "drop"}
    release = shoal.anonymize(table, identifiers=["pid", "doctor name"], **given, seed=0)
    assert [one.column for one in release.disclosure.repeated] == ["pid"]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("ssn", True),
        ("patient_id", True),
        ("Last Name", True),
        ("e-mail", True),
        ("id", False),
        ("uuid", False),
        ("visit", False),
        ("ward", False),
    ],
)
def test_identifiers_of_a_person(name: str, own: bool) -> None:
    assert is_own(name) == own


def test_classes_are_counted_as_by_sets() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        n = int(rng.integers(1, 40))
        classes, ids = rng.integers(0, 5, n), rng.integers(-1, 6, n)
        classes = np.unique(classes, return_inverse=True)[1]
        seen: dict[int, set[object]] = {}
        for row, (c, i) in enumerate(zip(classes.tolist(), ids.tolist(), strict=True)):
            seen.setdefault(c, set()).add(("row", row) if i < 0 else i)
        below = sum(len(one) < 3 for one in seen.values())
        assert classes_below(classes, ids, 3) == (len(seen), below)


def test_chance_is_no_agreement() -> None:
    rng = np.random.default_rng(0)
    ids, sex, age = rng.integers(0, 100, 500), rng.integers(0, 2, 500), rng.integers(0, 60, 500)
    assert not agree(agreements(ids, [sex, age]))
    assert agree(agreements(ids, [ids % 2, ids % 37]))
    assert not agree(agreements(ids, [sex, age, ids % 7]))
    assert not agree(agreements(np.arange(500), [sex, age]))
