"""Parquet and Arrow files keep every type, and carry nothing but the columns."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.frames import wrap
from tests.io.kinds import SHUFFLED, arrow_table

ENGINE = LocalFiles()
ENDINGS = [".parquet", ".arrow", ".feather", ".ipc", ".pq"]
SECRET = "Jonathan"


def same(left: pa.Table, right: pa.Table) -> None:
    assert left.schema == right.schema
    # Compared as text, since NaN is not equal to itself.
    assert str(left.to_pylist()) == str(right.to_pylist())


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_type_comes_back(tmp_path: Path, ending: str) -> None:
    path, out = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    table = arrow_table()
    ENGINE.write(table, path)
    read = ENGINE.read(path)
    same(read, table)
    released = wrap(read).release(table.column_names, {}, np.array(SHUFFLED), False)
    ENGINE.write(released, out)
    same(ENGINE.read(out), table.take(SHUFFLED))
    assert ENGINE.names(out) == table.column_names
    assert ENGINE.read(out, columns=["text", "int"]).column_names == ["text", "int"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_only_values_of_written_rows_are_categories(tmp_path: Path, ending: str) -> None:
    ENGINE.write(arrow_table(), tmp_path / f"t{ending}")
    read = ENGINE.read(tmp_path / f"t{ending}")
    assert wrap(read).column("category").dictionary.to_pylist() == ["a", "b"]
    assert wrap(read).column("ordered").type.ordered


def test_an_arrow_stream_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    table = arrow_table()
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)
    same(ENGINE.read(path), table)
    assert ENGINE.names(path) == table.column_names
    same(ENGINE.read(path, columns=["large", "bool"]), table.select(["large", "bool"]))


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_chunks_with_different_dictionaries(tmp_path: Path, ending: str) -> None:
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
    table = pa.table({"c": pa.chunked_array(chunks)})
    ENGINE.write(table, tmp_path / f"t{ending}")
    assert ENGINE.read(tmp_path / f"t{ending}").to_pylist() == table.to_pylist()


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_nothing_of_a_withheld_row_is_in_the_file(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "c": pd.Categorical([SECRET, "x"])}, index=[SECRET, "y"])
    source, target = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    table = pa.Table.from_pandas(frame)
    field = pa.field("a", pa.int64(), metadata={"note": SECRET})
    table = table.set_column(0, field, table["a"])
    table = table.replace_schema_metadata({**table.schema.metadata, "note": SECRET})
    if ending == ".parquet":
        pq.write_table(table, source, compression="none")
    else:
        with pa.ipc.new_file(str(source), table.schema) as writer:
            writer.write_table(table)
    assert SECRET.encode() in source.read_bytes()
    released = wrap(ENGINE.read(source)).release(["a", "c"], {}, np.array([1]), False)
    ENGINE.write(released, target)
    assert ENGINE.read(target).schema.metadata is None
    assert ENGINE.read(target).to_pylist() == [{"a": 2, "c": "x"}]
    if ending == ".parquet":
        # Unpacked pages, so that the search sees what they hold.
        pq.write_table(pq.read_table(target), target, compression="none")
    assert SECRET.encode() not in target.read_bytes()


def test_columns_of_the_same_name(tmp_path: Path) -> None:
    table = pa.table([[1], [2]], names=["a", "a"])
    for ending in (".parquet", ".arrow"):
        path = tmp_path / f"t{ending}"
        ENGINE.write(table, path)
        for read in (ENGINE.read, ENGINE.names):
            with pytest.raises(InputError, match="more than one column named a"):
                read(path)


def test_a_name_with_a_dot(tmp_path: Path) -> None:
    table = pa.table({"a.b": [1], "a": [{"b": 2}]})
    ENGINE.write(table, tmp_path / "t.parquet")
    assert ENGINE.read(tmp_path / "t.parquet", columns=["a.b"]).to_pylist() == [{"a.b": 1}]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.parquet", "is not a Parquet file"),
        ("t.arrow", r"is not an Arrow IPC \(Feather 2\) file"),
    ],
)
@pytest.mark.parametrize("damage", ["text", "cut", "middle"])
def test_files_that_are_something_else(
    tmp_path: Path, name: str, message: str, damage: str
) -> None:
    path = tmp_path / name
    ENGINE.write(pa.table({"a": [SECRET * 9, SECRET] * 999}), path)
    whole = path.read_bytes()
    damaged = {
        "text": f"a,b\n{SECRET},2\n".encode(),
        "cut": whole[: len(whole) // 2],
        "middle": whole[:8] + bytes(len(whole) - 20) + whole[-12:],
    }
    path.write_bytes(damaged[damage])
    with pytest.raises(InputError, match=message) as caught:
        ENGINE.read(path)
    assert SECRET not in str(caught.value)
    with pytest.raises(InputError, match=r"has no column 'b'|is not a"):
        ENGINE.read(path, columns=["b"])


def test_no_rows(tmp_path: Path) -> None:
    table = arrow_table().slice(0, 0)
    for ending in (".parquet", ".arrow"):
        ENGINE.write(table, tmp_path / f"t{ending}")
        same(ENGINE.read(tmp_path / f"t{ending}"), table)
