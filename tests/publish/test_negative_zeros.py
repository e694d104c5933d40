"""Sensitive numbers are published with one zero: -0 beside 0 would be two spellings to a reader. What is
no number is missing."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal

T = [{"k": 2}, {"t": 0.3, "of": "pay"}]
"""What some of the tables below satisfy with one zero alone."""
WAYS: dict[str, Any] = {"csv": {}, "parquet": {}, "parquet, on disk": {"memory": "300MB"}}


def policy(kind: str) -> dict[str, Any]:
    pay = {"role": "sensitive", "kind": kind} if kind else "sensitive"
    return {
        "columns": {"age": "quasi", "pay": pay, "note": "plain"},
        "constraints": T,
        "seed": 1,
    }


def table(seed: int) -> pa.Table:
    draw = Random(seed)
    pay = [draw.choice([0.0, -0.0, 1.0, None, float("nan")]) for _ in range(16)]
    return pa.table({"age": range(16), "pay": pa.array(pay, pa.float64()), "note": [-0.0] * 16})


def with_one_zero(rows: pa.Table) -> pa.Table:
    pay = [None if v is None else v + 0.0 for v in rows["pay"].to_pylist()]
    return rows.set_column(1, "pay", pa.array(pay, pa.float64()))


def signs(values: Any) -> bool:
    known = np.array([v for v in values if v is not None and v == 0.0])
    return bool(np.signbit(known).any())


@pytest.mark.parametrize("kind", ["", "ordered"])
@pytest.mark.parametrize("seed", range(6))
def test_in_memory(seed: int, kind: str) -> None:
    found = shoal.anonymize(table(seed), policy(kind))
    assert not signs(found.table["pay"].to_pylist())
    assert signs(found.table["note"].to_pylist())
    expected = shoal.anonymize(with_one_zero(table(seed)), policy(kind))
    assert found.table["age"].equals(expected.table["age"])
    assert found.findings == expected.findings
    assert shoal.verify(found).holds


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_type(kind: Any) -> None:
    frame = kind(table(1).to_pydict())
    found = shoal.anonymize(frame, policy(""))
    assert isinstance(found.table, kind)
    assert found.table["pay"].dtype == frame["pay"].dtype
    assert not signs(found.table["pay"].to_list())
    assert signs(frame["pay"].to_list())  # what was given is as it was


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_files(seed: int, way: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / f"out.{way.split(',')[0]}"
    pq.write_table(table(seed), source)
    found = shoal.run(source, policy(""), target, **WAYS[way])
    expected = shoal.anonymize(with_one_zero(table(seed)), policy(""))
    assert found.findings == expected.findings
    assert shoal.verify(target, policy("")).holds
    if target.suffix == ".csv":
        cells = [line.split(",")[1] for line in target.read_text().splitlines()[1:]]
        assert not any(cell.startswith("-0") for cell in cells)
    else:
        assert not signs(pq.read_table(target)["pay"].to_pylist())


NAN = float("nan")


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_what_is_no_number_is_missing_in_frames(kind: Any) -> None:
    """Beside missing values a reader would see two kinds of them, and who has the rarer one."""
    columns = {"age": [1] * 4, "pay": [NAN, None, 1.5, 2.5], "note": [NAN, None, None, None]}
    frame = kind(columns)
    found = shoal.anonymize(frame, {**policy(""), "constraints": [{"k": 4}]})
    for name, missing in (("pay", 2), ("note", 4)):
        column = found.table[name]
        if kind is pd.DataFrame:  # which has one kind of them alone
            assert column.isna().sum() == missing
        else:
            assert (column if kind is pa.table else column.to_arrow()).null_count == missing
    assert shoal.verify(found).holds


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_number_is_missing_in_files(way: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / f"out.{way.split(',')[0]}"
    columns = {
        "age": [1] * 4,
        "pay": pa.array([NAN, None, 1.5, 2.5], pa.float32()),
        "note": pa.array([NAN, None, None, -0.0], pa.float64()),
    }
    pq.write_table(pa.table(columns), source)
    shoal.run(source, {**policy(""), "constraints": [{"k": 4}]}, target, **WAYS[way])
    if target.suffix == ".csv":
        assert "nan" not in target.read_text()
        return
    rows = pq.read_table(target)
    assert rows["pay"].null_count == 2
    assert rows["note"].null_count == 3
    assert rows.schema.field("pay").type == pa.float32()
    assert signs(rows["note"].to_pylist())  # a plain number stays as it is
