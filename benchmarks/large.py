"""Tables past memory: out of core on this machine, in a local Spark, and on a cluster of two workers.

Wall and CPU seconds and the peak memory of all processes of `shoal run`, and from these a small model:
what a row costs, what a start costs, where a cluster begins to pay, and what more machines would give.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import shoal
from large_model import CLUSTER, FRAGMENTS, model_of, told
from shoal.sample.census import census
from watched import MARK, Watch, watched

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
PART = 1_000_000
MEMORY = "2GB"
WAYS = ("out of core", "local Spark", CLUSTER, FRAGMENTS)
MANY = 4_000
"""Fragments of a billion rows. The last way cuts the smallest table into so many."""
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "768m",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
}
POLICY = {
    "columns": {
        **dict.fromkeys(
            ["age", "sex", "race", "marital_status", "education", "workclass", "nationality"],
            "quasi",
        ),
        "zip": {"role": "quasi", "kind": "unordered"},
        "hours": "plain",
        "salary": "plain",
        "disease": "sensitive",
        "weight": "plain",
    },
    "constraints": [{"k": 5}],
    "method": {"name": "flexible-partition", "dimension": "widest"},
}


def make(folder: Path, rows: int) -> Path:
    """The table in files of a million rows; a larger one begins with the rows of a smaller one."""
    place = folder / f"rows-{rows}"
    place.mkdir()
    for i, first in enumerate(range(0, rows, PART)):
        table = census(min(PART, rows - first), seed=i)
        pq.write_table(table, place / f"part-{i:03}.parquet", row_group_size=PART // 4)
    return place


def measure(way: str, source: Path, rows: int, folder: Path) -> dict[str, Any]:
    """One run in its own processes."""
    policy, target, conf = folder / "policy.json", folder / "out.parquet", folder / "conf"
    policy.write_text(json.dumps(POLICY))
    events = folder / "events"
    events.mkdir(exist_ok=True)
    conf.mkdir(exist_ok=True)
    settings = SETTINGS | {"spark.eventLog.dir": events.as_uri()}
    lines = (f"{name} {value}" for name, value in settings.items())
    (conf / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
    env = {"SPARK_CONF_DIR": str(conf), "SPARK_LOCAL_DIRS": str(folder / "local")}
    run = [str(Path(sys.executable).with_name("shoal")), "run", str(source), str(policy)]
    run += ["-o", str(target), "--json", "--force"]
    if target.is_dir():  # of the last run: Spark writes a folder, where the others write a file
        shutil.rmtree(target)
    watch = Watch()
    with _cluster(folder, watch) if way in (CLUSTER, FRAGMENTS) else _nothing() as address:
        parts = [sys.executable, HERE / "fragments.py", source, policy, target, address]
        command = {
            "out of core": [*run, "--memory", MEMORY],
            "local Spark": [*run, "--engine", "spark"],
            CLUSTER: [*run, "--engine", address],
            FRAGMENTS: [*map(str, parts), str(rows // MANY)],
        }[way]
        taken, printed = watched(command, watch, env)
    release = json.loads(printed)
    found = {
        "rows": rows,
        "way": way,
        "fragments": MANY if way == FRAGMENTS else None,
        **taken,
        "steps": release["seconds"],
        "mean_ncp": release["metrics"]["mean-ncp"],
        "groups": release["groups"],
        "verified": release["verified"],
    }
    logs = [file for file in events.rglob("*") if file.is_file()]
    if logs:
        found |= _events(logs)
    for file in logs:
        file.unlink()
    return found


@contextmanager
def _nothing() -> Iterator[str]:
    yield ""


@contextmanager
def _cluster(folder: Path, watch: Watch) -> Iterator[str]:
    from tests.spark.cluster import running

    os.environ[MARK] = watch.mark
    place = Path(tempfile.mkdtemp(prefix="cluster-", dir=folder))
    try:
        with running(place) as cluster:
            yield cluster.address
    finally:
        del os.environ[MARK]


def _events(logs: list[Path]) -> dict[str, int]:
    """What Spark itself counted: jobs, tasks, bytes through shuffles and spilled to disk."""
    found = {"jobs": 0, "tasks": 0, "shuffle_bytes": 0, "spilled_bytes": 0}
    for log in logs:
        for line in log.read_text().splitlines():
            if '"SparkListenerJobStart"' in line[:60]:
                found["jobs"] += 1
            elif '"SparkListenerTaskEnd"' in line[:60]:
                spent = json.loads(line).get("Task Metrics") or {}
                found["tasks"] += 1
                found["spilled_bytes"] += spent.get("Disk Bytes Spilled", 0)
                written = spent.get("Shuffle Write Metrics", {})
                found["shuffle_bytes"] += written.get("Shuffle Bytes Written", 0)
    return found


def show(results: list[dict[str, Any]], console: Console) -> None:
    table = Table(title="Tables past memory")
    headings = (
        "rows",
        "way",
        "seconds",
        "CPU seconds",
        "peak, all",
        "peak, an executor",
        "shuffled",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for one in results:
        table.add_row(
            f"{one['rows']:,}",
            one["way"],
            f"{one['seconds']:.0f}",
            f"{one['cpu_seconds']:.0f}",
            _size(one["peak_bytes"]),
            _size(one["peak_of_an_executor"]),
            _size(one.get("shuffle_bytes")),
        )
    console.print(table)
    for one in results:
        steps = ", ".join(f"{step} {taken:.0f}" for step, taken in one["steps"].items())
        console.print(f"{one['rows']:,} {one['way']}: {steps}", style="dim")


def _size(count: int | None) -> str:
    return "" if count is None else f"{count / 1e9:.2f} GB"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000, 20_000_000])
    asked.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    asked.add_argument("--add", action="store_true", help="keep what the output has of other runs")
    asked.add_argument("--folder", type=Path, help="where the tables and temporary files go")
    asked.add_argument("--output", type=Path, default=HERE / "results" / "large.json")
    given = asked.parse_args()
    console, results = Console(width=110), []
    if given.add and given.output.exists():
        again = {(rows, way) for rows in given.rows for way in given.ways}
        before = json.loads(given.output.read_text())["results"]
        results = [one for one in before if (one["rows"], one["way"]) not in again]
    for rows in given.rows:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            source = make(Path(folder), rows)
            for way in given.ways:
                if way == FRAGMENTS and rows > min(given.rows):
                    continue
                results.append(measure(way, source, rows, Path(folder)))
                done = results[-1]
                console.print(
                    f"{rows:,} {way}: {done['seconds']:.0f} s {done['steps']}", style="dim"
                )
            same = {(one["groups"], one["mean_ncp"]) for one in results if one["rows"] == rows}
            if len({groups for groups, _ in same}) > 1:
                raise SystemExit(f"the ways differ at {rows:,} rows: {same}")
    results.sort(key=lambda one: (one["rows"], WAYS.index(one["way"])))
    cores = os.cpu_count() or 1
    model = model_of(results, cores)
    given.output.write_text(
        json.dumps(
            {
                "date": date.today().isoformat(),
                "version": shoal.__version__,
                "python": platform.python_version(),
                "cores": cores,
                "settings": SETTINGS,
                "memory": MEMORY,
                "results": results,
                "model": model,
            },
            indent=2,
        )
        + "\n"
    )
    show(results, console)
    for line in told(model):
        console.print(line)


if __name__ == "__main__":
    main()
