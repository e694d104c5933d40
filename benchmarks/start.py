"""How long it takes to start: a first run, a warm run on eight rows, and a comparison.

    python benchmarks/start.py [--before SRC] [-o benchmarks/results/start.json]

CPU time of whole processes is measured, in turns, so that ratios hold on a busy machine too; of a first
run also what the user waits. `--before` names the `src` folder of an older version, measured in the same
turns. A first run is made by a copy of the package without compiled kernels, on the sample hospital.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LIBRARIES = ("duckdb", "pyarrow", "numpy", "numba")
EIGHT = """age,sex,town,ill
23,f,Kiel,flu
25,f,Kiel,cold
31,m,Bonn,flu
35,m,Bonn,flu
42,f,Kiel,asthma
47,m,Bonn,cold
51,f,Kiel,flu
58,m,Bonn,asthma
"""
POLICY = """columns: {age: quasi, sex: quasi, town: quasi, ill: sensitive}
constraints: [{k: 2}]
"""
COMMAND = "from shoal.cli.app import main; main()"
COUNTED = """
import json, sys, time
from pathlib import Path
from numba.core import event

class Compilations(event.Listener):
    number, depth, seconds, began = 0, 0, 0.0, 0.0

    def on_start(self, event):
        self.began = self.began if self.depth else time.thread_time()
        self.depth += 1

    def on_end(self, event):
        self.number += 1
        self.depth -= 1
        self.seconds += 0 if self.depth else time.thread_time() - self.began

seen = Compilations()
event.register("numba:compile", seen)
from shoal.cli.app import main
try:
    main()
finally:
    Path("compiled.json").write_text(json.dumps([seen.number, seen.seconds]))
"""
MODULES = """
import json, sys
from pathlib import Path
from shoal.cli.app import main
try:
    main()
finally:
    names = sorted({name.partition(".")[0] for name in sys.modules})
    Path("modules.json").write_text(json.dumps([len(sys.modules), names]))
"""
WATCHED = (
    "numba",
    "pandas",
    "narwhals",
    "polars",
    "pyspark",
    "matplotlib",
    "duckdb",
    "pyarrow",
    "rich",
)
RELEASED = "release.csv"


def cpu(code: str, *arguments: str, source: Path, folder: Path) -> float:
    """CPU seconds of a process and of all that it started."""
    (folder / RELEASED).unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(source), "COLUMNS": "80"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def warm_runs(sources: dict[str, Path], folder: Path, turns: int) -> dict[str, Any]:
    """Runs on eight rows, and the imports that they are compared with, in turns."""
    (folder / "eight.csv").write_text(EIGHT)
    (folder / "eight.yaml").write_text(POLICY)
    run = ("run", "eight.csv", "eight.yaml", "-o", RELEASED)
    found: dict[str, list[float]] = {name: [] for name in ("imports", *sources)}
    for turn in range(turns + 1):
        seconds = {"imports": cpu(f"import {','.join(LIBRARIES)}", source=ROOT, folder=folder)}
        for name, source in sources.items():
            seconds[name] = cpu(COMMAND, *run, source=source, folder=folder)
        for name in found if turn else ():  # the first turn fills caches
            found[name].append(seconds[name])
    middle = {name: statistics.median(each) for name, each in found.items()}
    made: dict[str, Any] = {"imports_cpu_seconds": round(middle["imports"], 3), "turns": turns}
    for name, source in sources.items():
        cpu(MODULES, *run, source=source, folder=folder)
        number, names = json.loads((folder / "modules.json").read_text())
        made[name] = {
            "cpu_seconds": round(middle[name], 3),
            "ratio": round(middle[name] / middle["imports"], 2),
            "modules": number,
            "loads": [each for each in WATCHED if each in names],
        }
    return made


def fresh(sources: dict[str, Path], folder: Path) -> dict[str, Path]:
    """Where the copies without compiled kernels are."""
    return {name: folder / f"fresh-{name}" for name in sources}


def first_runs(sources: dict[str, Path], folder: Path) -> dict[str, Any]:
    """A run on 2,000 rows of the sample by a package without compiled kernels."""
    made = {}
    for name, copy in fresh(sources, folder).items():
        shutil.copytree(
            sources[name], copy, ignore=shutil.ignore_patterns("*.nbc", "*.nbi", "__pycache__")
        )
        if not (folder / "sample").exists():
            write = "import shoal; shoal.write_sample('sample', rows=2000)"
            cpu(write, source=copy, folder=folder)
        run = ("run", "sample/hospital.csv", "sample/policy.yaml", "-o", RELEASED)
        began = time.perf_counter()
        seconds = cpu(COUNTED, *run, source=copy, folder=folder)
        waited = time.perf_counter() - began
        number, compiling = json.loads((folder / "compiled.json").read_text())
        made[name] = {
            "wall_seconds": round(waited, 1),
            "cpu_seconds": round(seconds, 1),
            "compiling_cpu_seconds": round(compiling, 1),
            "compilations": number,
            "again_cpu_seconds": round(cpu(COMMAND, *run, source=copy, folder=folder), 2),
        }
    return made


def comparisons(sources: dict[str, Path], folder: Path) -> dict[str, Any]:
    """`shoal compare` of three methods at two k on the sample: all time, and that of the methods."""
    made = {}
    table, policy = "sample/hospital.csv", "sample/policy.yaml"
    methods = ("--methods", "mondrian,flexible-partition,least-loss-partition", "--k", "5,10")
    for name, source in sources.items():
        code = "import sys\nsys.stdout = open('compared.json', 'w')\n" + COMMAND
        asked = ("compare", table, policy, *methods, "--json")
        cpu(code, *asked, source=source, folder=folder)  # compiles what is missing
        seconds = cpu(code, *asked, source=source, folder=folder)
        outcomes = json.loads((folder / "compared.json").read_text())["outcomes"]
        inside = sum(one["seconds"] for one in outcomes if one["status"] == "done")
        made[name] = {
            "cpu_seconds": round(seconds, 2),
            "wall_seconds_of_the_methods": round(inside, 2),
            "runs": len(outcomes),
        }
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path, help="the src folder of an older version")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--no-compare", action="store_true", help="leave the comparisons out")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/start.json")
    asked = parser.parse_args()
    sources = {"now": ROOT / "src"}
    if asked.before:
        sources = {"before": asked.before.resolve(), **sources}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)},
            "versions": {one: version(one) for one in LIBRARIES}
            | {"python": platform.python_version()},
            "first_run": first_runs(sources, folder),
            "warm_run_on_eight_rows": warm_runs(fresh(sources, folder), folder, asked.turns),
        }
        if not asked.no_compare:
            found["compare"] = comparisons(fresh(sources, folder), folder)
    asked.output.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
