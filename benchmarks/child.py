"""One measurement in a process of its own: prints seconds, steps and peak memory as JSON.

Called by whole_run.py: `child.py floor IN OUT` or `child.py run IN OUT METHOD-AS-JSON`.
"""

import json
import sys
import time
from pathlib import Path

QUASI = ["age", "sex", "race", "marital_status", "education", "workclass", "nationality", "zip"]


def memory(field: str) -> int:
    """Bytes from the kernel's own account: VmRSS is now, VmHWM the peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def floor(source: str, target: str) -> dict[str, object]:
    """Read the file and write it again, by DuckDB alone."""
    import duckdb

    con = duckdb.connect()
    began = time.perf_counter()
    con.execute(f"COPY (SELECT * FROM read_csv('{source}')) TO '{target}' (HEADER)")
    return {"seconds": time.perf_counter() - began}


def policy(method: object) -> dict[str, object]:
    columns: dict[str, object] = dict.fromkeys(QUASI, "quasi")
    columns["zip"] = {"role": "quasi", "kind": "unordered"}
    others = {"hours": "plain", "salary": "plain", "disease": "sensitive", "weight": "plain"}
    return {"columns": columns | others, "constraints": [{"k": 5}], "method": method}


def run(source: str, target: str, method: str) -> dict[str, object]:
    """The whole run. A small one first loads the compiled kernels, as any second run finds them."""
    from shoal import run as shoal_run

    asked = policy(json.loads(method))
    small = Path(target).with_name("small.csv")
    with Path(source).open() as lines:
        small.write_text("".join(line for _, line in zip(range(2000), lines, strict=False)))
    shoal_run(small, asked, target, force=True)
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    began = time.perf_counter()
    release = shoal_run(source, asked, target, force=True)
    return {
        "seconds": time.perf_counter() - began,
        "steps": release.seconds,
        "peak_bytes": memory("VmHWM") - before,
        "mean_ncp": release.metrics["mean-ncp"],
        "groups": release.groups,
        "verified": release.verified,
    }


if __name__ == "__main__":
    print(json.dumps({"floor": floor, "run": run}[sys.argv[1]](*sys.argv[2:])))
