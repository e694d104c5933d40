"""What is wrong with levels, trees and wishes is said before any work, and names no person."""

from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.models.alpha import Alpha
from tests.personal.table6 import DISEASE, TREE, policy, table6


def refused(kind: type[Exception], words: str, **disease: Any) -> None:
    asked = policy()
    asked["columns"] = asked["columns"] | {"disease": DISEASE | disease}
    with pytest.raises(kind, match=words):
        shoal.anonymize(table6(), asked)


def test_a_value_without_a_level() -> None:
    levels = {4: ["HIV", "Cancer"], 3: ["Hepatitis"], 2: ["Asthma"]}
    refused(
        shoal.PolicyError, "in 2 rows has no level in the policy .* to the `levels`", levels=levels
    )


def test_a_level_without_a_tree_level() -> None:
    low = {"any": [*("HIV", "Cancer", "Phthisis", "Hepatitis", "Asthma", "Flu")]}
    words = "has 2 levels, the values included, but `levels` go up to 4"
    refused(shoal.PolicyError, words, hierarchy={"tree": low})


def test_a_tree_that_is_higher_than_the_levels() -> None:
    levels = dict.fromkeys(["HIV", "Cancer", "Hepatitis", "Asthma", "Flu"], 1)
    refused(shoal.PolicyError, "has 4 levels.*only go up to 1.* the level 4, or", levels=levels)


def test_a_root_that_reads_like_a_suppressed_value() -> None:
    refused(shoal.PolicyError, "needs a name", hierarchy={"tree": {"*": TREE["any disease"]}})


@pytest.mark.parametrize("wish", [0, 5, -1, 2.5, "high", "1e0"])
def test_a_wish_that_is_no_level(wish: object) -> None:
    wishes = pa.array([str(wish), *["2"] * 6])
    table = table6().set_column(4, "ppl", wishes)
    with pytest.raises(shoal.InputError, match="is not a whole number from 1 to 4") as caught:
        shoal.anonymize(table, policy())
    assert f"'{wish}'" not in str(caught.value)
    many = pa.concat_tables([table.slice(0, 1)] * 12)
    with pytest.raises(shoal.InputError, match=f"Among them: '{wish}'"):
        shoal.anonymize(many, policy())


def test_infeasible_before_the_work_with_the_nearest_figure() -> None:
    table = pa.concat_tables([table6()] * 10)
    constraints = [{"k": 2}, {"alpha": 0.4, "of": "disease"}]
    words = (
        r"Sid 4 makes up 42.9% .* least alpha it allows is 0.429; with 0.4 at least 4 of 70 rows"
    )
    with pytest.raises(shoal.Infeasible, match=words):
        shoal.anonymize(table, policy(constraints=constraints))
    release = shoal.anonymize(table, policy(constraints=constraints, suppression=0.3))
    assert 4 <= release.suppressed_rows <= 21
    with pytest.raises(shoal.Infeasible, match="at least 4 of 70 rows"):
        shoal.anonymize(table, policy(constraints=constraints, suppression=0.05))


def test_alpha_on_values_where_there_are_no_levels() -> None:
    table = pa.table({"age": list(range(20)), "d": ["a"] * 12 + ["b"] * 8})
    asked = {
        "columns": {"age": "quasi", "d": "sensitive"},
        "constraints": [{"k": 2}, {"alpha": 0.5, "of": "d"}],
    }
    words = "'a' makes up 60.0% .* at least 4 of 20 rows"
    with pytest.raises(shoal.Infeasible, match=words):
        shoal.anonymize(table, asked)
    with pytest.raises(shoal.Infeasible, match=r"One value makes up 75\.0%"):
        shoal.anonymize(pa.concat_tables([table.slice(0, 6), table.slice(18)]), asked)


@pytest.mark.parametrize(("alpha", "rows"), [(1, 1), (0.5, 2), (0.4, 3), (1 / 3, 3), (0.1, 10)])
def test_the_smallest_group_that_alpha_allows(alpha: float, rows: int) -> None:
    assert Alpha(alpha, "d").min_rows == rows


def test_models_that_cannot_be_verified_on_raised_values() -> None:
    with pytest.raises(shoal.PolicyError, match="on which t cannot be verified; allowed: alpha, l"):
        shoal.Policy.load(policy(constraints=[{"t": 0.5, "of": "disease"}]))
