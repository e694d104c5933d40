"""Hierarchies that a draft proposes."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.hierarchy import parse_hierarchy
from shoal.risk.columns import contents_of
from shoal.risk.generalisation import hierarchies, hierarchy_of, round_width, tree_of
from tests.examples import examples


def proposed(values: list[object], name: str = "x") -> dict[str, object]:
    return hierarchy_of(contents_of(name, pa.array(values)))


def test_ages_in_round_intervals() -> None:
    assert proposed(list(range(17, 91))) == {"intervals": [5, 10, 20, 40]}


def test_a_few_extreme_numbers_do_not_decide_the_widths() -> None:
    incomes = [*range(20_000, 60_000, 100), 9_000_000]
    assert proposed(incomes) == {"intervals": [5000, 10000, 20000, 40000, 400000]}


def test_decimals_have_decimal_widths() -> None:
    assert proposed([i / 100 for i in range(130, 210)]) == {"intervals": [0.05, 0.1, 0.2, 0.4]}


@examples(60)
@given(
    st.lists(
        st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 3)) | st.integers(-99, 99),
        min_size=3,
        max_size=30,
        unique_by=float,
    )
)
def test_intervals_cover_all_numbers_and_hide_the_ends(values: list[float]) -> None:
    found = proposed([float(value) for value in values])
    if "intervals" not in found:
        return
    widths = found["intervals"]
    assert isinstance(widths, list)
    assert all(round(b / a, 6).is_integer() and b > a for a, b in pairwise(widths))
    paths = parse_hierarchy(found).paths([float(value) for value in values])
    assert all(path is not None and path[-1] == "*" for path in paths)
    low = min(values)
    if float(low) % widths[0]:  # a bound that is round by itself gives nothing away
        assert not any(f"[{low}-" in label for path in paths for label in path[1:])


@pytest.mark.parametrize("about", [0.003, 0.7, 1, 1.01, 2, 4.6, 5.1, 99, 100_001])
def test_round_widths(about: float) -> None:
    width = round_width(about)
    assert about * (1 - 1e-9) <= width < 2.6 * about
    assert f"{width:e}"[0] in "125"


@pytest.mark.parametrize(
    ("values", "tree"),
    [
        ({"f": 5, "m": 5}, ["f", "m"]),
        (
            {"low": 5, "very high": 1, "high": 2, "medium": 9, "very low": 3},
            {
                "very low to low": ["very low", "low"],
                "medium to very high": ["medium", "high", "very high"],
            },
        ),
        (
            {"18-24": 5, "25-34": 5, "35-44": 5, "45-54": 5, "55-64": 5, "65+": 5},
            {
                "18-24 to 25-34": ["18-24", "25-34"],
                "35-44 to 45-54": ["35-44", "45-54"],
                "55-64 to 65+": ["55-64", "65+"],
            },
        ),
        (
            {"Married-civ-spouse": 40, "Married-AF-spouse": 1, "Divorced": 20, "Never-married": 30},
            {
                "Married (all)": ["Married-AF-spouse", "Married-civ-spouse"],
                "Divorced": None,
                "Never-married": None,
            },
        ),
        (
            {"White": 80, "Black": 10, "Asian": 3, "Other": 2},
            {"other values": ["Asian", "Other"], "Black": None, "White": None},
        ),
        (
            {"Federal-gov": 10, "Local-gov": 10, "State-gov": 10, "Private": 70},
            {"gov (all)": ["Federal-gov", "Local-gov", "State-gov"], "Private": None},
        ),
    ],
)
def test_categories(values: dict[str, int], tree: object) -> None:
    assert tree_of(sorted(values.items(), key=lambda pair: -pair[1])) == tree


@examples(60)
@given(
    st.dictionaries(st.text(min_size=1, max_size=12), st.integers(1, 9), min_size=1, max_size=12)
)
def test_any_categories_are_covered(values: dict[str, int]) -> None:
    column = [text for text, rows in values.items() for _ in range(rows)]
    contents = contents_of("x", pa.array(column))
    found = hierarchy_of(contents)
    kept = [text for text, _ in contents.listed]
    paths = parse_hierarchy(found).paths(kept)
    if "tree" in found or "mask" in found:
        assert all(path is not None for path in paths)


def test_other_kinds() -> None:
    assert proposed(["02138", "01000"] * 9, "zip") == {"mask": "right"}
    assert proposed(["1964-03-07", "1970-01-01"]) == {"date": ["month", "year", "decade"]}
    assert proposed([f"town {i}" for i in range(500)]) == {"mask": "right"}
    assert proposed([0, 1] * 5) == {"tree": ["0", "1"]}
    assert proposed([True, False]) == {"tree": ["false", "true"]}


def test_many_columns_have_fewer_levels() -> None:
    rng = np.random.default_rng(0)
    columns = [contents_of(f"c{i}", pa.array(rng.integers(0, 99, 200))) for i in range(12)]
    few, many = hierarchies(columns[:3]), hierarchies(columns)
    assert len(few["c0"]["intervals"]) == 4
    assert len(many["c0"]["intervals"]) == 1


@pytest.mark.parametrize(
    "values",
    [
        ["0.0", "1.0", ""] * 20,
        [0.0, 1.0, None] * 20,
        [0.0, 2.5, None] * 20,
        [True, False, None] * 20,
        ["1", "2", "NA"] * 20,
    ],
)
@pytest.mark.parametrize("method", ["least-loss-partition", "datafly"])
def test_two_values_have_a_tree(values: list[object], method: str) -> None:
    """A mask would leave `0.*` and `1.*`, which hides nothing."""
    table = pa.table({"age": range(60), "female": values})
    draft = shoal.draft_policy(table)
    assert set(draft.inspection.hierarchies["female"]) == {"tree"}
    policy = draft.policy.with_changes(constraints=[{"k": 5}], method=method)
    assert shoal.anonymize(table, policy, seed=1).verified


@pytest.mark.parametrize(
    "name", ["region", "race", "marital_status", "industry", "Beruf", "état civil", "provincia"]
)
def test_numbers_of_things_have_no_order(name: str) -> None:
    table = pa.table({"age": range(60), name: [1, 2, 3, 4, 5] * 12})
    draft = shoal.draft_policy(table)
    column = draft.policy.columns[name]
    assert (column.role, column.kind) == ("quasi", "unordered")
    assert draft.inspection.hierarchies[name] == {"tree": ["1", "2", "3", "4", "5"]}
    for method in ("least-loss-partition", "datafly"):
        assert shoal.anonymize(table, draft.policy.with_changes(method=method), seed=1).verified
