"""Speed beside a plain copy of the file, out of core, and in Spark; CPU and wall seconds.

A plain copy reads the CSV file with DuckDB, its types detected, and writes it again (one `COPY`). Every
run is a process of its own, which takes memory as the command line does, copies and runs in turns,
kernels loaded by a small run before. CPU seconds are those of all threads, user and system.

Aims, as multiples of the copy: reading, encoding, publishing, writing and verifying together 2.5
at 1M and 10M rows; the whole run of the default method 8 with sets and 12 with trees at 1M. Out of core
with 2 GB at least 150,000 rows a second on two cores; in Spark at most four times the CPU time.

`throughput.py --parts memory --rows 1000000` takes minutes; everything with 100M rows, hours. With
`--before src` another version is measured in the same turns.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from child import QUASI, memory

HERE = Path(__file__).parent
PARTS = ("memory", "large", "spark")
TOGETHER = ("read", "encode", "publish", "write", "verify", "truth")
WAYS: dict[str, tuple[str, object]] = {
    "flexible-partition (widest), sets": (
        "sets",
        {"name": "flexible-partition", "dimension": "widest"},
    ),
    "default, sets": ("sets", None),
    "default, trees": ("trees", None),
}
OTHERS = {"hours": "plain", "salary": "plain", "disease": "sensitive", "weight": "plain"}
BRANCH = 5
"""Values under a node of the trees that are made up here."""
PROBE = 1 << 30
"""Bytes by which the disk is measured."""


def policy(labels: str, method: object, values: dict[str, list[str]]) -> dict[str, object]:
    """Sets and ranges, or a hierarchy on every quasi-identifier; values: those of the columns."""
    columns: dict[str, object] = dict.fromkeys(QUASI, "quasi")
    columns["zip"] = {"role": "quasi", "kind": "unordered"}
    if labels == "trees":
        hierarchies: dict[str, object] = {name: {"tree": _tree(values[name])} for name in QUASI}
        hierarchies |= {"age": {"intervals": [5, 10, 20]}, "zip": {"mask": "right"}}
        columns = {name: {"role": "quasi", "hierarchy": how} for name, how in hierarchies.items()}
    asked = {"columns": columns | OTHERS, "constraints": [{"k": 5}]}
    return asked if method is None else asked | {"method": method}


def _tree(values: list[str]) -> dict[str, list[str]]:
    parts = [values[i : i + BRANCH] for i in range(0, len(values), BRANCH)]
    return {f"{part[0]} to {part[-1]}": part for part in parts}


# In a process of its own.


def copy(source: str, target: str) -> dict[str, Any]:
    """Read the file and write it again."""
    import duckdb

    con = duckdb.connect()
    began, cpu = time.perf_counter(), time.process_time()
    con.execute(f"COPY (SELECT * FROM read_csv('{source}')) TO '{target}' (HEADER)")
    return {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu}


def run(source: str, target: str, text: str) -> dict[str, Any]:
    """The whole run, and the CPU seconds of each step."""
    import shoal
    from shoal.allocation import share_one_arena

    share_one_arena()  # as the command line does
    asked = json.loads(text)
    small = Path(target).with_name("small.csv")
    with Path(source).open() as lines:
        small.write_text("".join(line for _, line in zip(range(5000), lines, strict=False)))
    shoal.run(small, asked, target, force=True)
    steps: dict[str, float] = {}
    at: dict[str, float] = {}

    def note(event: shoal.ProgressEvent) -> None:
        now = time.process_time()
        if event.share == 0 and event.step not in at:
            at[event.step] = now
        elif event.share == 1 and event.step in at:
            steps[event.step] = steps.get(event.step, 0.0) + now - at.pop(event.step)

    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    began, cpu = time.perf_counter(), time.process_time()
    release = shoal.run(source, asked, target, force=True, progress=note)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu,
        "steps": release.seconds,
        "cpu_of_steps": steps,
        "peak_bytes": memory("VmHWM") - before,
        "method": release.method,
        "mean_ncp": release.metrics["mean-ncp"],
        "groups": release.groups,
        "verified": release.verified,
    }


CHILDREN = {"copy": copy, "run": run}


def child(*args: str, package: Path | None = None) -> dict[str, Any]:
    """The same from here; package: the folder of another version of shoal."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--child", *args],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | ({} if package is None else {"PYTHONPATH": str(package)}),
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(args)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


# The parts.


def in_memory(
    rows: int, repeats: int, folder: Path, packages: list[Path | None]
) -> list[dict[str, Any]]:
    """CSV in, CSV out, beside the copy, by each version."""
    import duckdb

    from shoal.sample.census import census

    source, target = folder / "census.csv", folder / "out.csv"
    con = duckdb.connect()
    table = census(rows)
    values = {name: sorted(map(str, table[name].unique().to_pylist())) for name in QUASI}
    con.register("census", table)
    con.execute(f"COPY census TO '{source}' (HEADER)")
    con.close()
    del table
    copies: list[dict[str, Any]] = []
    runs: list[dict[str, list[dict[str, Any]]]] = [{name: [] for name in WAYS} for _ in packages]
    for _ in range(repeats):
        copies.append(child("copy", str(source), str(target)))
        for name, (labels, method) in WAYS.items():
            asked = json.dumps(policy(labels, method, values))
            for package, mine in zip(packages, runs, strict=True):
                mine[name].append(child("run", str(source), str(target), asked, package=package))
                _say(f"{rows:,} {name}: {mine[name][-1]['cpu_seconds']:.1f} CPU seconds")
    source.unlink()
    floor = {key: median(one[key] for one in copies) for key in ("seconds", "cpu_seconds")}
    return [_beside_copy(rows, floor, mine) for mine in runs]


def _beside_copy(
    rows: int, floor: dict[str, float], runs: dict[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    """The typical run of each way, as multiples of the copy."""
    found: dict[str, Any] = {"rows": rows, "copy": floor, "runs": {}}
    for name, every in runs.items():
        typical = sorted(every, key=lambda one: one["cpu_seconds"])[len(every) // 2]
        together = {
            "seconds": sum(typical["steps"].get(step, 0) for step in TOGETHER),
            "cpu_seconds": sum(typical["cpu_of_steps"].get(step, 0) for step in TOGETHER),
        }
        found["runs"][name] = typical | {
            "over_copy": {key: typical[key] / floor[key] for key in floor},
            "together_over_copy": {key: together[key] / floor[key] for key in floor},
            "steps_over_copy": {
                step: taken / floor["cpu_seconds"]
                for step, taken in typical["cpu_of_steps"].items()
            },
        }
    return found


def disk_speed(folder: Path) -> dict[str, float]:
    """Megabytes a second that are written to the disk and synced, and read from it again."""
    place, block = folder / "probe", os.urandom(1 << 24)
    began = time.perf_counter()
    with place.open("wb") as stream:
        for _ in range(PROBE // len(block)):
            stream.write(block)
        stream.flush()
        os.fsync(stream.fileno())
    written = time.perf_counter() - began
    with place.open("rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        began = time.perf_counter()
        while stream.read(len(block)):
            pass
    read = time.perf_counter() - began
    place.unlink()
    return {
        "written_mb_per_second": PROBE / 1e6 / written,
        "read_mb_per_second": PROBE / 1e6 / read,
    }


class Disk:
    """The most bytes that the files under a folder had, looked at every second."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.peak = folder, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)

    def __enter__(self) -> "Disk":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _go(self) -> None:
        while not self._over.wait(1.0):
            size = 0
            for file in self.folder.rglob("*"):
                with suppress(OSError):
                    size += file.stat().st_blocks * 512
            self.peak = max(self.peak, size)


def busy() -> float:
    """Seconds that all cores of the machine have worked so far, for anybody."""
    user, nice, system, _, _, *interrupts = Path("/proc/stat").read_text().split()[1:9]
    ticks = sum(map(int, (user, nice, system, *interrupts)))
    return ticks / os.sysconf("SC_CLK_TCK")


def out_of_session(way: str, rows: int, folder: Path, tables: Path | None) -> dict[str, Any]:
    """One run out of core or in a local Spark, from Parquet to Parquet, as `large.py` measures it."""
    import large

    source = (tables or folder) / f"rows-{rows}"
    if not source.exists():
        large.make(source.parent, rows)
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(temporary)
    try:
        before_run = busy()
        with Disk(temporary) as disk:
            found = large.measure(way, source, rows, folder)
        worked = busy() - before_run
    finally:
        os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before)
    found["rows_per_second"] = rows / found["seconds"]
    found["rows_per_two_cpu_seconds"] = 2 * rows / found["cpu_seconds"]
    found["peak_temporary_bytes"] = disk.peak
    found["cpu_seconds_of_others"] = worked - found["cpu_seconds"]
    _say(f"{rows:,} {way}: {found['seconds']:.0f} s, {found['cpu_seconds']:.0f} CPU seconds")
    return found


def _say(line: str) -> None:
    print(line, flush=True)


def measure(given: argparse.Namespace) -> dict[str, Any]:
    import shoal

    results: dict[str, Any] = {
        "date": date.today().isoformat(),
        "version": shoal.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "repeats": given.repeats,
    }
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        results["disk"] = disk_speed(folder)
        if "memory" in given.parts:
            packages = [None] if given.before is None else [None, given.before]
            found = [in_memory(rows, given.repeats, folder, packages) for rows in given.rows]
            results["memory"] = [one for one, *_ in found]
            if given.before is not None:
                results["memory_before"] = [one for _, one in found]
        if "large" in given.parts:
            results["large"] = []
            for rows in given.large:
                found = out_of_session("out of core", rows, folder, given.tables)
                results["large"].append(found | {"load": os.getloadavg(), "disk": results["disk"]})
                shutil.rmtree(folder / f"rows-{rows}", ignore_errors=True)
        if "spark" in given.parts:
            results["spark"] = []
            for rows in given.spark:
                pair = [
                    out_of_session(way, rows, folder, given.tables)
                    for way in ("out of core", "local Spark")
                ]
                ratio = pair[1]["cpu_seconds"] / pair[0]["cpu_seconds"]
                results["spark"].append({"rows": rows, "runs": pair, "cpu_ratio": ratio})
    return results


def added(before: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    """Former results with the new ones in the place of the same parts, of lists by rows."""
    new = {part: results[part] for part in (*PARTS, "memory_before") if part in results}
    for part, runs in new.items():
        if isinstance(runs, list):
            again = {one["rows"] for one in runs}
            runs += [one for one in before.get(part, ()) if one["rows"] not in again]
            runs.sort(key=lambda one: one["rows"])
    return before | new


def show(results: dict[str, Any]) -> None:
    for one in results.get("memory", ()):
        _say(f"\n{one['rows']:,} rows; a copy takes {one['copy']['cpu_seconds']:.2f} CPU seconds")
        for name, found in one["runs"].items():
            whole, part = found["over_copy"], found["together_over_copy"]
            _say(
                f"  {name} ({found['method']}): {whole['cpu_seconds']:.1f} times the copy (wall "
                f"{whole['seconds']:.1f}); without grouping and measuring {part['cpu_seconds']:.1f} "
                f"(wall {part['seconds']:.1f})"
            )
            steps = found["steps_over_copy"].items()
            _say("    " + ", ".join(f"{step} {taken:.2f}" for step, taken in steps))
    for one in results.get("large", ()):
        disk = one["disk"]
        _say(
            f"\n{one['rows']:,} rows out of core: {one['rows_per_second']:,.0f} rows a second "
            f"({one['rows_per_two_cpu_seconds']:,.0f} by CPU time on two cores), peak "
            f"{one['peak_bytes'] / 1e9:.2f} GB of memory and {one['peak_temporary_bytes'] / 1e9:.1f} "
            f"GB of disk; the disk writes {disk['written_mb_per_second']:.0f} and reads "
            f"{disk['read_mb_per_second']:.0f} MB/s"
        )
    for one in results.get("spark", ()):
        ratio = f"{one['cpu_ratio']:.1f} times the CPU time of out of core"
        _say(f"\n{one['rows']:,} rows on Spark: {ratio}")


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](*sys.argv[3:])))
        return
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    asked.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    asked.add_argument("--large", type=int, nargs="+", default=[20_000_000])
    asked.add_argument("--spark", type=int, nargs="+", default=[1_000_000, 5_000_000])
    asked.add_argument("--repeats", type=int, default=3)
    asked.add_argument("--before", type=Path, help="src of a former version, to compare with")
    asked.add_argument("--folder", type=Path, help="where tables and temporary files go")
    asked.add_argument("--tables", type=Path, help="where tables of former runs are, and stay")
    asked.add_argument("--add", action="store_true", help="keep the other parts of the output")
    asked.add_argument("--output", type=Path, default=HERE / "results" / "throughput.json")
    given = asked.parse_args()
    results = measure(given)
    if given.add and given.output.exists():
        results = added(json.loads(given.output.read_text()), results)
    given.output.write_text(json.dumps(results, indent=2) + "\n")
    show(results)


if __name__ == "__main__":
    main()
