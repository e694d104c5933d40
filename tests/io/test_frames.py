"""The same kind of frame comes back, its untouched columns as they were."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.io.frames import wrap

from .kinds import SHUFFLED, arrow_table

ROWS = np.array(SHUFFLED)


def pandas_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "int": [1, 2, -(2**63), 2**63 - 1, 0],
            "uint64": np.array([2**64 - 1, 1, 0, 2**63, 1], dtype="uint64"),
            "nullable": pd.array([1, None, 3, 2**62, 0], dtype="Int64"),
            "float": [1.5, None, float("nan"), float("inf"), -0.0],
            "bool": [True, False, True, False, True],
            "maybe": pd.array([True, None, False, True, None], dtype="boolean"),
            "text": ["ä", None, "", " x ", "日本"],
            "object": pd.Series(["ä", None, "", " x ", "日本"], dtype=object),
            "big": pd.Series([2**70, None, -(2**90), 1, 0], dtype=object),
            "decimal": [Decimal("1.10"), None, Decimal("2"), Decimal("-1"), Decimal("0")],
            "date": [dt.date(1964, 3, 7), None, dt.date(2000, 1, 1), None, dt.date(1999, 9, 9)],
            "stamp": pd.to_datetime(["2020-01-01", None, "2021-01-01", "1969-01-01", "2000-02-29"]),
            "zoned": pd.to_datetime(
                ["2020-01-01", None, "2021-07-01", "1969-01-01", "2000-02-29"]
            ).tz_localize("Europe/Paris"),
            "span": pd.to_timedelta([1, None, 2, 3, 4]),
            "category": pd.Categorical(["b", None, "a", "b", "a"], categories=["a", "b"]),
            "ordered": pd.Categorical(
                ["hi", None, "lo", "lo", "hi"], categories=["lo", "hi"], ordered=True
            ),
            "arrow": pd.array([1, None, 3, 4, 5], dtype=pd.ArrowDtype(pa.int32())),
            "period": pd.period_range("2020-01", periods=5, freq="M"),
            "bytes": [b"\x00", None, b"", b"a", b"b"],
            "list": [[1], None, [], [2, 3], [4]],
        }
    )


def polars_frame() -> pl.DataFrame:
    arrow = arrow_table().drop(["category", "ordered"])
    return pl.DataFrame(arrow).with_columns(  # type: ignore[no-any-return, unused-ignore]
        pl.Series("i128", [2**100, None, -(2**100), 1, 0], dtype=pl.Int128),
        pl.Series("category", ["b", None, "a", "b", "a"], dtype=pl.Categorical),
        pl.Series("enum", ["hi", None, "lo", "lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"])),
    )


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_untouched_columns_keep_type_and_values_in_the_new_order(make: Any) -> None:
    native = make()
    table = wrap(native)
    out = table.release(table.names, {}, ROWS, False)
    if isinstance(native, pd.DataFrame):
        pd.testing.assert_frame_equal(out, native.iloc[ROWS].reset_index(drop=True))
    elif isinstance(native, pl.DataFrame):
        # an enumeration has only the categories that occur
        expected = native[SHUFFLED].with_columns(pl.col("enum").cast(pl.Enum(["lo", "hi"])))
        polars.testing.assert_frame_equal(out, expected)
        assert out.schema == expected.schema
    else:
        assert out.schema == native.schema
        # Compared as text, since NaN is not equal to itself.
        assert str(out.to_pylist()) == str([native.to_pylist()[i] for i in SHUFFLED])


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_every_column_can_be_read_as_one_arrow_array(make: Any) -> None:
    table = wrap(make())
    assert table.n_rows == 5
    for name in table.names:
        column = table.column(name)
        assert isinstance(column, pa.Array)
        assert len(column) == 5


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_labels_take_their_columns_place(make: Any) -> None:
    table = wrap(make())
    labels = {"int": pa.array(["[1~2]", None]), "text": pa.array(["*", "é"])}
    out = table.release(["text", "bool", "int"], labels, np.array([4, 0]), False)
    assert type(out) is type(make())
    again = wrap(out)
    assert again.names == ["text", "bool", "int"]
    assert again.column("int").to_pylist() == ["[1~2]", None]
    assert again.column("text").to_pylist() == ["*", "é"]
    assert again.column("bool").type == pa.bool_()


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_only_labels_and_no_rows(make: Any) -> None:
    table = wrap(make())
    only = table.release(["text"], {"text": pa.array(["a", "b"])}, np.array([1, 0]), False)
    assert wrap(only).column("text").to_pylist() == ["a", "b"]
    empty = table.release(table.names, {}, np.array([], dtype=np.int64), False)
    assert wrap(empty).n_rows == 0
    assert wrap(empty).names == table.names


def test_big_integers_are_numbers() -> None:
    column = wrap(pandas_frame()).column("big")
    assert column.to_pylist() == [Decimal(2**70), None, Decimal(-(2**90)), Decimal(1), Decimal(0)]
    column = wrap(polars_frame()).column("i128")
    assert column.to_pylist()[:2] == [Decimal(2**100), None]
    wide = pd.DataFrame({"n": pd.Series([2**128 - 1, 1], dtype=object)})
    assert wrap(wide).column("n").to_pylist() == [Decimal(2**128 - 1), Decimal(1)]
    huge = pd.DataFrame({"n": pd.Series([10**80, 1], dtype=object)})
    assert wrap(huge).column("n").to_pylist() == [str(10**80), "1"]


def test_pandas_missing_values_are_nulls() -> None:
    table = wrap(pandas_frame())
    nulls = {name: table.column(name).null_count for name in table.names}
    assert nulls["float"] == 2
    assert nulls["text"] == nulls["object"] == nulls["category"] == nulls["stamp"] == 1


class TestPandas:
    def test_the_index_goes_unless_it_is_kept(self) -> None:
        index = pd.Index(["p", "q", "r"], name="person")
        frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}, index=index)
        frame.attrs["note"] = "about p"
        labels = {"b": pa.array(["*", "*"])}
        fresh = wrap(frame).release(["a", "b"], labels, np.array([2, 0]), False)
        assert list(fresh.index) == [0, 1]
        assert fresh.index.name is None
        assert fresh.attrs == {}
        kept = wrap(frame).release(["a", "b"], labels, np.array([2, 0]), True)
        assert list(kept.index) == ["r", "p"]
        assert kept["b"].tolist() == ["*", "*"]
        assert kept["a"].tolist() == [3, 1]

    def test_a_doubled_index_is_kept_too(self) -> None:
        frame = pd.DataFrame({"a": [1, 2, 3], "b": list("xyz")}, index=[7, 7, 8])
        kept = wrap(frame).release(["a", "b"], {"b": pa.array(list("uvw"))}, np.arange(3), True)
        assert list(kept.index) == [7, 7, 8]

    def test_only_values_of_published_rows_are_categories(self) -> None:
        frame = pd.DataFrame({"c": pd.Categorical(["a", "b", "a"], categories=["a", "b", "z"])})
        out = wrap(frame).release(["c"], {}, np.array([0, 2]), False)
        assert list(out["c"].cat.categories) == ["a"]
        assert frame["c"].cat.categories.tolist() == ["a", "b", "z"]

    @pytest.mark.parametrize(
        ("values", "types"),
        [
            (["Jonathan", 17], "int, str"),
            ([True, 17], "bool, int"),
            ([dt.date(2020, 1, 1), "Jonathan"], "date, str"),
            ([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)], "date, datetime"),
            ([b"Jonathan", "x", None], "bytes, str"),
            ([Decimal("1.5"), 17], "Decimal, int"),
        ],
    )
    def test_mixed_types(self, values: list[Any], types: str) -> None:
        frame = pd.DataFrame({"odd": pd.Series(values, dtype=object)})
        with pytest.raises(InputError, match=f"'odd' mixes values of the types {types}") as caught:
            wrap(frame).column("odd")
        assert "Jonathan" not in str(caught.value)
        assert "17" not in str(caught.value)

    def test_ints_and_floats_are_both_numbers(self) -> None:
        frame = pd.DataFrame({"n": pd.Series([1, 2.5, None], dtype=object)})
        assert wrap(frame).column("n").to_pylist() == [1.0, 2.5, None]

    def test_objects_that_are_no_values(self) -> None:
        frame = pd.DataFrame({"o": pd.Series([object(), object()], dtype=object)})
        with pytest.raises(InputError, match="'o' has Python objects"):
            wrap(frame).column("o")

    def test_names_that_are_no_texts(self) -> None:
        with pytest.raises(InputError, match=r"must be texts, found 0 \(int\), 1 \(int\)"):
            wrap(pd.DataFrame([[1, 2]]))


def test_polars_objects_are_refused() -> None:
    frame = pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)})
    with pytest.raises(InputError, match="'o' has Python objects"):
        wrap(frame).column("o")


class TestArrow:
    def test_metadata_stays_behind(self) -> None:
        secret = {b"pandas": b"Jonathan", b"note": b"Jonathan"}
        field = pa.field("a", pa.int64(), metadata={"who": "Jonathan"})
        native = pa.table([[1, 2]], schema=pa.schema([field], metadata=secret))
        out = wrap(native).release(["a"], {}, np.arange(2), False)
        assert out.schema.metadata is None
        assert out.schema.field("a").metadata is None

    def test_a_value_leaves_with_its_last_row(self) -> None:
        column = pa.DictionaryArray.from_arrays(
            pa.array([0, 1, None, 0]), pa.array(["a", "b", "z"])
        )
        out = wrap(pa.table({"c": column})).release(["c"], {}, np.array([0, 2, 3]), False)
        assert out["c"].chunk(0).dictionary.to_pylist() == ["a"]
        assert out["c"].to_pylist() == ["a", None, "a"]

    def test_chunks_with_different_dictionaries(self) -> None:
        chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
        native = pa.table({"c": pa.chunked_array(chunks)})
        out = wrap(native).release(["c"], {}, np.array([2, 0, 1]), False)
        assert out["c"].to_pylist() == ["c", "a", "b"]
        assert wrap(native).column("c").to_pylist() == ["a", "b", "c"]

    def test_an_arrow_stream_is_taken_as_pyarrow(self) -> None:
        class Stream:
            def __arrow_c_stream__(self, requested_schema: object = None) -> object:
                return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested_schema)

        out = wrap(Stream()).release(["a"], {}, np.array([1]), False)
        assert out.equals(pa.table({"a": [2]}))
        assert wrap(pa.record_batch({"a": [1]})).n_rows == 1


@pytest.mark.parametrize(
    ("native", "message"),
    [
        (pl.LazyFrame({"a": [1]}), "polars LazyFrame has no rows yet: collect"),
        (pl.Series("Jonathan", [1]), "polars Series is one column"),
        (pd.Series([1], name="Jonathan"), "pandas Series is one column"),
        (pa.chunked_array([[1]]), "is one column"),
        (pa.array([1]), "Cannot read a table|holds no table"),
        ({"Jonathan": [1]}, "Cannot read a table from builtins dict"),
        (None, "Cannot read a table"),
        (pa.table([[1], [2]], names=["a", "a"]), "more than one column named a"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column named a"),
    ],
)
def test_what_is_no_table(native: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        wrap(native)
    assert "Jonathan" not in str(caught.value)


HIDDEN = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hide())
import numpy as np, pyarrow as pa
from shoal.io.frames import wrap
wrap(pa.table({"a": [1]})).release(["a"], {}, np.array([0]), False)
sys.exit(",".join({"duckdb", "numba"} & set(sys.modules)) or 0)
"""


def test_no_library_is_needed_for_others() -> None:
    """pyarrow itself looks for pandas in pa.array, so it is hidden rather than looked for."""
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
