"""Batches of a CSV are the rows that reading it whole gives, and so are the errors."""

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.duckdb.csv import csv_batches
from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from tests.examples import examples

COMMA = CsvOptions(",", '"', "utf-8", header=True)
CELLS = st.none() | st.text('a ",\n\r\\', max_size=4)


def streamed(path: Path, columns: list[str], batch_rows: int) -> pa.Table:
    schema = pa.schema([pa.field(f"p{i}", pa.string()) for i in range(len(columns))])
    batches = list(csv_batches(path, COMMA, columns, batch_rows))
    assert all(batch.num_rows <= max(batch_rows, 2048) for batch in batches)
    return pa.Table.from_batches(batches, schema)


@examples(20)
@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=8), batch_rows=st.integers(1, 3))
def test_the_same_rows(rows: list[tuple[str | None, str | None]], batch_rows: int) -> None:
    table = pa.table({n: pa.array([r[i] for r in rows], pa.string()) for i, n in enumerate("ab")})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        LocalFiles().write(table, path, options=COMMA)
        found = streamed(path, ["b", "a"], batch_rows)
    assert found.rename_columns(["b", "a"]).equals(table.select(["b", "a"]))


def test_a_very_long_line_far_down(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 150_000 + "3," + "x" * 5_000_000 + "\n4,5\n")
    found = streamed(path, ["a", "b"], 10_000)
    assert found.num_rows == 150_002
    assert found["p0"].to_pylist()[-3:] == ["1", "3", "4"]
    assert len(found["p1"][150_000].as_py()) == 5_000_000


def test_a_very_long_text_with_line_breaks(tmp_path: Path) -> None:
    """It was taken for a quote that is never closed."""
    path, long = tmp_path / "t.csv", ("x" * 999 + "\n") * 34_000
    path.write_text("a,b\n" + "1,2\n" * 1_000 + f'3,"{long}"\n4,5\n')
    found = streamed(path, ["a", "b"], 10_000)
    assert found["p0"].to_pylist() == ["1"] * 1_000 + ["3", "4"]
    assert found["p1"][1_000].as_py() == long
    whole = LocalFiles().read(path, COMMA)
    assert whole.equals(found.rename_columns(["a", "b"]))


@pytest.mark.parametrize(
    "tail", ["3\n", "3,4,5\n", "3,4,\n", '3,"4\n', '3,"4"x\n', "3,\udcff\n"], ids=ascii
)
def test_the_same_errors(tmp_path: Path, tail: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(("a,b\n" + "1,2\n" * 100 + tail).encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as whole:
        LocalFiles().read(path, COMMA)
    with pytest.raises(InputError) as piecewise:
        streamed(path, ["a", "b"], 10)
    assert str(piecewise.value) == str(whole.value)
