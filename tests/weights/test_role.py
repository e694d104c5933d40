"""The role weight: what is published, and what is refused."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.reading import ValueReading
from shoal.encoding.weights import MISSING, NOT_POSITIVE, TEXT, TOO_LARGE, weights_of
from shoal.policy import Policy

TABLE = pa.table(
    {
        "age": [30, 30, 31, 31, 50, 51, 52, 53],
        "sex": list("mfmfmfmf"),
        "w": [10.5, 20, 13, 14, 50, 60, 17, 18.25],
    }
)


def policy(weight: Any, **more: Any) -> dict[str, Any]:
    columns = {"age": "quasi", "sex": "quasi", "w": weight}
    return {"columns": columns, "constraints": [{"k": 2}], "seed": 1, **more}


def release(weight: Any, table: pa.Table = TABLE, **more: Any) -> shoal.Release:
    return shoal.anonymize(table, policy(weight, **more))


def with_weights(values: Any) -> pa.Table:
    return TABLE.set_column(2, "w", pa.array(values))


def test_a_weight_is_withheld_unless_the_policy_says_otherwise() -> None:
    assert release("weight").table.column_names == ["age", "sex"]
    assert release({"role": "weight", "publish": "withheld"}).table.column_names == ["age", "sex"]


def test_a_withheld_weight_changes_nothing_of_the_release() -> None:
    assert release("weight").table.equals(release("identifier").table)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_weight_is_published_rounded_or_exactly() -> None:
    rounded = release({"role": "weight", "round": 10})
    assert sorted(rounded.table["w"].to_pylist()) == [10, 10, 10, 20, 20, 20, 50, 60]
    assert Policy.load(policy({"role": "weight", "round": 10})).columns["w"].publish == "rounded"
    exact = release({"role": "weight", "publish": "exact"})
    assert sorted(exact.table["w"].to_pylist()) == sorted(TABLE["w"].to_pylist())


def test_an_exact_weight_is_warned_of_and_counted_among_what_singles_out() -> None:
    with pytest.warns(shoal.ShoalWarning, match="w is published exactly"):
        found = release({"role": "weight", "publish": "exact"})
    assert found.disclosure.alone == TABLE.num_rows
    assert release("weight").disclosure.alone == 0


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2, None, 3, 4, 5, 6, None], r"2 of 8 rows have no weight \(data rows 3, 8\)"),
        ([1.0, 2, float("nan"), 3, 4, 5, 6, 7], "1 of 8 rows have no weight"),
        (["1", "2", " ", "4", "5", "6", "7", "8"], "1 of 8 rows have no weight"),
        ([0, 1, 2, 3, 4, 5, 6, 7], "1 of 8 rows have a weight of 0 or below"),
        ([1, -2, -3, 4, 5, 6, 7, 8], "2 of 8 rows have a weight of 0 or below"),
        (["1", "secret", "3", "4", "5", "6", "7", "8"], "1 of 8 rows hold no number"),
        (["1,5"] * 8, "8 of 8 rows hold no number .*decimal"),
        ([True] * 8, "8 of 8 rows hold no number"),
        ([float("inf"), *range(1, 8)], "1 of 8 rows have a weight above"),
        ([8e12] * 8, "add up to more than"),
    ],
)
def test_bad_weights_are_refused_without_a_value_in_the_message(weights: Any, words: str) -> None:
    with pytest.raises(shoal.InputError, match=words) as refused:
        release("weight", with_weights(weights))
    assert "secret" not in str(refused.value)


def test_a_step_that_makes_weights_0_is_refused() -> None:
    with pytest.raises(shoal.InputError, match=r"`round: 50` makes 0.*smaller `round`"):
        release({"role": "weight", "round": 50})


def test_a_declared_code_is_a_missing_weight_and_a_declared_mark_is_read() -> None:
    with pytest.raises(shoal.InputError, match="1 of 8 rows have no weight"):
        release({"role": "weight", "missing": [-9]}, with_weights([-9, *range(1, 8)]))
    marked = with_weights([f"{i},5" for i in range(1, 9)])
    assert release("weight", marked, read={"decimal": ","}).published_rows == 8


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ({"role": "weight", "publish": "rounded"}, "needs `round`"),
        (
            {"role": "weight", "publish": "exact", "round": 5},
            "cannot be combined with `publish: exact`",
        ),
        ({"role": "weight", "publish": "withheld", "round": 5}, "`publish: withheld`"),
        (
            {"role": "weight", "publish": "partly"},
            "'withheld', 'rounded' or 'exact'|withheld, rounded",
        ),
        ({"role": "weight", "type": "date"}, "a weight is a number"),
        ({"role": "weight", "kind": "ordered"}, "found on a column with the role weight"),
        ({"role": "plain", "publish": "exact"}, "only a weight column has one"),
    ],
)
def test_settings_that_do_not_fit_are_refused(weight: Any, words: str) -> None:
    with pytest.raises(shoal.PolicyError, match=words):
        Policy.load(policy(weight))


def test_there_is_one_weight() -> None:
    columns = {"age": "quasi", "w": "weight", "v": "weight"}
    with pytest.raises(shoal.PolicyError, match="w, v all have the role weight"):
        Policy.load({"columns": columns, "constraints": [{"k": 2}]})


def test_a_person_has_one_weight() -> None:
    people = TABLE.append_column("id", pa.array([1, 1, 2, 2, 3, 4, 5, 6]))
    columns = {"age": "quasi", "sex": "quasi", "w": "weight", "id": "person"}
    with pytest.raises(shoal.InputError, match="2 of 6 people of 'id' have different weights"):
        shoal.anonymize(people, {"columns": columns, "constraints": [{"k": 2}]})
    same = people.set_column(2, "w", pa.array([5, 5, 6, 6, 7, 8, 9, 10]))
    assert shoal.anonymize(same, {"columns": columns, "constraints": [{"k": 2}]}).people == 6


def test_the_role_from_python() -> None:
    assert shoal.anonymize(TABLE, quasi=["age", "sex"], weight="w", k=2).policy.weight == "w"


def test_a_policy_with_a_weight_is_written_and_read_again() -> None:
    for weight in (
        "weight",
        {"role": "weight", "round": 10},
        {"role": "weight", "publish": "exact"},
    ):
        loaded = Policy.load(policy(weight))
        assert Policy.load(loaded.to_yaml()) == loaded


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.decimals(-10, 10**6, places=3).map(str),
            st.sampled_from(
                ["", " ", "x", "1e3", "1e300", "NaN", "0", "-0.0", "+4", "1,5", "1.2.3"]
            ),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_texts_are_read_as_decimals_would_be(texts: list[str]) -> None:
    def plain(text: str) -> int:
        if not text.strip():
            return MISSING
        if set(text) - set("0123456789.+-e") or text.count(".") > 1:
            return TEXT
        number = Decimal(text)
        if number <= 0:
            return NOT_POSITIVE
        return TOO_LARGE if number > 9 * 10**12 else round(number * 10**6)

    expected = [plain(text) for text in texts]
    assert weights_of(pa.array(texts, pa.string())).tolist() == expected
    assert weights_of(pa.array(texts, pa.string()).dictionary_encode()).tolist() == expected
    if all(number >= 0 for number in expected):
        floats = pa.array([float(text) for text in texts])
        assert weights_of(floats, (), ValueReading("number")).tolist() == expected
