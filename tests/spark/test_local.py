"""A Spark on this machine alone, as `--engine spark` opens and ends it: in a process of its own."""

import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import shoal
from tests.large.people import people
from tests.spark.cases import FIRST, policy_of
from tests.spark.cluster import MARK, QUICK_JAVA, require_java
from tests.spark.processes import marked, until_gone

CODE = "from shoal.cli.app import main; main()"
ARGUMENTS = "run table.parquet policy.yaml -o there.parquet --engine spark --json"
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def rows_of(path: Path) -> Counter[tuple[Any, ...]]:
    table = pq.read_table(path)
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_a_run_with_a_spark_on_this_machine(tmp_path: Path) -> None:
    require_java()
    policy = policy_of(FIRST[1])
    pq.write_table(people(300), tmp_path / "table.parquet")
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    lines = (f"{name} {value}\n" for name, value in SETTINGS.items())
    (tmp_path / "spark-defaults.conf").write_text("".join(lines))
    mark = uuid.uuid4().hex
    done = subprocess.run(
        [sys.executable, "-c", CODE, *ARGUMENTS.split()],
        cwd=tmp_path,
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path), MARK: mark},
        capture_output=True,
        text=True,
        check=False,
    )
    assert until_gone(marked(MARK, mark)) == []
    assert (done.returncode, done.stderr) == (0, "")
    alone = shoal.run(tmp_path / "table.parquet", policy, tmp_path / "alone.parquet")
    assert rows_of(tmp_path / "there.parquet") == rows_of(tmp_path / "alone.parquet")
    assert json.loads(done.stdout)["groups"] == alone.groups
    left = {"table.parquet", "policy.yaml", "spark-defaults.conf", "there.parquet", "alone.parquet"}
    assert {each.name for each in tmp_path.iterdir()} == left
