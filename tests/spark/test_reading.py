"""Texts, column rules and pseudonyms mean the same on a cluster as on one machine."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.spark.session import SparkTables
from shoal.errors import InputError
from shoal.policy import Policy
from tests.out_of_core.session_runs import run_in
from tests.spark.cases import read_all, rows_of

COLUMNS = {
    "id": "pseudonym",
    "born": "quasi",
    "bmi": {"role": "quasi", "kind": "ordered"},
    "age": {"role": "quasi", "top": 90, "bottom": 18},
    "hours": {"role": "plain", "round": 5},
    "ill": "sensitive",
}


def test_an_awkward_file(
    session: SparkTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINKAGE", "0123456789abcdef")
    chance = Random(7)
    lines = [
        f"P{i:03};{chance.randint(1, 28):02}/{chance.randint(1, 12):02}/{chance.randint(1940, 2000)};"
        f"{chance.randint(18, 40)},{chance.randint(0, 9)};{chance.randint(0, 100)};"
        f"{chance.randint(0, 60)};{chance.choice(['flu', 'gout', 'cold'])}"
        for i in range(200)
    ]
    source = tmp_path / "t.csv"
    source.write_bytes(("\r\n".join(lines) + "\r\n").encode("utf-16"))
    keys = {
        "columns": COLUMNS,
        "constraints": [{"k": 4}, {"l": 2, "of": "ill"}],
        "pseudonym": {"key_env": "LINKAGE"},
        "seed": 3,
    }
    policy = Policy.load({**keys, "read": {"names": list(COLUMNS)}})
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    memory = shoal.run(source, policy, here)
    options = policy.read.file
    found = run_in(session, source, policy, there, folders=True, options=options, fragment_rows=60)
    assert rows_of(read_all(there)) == rows_of(read_all(here))
    assert found.findings == memory.findings
    assert found.notes == memory.notes
    assert any("'born' was read as dates written as %d/%m/%Y" in note for note in found.notes)
    with pytest.raises(InputError, match="looks like data"):
        run_in(session, source, Policy.load(keys), tmp_path / "asked.csv", folders=True)


def test_quotes_after_blanks(session: SparkTables, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    rows = [f'{20 + i % 4},  "a, {i % 2}\nb" , "flu{i % 3}"\n' for i in range(40)]
    source.write_text('age, "note",ill\n' + "".join(rows))
    columns = {"age": "quasi", "note": "plain", "ill": "sensitive"}
    policy = Policy.load({"columns": columns, "constraints": [{"k": 4}], "seed": 3})
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    memory = shoal.run(source, policy, here)
    found = run_in(session, source, policy, there, folders=True, options=policy.read.file)
    assert rows_of(read_all(there)) == rows_of(read_all(here))
    assert found.findings == memory.findings
    assert set(read_all(there)["note"].to_pylist()) == {"a, 0\nb", "a, 1\nb"}
    source.write_text("age,note,ill\n" + rows[0].replace("\n", ",c\nd,", 1))
    with pytest.raises(InputError, match=r"line 2: .* may hide whole rows"):
        run_in(session, source, policy, there, folders=True, options=policy.read.file)


def test_what_plain_columns_give_away_and_what_is_no_number(
    session: SparkTables, tmp_path: Path
) -> None:
    source, n = tmp_path / "t.parquet", 400
    table = pa.table(
        {
            "region": [f"r{i // 2 % 7}" for i in range(n)],
            "town": [i // 2 for i in range(n)],
            "note": pa.array([float("nan"), None, 1.5, 2.5] * (n // 4), pa.float64()),
        }
    )
    pq.write_table(table, source)
    columns = {"region": "quasi", "town": "plain", "note": "plain"}
    policy = Policy.load({"columns": columns, "constraints": [{"k": n}], "seed": 3})
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    memory = shoal.run(source, policy, here)
    found = run_in(session, source, policy, there, folders=True)
    assert found.disclosure == memory.disclosure
    assert [(one.plain, one.how) for one in found.disclosure.determined] == [("town", "function")]
    assert read_all(there)["note"].null_count == n // 2
