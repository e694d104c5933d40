"""Every form by hand, in every kind of frame."""

from datetime import date
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.decoding.meaning import Measured, meaning_of
from shoal.encoding.columns import ColumnSpec

TABLE = {
    "age": ["[31~36]", "40", "*", None],
    "town": ["{Ath, Mons}", "Huy", "*", "{Huy, <missing>}"],
    "born": ["[2020-01-01~2020-02-03]", "2020-05-05", "*", "2020-05-05"],
    "size": ["[S~M]", "L", "*", "S"],
}
POLICY: dict[str, Any] = {
    "columns": {
        "age": "quasi",
        "town": "quasi",
        "born": "quasi",
        "size": {"role": "quasi", "order": ["S", "M", "L"]},
    },
    "constraints": [{"k": 1}],
}


def decoded(**keys: Any) -> dict[str, list[Any]]:
    table: pa.Table = shoal.decode(pa.table(TABLE), POLICY, **keys)
    return table.to_pydict()


def test_without_options_numbers_and_dates_become_midpoints() -> None:
    found = decoded()
    assert found["age"] == [33.5, 40.0, None, None]
    assert found["born"] == [date(2020, 1, 17), date(2020, 5, 5), None, date(2020, 5, 5)]
    assert (found["town"], found["size"]) == (TABLE["town"], TABLE["size"])


def test_bounds_and_intervals() -> None:
    found = decoded(numbers="bounds")
    assert found["age_low"] == [31, 40, None, None]
    assert found["age_high"] == [36, 40, None, None]
    pairs = decoded(numbers="interval")
    assert pairs["age"] == [{"low": 31, "high": 36}, {"low": 40, "high": 40}, None, None]
    assert pairs["born"][0] == {"low": date(2020, 1, 1), "high": date(2020, 2, 3)}


def test_lists_and_indicators() -> None:
    found = decoded(categories="list")
    assert found["town"] == [["Ath", "Mons"], ["Huy"], None, ["Huy", None]]
    assert found["size"] == [["S", "M"], ["L"], None, ["S"]]
    flags = decoded(categories="indicators")
    names = [name for name in flags if name.startswith("town")]
    assert names == ["town=Ath", "town=Huy", "town=Mons", "town=<missing>"]
    assert [flags[name] for name in names] == [
        *([1, 0, 1, 0], [0, 1, 1, 1], [1, 0, 1, 0], [0, 0, 1, 1])
    ]
    assert [name for name in flags if name.startswith("size")] == ["size=S", "size=M", "size=L"]


def test_shares_add_up_and_follow_what_is_known() -> None:
    table = pa.table({"town": ["{Ath, Huy}"] * 10 + ["Ath"] * 30 + ["*"]})
    policy = {"columns": {"town": "quasi"}, "constraints": [{"k": 1}]}
    found = shoal.decode(table, policy, categories="shares")
    ath, huy = found["town=Ath"].to_pylist(), found["town=Huy"].to_pylist()
    assert np.allclose(np.add(ath, huy), 1)
    # somebody in the set is from Huy, but few, as there is nobody else from there
    assert ath[20] == 1
    assert 0.7 < ath[0] < 0.9
    assert ath[-1] == pytest.approx((30 + 10 * ath[0]) / 40, abs=0.01)


def test_expected_values_follow_the_column() -> None:
    labels = ["[20~60]"] * 10 + ["20"] * 90
    table = pa.table({"age": labels})
    policy = {"columns": {"age": "quasi"}, "constraints": [{"k": 1}]}
    mean = shoal.decode(table, policy, numbers="expected")["age"].to_pylist()
    # one of the ten is 60, and most others are 20 as in the rest of the column
    assert 24 < mean[0] < 35
    assert mean[50] == 20
    assert shoal.decode(table, policy)["age"][0].as_py() == 40


def test_one_column_in_a_form_of_its_own() -> None:
    found = decoded(forms={"age": "label", "born": "bounds", "size": "indicators"})
    assert found["age"] == TABLE["age"]
    assert {"born_low", "born_high", "size=S", "town"} <= set(found)


def test_samples_are_marked_by_their_name() -> None:
    found = decoded(numbers="sample", categories="sample", seed=4)
    assert sorted(found) == ["age_sampled", "born_sampled", "size_sampled", "town_sampled"]
    assert found["age_sampled"][1] == 40
    assert found["town_sampled"][1] == "Huy"
    frame = shoal.decode(pd.DataFrame(TABLE), POLICY, numbers="sample")
    assert frame.attrs["sampled"] == ["age_sampled", "born_sampled"]


def test_types_come_back() -> None:
    labels = {
        "n": ["1", "2", None],
        "f": ["1.5", "2", "3"],
        "d": ["2020-01-01", None, "2020-02-01"],
        "b": ["true", "false", "true"],
        "z": ["007", "010", "7"],
        "t": ["1", "2", "3"],
        "w": ["a\\*", "\\[x", "b"],
        "s": ["{1, 2}", "3", "3"],
        "m": ["2020-01-01T10:30:00", "2020-01-01", "2020-01-02"],
    }
    columns: dict[str, Any] = dict.fromkeys(labels, "quasi")
    columns["t"] = {"role": "quasi", "type": "text"}
    policy = {"columns": columns, "constraints": [{"k": 1}]}
    found: pa.Table = shoal.decode(pa.table(labels), policy, categories="list")
    plain: pa.Table = shoal.decode(pa.table(labels), policy)
    kinds = {name: str(plain.schema.field(name).type) for name in labels}
    assert kinds == {
        "n": "int64",
        "f": "double",
        "d": "date32[day]",
        "b": "bool",
        "z": "string",
        "t": "string",
        "w": "string",
        "s": "string",
        "m": "timestamp[us]",
    }
    assert plain["w"].to_pylist() == ["a*", "[x", "b"]
    assert str(found.schema.field("s").type) == "list<item: int64>"


def test_pandas_gets_intervals_lists_and_its_index() -> None:
    given = pd.DataFrame(TABLE, index=[7, 5, 3, 1])
    frame = shoal.decode(given, POLICY, numbers="interval", categories="list")
    assert list(frame.index) == [7, 5, 3, 1]
    assert isinstance(frame["age"].dtype, pd.IntervalDtype)
    assert frame["age"].iloc[0] == pd.Interval(31, 36, closed="both")
    assert 40 in frame["age"].iloc[1]
    assert frame["age"].isna().tolist() == [False, False, True, True]
    assert frame["town"].iloc[0] == ["Ath", "Mons"]
    bounds = shoal.decode(given, POLICY, numbers="bounds")
    assert str(bounds["age_low"].dtype) == "Int64"
    assert str(bounds["born_low"].dtype).startswith("datetime64")


def test_other_frames_stay_what_they_are() -> None:
    rows = pl.DataFrame(TABLE)
    found = shoal.decode(rows, POLICY, numbers="bounds", categories="list")
    assert isinstance(found, pl.DataFrame)
    assert found["town"].to_list() == [["Ath", "Mons"], ["Huy"], None, ["Huy", None]]
    with duckdb.connect() as con:
        arrow = pa.table(TABLE)
        relation = con.from_arrow(arrow)
        back = shoal.decode(relation, POLICY)
        assert isinstance(back, duckdb.DuckDBPyRelation)
        assert back.fetchall()[0][0] == 33.5


def test_plain_columns_keep_their_own_types() -> None:
    frame = pd.DataFrame({"age": ["40"], "kind": pd.Categorical(["a"]), "code": ["12"]})
    policy = {
        "columns": {"age": "quasi", "kind": "plain", "code": "plain"},
        "constraints": [{"k": 1}],
    }
    found = shoal.decode(frame, policy)
    assert str(found["kind"].dtype) == "category"
    assert found["code"].tolist() == ["12"]  # a text in a frame is meant to be one


def test_codes_for_missing_values_are_missing() -> None:
    table = pa.table({"age": ["40", None], "score": ["-9", "5"], "note": ["NA", "x"]})
    policy = {
        "columns": {
            "age": "quasi",
            "score": {"role": "plain", "missing": [-9], "type": "number"},
            "note": {"role": "plain", "missing": ["NA"]},
        },
        "constraints": [{"k": 1}],
    }
    found = shoal.decode(table, policy)
    assert found["score"].to_pylist() == [None, 5]
    assert found["note"].to_pylist() == [None, "x"]


def test_starred_rows_are_missing() -> None:
    table = pa.table(
        {"age": ["[1~3]", "[1~3]", "*"], "ward": ["1", "2", "*"], "ill": ["a", "b", "*"]}
    )
    policy = {
        "columns": {"age": "quasi", "ward": "plain", "ill": "sensitive"},
        "constraints": [{"k": 2}],
        "suppressed": "starred",
    }
    found = shoal.decode(table, policy)
    assert found.to_pydict() == {
        "age": [2, 2, None],
        "ward": [1, 2, None],
        "ill": ["a", "b", None],
    }


@pytest.mark.parametrize(
    ("labels", "spec", "spans"),
    [
        (["(0, 20]", "(20, 40]"], ColumnSpec(), [(0, 20), (20, 40)]),
        (["(-inf, 20.0]", "(20.0, inf]"], ColumnSpec(), [(None, 20), (20, None)]),
        (["20-30", ">=65", "7"], ColumnSpec(kind="ordered"), [(20, 30), (65, None), (7, 7)]),
        (["[-5~-1]", "1e3"], ColumnSpec(kind="ordered"), [(-5, -1), (1000, 1000)]),
    ],
)
def test_ranges_of_other_tools(
    labels: list[str], spec: ColumnSpec, spans: list[tuple[Any, Any]]
) -> None:
    found = meaning_of("x", labels, np.ones(len(labels), np.int64), spec)
    assert isinstance(found, Measured)
    assert list(zip(found.low, found.high, strict=True)) == spans


def test_a_tree_of_numbers_is_decoded_as_numbers() -> None:
    tree = {"0-19": ["5", "15"], "20-39": ["20", "33"]}
    columns = {"age": {"role": "quasi", "hierarchy": {"tree": tree}}}
    policy = {"columns": columns, "constraints": [{"k": 1}]}
    found = shoal.decode(pa.table({"age": ["0-19", "33", "*"]}), policy, numbers="bounds")
    assert found["age_low"].to_pylist() == [5, 33, None]
    assert found["age_high"].to_pylist() == [15, 33, None]


def test_statistics_stay_numbers() -> None:
    columns = {"age": {"role": "quasi", "labels": "mean"}, "size": {"role": "quasi"}}
    policy = {"columns": columns, "constraints": [{"k": 1}]}
    table = pa.table({"age": ["33.5", "40"], "size": ["{1, 2}", "1"]})
    found = shoal.decode(table, policy)
    assert found["age"].to_pylist() == [33.5, 40]
    with pytest.raises(shoal.InputError, match="are the mean of each group"):
        shoal.decode(table, policy, forms={"age": "bounds"})
    with pytest.warns(shoal.ShoalWarning, match="no bounds is known"):
        kept = shoal.decode(table, policy, numbers="bounds")
    assert kept["age_low"].to_pylist() == kept["age_high"].to_pylist() == [None, None]
