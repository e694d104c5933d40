"""A dictionary or a list of categories tells nothing that the published rows do not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.arrow import compact_dictionary, one_chunk

POLICY = {"columns": {"q": "quasi", "s": "sensitive"}, "constraints": [{"k": 2}]}


def test_people_filtered_out_before_leave_no_category(tmp_path: Path) -> None:
    values = pd.Categorical(["x", "y", "x", "y", "only the fifth"])
    frame = pd.DataFrame({"q": [1, 1, 2, 2, 3], "s": values})
    release = shoal.anonymize(frame[frame.q < 3], quasi="q", sensitive="s", k=2)
    assert list(release.table["s"].cat.categories) == ["x", "y"]
    for ending in (".parquet", ".arrow"):
        path = release.write(tmp_path / f"release{ending}")
        assert b"only the fifth" not in path.read_bytes()


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_the_order_of_rows_leaves_no_trace_in_a_dictionary(tmp_path: Path, ending: str) -> None:
    written = []
    for step in (1, -1):
        values = (["x", "y", "z", "w"] * 10)[::step]
        table = pa.table({"q": ([1, 2] * 20)[::step], "s": pa.array(values).dictionary_encode()})
        pq.write_table(table, tmp_path / "in.parquet")
        target = tmp_path / f"out{ending}"
        shoal.run(tmp_path / "in.parquet", POLICY, target, force=True)
        written.append(target.read_bytes())
    assert written[0] == written[1]


def test_tidy_keeps_values_and_drops_doubles() -> None:
    doubled = pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 1]), ["y", "x", "y", "z"])
    tidied = compact_dictionary(doubled)
    assert tidied.to_pylist() == ["y", "y", None, "x"]
    assert tidied.dictionary.to_pylist() == ["x", "y"]


def test_a_null_is_no_value_of_a_dictionary(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), ["b", None, "a"])
    assert compact_dictionary(column).to_pylist() == ["b", None, None, "a"]
    assert compact_dictionary(column).dictionary.to_pylist() == ["a", "b"]
    LocalFiles().write(pa.table({"x": column}), tmp_path / "x.parquet")
    assert pq.read_table(tmp_path / "x.parquet")["x"].to_pylist() == ["b", None, None, "a"]


def test_a_scale_keeps_its_order() -> None:
    scale = pa.DictionaryArray.from_arrays(pa.array([2, 0]), ["low", "mid", "high"], ordered=True)
    assert compact_dictionary(scale).dictionary.to_pylist() == ["low", "high"]
    assert compact_dictionary(scale).type.ordered


def test_categories_of_several_types_are_refused_without_a_value() -> None:
    frame = pd.DataFrame({"q": ["a"] * 4, "p": pd.Categorical([10, "Jonathan", 10, 10])})
    with pytest.raises(InputError) as caught:
        shoal.anonymize(frame, quasi="q", plain="p", k=2)
    assert "'p'" in str(caught.value)
    assert "Jonathan" not in str(caught.value)


@pytest.mark.parametrize("second", [["a", "b"], ["b", "a"], ["c"], []])
def test_pieces_with_equal_and_other_dictionaries_become_one(second: list[str]) -> None:
    kind = pa.dictionary(pa.int32(), pa.string())
    parts = [["a", "b", None], second, ["a"]]
    pieces = [pa.array(part, pa.string()).dictionary_encode().cast(kind) for part in parts]
    whole = one_chunk(pa.chunked_array(pieces, kind))
    assert whole.to_pylist() == [value for part in parts for value in part]
    assert one_chunk(pa.chunked_array([], kind)).to_pylist() == []


@pytest.mark.parametrize("code", [-1, 7, 2**30, -(2**30)])
def test_the_codes_below_missing_values_may_be_anything(code: int) -> None:
    valid = pa.array([True, False, True]).buffers()[1]
    codes = pa.array(np.array([0, code, 1], np.int32)).buffers()[1]
    indices = pa.Array.from_buffers(pa.int32(), 3, [valid, codes])
    pieces = [
        pa.DictionaryArray.from_arrays(indices, pa.array(words), safe=False)
        for words in (["a", "b"], ["b", "c"])
    ]
    whole = one_chunk(pa.chunked_array(pieces))
    whole.validate(full=True)
    assert whole.to_pylist() == ["a", None, "b", "b", None, "c"]
