"""Individual and global risk: the documented example of sdcMicro, the posterior itself, plain twins."""

from math import isclose, prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.weights import SCALE
from shoal.evidence.estimated_risk import individual_risks, risk_of_classes, risk_of_rows
from tests.weights.naive import classes, posterior_risk, risks, textbook_risk

# The example of Capobianchi, Polettini and Lucarelli that sdcMicro documents under `francdat`, with the
# frequencies and risks that its reference pages for `freqCalc` and `indivRisk` print.
EXAMPLE = pa.table(
    {
        "key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
    }
)
KEYS = ["key1", "key2", "key3", "key4"]
SAMPLE = [2, 2, 2, 1, 1, 1, 1, 2]
POPULATION = [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0]
PRINTED = [
    "0.01714426",
    "0.02204233",
    "0.02204233",
    "0.17707583",
    "0.01165448",
    "0.29706308",
    "0.40235948",
    "0.01714426",
]


def test_the_documented_example_of_sdcmicro_to_all_printed_digits() -> None:
    found = individual_risks(np.array(SAMPLE), np.array(POPULATION))
    assert [f"{risk:.8f}" for risk in found] == PRINTED


def test_the_example_from_its_rows() -> None:
    found = shoal.assess(EXAMPLE, KEYS, weight="w").estimated
    assert found is not None
    assert (found.sample, found.population, found.classes) == (8, 765.5, 6)
    assert found.smallest_class == 5
    assert f"{found.highest:.8f}" == PRINTED[6]
    assert f"{found.expected:.6f}" == f"{sum(map(float, PRINTED)):.6f}"
    assert isclose(found.share, found.expected / 8)
    assert found.above == 2 / 8


@pytest.mark.parametrize("p", [1.0, 0.999999, 0.97, 0.951, 0.949, 0.7, 0.5, 0.2, 0.05])
@pytest.mark.parametrize("f", [1, 2])
def test_one_and_two_people_have_the_risk_of_the_posterior(f: int, p: float) -> None:
    (found,) = individual_risks(np.array([f]), np.array([f / p]))
    assert isclose(found, posterior_risk(f, f / p), rel_tol=1e-9)


@pytest.mark.parametrize("p", [1.0, 0.99, 0.9, 0.5, 0.2, 0.05])
@pytest.mark.parametrize("f", [3, 4, 10, 40])
def test_more_people_never_have_less_than_the_risk_of_the_posterior(f: int, p: float) -> None:
    (found,) = individual_risks(np.array([f]), np.array([f / p]))
    exact = posterior_risk(f, f / p)
    assert exact * (1 - 1e-9) <= found <= exact * 1.05


def test_a_class_without_more_people_than_the_sample_is_the_sample() -> None:
    assert individual_risks(np.array([1, 2, 5]), np.array([0.5, 2.0, 1.0])).tolist() == [
        1,
        0.5,
        0.2,
    ]


tables = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["0.5", "1", "1.25", "7.333", "120", "4000.5"])),
    min_size=1,
    max_size=25,
)


@settings(max_examples=60)
@given(tables, st.booleans(), st.randoms(use_true_random=False))
def test_risks_are_those_of_a_plain_count_in_any_order(rows, by_person, random) -> None:
    group, weights = [g for g, _ in rows], [w for _, w in rows]
    people = None
    if by_person:  # a person's rows have one weight
        people = [i // 2 for i in range(len(rows))]
        weights = [weights[2 * (i // 2)] for i in range(len(rows))]
    expected = risks(group, weights, people)
    each = classes(group, weights, people)
    order, seen = list(range(len(rows))), []
    for _ in range(2):
        found = risk_of_rows(
            np.array([group[i] for i in order]),
            np.array([round(float(weights[i]) * SCALE) for i in order]),
            None if people is None else np.array([people[i] for i in order]),
        )
        assert isclose(found.expected, sum(expected.values()), rel_tol=1e-12)
        assert isclose(found.highest, max(expected.values()), rel_tol=1e-12)
        assert (found.sample, found.classes) == (len(expected), len(each))
        assert found.smallest_class == float(min(total for _, total in each.values()))
        assert isclose(found.above, sum(r > 0.2 for r in expected.values()) / len(expected))
        if by_person is False:
            sizes = np.array([n for n, _ in each.values()])
            sums = np.array([int(total * SCALE) for _, total in each.values()])
            assert risk_of_classes(sizes, sums) == found
        seen.append(found)
        assert found == seen[0]  # to the last digit
        random.shuffle(order)


def test_households() -> None:
    household = [0, 0, 1, 1, 1, 2, 3, 3]
    rows = list(zip(*(EXAMPLE[key].to_pylist() for key in KEYS), strict=True))
    alone = risks(rows, [str(w) for w in EXAMPLE["w"].to_pylist()])
    of_home = {
        home: 1 - prod(1 - alone[i] for i in range(8) if household[i] == home)
        for home in set(household)
    }
    table = EXAMPLE.append_column("home", pa.array(household))
    found = shoal.assess(table, KEYS, weight="w", household="home").estimated
    assert found is not None
    assert found.households is not None
    assert isclose(found.households, sum(of_home[home] for home in household))


def test_a_household_needs_weights() -> None:
    with pytest.raises(shoal.InputError, match=r"household: .*weight="):
        shoal.assess(EXAMPLE, KEYS, household="w")


def test_missing_columns_are_named() -> None:
    with pytest.raises(shoal.InputError, match="no column 'wt'"):
        shoal.assess(EXAMPLE, KEYS, weight="wt")
    with pytest.raises(shoal.InputError, match="no column 'wt'"):
        shoal.inspect(EXAMPLE, weight="wt")


def test_files_larger_than_memory_have_the_same_risk(tmp_path) -> None:
    from pyarrow import csv

    csv.write_csv(EXAMPLE, tmp_path / "table.csv")
    inside = shoal.assess(EXAMPLE, KEYS, weight="w").estimated
    assert shoal.assess(tmp_path / "table.csv", KEYS, weight="w", memory="1GB").estimated == inside
    with pytest.raises(shoal.InputError, match="household: households are not counted"):
        shoal.assess(tmp_path / "table.csv", KEYS, weight="w", household="key1", memory="1GB")
    csv.write_csv(EXAMPLE.set_column(4, "w", pa.array([0, *range(1, 8)])), tmp_path / "bad.csv")
    with pytest.raises(shoal.InputError, match="1 of 8 rows have a weight of 0 or below"):
        shoal.assess(tmp_path / "bad.csv", KEYS, weight="w", memory="1GB")


def test_an_inspection_estimates_by_the_column_that_is_given_or_found() -> None:
    found = shoal.inspect(EXAMPLE, weight="w")
    assert found.estimated is not None
    assert found.estimated.population == 765.5
    assert next(column.role for column in found.columns if column.name == "w") == "weight"
    assert shoal.inspect(EXAMPLE).estimated is None
    named = EXAMPLE.rename_columns([*KEYS, "sampling_weight"]).append_column(
        "age", pa.array([20, 20, 30, 30, 40, 40, 50, 50])
    )
    by_name = shoal.inspect(named)
    assert by_name.estimated is not None
    assert by_name.estimated.population == 765.5
    assert not by_name.warnings


def test_weights_of_people_that_differ_are_a_doubt_unless_they_were_given() -> None:
    ids = pa.array([1, 1, 2, 2, 3, 3, 4, 4])
    named = EXAMPLE.rename_columns(["age", "sex", "region", "race", "sampling_weight"])
    table = named.append_column("id", ids)
    with pytest.warns(shoal.ShoalWarning, match="4 of 4 people have different weights"):
        assert shoal.inspect(table, person="id").estimated is None
    with pytest.raises(shoal.InputError, match="4 of 4 people have different weights"):
        shoal.inspect(table, person="id", weight="sampling_weight")


@pytest.mark.parametrize(("f", "population"), [(1, 17), (2, 110), (7, 300)])
def test_the_textbook_twin_agrees_with_the_posterior(f: int, population: int) -> None:
    assert isclose(textbook_risk(f, population), posterior_risk(f, population), rel_tol=0.02)
