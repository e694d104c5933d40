"""What reports say of people is the same out of core as in memory."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import shoal
from tests.people.tables import POLICY, visits

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
    here["people"]["groups"] = None  # counted in memory only
    for part in COUNTED:
        assert there[part] == here[part], part


def test_a_key_is_refused_by_name(tmp_path: Path) -> None:
    pq.write_table(visits(), tmp_path / "in.parquet")
    with pytest.raises(shoal.InputError, match="key: not supported for tables larger than memory"):
        shoal.run(
            tmp_path / "in.parquet",
            POLICY,
            tmp_path / "out.csv",
            key=tmp_path / "key.csv",
            memory="1GB",
        )
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
