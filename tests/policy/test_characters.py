"""The column rule `characters`: codes that are published by their first characters."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.policy import Policy

ZIPS = ["02138", "02139", "02141", "02139", "01602", "01602", "01604", "01609", "?", None, "9"]


def policy_of(column: dict[str, Any], k: int = 2) -> dict[str, Any]:
    return {
        "columns": {"zip": column, "age": "quasi"},
        "constraints": [{"k": k}],
        "method": "least-loss-partition",
        "seed": 1,
    }


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"role": "quasi", "characters": 0}, "must be a whole number, 1 or more"),
        ({"role": "quasi", "characters": True}, "must be a whole number, 1 or more"),
        ({"role": "quasi", "characters": 2.5}, "must be a whole number, 1 or more"),
        ({"role": "person", "characters": 3}, "only a quasi or sensitive or plain column has one"),
        ({"role": "quasi", "characters": 3, "top": 3}, "cannot be combined with `characters`"),
        (
            {"role": "quasi", "characters": 3, "part": "year"},
            "cannot be combined with `characters`",
        ),
        ({"role": "quasi", "characters": 3, "zip3": "z.csv"}, "cannot be combined with"),
        ({"role": "quasi", "characters": 3, "kind": "ordered"}, "texts without an order"),
        ({"role": "quasi", "characters": 3, "labels": "mean"}, "this column has none"),
    ],
)
def test_contradictions_are_explained(column: dict[str, Any], words: str) -> None:
    with pytest.raises(shoal.PolicyError, match=words):
        Policy.load(policy_of(column))


@pytest.mark.parametrize("hierarchy", [{"mask": "right"}, None])
def test_no_label_says_more_and_every_one_is_true(hierarchy: dict[str, str] | None) -> None:
    column = {"role": "quasi", "characters": 4, "missing": ["?"]}
    if hierarchy is not None:
        column["hierarchy"] = hierarchy
    policy = Policy.load(policy_of(column))
    assert Policy.load(policy.to_yaml()) == policy
    table = pd.DataFrame({"zip": ZIPS, "age": [30] * len(ZIPS)})
    release = shoal.anonymize(table, policy)
    assert release.verified
    labels = release.table["zip"].tolist()
    for label in labels:  # each code is cut to four characters, alone or in a set
        parts = str(label).strip("{}").split(", ")
        assert all(len(part) <= 4 or part == "<missing>" for part in parts), label
    assert labels.count("0213") == 3
    assert labels.count("0160") == 4
    assert release.detail.columns["zip"].exact == 0  # none of them says the whole code


def test_numbers_are_refused() -> None:
    table = pa.table({"zip": [2138, 2139], "age": [1, 1]})
    with pytest.raises(shoal.InputError, match="have lost it"):
        shoal.anonymize(table, policy_of({"role": "quasi", "characters": 3}))


def test_files_are_published_alike_and_a_longer_code_is_found(tmp_path: Path) -> None:
    rows = "".join(f"{code or ''},30\n" for code in ZIPS[:8])
    (tmp_path / "t.csv").write_text(f"zip,age\n{rows}")
    policy = Policy.load(
        policy_of({"role": "quasi", "characters": 4, "hierarchy": {"mask": "right"}})
    )
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    shoal.run(tmp_path / "t.csv", policy, here)
    shoal.run(tmp_path / "t.csv", policy, there, memory="500MB")
    assert sorted(here.read_text().splitlines()) == sorted(there.read_text().splitlines())
    assert shoal.verify(here, policy).holds
    here.write_text(here.read_text().replace("0160,", "01602,"))
    with pytest.raises(shoal.VerificationFailed, match="first 4 characters"):
        shoal.verify(here, policy)
