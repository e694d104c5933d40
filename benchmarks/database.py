"""A million rows from PostgreSQL and to it, compared with plain COPY in the same run.

The floor is psql's copy of the table to a file and back into a new table. Shoal reads the table, makes
a release and writes it to another table; "transfer" is reading, writing and committing, without the
anonymisation between them; "checked" adds reading back and verification. In memory, out of core under
a limit, and as a stream: the rows from one table to the other, unchanged, by the same code. Linux only.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
ROWS, TURNS, MEMORY = 1_000_000, 3, "500MB"
STREAM = "stream"
WAYS = {STREAM: STREAM, "in memory": None, f"--memory {MEMORY}": MEMORY}
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
    "seed": 7,
}
TIMES, BYTES = 3.0, 1_000_000_000
"""The targets: times as long as COPY, and bytes at the peak."""


def memory(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def stream(source: str, target: str) -> dict[str, float]:
    """The table from one place to the other as a run does it, but unchanged: read in batches, written
    to a staging table, read back, compared and committed."""
    from shoal.engines.database.staging import open_table, staging
    from shoal.io.address import Address, place_of

    began = time.perf_counter()
    place, other = place_of(source), place_of(target)
    assert isinstance(place, Address)
    assert isinstance(other, Address)
    with open_table(place) as table, staging([other], force=True) as staged:
        schema = table.schema()
        staged.tables[0].write(schema, table.batches(schema))
        moved = time.perf_counter()
        staged.tables[0].confirm()
        confirmed = time.perf_counter()
        staged.describe(["0" * 64])
        staged.move()
    committed = time.perf_counter() - confirmed
    return {"read": 0.0, "write": moved - began + committed, "verify": confirmed - moved}


def child(source: str, small: str, target: str, limit: str) -> None:
    """One run in a process of its own; a small one first loads what is compiled."""
    if limit == STREAM:
        stream(small, target)
        Path("/proc/self/clear_refs").write_text("5")
        steps = stream(source, target)
        total = sum(steps.values())
        peak = memory("VmHWM")
        print(json.dumps({"seconds": total, "steps": steps, "rest": 0.0, "peak_bytes": peak}))
        return
    import shoal

    chosen = None if limit == "-" else limit
    shoal.run(small, POLICY, target, memory=chosen, force=True)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    began = time.perf_counter()
    release = shoal.run(source, POLICY, target, memory=chosen, force=True)
    total = time.perf_counter() - began
    steps = release.seconds
    print(
        json.dumps(
            {
                "seconds": total,
                "steps": steps,
                "rest": total - sum(steps.values()),  # connecting, checking, commit
                "peak_bytes": memory("VmHWM"),
                "verified": release.verified,
            }
        )
    )


def copied(server: Any, folder: Path, psql: Path) -> dict[str, float]:
    """Seconds of plain COPY, out and in."""
    server.run("DROP TABLE IF EXISTS copied", "CREATE TABLE copied (LIKE patients)")
    found = {}
    for way, command in (
        ("out", f"\\copy patients TO '{folder}/rows.csv' (FORMAT csv)"),
        ("in", f"\\copy copied FROM '{folder}/rows.csv' (FORMAT csv)"),
    ):
        began = time.perf_counter()
        subprocess.run([psql, server.uri(), "-q", "-c", command], check=True)
        found[way] = time.perf_counter() - began
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--child", nargs=4, metavar=("SOURCE", "SMALL", "TARGET", "LIMIT"))
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return

    from tests.database.server import programs, running

    from shoal.sample.census import census

    with running() as server, tempfile.TemporaryDirectory() as folder:
        with server.connect() as cursor:
            cursor.adbc_ingest("patients", census(arguments.rows), mode="create")
        server.run("CREATE TABLE few AS SELECT * FROM patients LIMIT 2000", "ANALYZE")
        psql = programs() / "psql"
        copies: list[dict[str, float]] = []
        runs: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
        for _ in range(arguments.turns):
            copies.append(copied(server, Path(folder), psql))
            for way, limit in WAYS.items():
                places = [server.address(name) for name in ("patients", "few", "published")]
                command = [sys.executable, "-W", "ignore", __file__, "--child", *places]
                done = subprocess.run([*command, limit or "-"], stdout=subprocess.PIPE, check=True)
                runs[way].append(json.loads(done.stdout))
                print(way, runs[way][-1], flush=True)
    report(arguments.rows, copies, runs)


def report(
    rows: int, copies: list[dict[str, float]], runs: dict[str, list[dict[str, Any]]]
) -> None:
    floor = statistics.median(sum(one.values()) for one in copies)
    ways = {}
    for way, found in runs.items():

        def median(*steps: str, of: list[dict[str, Any]] = found) -> float:
            sums = [sum(one["steps"][step] for step in steps) + one["rest"] for one in of]
            return statistics.median(sums)

        transfer, checked = median("read", "write"), median("read", "write", "verify")
        peak = max(one["peak_bytes"] for one in found)
        ways[way] = {
            "transfer_seconds": transfer,
            "transfer_times": transfer / floor,
            "checked_seconds": checked,
            "checked_times": checked / floor,
            "whole_seconds": statistics.median(one["seconds"] for one in found),
            "peak_bytes": peak,
            "within": {"times": transfer / floor <= TIMES, "bytes": peak <= BYTES},
            "runs": found,
        }
    result = {
        "made": date.today().isoformat(),
        "rows": rows,
        "columns": 12,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "targets": {"times": TIMES, "bytes": BYTES},
        "copy": {"seconds": floor, "runs": copies},
        "ways": ways,
    }
    place = HERE / "results" / "database.json"
    place.write_text(json.dumps(result, indent=2) + "\n")
    print(f"COPY out and in: {floor:.2f} s")
    for way, one in ways.items():
        print(
            f"{way}: transfer {one['transfer_times']:.2f} times, with verification "
            f"{one['checked_times']:.2f} times; peak {one['peak_bytes'] / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    main()
