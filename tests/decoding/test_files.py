"""Files, folders and databases in and out, and what the command prints."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.decoding import files

POLICY = """
columns:
  age: {role: quasi, kind: ordered}
  town: {role: quasi, kind: unordered}
  ill: sensitive
  score: plain
  since: plain
  code: plain
  note: plain
constraints: [{k: 2}]
seed: 3
"""
TRICKY = ["a, b", "x\ny", 'say "hi"', "~[{*\\", "plain"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release as CSV and Parquet, with its policy and the raw table."""
    folder = tmp_path_factory.mktemp("decoding")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    rows = 60
    raw = pd.DataFrame(
        {
            "age": [20 + i * 7 % 50 for i in range(rows)],
            "town": [TRICKY[i % 5] for i in range(rows)],
            "ill": [("flu", "gout", "ulcer")[i % 3] for i in range(rows)],
            "score": [i / 4 for i in range(rows)],
            "since": [f"2020-01-{1 + i % 28:02}" for i in range(rows)],
            "code": [f"{i % 7:03}" for i in range(rows)],
            "note": [TRICKY[i % 4] for i in range(rows)],
        }
    )
    raw.to_csv(folder / "raw.csv", index=False)
    for name in ("release.csv", "release.parquet"):
        shoal.run(folder / "raw.csv", folder / "policy.yaml", folder / name)
    return folder


def call(folder: Path, *arguments: str) -> Any:
    places = [str(folder / "policy.yaml"), *arguments]
    return CliRunner(env={"COLUMNS": "80"}).invoke(
        app, ["decode", *places[1:2], places[0], *places[2:]]
    )


def test_a_csv_release_has_its_types_back(folder: Path) -> None:
    table: pa.Table = shoal.decode(folder / "release.csv", folder / "policy.yaml")
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds == {
        "age": "double",
        "town": "string",
        "ill": "string",
        "score": "double",
        "since": "date32[day]",
        "code": "string",
        "note": "string",
    }
    raw = pd.read_csv(folder / "raw.csv", dtype={"code": str})
    assert sorted(table["note"].to_pylist()) == sorted(raw["note"])
    assert sorted(table["code"].to_pylist()) == sorted(raw["code"])


@pytest.mark.parametrize("target", ["d.csv", "d.parquet", "d.jsonl", "d.xlsx", "d.sqlite?table=t"])
def test_every_kind_of_target_holds_the_same(folder: Path, tmp_path: Path, target: str) -> None:
    place = str(tmp_path / target)
    found = shoal.decode_file(
        folder / "release.csv", folder / "policy.yaml", place, numbers="bounds"
    )
    assert found.rows == 60
    expected: pa.Table = shoal.decode(
        folder / "release.csv", folder / "policy.yaml", numbers="bounds"
    )
    names = list(expected.column_names)
    assert [name for one in found.columns for name in one.columns] == names
    whole = dict.fromkeys(names, "plain")
    policy = {"columns": whole | {"age_low": "quasi"}, "constraints": [{"k": 1}]}
    back = shoal.decode(place, policy).to_pydict()
    for name in names:
        assert [str(v) for v in back[name]] == [str(v) for v in expected[name].to_pylist()], name


def test_parts_of_a_table_are_decoded_as_the_whole(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: dict[str, Any] = {"numbers": "sample", "categories": "shares", "seed": 9}
    whole: pa.Table = shoal.decode(folder / "release.parquet", folder / "policy.yaml", **keys)
    monkeypatch.setattr(files, "ROWS", 7)
    parts = tmp_path / "parts"
    parts.mkdir()
    published = pq.read_table(folder / "release.parquet")
    for i in range(3):
        pq.write_table(published.slice(i * 20, 20), parts / f"part-{i}.parquet")
    shoal.decode_file(parts, folder / "policy.yaml", tmp_path / "out.parquet", **keys)
    assert pq.read_table(tmp_path / "out.parquet").equals(whole)


def test_the_command(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "d.csv")
    done = call(folder, str(folder / "release.csv"), "-o", out, "--as", "age=sample", "--seed", "2")
    assert done.exit_code == 0, done.stderr
    assert "60 rows, 7 columns" in " ".join(done.stdout.split())
    assert "age_sampled holds values drawn at random (seed 2), not observed ones" in done.stdout
    again = call(folder, str(folder / "release.csv"), "-o", out)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    forced = call(folder, str(folder / "release.csv"), "-o", out, "--force", "--json")
    assert json.loads(forced.stdout)["columns"][0] == {
        "name": "age",
        "form": "midpoint",
        "labels": json.loads(forced.stdout)["columns"][0]["labels"],
        "columns": ["age"],
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--as", "age"], "--as age: write a column and its form, as in --as age=bounds"),
        (["--numbers", "wide"], "numbers: there is no form 'wide'"),
        (["--categories", "list"], "a CSV file holds single values, but 'town' would be lists"),
        (["--as", "score=bounds"], "published unchanged and has no labels"),
    ],
)
def test_mistakes_in_options(folder: Path, tmp_path: Path, options: list[str], words: str) -> None:
    done = call(folder, str(folder / "release.csv"), "-o", str(tmp_path / "d.csv"), *options)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "d.csv").exists()


def test_a_raw_table_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY.replace("note: plain", "note: identifier"))
    done = CliRunner(env={"COLUMNS": "80"}).invoke(
        app,
        [
            *("decode", str(folder / "raw.csv"), str(tmp_path / "policy.yaml")),
            *("-o", str(tmp_path / "d.csv")),
        ],
    )
    assert done.exit_code == 2
    assert "'note', which the policy does not publish" in " ".join(done.stderr.split())


def test_a_run_into_a_file_can_be_decoded(folder: Path, tmp_path: Path) -> None:
    release = shoal.run(
        folder / "raw.csv", folder / "policy.yaml", tmp_path / "r.parquet", memory="200MB"
    )
    assert release.table is None
    assert release.decode().num_rows == 60
