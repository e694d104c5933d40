"""Whoever changes a file or its certificate is noticed, also where the seal is made anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import shoal
from shoal.engines.release_table import MemoryRelease
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from shoal.report.certificate import SEAL, seal_of
from shoal.report.certificate_check import differences, read_certificate
from shoal.verification.digest import digest_of

POLICY = """
columns:
  age: {role: quasi, kind: ordered}
  job: {role: quasi, hierarchy: jobs.csv}
  code: sensitive
constraints: [{k: 5}, {l: 2, of: code}]
"""
JOBS = "king;court;any\nduke;court;any\nclerk;office;any\npage;office;any\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tampering")
    (made / "jobs.csv").write_text(JOBS)
    (made / "policy.yaml").write_text(POLICY)
    n = 60
    table = pa.table(
        {
            "age": [20 + i % 15 for i in range(n)],
            "job": [("king", "duke", "clerk", "page")[i % 4] for i in range(n)],
            "code": [("7e4512", "3e9981", "1.50", "a1b2c3")[i % 4] for i in range(n)],
        }
    )
    csv.write_csv(table, made / "in.csv")
    report = made / "report.json"
    shoal.run(made / "in.csv", made / "policy.yaml", made / "out.csv", report=report)
    return made


def found(folder: Path, file: str = "out.csv", told: dict[str, Any] | None = None) -> str:
    policy, path = Policy.load(folder / "policy.yaml"), folder / file
    findings = MemoryRelease(path).verify(policy).findings
    known = told or read_certificate(folder / "report.json")
    return " ".join(differences(known, policy, path, {}, findings, CsvOptions()))


def test_what_was_written_fits(folder: Path) -> None:
    assert found(folder) == ""


def test_values_that_look_like_huge_numbers_are_told_apart(folder: Path) -> None:
    text = (folder / "out.csv").read_text()
    changed = text.replace("7e4512", "3e9981", 1)
    assert changed != text
    (folder / "changed.csv").write_text(changed)
    assert "their digests differ" in found(folder, "changed.csv")


def test_the_order_of_rows_may_change(folder: Path) -> None:
    header, *rows = (folder / "out.csv").read_text().splitlines()
    assert rows != rows[::-1]
    (folder / "turned.csv").write_text("\n".join([header, *rows[::-1], ""]))
    assert found(folder, "turned.csv") == ""


@pytest.mark.parametrize("change", ["twice", "gone", "other"])
def test_a_row_more_or_less_is_noticed(folder: Path, change: str) -> None:
    header, *rows = (folder / "out.csv").read_text().splitlines()
    rows = {"twice": [rows[0], *rows], "gone": rows[1:], "other": [rows[-1], *rows[1:]]}[change]
    (folder / f"{change}.csv").write_text("\n".join([header, *rows, ""]))
    expected = "digests differ" if change == "other" else "rows"
    assert expected in found(folder, f"{change}.csv")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12345678901234567.1", "12345678901234568.9"),
        ("1e-999", "0.0"),
        ("01.5", "1.5"),
        ("+1.5", "1.5"),
        ("-0", "0"),
        ("2020-01-01 10:00 paid 1.50", "2020-01-01 10:00 paid 1.5"),
        ("2020-01-01 10:00 dose -00", "2020-01-01 10:00 dose Z"),
    ],
)
def test_texts_that_read_differently_differ(one: str, other: str) -> None:
    assert digest_of(pa.table({"x": [one]})) != digest_of(pa.table({"x": [other]}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.50", "1.5"),
        ("1e5", "100000.0"),
        ("-0.0", "0"),
        ("2020-01-01 10:00:00", "2020-01-01T10:00:00"),
    ],
)
def test_other_spellings_of_numbers_and_times_do_not(one: str, other: str) -> None:
    assert digest_of(pa.table({"x": [one]})) == digest_of(pa.table({"x": [other]}))


def test_a_changed_hierarchy_file_is_noticed(folder: Path) -> None:
    try:
        (folder / "jobs.csv").write_text(JOBS.replace("court", "castle"))
        assert "jobs.csv" in found(folder)
    finally:
        (folder / "jobs.csv").write_text(JOBS)


def _set(*keys: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(told: dict[str, Any]) -> None:
        at: Any = told
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value

    return change


def test_whoever_is_alone_by_a_sensitive_column_is_counted_again(folder: Path) -> None:
    columns = {"age": "quasi", "job": "sensitive", "code": "sensitive"}
    policy = {"columns": columns, "constraints": [{"k": 5}]}
    (folder / "two.yaml").write_text(json.dumps(policy))
    external, release = folder / "two.json", folder / "two.csv"
    shoal.run(folder / "in.csv", folder / "two.yaml", release, external_report=external)
    found = Policy.load(folder / "two.yaml")
    findings = MemoryRelease(release).verify(found).findings
    told = read_certificate(external)
    stated = told["disclosure"]["alone_by_sensitive"]
    assert {one["column"] for one in stated} == {"job", "code"}

    def said() -> str:
        return " ".join(differences(told, found, release, {}, findings, CsvOptions()))

    assert said() == ""
    next(one for one in stated if one["column"] == "job")["alone"] += 1
    told[SEAL] = seal_of(told)
    assert "alone on quasi columns and job" in said()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("policy", "data", "constraints", value=[{"k": 50}]), "differ in constraints"),
        (_set("policy", "words", value=["Nobody can be found."]), "policy in words"),
        (_set("policy", "files", value={}), "jobs.csv"),
        (_set("method", "name", value="optimal"), "method"),
        (_set("guarantees", 0, "words", value="At least 500 rows."), "states it differently"),
        (_set("risk", "after", "prosecutor", "highest", value=0.0), "risk after"),
        (_set("release", "rows", value=60.0), "rows"),
        (_set("release", "sensitive_digests", value=[1]), ""),
    ],
)
def test_claims_that_can_be_counted_are(
    folder: Path, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    told = read_certificate(folder / "report.json")
    change(told)
    told[SEAL] = seal_of(told)
    assert words in found(folder, told=told)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda text: text.replace("{", '{"guarantees": [],', 1),
        lambda text: text.replace('"certificate": 2', '"certificate": true', 1),
        lambda text: text.replace('"certificate": 2', '"certificate": -5', 1),
        lambda text: text.replace('"made": "', '"made": NaN, "x": "', 1),
        lambda _: "[" * 100_000,
    ],
)
def test_what_is_no_certificate_is_refused(
    folder: Path, tmp_path: Path, spoilt: Callable[[str], str]
) -> None:
    text = (folder / "report.json").read_text()
    assert spoilt(text) != text
    (tmp_path / "spoilt.json").write_text(spoilt(text))
    with pytest.raises(InputError):
        read_certificate(tmp_path / "spoilt.json")


def test_the_wishes_warning_names_no_rare_label() -> None:
    tree = {"any": {"common": ["flu", "cold"], "Kuru": ["Kuru9"], "Rage": ["Rabies"]}}
    values = ["flu"] * 40 + ["cold"] * 40 + ["Kuru9"] * 3 + ["Rabies"] * 15
    wish = [None] * 80 + [2] * 18
    table = pa.table({"age": [i % 9 for i in range(98)], "ill": values, "wish": wish})
    column = {
        "role": "sensitive",
        "hierarchy": {"tree": tree},
        "levels": {1: ["cold", "Kuru9", "Rabies"], 3: ["flu"]},
        "preference": "wish",
    }
    policy = {
        "columns": {"age": "quasi", "ill": column, "wish": "preference"},
        "constraints": [{"k": 2}],
        "method": "top-down",
    }
    told = json.dumps(shoal.anonymize(table, policy).warnings)
    assert "can only mean one value" in told
    assert "Rage" in told
    assert "Kuru" not in told
    assert "fewer than 10 rows" in told
