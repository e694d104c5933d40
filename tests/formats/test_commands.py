"""Commands on workbooks and labelled files: sheets, labels and codes by option, policy and address."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from shoal.engines.files import LocalFiles
from tests.formats.workbooks import workbook

POLICY = "columns: {name: identifier, age: quasi, sex: sensitive}\nconstraints: [{k: 2}]\nseed: 1\n"
ROWS = [["name", "age", "sex"], *([f"p{i}", 30 + i, "fm"[i % 2]] for i in range(8))]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    notes = [["made by", "hand"], ["in", "May"]]
    titled = [["Patients of 2023"], [], *ROWS, ["Total", 276, None]]
    (tmp_path / "policy.yaml").write_text(POLICY)
    return workbook(tmp_path / "t.xlsx", {"Notes": notes, "Patients": titled})


def test_a_sheet_by_option_address_and_policy(book: Path, shoal: Any) -> None:
    done = shoal("run", book.name, "policy.yaml", "-o", "out.xlsx")
    assert done.code == 2
    assert "has 2 sheets with data: Notes, Patients" in done.err
    done = shoal("run", f"{book.name}#Patients", "policy.yaml", "-o", "out.xlsx")
    assert "row 1: no name for column 2" in " ".join(done.err.split())
    done = shoal("run", "t.xlsx", "policy.yaml", "-o", "out.xlsx", "--sheet", "2", "--skip", "1")
    assert "row 12: the last row looks like a total" in " ".join(done.err.split())
    assert not Path("out.xlsx").exists()
    how = ["--sheet", "Patients", "--skip", "1", "--footer", "1"]
    done = shoal("run", "t.xlsx", "policy.yaml", "-o", "one.xlsx", *how)
    assert done.code == 0, done.err
    done = shoal("run", "t.xlsx#patients", "policy.yaml", "-o", "two.xlsx", *how[2:])
    assert done.code == 0, done.err
    read = "read: {sheet: Patients, skip: 1, footer: 1}\n"
    Path("policy.yaml").write_text(POLICY + read)
    done = shoal("run", "t.xlsx", "policy.yaml", "-o", "three.xlsx")
    assert done.code == 0, done.err
    tables = [LocalFiles().read(Path(f"{name}.xlsx")) for name in ("one", "two", "three")]
    assert tables[0].num_rows == 8
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    # how the source is written says nothing about the release
    done = shoal("verify", "three.xlsx", "policy.yaml")
    assert done.code == 0, done.err


def test_inspect_and_init(book: Path, shoal: Any) -> None:
    how = ["--sheet", "Patients", "--skip", "1", "--footer", "1"]
    done = shoal("inspect", book.name, *how, "--json")
    assert done.code == 0, done.err
    assert [column["name"] for column in done.data()["columns"]] == ROWS[0]
    done = shoal("init", book.name, "-o", "draft.yaml", *how)
    assert done.code == 0, done.err
    text = Path("draft.yaml").read_text()
    # what was chosen to read the table is part of the draft
    assert "read: {footer: 1, sheet: Patients, skip: 1}" in text
    assert shoal("run", book.name, "draft.yaml", "-o", "out.xlsx", "--k", "2").code == 0


def test_labels_and_codes(tmp_path: Path, shoal: Any) -> None:
    frame = pd.DataFrame({"age": [31, 36, 61, 64], "sex": [1, 2, 1, 2]})
    labels = {"sex": {1: "male", 2: "female"}}
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels=labels)
    policy = "columns: {age: quasi, sex: sensitive}\nconstraints: [{k: 2}]\nseed: 1\n"
    Path("policy.yaml").write_text(policy)
    found = {}
    for name, options in {"labels": ["--labels"], "codes": ["--codes"], "neither": []}.items():
        done = shoal("run", "t.sav", "policy.yaml", "-o", f"{name}.csv", *options)
        assert done.code == 0, done.err
        found[name] = LocalFiles().read(Path(f"{name}.csv"))["sex"].to_pylist()
    assert sorted(found["labels"]) == ["female", "female", "male", "male"]
    assert found["neither"] == found["labels"]
    assert sorted(found["codes"]) == ["1", "1", "2", "2"]
    Path("policy.yaml").write_text(policy + "read: {labels: false}\n")
    assert shoal("run", "t.sav", "policy.yaml", "-o", "policy.csv").code == 0
    assert sorted(LocalFiles().read(Path("policy.csv"))["sex"].to_pylist()) == ["1", "1", "2", "2"]
