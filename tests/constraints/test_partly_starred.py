"""Rows starred in some columns only: what is hidden with them, how they are counted and placed."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import run, verify
from shoal.engines.files import LocalFiles
from shoal.errors import VerificationFailed
from shoal.verification.check import require

POLICY: dict[str, Any] = {
    "columns": {
        "a": {"role": "quasi", "hierarchy": {"tree": {"*": ["x", "y"]}}},
        "b": {"role": "quasi", "hierarchy": {"tree": {"*": ["p", "q", "r"]}}},
        "s": "sensitive",
    },
    "constraints": [{"k": 2, "on": ["a"]}, {"k": 3, "on": ["b"]}],
    "method": "classfly-plus",
}


@pytest.mark.parametrize("how", ["withheld", "starred"])
def test_a_row_starred_in_one_part_counts_in_the_other(how: str) -> None:
    """The third row is starred in `a`; in `b` all three climbed to the top and need each other. Nothing
    is left of it, so it counts as suppressed, and stays in the table for the others."""
    table = pa.table({"a": ["x", "x", "y"], "b": ["p", "q", "r"], "s": ["1", "2", "3"]})
    made = shoal.anonymize(table, POLICY, suppressed=how, seed=0)
    assert made.table.to_pylist() == [
        {"a": "x", "b": "*", "s": "1"},
        {"a": "x", "b": "*", "s": "2"},
        {"a": "*", "b": "*", "s": "*"},
    ]
    assert [one.smallest for one in made.constraints] == [2, 3]
    assert made.suppressed_rows == 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_only_rows_with_hidden_cells_are_exempt(tmp_path: Path, kind: str) -> None:
    """A row starred in `a` that still shows its sensitive value stands alone, and is found out."""
    path = tmp_path / f"out.{kind}"
    rows = {"a": ["x", "x", "*"], "b": ["p", "p", "p"], "s": ["1", "2", "*"]}
    for shown, holds in (("*", True), ("3", False)):
        rows["s"][2] = shown
        LocalFiles().write(pa.table(rows), path)
        findings = verify(path, POLICY)
        assert [one.holds for one in findings] == [holds, True]
    with pytest.raises(VerificationFailed, match="k = 2 was promised on a"):
        require(findings)


def test_hidden_rows_stand_last_in_their_class() -> None:
    """Their place by the hash of the hidden value would tell something of it."""
    digits = [str(digit) for digit in range(10)]
    table = pa.table({"a": [*digits, "33"], "b": ["p"] * 11, "s": [*digits, "secret"]})
    # below the top there is a `*` already, which reads as the row that is suppressed
    tree = {"any": {"*": digits, "long": ["33"]}}
    columns = POLICY["columns"] | {"a": {"role": "quasi", "hierarchy": {"tree": tree}}}
    asked = POLICY | {"columns": columns}
    for seed in range(5):
        made = shoal.anonymize(table, asked, seed=seed).table.to_pylist()
        assert {(row["a"], row["b"]) for row in made} == {("*", "p")}
        assert [i for i, row in enumerate(made) if row["s"] == "*"] == [10]


def test_a_column_of_numbers_becomes_text_where_a_cell_is_hidden(tmp_path: Path) -> None:
    table = pa.table(
        {"a": ["x", "x", "y"], "b": ["p", "p", "p"], "s": ["1", "2", "3"], "n": [1.5, 2.0, 3.0]}
    )
    asked = POLICY | {"columns": POLICY["columns"] | {"n": "plain"}}
    made = shoal.anonymize(table, asked)
    assert sorted(made.table.column("n").to_pylist()) == ["*", "1.5", "2"]
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    LocalFiles().write(table, source)
    run(source, asked, target)
    assert sorted(target.read_text().splitlines()[1:]) == ["*,p,*,*", "x,p,1,1.5", "x,p,2,2"]
