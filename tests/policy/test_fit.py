from pathlib import Path

import pytest

from shoal.errors import PolicyError
from shoal.policy import Policy

POLICY = "columns:\n  name: identifier\n  age: quasi\n  zip: quasi\nconstraints: [{k: 5}]\n"


def misfit(names: list[str], policy: str = POLICY) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy.load(policy).check(names)
    return str(caught.value)


def test_a_table_that_fits() -> None:
    Policy.load(POLICY).check(["zip", "name", "age"])
    Policy.load(POLICY).check(iter(["zip", "name", "age"]))


def test_a_column_that_the_table_lacks() -> None:
    assert misfit(["name", "Age_", "zip"], POLICY + "default: drop\n") == (
        "policy:3: columns.age: the table has no such column. Did you mean 'Age_'?"
    )
    assert misfit(["name", "zip"]) == (
        "policy:3: columns.age: the table has no such column; it has name, zip"
    )


def test_the_nearest_column_is_one_that_is_still_free() -> None:
    policy = POLICY.replace("zip: quasi", "zip: quasi\n  zip_cod: plain")
    said = misfit(["name", "age", "zip", "zip code"], policy)
    assert "columns.zip_cod: the table has no such column. Did you mean 'zip code'?" in said


def test_a_column_that_the_policy_forgets() -> None:
    assert misfit(["name", "age", "zip", "ward", "note"]) == (
        "policy:1: columns: the table also has ward, note; list each under `columns` with a role, "
        "or set `default: drop` to leave such columns out"
    )
    Policy.load(POLICY + "default: drop\n").check(["name", "age", "zip", "ward", "note"])


def test_both_at_once() -> None:
    assert misfit(["name", "agee", "zip"]) == (
        "policy:3: columns.age: the table has no such column. Did you mean 'agee'?\n"
        "policy:1: columns: the table also has agee; list each under `columns` with a role, or set "
        "`default: drop` to leave such columns out"
    )


@pytest.mark.parametrize("default", ["", "default: drop\n"])
def test_the_policy_of_another_table(default: str) -> None:
    assert misfit(["species", "length"], POLICY + default) == (
        "policy:1: columns: none of them is in the table, which has 2 other columns. Is this the "
        "policy of another table, or does the file have no header, or another separator? The policy "
        "lists name, age, zip"
    )


def test_lines_of_a_file_are_still_known(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    with pytest.raises(PolicyError, match=r"policy\.yaml:3: columns\.age: the table has no such"):
        Policy.load(file).replace_keys(seed=4).check(["name", "zip"])


def test_python_policies_have_no_lines() -> None:
    policy = Policy.load({"columns": {"age": "quasi", "zip": "quasi"}, "constraints": [{"k": 5}]})
    with pytest.raises(
        PolicyError, match=r"^columns\.age: the table has no such column; it has zip"
    ):
        policy.check(["zip"])
