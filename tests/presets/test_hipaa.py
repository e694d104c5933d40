"""HIPAA Safe Harbor: every rule broken one by one, and a release that breaks none."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.rules import ColumnRule
from shoal.encoding.zip_areas import ZipAreas
from shoal.engines.files import wrap
from shoal.engines.release_table import MemoryRelease, Verdict, with_presets
from shoal.policy import Policy
from shoal.policy.canonical import to_data
from shoal.presets.hipaa_safe_harbor import HipaaSafeHarbor
from shoal.presets.identifiers import FORMS, may_show
from shoal.verification.presets import CheckedRule

AREAS = 'zip3,people\n021,1000000\n036,20000\n606,"2,500,000"\n821,900\n'
ROLES: dict[str, Any] = {
    "name": "identifier",
    "email": "identifier",
    "age": "quasi",
    "birth_date": "quasi",
    "admission_date": "plain",
    "zip": "quasi",
    "state": "quasi",
    "disease": "sensitive",
    "note": "plain",
}
RELEASE = {
    "age": ["34", "[60~90+]", "90+", "{12, 90+}", "*", None],
    "birth_date": ["1990", "[≤1934~1950]", "≤1934", "[1940~1950]", "*", None],
    "admission_date": ["2019", "2020", "2021", "2022", "2023", None],
    "zip": ["021", "000", "{000, 606}", "021", "*", None],
    "state": ["MA", "{IL, MA}", "IL", "NH", "*", None],
    "disease": ["flu", "asthma", "flu", "cancer", "flu", None],
    "note": [
        "seen in 2019, 120/80, score 12-14",
        "ICD 250.1, 555-12, dose 0.5",
        "room 12.3.4, grade 2-3-1",
        "season 2010-11, 10,000 steps",
        "code 12345, item 4000123456789",
        None,
    ],
}
"""What may be published, near misses included."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hipaa")
    (folder / "zip3.csv").write_text(AREAS, encoding="utf-8")
    return folder


def policy(folder: Path, columns: dict[str, Any] | None = None, **options: Any) -> Policy:
    preset = {"name": "hipaa-safe-harbor", "zip_codes": "zip3.csv", "year": 2024, **options}
    return Policy.load(
        {
            "columns": {**ROLES, **(columns or {})},
            "constraints": [{"k": 1}],
            "preset": {key: value for key, value in preset.items() if value is not None},
            "folder": folder,
        }
    )


def checked(folder: Path, column: str, text: str | None = None) -> list[CheckedRule]:
    """What the preset finds where one cell of a release is replaced."""
    cells = {name: list(texts) for name, texts in RELEASE.items()}
    if text is not None:
        cells[column][0] = text
    released = MemoryRelease(wrap(pa.table(cells)))
    (outcome,) = with_presets(released, policy(folder), Verdict(())).presets
    assert outcome.holds is all(check.holds for check in outcome.checks)
    return list(outcome.checks)


def test_a_release_that_breaks_nothing(folder: Path) -> None:
    found = checked(folder, "note")
    assert [check.name for check in found] == [
        "identifiers",
        "zip codes",
        "dates",
        "ages",
        "years of birth",
    ]
    assert all(check.holds and not check.violations for check in found)
    assert shoal.verify(pa.table(RELEASE), policy(folder)).holds


FINER = [
    ("identifiers", "note", "write to a.smith@example.org"),
    ("identifiers", "note", "see https://example.org/smith"),
    ("identifiers", "note", "www.example.org"),
    ("identifiers", "note", "call (617) 555-0123"),
    ("identifiers", "disease", "617-555-0123"),
    ("identifiers", "note", "fax +44 20 7946 0958"),
    ("identifiers", "note", "SSN 219-09-9999"),
    ("identifiers", "note", "from 192.168.17.4"),
    ("identifiers", "note", "2001:db8:0:0:8:800:200c:417a"),
    ("identifiers", "note", "device 00:1B:44:11:3A:B7"),
    ("identifiers", "note", "card 4111 1111 1111 1111"),
    ("identifiers", "note", "GB82 WEST 1234 5698 7654 32"),
    ("identifiers", "note", "VIN 1M8GDM9AXKP042788"),
    ("identifiers", "note", "123e4567-e89b-12d3-a456-426614174000"),
    ("identifiers", "note", "lives in 02138-1234"),
    ("identifiers", "note", "at 42.36011, -71.05890"),
    ("identifiers", "note", "617 555-0123"),
    ("identifiers", "note", "617\u2013555\u20130123"),
    ("identifiers", "note", "bob\uff20example.org"),
    ("identifiers", "note", "219\u201109\u20119999"),
    ("zip codes", "zip", "02138"),
    ("zip codes", "zip", "0213*"),
    ("zip codes", "zip", "021381234"),
    ("zip codes", "zip", "036"),
    ("zip codes", "zip", "821"),
    ("zip codes", "zip", "999"),
    ("zip codes", "zip", "{021, 036}"),
    ("zip codes", "zip", "[02138~60614]"),
    ("zip codes", "zip", "82***"),
    ("dates", "admission_date", "2019-03-04"),
    ("dates", "admission_date", "2019-03"),
    ("dates", "admission_date", "2019-Q1"),
    ("dates", "admission_date", "04/03/2019"),
    ("dates", "admission_date", "[2019-03-04~2019-05-01]"),
    ("dates", "admission_date", "{2019, 2020-01}"),
    ("dates", "admission_date", "20190304"),
    ("dates", "note", "born 2019-03-04"),
    ("dates", "note", "born 4/3/2019"),
    ("dates", "note", "March 4, 2019"),
    ("dates", "note", "4 March 2019"),
    ("dates", "state", "{MA, 2019-03-04}"),
    ("dates", "note", "07-Mar-1964"),
    ("dates", "note", "7-Mar-64"),
    ("dates", "note", "07MAR2024"),
    ("dates", "note", "7th of March 1964"),
    ("dates", "note", "1964 March 7"),
    ("dates", "note", "2024_03_07"),
    ("dates", "note", "visit-2024-03-07-b"),
    ("dates", "note", "20240307T101112Z"),
    ("dates", "note", "\uff12024\u201003\u201007"),
    ("ages", "age", "90"),
    ("ages", "age", "103"),
    ("ages", "age", "[85~95]"),
    ("ages", "age", "[90-95)"),
    ("ages", "age", "[80-100)"),
    ("ages", "age", "(85, 90]"),
    ("ages", "age", "{30, 91}"),
    ("ages", "age", "95+"),
    ("ages", "age", "90-99"),
    ("ages", "age", "95 years"),
    ("ages", "age", "95+ Jahre"),
    ("ages", "age", "aged 95"),
    ("ages", "age", "> 92"),
    ("ages", "age", "90 years"),
    ("ages", "age", "1100 months"),
    ("ages", "age", "９５"),
    ("years of birth", "birth_date", "1934"),
    ("years of birth", "birth_date", "1920"),
    ("years of birth", "birth_date", "≤1920"),
    ("years of birth", "birth_date", "[1930~1950]"),
    ("years of birth", "birth_date", "{1930, 1990}"),
    ("years of birth", "birth_date", "1920s"),
]
"""A rule, a column and a text that breaks this rule and no other."""


@pytest.mark.parametrize(("rule", "column", "text"), FINER, ids=lambda one: str(one)[:24])
def test_every_violation_is_found_and_no_other(
    folder: Path, rule: str, column: str, text: str
) -> None:
    found = {check.name: check.violations for check in checked(folder, column, text)}
    assert {name for name, violations in found.items() if violations} == {rule}
    (violation,) = found[rule]
    assert (violation.column, violation.rows) == (column, 1)
    advice = violation.text.rpartition("; write")[0]  # which names the figure that is allowed
    assert text not in advice, "no published value is repeated"


def test_every_form_is_broken_by_an_example(folder: Path) -> None:
    kinds = {
        violation.text
        for rule, column, text in FINER
        if rule == "identifiers"
        for check in checked(folder, column, text)
        for violation in check.violations
    }
    assert all(any(form in text for text in kinds) for form in FORMS)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("zip", "02*"),
        ("zip", "unknown"),
        ("zip", "0****"),
        ("age", "[85-90)"),
        ("age", "(85, 89]"),
        ("age", "80+"),
        ("age", "90 and over"),
        ("age", "90 Jahre und älter"),
        ("age", "95 months"),
        ("age", "-95"),
        ("age", "{85, 86}"),
        ("age", "adult"),
        ("admission_date", "1990s"),
        ("admission_date", "[2010-2020)"),
        ("admission_date", "unknown"),
        ("birth_date", "1935"),
        ("birth_date", "≤1940"),
        ("birth_date", "[1940-1950)"),
        ("note", "4111 1111 1111 1112"),
        ("note", "1M8GDM9A0KP042788"),
        ("note", "GB83 WEST 1234 5698 7654 32"),
        ("note", "000-12-3456 and 12-345-6789"),
        ("note", "version 1.2.3 of 300.1.1.1"),
        ("note", "May 2024, ward 12-14, 1990-1995"),
    ],
)
def test_nothing_is_invented(folder: Path, column: str, text: str) -> None:
    assert all(check.holds for check in checked(folder, column, text))


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({name: "plain"}, {}, f"{name}: by its name it holds {what}")
        for name, what in {
            "name": "names",
            "lastName": "names",
            "home_phone": "phone numbers",
            "fax": "fax numbers",
            "email": "e-mail addresses",
            "SSN": "social security numbers",
            "patient_id": "medical record numbers",
            "member_id": "health plan beneficiary numbers",
            "account_number": "account numbers",
            "license": "certificate and licence numbers",
            "license_plate": "certificate and licence numbers",
            "vin": "vehicle identifiers",
            "device_id": "device identifiers",
            "url": "web addresses",
            "ip_address": "network addresses",
            "fingerprint": "biometric identifiers",
            "photo": "photographs",
            "id": "other unique codes",
            "city": "places smaller than a state",
            "county": "places smaller than a state",
            "street": "places smaller than a state",
            "birth_month": "parts of dates other than the year",
            "dow": "parts of dates other than the year",
            "lname": "names",
            "pt_id": "medical record numbers",
            "acct_no": "account numbers",
            "home_addr": "places smaller than a state",
        }.items()
    ]
    + [
        ({"age": {"role": "quasi", "top": 95}}, {}, "age.top: found 95; .* 90 or less"),
        ({"birth_date": {"role": "quasi", "bottom": 1920, "part": "year"}}, {}, "1934"),
        ({}, {"zip_codes": None}, "columns.zip: .*areas of more than 20,000 people"),
        ({}, {"year": None}, "columns.birth_date: .*say of which year the data are"),
        ({}, {"year": 1800}, "year: found 1800; must be"),
        ({}, {"not_identifiers": ["nothing"]}, "`not_identifiers` has no column 'nothing'"),
        ({}, {"zip_code": "x"}, "not an option of hipaa-safe-harbor"),
        (
            {"admission_date": {"role": "quasi", "hierarchy": {"date": ["month", "year"]}}},
            {},
            "the preset hipaa-safe-harbor sets `part: year`, but leaves years",
        ),
    ],
)
def test_what_a_policy_may_not_say(
    folder: Path, columns: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(shoal.PolicyError, match=words):
        policy(folder, columns, **options)


def test_pseudonyms_are_refused(folder: Path) -> None:
    keys = {"columns": {**ROLES, "mrn": "pseudonym"}, "pseudonym": {"key_env": "KEY"}}
    preset = {"name": "hipaa-safe-harbor", "zip_codes": "zip3.csv", "year": 2024}
    with pytest.raises(shoal.PolicyError, match="codes made from an identifier"):
        Policy.load({**keys, "constraints": [{"k": 1}], "preset": preset, "folder": folder})


def test_a_person_may_find_a_column_to_be_none(folder: Path) -> None:
    found = policy(folder, {"city": "plain"}, not_identifiers=["city"])
    (preset,) = found.preset
    assert "city hold no identifiers" in preset.to_judge(found)[0]
    assert "city" not in {check.column for rule in preset.rules(found) for check in rule.checks}


def test_what_is_put_into_the_columns(folder: Path) -> None:
    found = policy(folder)
    assert found.columns["age"].top == 90
    assert (found.columns["birth_date"].part, found.columns["birth_date"].bottom) == ("year", 1934)
    assert found.columns["admission_date"].part == "year"
    assert found.columns["zip"].zip3 == "zip3.csv"
    stricter = policy(folder, {"age": {"role": "quasi", "top": 85, "round": 5}})
    assert (stricter.columns["age"].top, stricter.columns["age"].round) == (85, 5)
    assert Policy.load({**to_data(found), "folder": folder}) == found


def rows(n: int) -> dict[str, list[Any]]:
    return {
        "name": [f"person {i}" for i in range(n)],
        "email": [f"p{i}@example.org" for i in range(n)],
        "age": [20 + i % 80 for i in range(n)],
        "birth_date": [f"{1925 + i % 80}-0{1 + i % 9}-1{i % 9}" for i in range(n)],
        "admission_date": [f"1{i % 9}/0{1 + i % 9}/20{10 + i % 14}" for i in range(n)],
        "zip": [["02138", "03601", "60614", "60601-1234"][i % 4] for i in range(n)],
        "state": [["MA", "IL", "NH"][i % 3] for i in range(n)],
        "disease": [["flu", "asthma", "cancer"][i % 3] for i in range(n)],
        "note": [["good", "fair"][i % 2] for i in range(n)],
    }


@pytest.fixture(scope="module")
def released(folder: Path) -> tuple[Path, Policy]:
    import pyarrow.csv as csv

    csv.write_csv(pa.table(rows(120)), folder / "patients.csv")
    return folder / "patients.csv", policy(folder).with_changes(k=4, seed=7)


def test_a_run_publishes_what_the_preset_allows(
    released: tuple[Path, Policy], tmp_path: Path
) -> None:
    table, required = released
    found = shoal.run(table, required, tmp_path / "a.csv", report=tmp_path / "a.json")
    assert found.verified
    certificate = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    (outcome,) = certificate["presets"]
    assert outcome["holds"]
    assert outcome["to_judge"] == list(found.to_judge)
    assert "zip3.csv" in certificate["policy"]["files"]
    published = shoal.verify(tmp_path / "a.csv", required, certificate=tmp_path / "a.json")
    assert published.holds
    (large,) = shoal.run(table, required, tmp_path / "b.csv", memory="1GB").presets
    assert large == found.presets[0]
    both = [
        (tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("a.csv", "b.csv")
    ]
    assert sorted(both[0]) == sorted(both[1])
    again = shoal.verify(tmp_path / "b.csv", required, memory="1GB")
    assert again.presets == found.presets


@pytest.mark.parametrize("memory", [None, "1GB"])
@pytest.mark.parametrize("rule", ["top", "part", "zip3"])
def test_a_rule_that_is_not_applied_prevents_the_release(
    released: tuple[Path, Policy],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rule: str,
    memory: str | None,
) -> None:
    table, required = released
    changed = {"top": "age", "part": "admission_date", "zip3": "zip"}[rule]
    kind = ZipAreas if rule == "zip3" else ColumnRule
    applied = kind.__call__

    def lying(self: Any, column: pa.Array) -> pa.Array:
        return column.cast(pa.string()) if self.name == changed else applied(self, column)

    monkeypatch.setattr(kind, "__call__", lying)
    monkeypatch.setattr(kind, "holds", lambda *_: True)
    with pytest.raises(shoal.VerificationFailed, match=f"hipaa-safe-harbor: Column '{changed}'"):
        shoal.run(table, required, tmp_path / "r.csv", memory=memory)
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.dates(date(1800, 1, 1), date(2100, 1, 1)), min_size=1, max_size=8))
def test_years_are_those_of_the_calendar(days: list[date]) -> None:
    rule = ColumnRule("day", year=True)
    expected = [day.year for day in days]
    assert rule(pa.array(days)).to_pylist() == expected
    for form in ("%Y-%m-%d", "%d/%m/%Y", "%m.%d.%Y", "%Y/%m/%d 10:30"):
        texts = [day.strftime(form).rjust(4) for day in days]
        assert rule(pa.array(texts)).to_pylist() == list(map(str, expected))


def test_values_that_a_rule_cannot_read() -> None:
    with pytest.raises(shoal.InputError, match="no year can be read"):
        ColumnRule("day", year=True)(pa.array(["2019-03-04", "03/04/19"]))
    areas = ZipAreas("zip", frozenset({"021"}))
    with pytest.raises(shoal.InputError, match="no zip codes of three, five or nine digits"):
        areas(pa.array(["02138", "2138"]))
    with pytest.raises(shoal.InputError, match="holds numbers"):
        areas(pa.array([2138]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no such file"),
        ("zip3,people\n", "has no areas"),
        ("zip3,people\n2138,10\n", "line 2: must have the first three digits"),
        ("zip3,people\n021,many\n", "line 2: must have the first three digits"),
        ("zip3,people\n021,10\n021,20\n", "line 3: the area 021 is listed twice"),
    ],
)
def test_bad_tables_of_people_by_zip_code(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "zip3.csv").write_text(text, encoding="utf-8")
    with pytest.raises(shoal.InputError, match=words):
        shoal.anonymize(pa.table(rows(8)), policy(tmp_path))


def test_it_asks_for_no_class_size() -> None:
    assert HipaaSafeHarbor().constraints() == ()


def test_a_quick_look_rules_out_nothing() -> None:
    """Every example of an identifier passes the look that spares most texts the forms."""
    assert all(may_show(text) for rule, _, text in FINER if rule == "identifiers")
    shortest = ["a@b.co", "www.a.de/x.html", "2125550123", "212-555-0123", "219-09-9999", "1.1.1.1"]
    assert all(map(may_show, shortest))


def test_a_draft_with_the_preset(tmp_path: Path) -> None:
    table = pa.table({**rows(60), "city": ["Rome", "Oslo"] * 30})
    (tmp_path / "zip3.csv").write_text(AREAS, encoding="utf-8")
    draft = shoal.draft_policy(table, presets=["hipaa-safe-harbor", "cell-size-3"])
    assert draft.roles["city"] == "identifier"
    with pytest.raises(shoal.PolicyError, match="say of which year the data are"):
        _ = draft.policy
    stated = "- {name: hipaa-safe-harbor, year: 2024, zip_codes: zip3.csv}"
    (tmp_path / "p.yaml").write_text(
        draft.text.replace("- hipaa-safe-harbor", stated).replace(": undecided", ": plain"),
        encoding="utf-8",
    )
    release = shoal.anonymize(table, tmp_path / "p.yaml")
    assert all(outcome.holds for outcome in release.presets)
