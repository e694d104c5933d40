"""A cluster publishes the very rows of one machine, for every method, from any number of files."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.large.spark.session import SparkTables
from shoal.pipeline.clock import Clock
from shoal.pipeline.large import run_large
from tests.large.people import people
from tests.large.test_run import CASES, policy_of


def rows_of(path: Path) -> Counter[tuple[Any, ...]]:
    table: pa.Table = pq.read_table(path)
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def in_files(folder: Path, table: pa.Table, files: int) -> Path:
    folder.mkdir()
    step = -(-table.num_rows // files)
    for i in range(files):
        pq.write_table(table.slice(i * step, step), folder / f"part-{i}.parquet")
    return folder


@pytest.mark.parametrize(("name", "files"), [(name, 1 + i % 7) for i, name in enumerate(CASES)])
def test_the_same_rows_as_on_one_machine(
    session: SparkTables, tmp_path: Path, name: str, files: int
) -> None:
    table, policy = people(900), policy_of(name)
    pq.write_table(table, tmp_path / "one.parquet")
    one = shoal.run(tmp_path / "one.parquet", policy, tmp_path / "local.parquet")
    source, target = in_files(tmp_path / "parts", table, files), tmp_path / "spark.parquet"
    other = run_large(session, source, policy, target, Clock(), folders=True, fragment_rows=300)
    assert rows_of(target) == rows_of(tmp_path / "local.parquet")
    assert other.findings == one.findings
    assert other.groups == one.groups
    assert other.column_loss == pytest.approx(one.column_loss)
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]
