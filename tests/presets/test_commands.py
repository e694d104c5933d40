"""Presets and criteria on the command line: what is printed, and with which exit code."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest
from typer.testing import CliRunner, Result

from shoal.cli.app import app
from tests.presets.test_hipaa import AREAS, rows

POLICY = """
columns:
  name: identifier
  email: identifier
  age: quasi
  birth_date: identifier
  admission_date: quasi
  zip: quasi
  state: quasi
  disease: sensitive
  note: plain
constraints: [{k: 4}, {l: 2, of: disease}]
preset:
  - {name: hipaa-safe-harbor, zip_codes: zip3.csv}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    table = rows(80)
    csv.write_csv(pa.table(table), folder / "good.csv")
    table["note"][3] = "ask bob@example.org"
    csv.write_csv(pa.table(table), folder / "bad.csv")
    (folder / "zip3.csv").write_text(AREAS, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return folder


def call(folder: Path, command: str) -> Result:
    arguments = [str(folder / word) if "." in word else word for word in command.split()]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "100", "NO_COLOR": "1"})


def test_a_violation_ends_with_exit_code_4_and_leaves_nothing(folder: Path) -> None:
    done = call(folder, "run bad.csv policy.yaml -o bad-release.csv --json")
    assert done.exit_code == 4
    error = json.loads(done.stdout)["error"]
    assert error.startswith("hipaa-safe-harbor: Column 'note' has e-mail addresses")
    assert "bob" not in done.output
    assert not (folder / "bad-release.csv").exists()


def test_a_release_with_what_a_person_must_judge(folder: Path) -> None:
    done = call(folder, "run good.csv policy.yaml -o release.csv --force")
    assert done.exit_code == 0
    assert "Preset hipaa-safe-harbor" in done.output
    assert "To be judged by a person" in done.output
    assert "Nobody at the publisher knows" in done.output
    checked = json.loads(call(folder, "verify release.csv policy.yaml --json").stdout)
    assert [outcome["holds"] for outcome in checked["presets"]] == [True]
    found = call(folder, "criteria release.csv policy.yaml --raw good.csv")
    assert found.exit_code == 0
    for words in (
        "Singling out",
        "Linkability",
        "Inference",
        "What this does not show",
        "one candidate",
    ):
        assert words in found.output


def test_a_weaker_option_is_refused(folder: Path) -> None:
    weaker = (folder / "policy.yaml").read_text(encoding="utf-8") + "  - cell-size-11\n"
    (folder / "cells.yaml").write_text(weaker.replace("{k: 4}, ", ""), encoding="utf-8")
    done = call(folder, "run good.csv cells.yaml -o weak.csv --k 5")
    assert done.exit_code == 2
    assert "weaker than the preset cell-size-11" in done.output


def test_presets_are_listed_and_explained(folder: Path) -> None:
    done = call(folder, "presets")
    assert done.exit_code == 0
    assert "ema-0070" in done.output
    one = call(folder, "presets hipaa-safe-harbor")
    for words in ("What it requires", "To be judged by a person", "Sources", "zip_codes"):
        assert words in one.output
    assert call(folder, "presets nothing").exit_code == 2
