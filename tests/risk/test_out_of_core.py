"""A table in a session is inspected as one in memory."""

import datetime as dt
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.duckdb.session import DuckSession
from shoal.engines.sessions import Session
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.risk.inspection import Inspection, inspect, inspection_of
from shoal.risk.table import TableInSession
from tests.examples import examples


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = DuckSession("500MB", tmp_path_factory.mktemp("rows"))
    yield made
    made.close()


def inspected(
    session: Session, table: pa.Table, path: Path, fraction: float | None = None, most: int = 1000
) -> Inspection:
    pq.write_table(table, path)
    names = table.column_names
    schema = session.read("raw", [path], names, CsvOptions())
    with closing(TableInSession(session, "raw", names, schema, max_values=most)) as counted:
        return inspection_of(counted, fraction)


def same(found: Any, expected: Any) -> bool:
    """Equal, sums of floats in any order."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            same(found[k], expected[k]) for k in expected
        )
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float):
        return bool(found == pytest.approx(expected, rel=1e-9, abs=1e-12))
    return bool(found == expected)


ROWS = st.fixed_dictionaries(
    {
        "age": st.integers(20, 90) | st.none(),
        "zip": st.sampled_from(["02138", "02139", "10001", None]),
        "height": st.sampled_from([0.0, -0.0, 1.75, float("nan"), None]),
        "born": st.dates(dt.date(1950, 1, 1), dt.date(1950, 3, 1)),
        "name": st.text("ab", max_size=6),
        "empty": st.none(),
    }
)


@examples(12)
@given(
    rows=st.lists(ROWS, min_size=1, max_size=40),
    fraction=st.sampled_from([None, 0.1]),
    most=st.sampled_from([2, 1000]),
)
def test_the_inspection_is_that_of_one_machine(
    session: Session,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    fraction: float | None,
    most: int,
) -> None:
    table = pa.Table.from_pylist(rows)
    expected = inspect(table, fraction=fraction).to_dict()
    path = tmp_path_factory.getbasetemp() / "table.parquet"
    found = inspected(session, table, path, fraction, most).to_dict()
    assert same(compared(found, most), compared(expected, most))


def compared(told: dict[str, Any], most: int) -> dict[str, Any]:
    """What must be equal: all but the choice among equally telling sets."""
    sets = {name: told["search"][name] for name in ("sets_found", "tried", "possible", "bounded")}
    if most >= 1000:
        return {**told, "search": sets}
    # types are told by a few of the values, and roles by the types
    kept = ("name", "distinct", "missing", "unique_alone")
    columns = [{name: column[name] for name in kept} for column in told["columns"]]
    return {"rows": told["rows"], "keys": told["keys"], "columns": columns}


def test_a_table_without_rows_is_refused(session: Session, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows"):
        inspected(session, pa.table({"a": pa.array([], pa.string())}), tmp_path / "x.parquet")
