"""`verify` names labels that the policy cannot read, without repeating them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import shoal
from shoal.errors import VerificationFailed

TREE = {"tree": {"all": {"north": ["Ath", "Mons"], "south": ["Huy"]}}}
SIZES = {"role": "quasi", "kind": "ordered", "order": ["S", "M", "L"]}
NUMBERS: dict[str, Any] = {"role": "quasi", "kind": "ordered"}
CASES = [
    (NUMBERS, "banana", "no value of the column"),
    (NUMBERS, "[99~1]", "reversed"),
    (NUMBERS, "{1, banana}", "a member"),
    (NUMBERS, "[1~x]", "no value of the column"),
    (SIZES, "XXL", "no value of the column"),
    (SIZES, "[L~S]", "reversed"),
    (SIZES, "{S, XXL}", "a member"),
    ({"role": "quasi", "hierarchy": TREE}, "west", "no node of the hierarchy"),
    ({"role": "quasi", "hierarchy": {"intervals": [5, 10]}}, "[40-35)", "reversed"),
    ({"role": "quasi", "hierarchy": {"date": ["month", "year"]}}, "1964-13", "no value"),
]
GOOD = [
    (NUMBERS, ["1", "[1~9]", "*", None, "{1, 2}", "20-30", ">=65", "1.5"]),
    (NUMBERS, ["12*", "**5", "{1,2}", "{1, <missing>}"]),
    (SIZES, ["S", "[S~L]", "*", None, "{S, <missing>}"]),
    ({"role": "quasi", "hierarchy": TREE}, ["north", "Huy", "all", "*", None]),
    ({"role": "quasi", "hierarchy": {"intervals": [5, 10]}}, ["[35-40)", "[30-40)", "37", "*"]),
    (
        {"role": "quasi", "hierarchy": {"date": ["month", "year"]}},
        ["1964-03", "1964", "1964-03-07"],
    ),
    ({"role": "quasi", "hierarchy": {"mask": "right"}}, ["12*", "***", "anything"]),
    ({"role": "quasi", "kind": "unordered"}, ["banana", "{a, b}", "[99"]),
    ({"role": "quasi"}, ["banana", "{a, b}"]),
]


def policy(column: dict[str, Any]) -> dict[str, Any]:
    return {"columns": {"x": column}, "constraints": [{"k": 1}]}


@pytest.mark.parametrize(("column", "label", "words"), CASES)
@pytest.mark.parametrize("memory", [None, "1GB"])
def test_it_is_named(
    tmp_path: Path, column: dict[str, Any], label: str, words: str, memory: str | None
) -> None:
    path = tmp_path / "out.csv"
    pacsv.write_csv(pa.table({"x": ["*", "*", label, "*", label]}), path)
    found = shoal.verify(path, policy(column), memory=memory)
    (one,) = found.unread
    assert (one.column, one.labels, one.rows) == ("x", 1, 2)
    assert one.first_row == (3 if memory is None else None)
    assert words in one.form
    assert not found.holds
    with pytest.raises(VerificationFailed, match="cannot read") as caught:
        found.check()
    shown = f"{caught.value}{found.to_dict()}".replace("'x'", "")
    assert label not in shown


@pytest.mark.parametrize(("column", "labels"), GOOD)
def test_what_can_be_read_is_not_named(column: dict[str, Any], labels: list[str | None]) -> None:
    table = pa.table({"x": pa.array([*labels], pa.string())})
    found = shoal.verify(table, policy(column))
    assert not found.unread
    assert found.holds
