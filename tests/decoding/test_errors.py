"""What cannot be decoded is refused in one line that says what to do."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "ordered"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "race": {"role": "quasi", "hierarchy": {"tree": {"any": ["a", "b"]}}},
    "size": {"role": "quasi", "order": ["S", "M"]},
    "ill": "sensitive",
    "name": "identifier",
}
POLICY = {"columns": COLUMNS, "constraints": [{"k": 2}]}
GOOD = {"age": ["[1~5]"], "zip": ["0*"], "race": ["any"], "size": ["[S~M]"], "ill": ["flu"]}


def refused(change: dict[str, Any] | None = None, **keys: Any) -> str:
    table = pa.table({**GOOD, **(change or {})})
    with pytest.raises(shoal.ShoalError) as error:
        shoal.decode(table, POLICY, **keys)
    assert error.value.exit_code == 2
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": ["young"]}, "Column 'age': 1 label in 1 row cannot be read"),
        ({"age": ["[5~1]"]}, "Column 'age': 1 label in 1 row cannot be read"),
        ({"age": ["[1~x]"]}, "Is this the policy that the release was made with"),
        ({"race": ["c"]}, "none is a leaf or a node of its hierarchy"),
        ({"size": ["L"]}, "none is a value of its `order`"),
        ({"Size": ["S"]}, "'Size', which the policy does not list. Did you mean 'size'?"),
        ({"name": ["Ann"]}, "'name', which the policy does not publish"),
    ],
)
def test_a_release_that_does_not_fit(change: dict[str, Any], words: str) -> None:
    message = refused(change)
    assert words in message
    assert "young" not in message


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"numbers": "midpoints"},
            "numbers: there is no form 'midpoints'. Did you mean 'midpoint'?",
        ),
        ({"categories": "bounds"}, "categories: there is no form 'bounds'"),
        (
            {"forms": {"age": "shares"}},
            "'age' cannot be decoded as 'shares': its values are numbers",
        ),
        (
            {"forms": {"race": "bounds"}},
            "its values are not numbers, dates or times. Allowed: label",
        ),
        ({"forms": {"zip": "list"}}, "some of its labels hide characters"),
        (
            {"forms": {"agee": "bounds"}},
            "no column 'agee' to decode as 'bounds'. Did you mean 'age'?",
        ),
        ({"forms": {"ill": "list"}}, "it is published unchanged and has no labels"),
        ({"forms": {"age": "wide"}}, "Column 'age': there is no form 'wide'"),
    ],
)
def test_forms_that_a_column_cannot_have(keys: dict[str, Any], words: str) -> None:
    assert words in refused(**keys)


def test_other_tables_altogether() -> None:
    with pytest.raises(shoal.PolicyError, match="none of the policy's columns"):
        shoal.decode(pa.table({"x": [1]}), POLICY)
    with pytest.raises(shoal.PolicyError, match="Give the policy"):
        shoal.decode(pa.table({"age": ["1"]}))


def test_anatomy_has_no_labels() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})
    release = shoal.anonymize(table, quasi="age", sensitive="ill", l=2, publish="anatomy")
    with pytest.raises(
        shoal.PolicyError, match="`publish: anatomy` has exact values and no labels"
    ):
        release.decode()


def test_a_missing_hierarchy(tmp_path: Path) -> None:
    columns = {"age": {"role": "quasi", "hierarchy": "ages.csv"}}
    policy = {"columns": columns, "constraints": [{"k": 1}], "folder": tmp_path}
    with pytest.raises(shoal.ShoalError, match="ages"):
        shoal.decode(pa.table({"age": ["1"]}), policy)


def test_two_columns_of_one_name() -> None:
    columns = {"age": "quasi", "age_low": "plain"}
    policy = {"columns": columns, "constraints": [{"k": 1}]}
    table = pa.table({"age": ["[1~2]"], "age_low": [1]})
    with pytest.raises(shoal.InputError, match="two columns named age_low"):
        shoal.decode(table, policy, numbers="bounds")


def test_too_many_indicators() -> None:
    many = [f"v{i}" for i in range(2001)] + ["{a, b}"]
    policy = {"columns": {"x": "quasi"}, "constraints": [{"k": 1}]}
    with pytest.raises(shoal.InputError, match="would become as many columns as 'indicators'"):
        shoal.decode(pa.table({"x": many}), policy, categories="indicators")


def test_columns_that_nobody_can_list_keep_their_labels() -> None:
    with pytest.warns(shoal.ShoalWarning, match="'zip' keeps its labels: some of its labels hide"):
        found = shoal.decode(pa.table(GOOD), POLICY, categories="list")
    assert found["zip"].to_pylist() == ["0*"]
    assert found["race"].to_pylist() == [None]  # the root says nothing
