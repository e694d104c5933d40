"""Every kind of frame comes back as it came, in both tables."""

from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from tests.anatomy.plain import people, policy
from tests.io.kinds import arrow_table
from tests.releases import text_rows

TABLE = people(40)


@cache
def expected() -> shoal.Release:
    return shoal.anonymize(TABLE, policy())


def arrow(native: Any) -> pa.Table:
    if isinstance(native, pd.DataFrame):
        return pa.Table.from_pandas(native, preserve_index=False)
    if isinstance(native, pl.DataFrame):
        return native.to_arrow()
    return native if isinstance(native, pa.Table) else native.to_arrow_table()


FRAMES = {
    "pandas": lambda: TABLE.to_pandas(),
    "pandas with an index": lambda: TABLE.to_pandas().set_index(np.arange(40)[::-1] * 3),
    "polars": lambda: pl.from_arrow(TABLE),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_both_tables_are_of_the_kind_that_came(kind: str) -> None:
    frame = FRAMES[kind]()
    release = shoal.anonymize(frame, policy())
    assert type(release.table) is type(frame)
    assert text_rows(arrow(release.table)) == text_rows(expected().table)
    for name, found in release.sensitive_tables.items():
        assert type(found) is type(frame)
        assert text_rows(arrow(found)) == text_rows(expected().sensitive_tables[name])
    if isinstance(frame, pd.DataFrame):
        assert list(release.table.index) == list(range(len(frame)))


def test_types_stay() -> None:
    frame = pl.DataFrame(
        {
            "age": pl.Series([1, 2, 3, 4], dtype=pl.Int8),
            "ill": pl.Series(list("abab")).cast(pl.Enum("abc")),
        }
    )
    release = shoal.anonymize(frame, quasi="age", sensitive="ill", l=2, publish="anatomy")
    assert release.table.schema["age"] == pl.Int8
    assert release.sensitive_tables["ill"].schema["ill"] == pl.Enum("ab")  # what occurs


def test_a_category_nobody_has_is_not_published() -> None:
    ill = pd.Categorical(["b", "a", "b", "a"], categories=["b", "a", "secret"])
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "ill": ill})
    frame.attrs["owner"] = "secret"
    release = shoal.anonymize(frame, quasi="age", sensitive="ill", l=2, publish="anatomy")
    found = release.sensitive_tables["ill"]
    assert list(found["ill"].cat.categories) == ["a", "b"]
    assert not found.attrs
    assert not release.table.attrs


def singles() -> list[str]:
    table = arrow_table()
    return [n for n in table.column_names if not pa.types.is_nested(table[n].type)]


@pytest.mark.parametrize("name", [name for name in singles() if name != "nothing"])
def test_a_sensitive_column_of_any_type(name: str, tmp_path: Any) -> None:
    table = arrow_table().select([name]).append_column("q", pa.array([1, 2, 3, 4, 5]))
    if name == "large":  # it holds a star, which no sensitive column may
        table = table.set_column(
            0, name, pa.array(["日本", None, "", "a*", "none"], pa.large_string())
        )
    release = shoal.anonymize(table, quasi="q", sensitive=name, l=1, publish="anatomy")
    found = release.sensitive_tables[name]
    assert found.schema.field(name).type == table.schema.field(name).type
    assert sum(found["count"].to_pylist()) == 5
    path = release.write(tmp_path / "out.parquet")
    assert all(finding.holds for finding in shoal.verify(path, release.policy))


def test_plain_columns_of_any_type_stay_with_people() -> None:
    table = arrow_table().append_column("q", pa.array([1, 2, 3, 4, 5]))
    table = table.append_column("s", pa.array(list("ababa")))
    plain = arrow_table().column_names
    release = shoal.anonymize(
        table, quasi="q", sensitive="s", plain=plain, l=2, publish="anatomy", seed=3
    )
    assert release.table.column_names == [*plain, "q", "group"]
    for name in plain:
        assert release.table.schema.field(name).type == table.schema.field(name).type
    back = release.table.sort_by("q").select(plain)
    missing = repr(table.select(plain).to_pylist()).replace("nan", "None")  # what is no number
    assert repr(back.to_pylist()) == missing
