"""Ordered categoricals, intervals, periods and durations are ordered columns, without a policy."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.io.frames import in_order, wrap

SIZES = ["tiny", "small", "large", "vast"]
VALUES = ["tiny", "small", "small", "large"] * 2


def published(frame: Any, k: int = 4, **keys: Any) -> list[Any]:
    """The different labels of the only column."""
    release = shoal.anonymize(frame, quasi=["q"], k=k, **keys)
    assert release.verified
    return sorted(set(wrap(release.table).column("q").to_pylist()), key=str)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"q": pd.Categorical(VALUES, categories=SIZES, ordered=True)}),
        pl.DataFrame({"q": pl.Series(VALUES, dtype=pl.Enum(SIZES))}),
        pa.table(
            {
                "q": pa.DictionaryArray.from_arrays(
                    pa.array([SIZES.index(v) for v in VALUES]), pa.array(SIZES), ordered=True
                )
            }
        ),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_the_order_of_a_categorical_is_used_unless_the_policy_decides(frame: Any) -> None:
    assert published(frame, k=8) == ["[tiny~large]"]
    assert published(frame, k=8, kinds={"q": "unordered"}) == ["{large, small, tiny}"]
    reverse = ["small", "large", "tiny"]
    assert published(frame, k=8, orders={"q": reverse}) == ["[small~tiny]"]
    tree = {"tree": {"any": {"x": ["tiny", "small"], "y": ["large", "vast"]}}}
    assert published(frame, k=8, hierarchies={"q": tree}) == ["any"]


def test_an_unordered_categorical_has_no_order() -> None:
    frame = pd.DataFrame({"q": pd.Categorical(VALUES, categories=SIZES)})
    assert published(frame, k=8) == ["{large, small, tiny}"]


def test_numbers_whose_categories_ascend_keep_their_distances() -> None:
    numbers = [1, 2, 2, 100] * 2
    plain = published(pd.DataFrame({"q": numbers}), k=2)
    assert published(pd.DataFrame({"q": pd.Categorical(numbers, ordered=True)}), k=2) == plain
    texts = pd.Categorical([str(n) for n in numbers], categories=["1", "2", "100"], ordered=True)
    assert published(pd.DataFrame({"q": texts}), k=2) == plain
    odd = pd.Categorical(numbers, categories=[100, 1, 2], ordered=True)
    assert published(pd.DataFrame({"q": odd}), k=8) == ["[100~2]"]


@pytest.mark.parametrize("right", [True, False])
def test_cut_columns_are_published_as_wider_intervals(right: bool) -> None:
    ages = pd.cut(pd.Series([5, 15, 25, 35] * 2), [0, 10, 20, 30, 40], right=right)
    one, other = ("(", "]") if right else ("[", ")")
    frame = pd.DataFrame({"q": ages})
    assert published(frame, k=4) == [f"{one}0, 20{other}", f"{one}20, 40{other}"]
    assert published(frame, k=2) == sorted(
        f"{one}{low}, {low + 10}{other}" for low in (0, 10, 20, 30)
    )


def test_missing_values_among_intervals() -> None:
    frame = pd.DataFrame({"q": pd.cut(pd.Series([5, 15, None] * 2), [0, 10, 20])})
    assert published(frame, k=6) == ["*"]
    assert published(frame, k=2) == ["(0, 10]", "(10, 20]", None]


def test_quantiles_labelled_cuts_polars_cuts_and_interval_arrays() -> None:
    values = [1, 2, 3, 4] * 2
    quantiles = pd.DataFrame({"q": pd.qcut(pd.Series(values), 2)})
    assert published(quantiles, k=8) == ["(0.999, 4.0]"]
    named = pd.DataFrame({"q": pd.cut(pd.Series(values), [0, 2, 4], labels=["low", "high"])})
    assert published(named, k=8) == ["[low~high]"]
    bins = ["(-inf, 2]", "(2, inf]"]
    cuts = pl.DataFrame({"q": pl.Series([bins[v > 2] for v in values], dtype=pl.Enum(bins))})
    assert published(cuts, k=8) == ["(-inf, inf]"]
    apart = pd.arrays.IntervalArray.from_breaks([0, 1, 2]).take([0, 1] * 4)
    assert published(pd.DataFrame({"q": apart}), k=8) == ["(0, 2]"]
    overlapping = pd.arrays.IntervalArray.from_tuples([(0, 3), (1, 2)] * 4)
    assert published(pd.DataFrame({"q": overlapping}), k=8) == ["{(0\\, 3], (1\\, 2]}"]


def test_periods_are_measured_by_their_distance() -> None:
    months = pd.PeriodIndex(["2020-01", "2020-02", "2021-11", "2021-12"] * 2, freq="M")
    frame = pd.DataFrame({"q": months})
    assert published(frame, k=4) == ["[2020-01~2020-02]", "[2021-11~2021-12]"]
    with_gap = pd.DataFrame({"q": pd.PeriodIndex([*months[:4], pd.NaT, pd.NaT], freq="M")})
    assert None in published(with_gap, k=2)
    far = pd.DataFrame({"q": pd.PeriodIndex(["1000-01-01", "2020-01-01"] * 2, freq="D")})
    assert published(far, k=4) == ["[1000-01-01~2020-01-01]"]


@pytest.mark.parametrize("library", [pd, pl])
def test_durations_read_naturally(library: Any) -> None:
    spans = pa.array([0, 90, 86_400, 200_000] * 2, pa.duration("s"))
    table = pa.table({"q": spans})
    frame = table.to_pandas() if library is pd else pl.DataFrame(table)
    assert published(frame, k=4) == ["[0 days~0 days 00:01:30]", "[1 days~2 days 07:33:20]"]


@pytest.mark.parametrize("role", ["plain", "sensitive"])
def test_only_categories_that_occur_come_back(role: str) -> None:
    values = ["a", "b", "c", "d"]
    tree = {"q": {"tree": {"any": {"x": ["1"], "y": ["2"]}}}}
    options: dict[str, Any] = {"quasi": ["q"], "k": 3, "hierarchies": tree, "method": "datafly"}
    rows = {"q": ["1", "1", "1", "2"]}
    enum = pl.DataFrame({**rows, "c": pl.Series(values, dtype=pl.Enum(["z", "d", "c", "b", "a"]))})
    release = shoal.anonymize(enum, suppression=0.5, **{role: ["c"]}, **options)
    assert release.table.schema["c"] == pl.Enum(["c", "b", "a"])
    frame = pd.DataFrame(
        {**rows, "c": pd.Categorical(values, ["z", "d", "c", "b", "a"], ordered=True)}
    )
    release = shoal.anonymize(frame, suppression=0.5, **{role: ["c"]}, **options)
    assert list(release.table["c"].cat.categories) == ["c", "b", "a"]


def test_files_have_no_category_order_in_any_engine(tmp_path: Any) -> None:
    frame = pd.DataFrame({"q": pd.Categorical(VALUES, categories=SIZES, ordered=True)})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "in.parquet")
    policy = {"columns": {"q": "quasi"}, "constraints": [{"k": 8}]}
    shoal.run(tmp_path / "in.parquet", policy, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == '"{large, small, tiny}"'


def test_an_enumeration_that_comes_without_its_order_gets_it() -> None:
    """As polars before 2 hands it over; here even with its values in another order."""
    values = pa.array(["b", "z", "a"], pa.large_string())
    indices = pa.array([2, None, 0], pa.uint8())
    given = pa.DictionaryArray.from_arrays(indices, values)
    found = in_order(given, ("z", "b", "a"))
    assert found.type.ordered
    assert found.to_pylist() == ["a", None, "b"]
    assert found.dictionary.to_pylist() == ["z", "b", "a"]
    assert in_order(found, ()) is found
