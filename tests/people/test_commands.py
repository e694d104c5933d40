"""`shoal run --key` and `shoal verify --key`, as a user sees them."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from shoal.cli.app import app
from tests.people.tables import POLICY, visits

WIDE = {"COLUMNS": "100", "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("commands")
    pc.write_csv(visits(), made / "in.csv")
    (made / "policy.yaml").write_text(yaml.safe_dump(POLICY, sort_keys=False))
    return made


def called(folder: Path, *arguments: str) -> Result:
    placed = [str(folder / one) if "." in one else one for one in arguments]
    return CliRunner(env=WIDE).invoke(app, placed, prog_name="shoal")


def shown(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.replace("│", " ").split())


def printed(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def run(folder: Path) -> str:
    return shown(
        called(folder, "run", "in.csv", "policy.yaml", "-o", "out.csv", "--key", "key.csv")
    )


def test_a_run_says_that_people_were_counted(folder: Path, run: str) -> None:
    assert "every guarantee was found in the written file, counted in people" in run
    assert "k 5 5 people" in run
    assert "people 60 in, 60 out, 0 without any row left" in run
    assert f"Key, private: do not publish it {folder / 'key.csv'}" in run
    if os.name == "posix":
        assert stat.S_IMODE((folder / "key.csv").stat().st_mode) == 0o600


def test_a_run_without_a_key_says_what_it_is_for(folder: Path) -> None:
    text = shown(called(folder, "run", "in.csv", "policy.yaml", "-o", "without.csv"))
    assert "Note: without a key only rows can be counted in the written file." in text


def test_the_json_of_a_run(folder: Path) -> None:
    arguments = (
        "run",
        "in.csv",
        "policy.yaml",
        "-o",
        "json.csv",
        "--key",
        "json-key.csv",
        "--json",
    )
    found = printed(called(folder, *arguments))
    assert found["counted"] == "people"
    assert (found["people"], found["published_people"], found["suppressed_people"]) == (60, 60, 0)
    assert found["group_people"]["smallest"] >= 5
    assert found["key"] == str(folder / "json-key.csv")
    assert {one["counted"] for one in found["guarantees"]} == {"people"}


@pytest.mark.usefixtures("run")
def test_verifying_with_the_key(folder: Path) -> None:
    text = shown(called(folder, "verify", "out.csv", "policy.yaml", "--key", "key.csv"))
    assert "2 of 2 guarantees found, people counted" in text
    assert "people 60, told apart by patient" in text
    found = printed(
        called(folder, "verify", "out.csv", "policy.yaml", "--key", "key.csv", "--json")
    )
    assert (found["counted"], found["people"], found["notes"]) == ("people", 60, [])


@pytest.mark.usefixtures("run")
def test_verifying_without_the_key(folder: Path) -> None:
    text = shown(called(folder, "verify", "out.csv", "policy.yaml"))
    assert "2 of 2 guarantees found, rows counted, not people" in text
    assert "Note: Rows were counted, not people" in text
    found = printed(called(folder, "verify", "out.csv", "policy.yaml", "--json"))
    assert (found["counted"], found["people"]) == ("rows", None)
    assert found["notes"]


@pytest.mark.usefixtures("run")
def test_a_key_that_does_not_fit(folder: Path) -> None:
    called(folder, "run", "in.csv", "policy.yaml", "-o", "k.csv", "--k", "9", "--key", "k-key.csv")
    result = called(folder, "verify", "out.csv", "policy.yaml", "--key", "k-key.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: The key does not fit this release")
    assert result.stderr.count("\n") == 1
    result = called(folder, "verify", "out.csv", "policy.yaml", "--key", "nowhere.csv")
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


@pytest.mark.usefixtures("run")
def test_a_failure_in_rows_says_that_people_may_differ(folder: Path) -> None:
    policy = {**POLICY, "constraints": [{"k": 5}, {"alpha": 0.2, "of": "illness"}]}
    (folder / "strict.yaml").write_text(yaml.safe_dump(policy, sort_keys=False))
    result = called(folder, "verify", "out.csv", "strict.yaml")
    assert result.exit_code == 4
    assert "alpha = 0.2 of illness was promised" in result.stderr
    assert "Rows were counted, not people" in result.stderr
    with_key = called(folder, "verify", "out.csv", "strict.yaml", "--key", "key.csv")
    assert with_key.exit_code == 4
    assert "Rows were counted" not in with_key.stderr
