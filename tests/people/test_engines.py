"""What reports say of people is the same out of core as in memory."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from tests.people.tables import POLICY, people_by_class, visits, written_rows

COUNTED = ("people", "risk", "class_sizes", "suppression", "guarantees")


def certificate(folder: Path, name: str, **where: Any) -> dict[str, Any]:
    report = folder / f"{name}.json"
    shoal.run(folder / "in.parquet", POLICY, folder / f"{name}.parquet", report=report, **where)
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def test_risk_and_sizes_in_people_out_of_core(tmp_path: Path) -> None:
    pq.write_table(visits(people=200), tmp_path / "in.parquet")
    here = certificate(tmp_path, "here")
    there = certificate(tmp_path, "there", memory="1GB")
    for part in COUNTED:
        assert there[part] == here[part], part


def test_what_one_person_has_in_many_rows_is_not_named(tmp_path: Path) -> None:
    table = visits(people=80)
    rare = pa.table(
        {
            "patient": ["P900"] * 12,
            "age": [40] * 12,
            "sex": ["intersex"] * 12,
            "illness": ["kuru"] * 12,
            "ward": ["Z"] * 12,
        }
    )
    pq.write_table(pa.concat_tables([table, rare]), tmp_path / "in.parquet")
    places: list[tuple[str, dict[str, Any]]] = [("here", {}), ("there", {"memory": "1GB"})]
    for name, where in places:
        made = json.dumps(certificate(tmp_path, name, **where))
        assert "kuru" not in made
        assert '"intersex"' not in made
        assert '"Z"' not in made
        assert "asthma" in made  # what many people share is named


@pytest.mark.parametrize(
    ("release", "key"), [("csv", "parquet"), ("parquet", "csv"), ("csv", "csv")]
)
def test_a_key_out_of_core(tmp_path: Path, release: str, key: str) -> None:
    weights = pa.array([float(i % 5) for i in range(len(visits()))])
    pq.write_table(visits().append_column("weight", weights), tmp_path / "in.parquet")
    policy = {**POLICY, "columns": {**POLICY["columns"], "weight": "plain"}}
    out, secret = tmp_path / f"out.{release}", tmp_path / f"key.{key}"
    made = shoal.run(tmp_path / "in.parquet", policy, out, key=secret, memory="1GB")
    assert made.key_output == secret
    if os.name == "posix":
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    numbers = {row["person"] for row in written_rows(secret)}
    assert sorted(map(int, numbers)) == list(range(1, 61))
    assert min(map(len, people_by_class(secret, ["age", "sex"]).values())) >= 5
    for where in ({}, {"memory": "1GB"}):
        found = shoal.verify(out, policy, key=secret, **where)  # type: ignore[arg-type]
        assert found.findings == made.findings
        assert (found.counted, found.people) == ("people", 60)
    without = shoal.verify(out, policy, memory="1GB")
    assert (without.counted, len(without.notes)) == ("rows", 1)


def test_a_key_of_other_rows_out_of_core(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("two", 2)):
        release = shoal.anonymize(visits(seed=seed), POLICY)
        release.write(tmp_path / f"{name}.csv", key=tmp_path / f"{name}.key.csv")
    one, key = tmp_path / "one.csv", tmp_path / "two.key.csv"
    with pytest.raises(shoal.InputError, match="The key does not fit this release"):
        shoal.verify(one, POLICY, key=key, memory="1GB")
    with pytest.raises(shoal.InputError, match="is not the key of this release"):
        shoal.verify(one, POLICY, key=tmp_path / "two.csv", memory="1GB")
    lines = (tmp_path / "one.key.csv").read_text().splitlines()
    lines[3] = lines[3].rpartition(",")[0] + ","
    (tmp_path / "one.key.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(shoal.InputError, match="rows of the key have no person"):
        shoal.verify(one, POLICY, key=tmp_path / "one.key.csv", memory="1GB")


def test_spark_refuses_a_key_by_name(tmp_path: Path) -> None:
    pq.write_table(visits(), tmp_path / "in.parquet")
    with pytest.raises(shoal.InputError, match="key: Spark writes folders of files"):
        shoal.run(
            tmp_path / "in.parquet",
            POLICY,
            tmp_path / "out.parquet",
            key=tmp_path / "key.csv",
            engine="spark",
        )
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
