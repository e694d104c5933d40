"""Cell sizes: a release with one class too small, and one in which every class is just large enough."""

from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.policy import Policy
from tests.presets.test_policies import SIZES

EVERY = {**SIZES, "opinion-05-2014": 2}


def published(*sizes: int) -> pa.Table:
    ages = [f"[{10 * i}~{10 * i + 9}]" for i, size in enumerate(sizes) for _ in range(size)]
    ills = [["flu", "hiv", "asthma"][i % 3] for i in range(len(ages))]
    return pa.table({"age": ages, "ill": ills})


def policy(name: str, **keys: Any) -> Policy:
    constraints = [{"alpha": 0.9, "of": "ill"}]
    columns = {"age": "quasi", "ill": "sensitive"}
    return Policy.load({"columns": columns, "constraints": constraints, "preset": name, **keys})


@pytest.mark.parametrize(("name", "k"), EVERY.items())
def test_a_class_that_is_too_small_is_found(name: str, k: int) -> None:
    found = shoal.verify(published(k, k - 1, 3 * k), policy(name))
    assert not found.holds
    (outcome,) = found.presets
    assert (outcome.name, outcome.holds) == (name, False)
    (check,) = outcome.checks
    assert (check.required, check.found) == (k, k - 1)
    with pytest.raises(shoal.VerificationFailed):
        found.check()


@pytest.mark.parametrize(("name", "k"), EVERY.items())
def test_nothing_is_invented(name: str, k: int) -> None:
    found = shoal.verify(published(k, k + 1, 3 * k), policy(name))
    assert found.holds
    assert found.presets[0].checks[0].found == k


def test_people_are_counted() -> None:
    table = pa.table({"id": [1, 1, 1, 2, 2, 3], "age": [30, 31, 32, 30, 31, 32]})
    columns = {"id": "person", "age": "quasi"}
    release = shoal.anonymize(table, {"columns": columns, "preset": "cell-size-3"})
    (check,) = release.presets[0].checks
    assert "3 people" in check.text
    assert check.found == 3
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(table, {"columns": columns, "preset": "cell-size-5"})


def test_plain_columns_are_left_to_a_person() -> None:
    table = pa.table({"age": [30, 30, 30], "shoe": [40, 41, 42]})
    release = shoal.anonymize(table, quasi="age", plain="shoe", preset="cell-size-3")
    assert "plain columns shoe" in release.to_judge[0]
