"""The command line on a cluster: a whole run with its report, and executors that cannot do it.

First of all tests here: a command opens a Spark of its own, and Python can have one at a time.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from tests.large.people import people
from tests.spark.cluster import QUICK_JAVA, Cluster
from tests.spark.conftest import SETTINGS

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
    (tmp_path / "table").mkdir()
    table = people(200)
    for i in range(2):
        pq.write_table(table.slice(100 * i, 100), tmp_path / "table" / f"{i}.parquet")
    pq.write_table(table, tmp_path / "table.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def run(folder: Path, cluster: Cluster, *more: str) -> Result:
    asked = ["run", str(folder / "table"), str(folder / "policy.yaml"), "-o", str(folder / "o.csv")]
    with cluster.marks():
        return CliRunner().invoke(app, [*asked, "--engine", cluster.address, *more])


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    texts = ([None if v is None else str(v) for v in c.to_pylist()] for c in table.columns)
    return Counter(zip(*texts, strict=True))


def test_executors_without_shoal(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sitecustomize.py").write_text(
        "import sys, os.path as p\n"
        "sys.path[:] = [d for d in sys.path if not p.exists(p.join(d, 'shoal', '__init__.py'))]\n"
    )
    (folder / "spark-defaults.conf").write_text(
        f"spark.executorEnv.PYTHONPATH {folder}\nspark.driver.extraJavaOptions {QUICK_JAVA}\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
    before = sorted(folder.iterdir())
    failed = run(folder, cluster)
    assert failed.exit_code == 2
    assert failed.stdout == ""
    assert failed.stderr.startswith(
        f"Error: The executors of the Spark cluster at {cluster.address} cannot import shoal"
    )
    assert sorted(folder.iterdir()) == before


def test_a_run_with_its_report(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (f"{name} {value}\n" for name, value in SETTINGS.items())
    (folder / "spark-defaults.conf").write_text("".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
    done = run(folder, cluster, "--report", str(folder / "r.html"), "--json", "--progress", "json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    alone = shoal.run(folder / "table.parquet", folder / "policy.yaml", folder / "one.csv")
    assert told["groups"] == alone.groups
    parts = [shoal_rows(part) for part in sorted((folder / "o.csv").iterdir())]
    assert sum(parts, Counter()) == shoal_rows(folder / "one.csv")
    stages = [json.loads(line)["stage"] for line in done.stderr.splitlines()]
    steps = ["start", "read", "encode", "group", "publish", "write", "verify", "report"]
    assert list(dict.fromkeys(stages)) == steps
    certificate = json.loads((folder / "r.json").read_text())
    assert certificate["verified"]
    assert certificate["release"]["rows"] == 200
    assert "<html" in (folder / "r.html").read_text()


def shoal_rows(path: Path) -> Counter[tuple[Any, ...]]:
    from shoal.engines.local import LocalEngine

    return rows_of(LocalEngine().read(path))
