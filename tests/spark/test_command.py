"""The command line on a cluster: a whole run with its report, and executors that cannot do it.

First of all tests here: `make spark` has a command open a Spark of its own, and Python can have one at
a time. Opening one takes longer than the run, so `make test` lends commands that of the other tests.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.engines.spark import connection
from shoal.engines.spark.session import SparkTables
from tests.out_of_core.certificates import certificate_in, require_same
from tests.out_of_core.patients import patients
from tests.spark.cases import LAYOUTS
from tests.spark.cluster import Cluster
from tests.spark.conftest import SETTINGS, Configure

POLICY = """
columns:
  name: identifier
  age: {role: quasi, kind: ordered}
  sex: quasi
  zip: {role: quasi, hierarchy: {mask: right}}
  job: {role: quasi, kind: unordered}
  illness: sensitive
  ward: plain
  paid: plain
constraints: [{k: 4}, {l: 2, of: illness}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parts = tmp_path / "table.parquet"
    parts.mkdir()
    table = patients(200)
    for i in range(2):
        pq.write_table(table.slice(100 * i, 100), parts / f"{i}.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def run(folder: Path, cluster: Cluster, *more: str) -> Result:
    arguments = [
        "run",
        str(folder / "table.parquet"),
        str(folder / "policy.yaml"),
        "-o",
        str(folder / "o.csv"),
    ]
    with cluster.marks():
        return CliRunner().invoke(app, [*arguments, "--engine", cluster.address, *more])


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    texts = ([None if v is None else str(v) for v in c.to_pylist()] for c in table.columns)
    return Counter(zip(*texts, strict=True))


@dataclass
class Lent:
    """A Spark that a command finds open, and leaves open."""

    spark: Any

    def end(self) -> None:
        self.spark.catalog.clearCache()


@pytest.fixture
def lent(
    session: SparkTables, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> SparkTables:
    configure(LAYOUTS[0])
    monkeypatch.setattr(connection, "_require_free", lambda _: None)
    monkeypatch.setattr(connection, "launch", lambda *_: Lent(session._spark))
    return session


def release_and_compare(cluster: Cluster, folder: Path) -> None:
    done = run(folder, cluster, "--report", str(folder / "r.html"), "--json", "--progress", "json")
    assert done.exit_code == 0, done.stderr
    summary = json.loads(done.stdout)
    here = folder / "here"  # certificates name the tables that were read and written
    here.mkdir()
    pq.write_table(patients(200), here / "table.parquet")
    one = here / "one.json"
    alone = shoal.run(here / "table.parquet", folder / "policy.yaml", here / "o.csv", report=one)
    assert summary["groups"] == alone.groups
    parts = [shoal_rows(part) for part in sorted((folder / "o.csv").iterdir())]
    assert sum(parts, Counter()) == shoal_rows(here / "o.csv")
    stages = [json.loads(line)["stage"] for line in done.stderr.splitlines()]
    steps = ["start", "read", "encode", "group", "refine", "publish", "measure", "write", "verify"]
    assert list(dict.fromkeys(stages)) == [*steps, "truth", "report"]
    require_same(*(certificate_in(path) for path in (one, folder / "r.json")))
    assert "<html" in (folder / "r.html").read_text()


@pytest.mark.thorough
def test_a_run_with_a_spark_of_its_own(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (f"{name} {value}\n" for name, value in SETTINGS.items())
    (folder / "spark-defaults.conf").write_text("".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
    release_and_compare(cluster, folder)


@pytest.mark.usefixtures("lent")
def test_a_run_with_its_report(cluster: Cluster, folder: Path) -> None:
    release_and_compare(cluster, folder)


def test_executors_without_shoal(
    lent: SparkTables, cluster: Cluster, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    there = tmp_path_factory.mktemp("there")
    (there / "sitecustomize.py").write_text(
        "import sys, os.path as p\n"
        "sys.path[:] = [d for d in sys.path if not p.exists(p.join(d, 'shoal', '__init__.py'))]\n"
    )
    before = sorted(folder.iterdir())
    # the executors start another Python for another environment
    others = lent._spark.sparkContext.environment
    others["PYTHONPATH"] = str(there)
    try:
        failed = run(folder, cluster)
    finally:
        del others["PYTHONPATH"]
    assert failed.exit_code == 2
    assert failed.stdout == ""
    assert failed.stderr.startswith(
        f"Error: The executors of the Spark cluster at {cluster.address} cannot import shoal"
    )
    assert sorted(folder.iterdir()) == before


def shoal_rows(path: Path) -> Counter[tuple[Any, ...]]:
    from shoal.engines.files import LocalFiles

    return rows_of(LocalFiles().read(path))
