"""Many runs in one process, one after another and in threads: flat memory, no handle kept, same bytes.

    python -m tests.fuzz.soak --runs 500 --threads 50 --summary benchmarks/results/soak.json

The runs differ: methods, people, Anatomy, labels, a report, refused tables and infeasible policies take
turns. Memory and handles are looked at after the first rounds, in which libraries fill their caches,
and again at the end.
"""

import argparse
import gc
import hashlib
import json
import os
import resource
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import shoal

ROWS = 120
PARTS = 5
"""Memory is looked at after each of so many parts of the runs."""
ALLOWED = 30 << 20
"""Bytes by which memory may have grown at the end, over many runs: what allocators keep."""


@dataclass(frozen=True)
class Soaked:
    """What was found."""

    runs: int
    threads: int
    kinds: int
    same_bytes: bool
    """Whether every run of a kind wrote the same bytes."""
    handles: tuple[int, int]
    """Open files after the first rounds, and at the end."""
    running: tuple[int, int]
    """Threads of the process, the same."""
    memory: tuple[int, ...]
    """Resident bytes after the first rounds, five times while runs follow each other, and five times
    while they are in threads."""
    left: tuple[str, ...]
    """Files that no run asked for."""

    @property
    def holds(self) -> bool:
        """Whether nothing was lost or kept. What many runs at once need, allocators keep; how many
        follow each other must not matter."""
        grown = max(self.memory[PARTS] - self.memory[0], self.memory[-1] - self.memory[PARTS + 1])
        same = self.handles[0] >= self.handles[1] and self.running[0] >= self.running[1]
        return self.same_bytes and same and grown <= ALLOWED and not self.left


def table(folder: Path) -> Path:
    """Visits of some people, as a CSV file."""
    draw = Random(1)
    lines = ["id,age,town,ill,ward"]
    for i in range(ROWS):
        town, ill = draw.choice("abcd"), draw.choice(("flu", "gout", "hiv", "cold"))
        lines.append(f"P{i % 70},{draw.randint(18, 90)},{town},{ill},{draw.choice('XYZ')}")
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def kinds() -> list[dict[str, Any]]:
    """The policies that take turns; the last two end with an error."""
    tree = {"tree": {"all": {"west": ["a", "b"], "east": ["c", "d"]}}}
    age = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 50]}, "kind": "ordered"}
    columns: dict[str, Any] = {
        "id": "identifier",
        "age": age,
        "town": {"role": "quasi", "hierarchy": tree},
        "ill": "sensitive",
        "ward": "plain",
    }
    both = [{"k": 4}, {"l": 2, "of": "ill"}]
    methods = (
        "mondrian",
        "k-clustering",
        "least-loss-partition",
        "optimal",
        "top-down",
        "bottom-up",
    )
    found = [{"columns": columns, "constraints": both, "method": name} for name in methods]
    found.append({"columns": columns, "constraints": [{"k": 4}], "method": "classfly-plus"})
    found.append(
        {"columns": {**columns, "id": "person"}, "constraints": both, "method": "mondrian"}
    )
    mean = {**age, "labels": "mean"}
    found.append({"columns": {**columns, "age": mean}, "constraints": both, "method": "mondrian"})
    found.append({"columns": columns, "constraints": both[1:], "publish": "anatomy"})
    found.append({"columns": columns, "constraints": [{"k": 10_000}]})
    found.append({"columns": {"age": "quasi"}, "constraints": [{"k": 2}]})
    return [{**policy, "seed": 7} for policy in found]


def run(source: Path, policy: dict[str, Any], folder: Path, number: int) -> str:
    """One run: a digest of what it wrote, or the kind of its error; nothing stays."""
    target = folder / f"out-{number}.csv"
    report = folder / f"out-{number}.json" if number % 5 == 0 else None
    try:
        shoal.run(source, policy, target, report=report, read={"header": True})
    except shoal.ShoalError as error:
        return type(error).__name__
    digest = hashlib.sha256()
    for path in sorted(folder.glob(f"out-{number}.*")):
        if path.suffix == ".csv":
            digest.update(path.read_bytes())
        path.unlink()
    return digest.hexdigest()


def soak(
    runs: int, threads: int, folder: Path, report: Callable[[int], None] = lambda _: None
) -> Soaked:
    """`runs` runs one after another, then as many in threads; `threads` at a time."""
    source, policies = table(folder), kinds()
    seen: dict[int, set[str]] = {}

    def one(number: int) -> None:
        kind = number % len(policies)
        digest = run(source, policies[kind], folder, number)
        with lock:
            seen.setdefault(kind, set()).add(digest)
        report(number)

    lock = threading.Lock()
    warm = max(2 * len(policies), runs // 5)
    for number in range(warm):
        one(number)
    in_threads(one, range(warm, warm + max(threads, runs // 5)), threads)
    found = [measured()]
    for part in parts(0, runs):
        for number in part:
            one(number)
        found.append(measured())
    for part in parts(runs, 2 * runs):
        in_threads(one, part, threads)
        found.append(measured())
    left = tuple(sorted(path.name for path in folder.iterdir() if path != source))
    handles, running, memory = zip(*found, strict=True)
    same = all(len(digests) == 1 for digests in seen.values())
    ends = [(each[0], each[-1]) for each in (handles, running)]
    return Soaked(2 * runs, threads, len(policies), same, *ends, memory, left)


def parts(first: int, end: int) -> list[range]:
    """The numbers in parts of about the same length."""
    bounds = [first + (end - first) * i // PARTS for i in range(PARTS + 1)]
    return [range(low, high) for low, high in pairwise(bounds)]


def in_threads(call: Callable[[int], None], numbers: range, threads: int) -> None:
    """Call for each number, so many at a time, and let the threads end."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, numbers))


def measured() -> tuple[int, int, int]:
    """Open files, threads and resident bytes of this process."""
    gc.collect()
    if not Path("/proc/self/fd").is_dir():  # elsewhere only the most memory is known
        return 0, threading.active_count(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = Path("/proc/self/statm").read_text().split()
    handles = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the folder's own handle is among them
    return handles, threading.active_count(), int(status[1]) * resource.getpagesize()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--threads", type=int, default=50)
    parser.add_argument("--summary", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        found = soak(asked.runs, asked.threads, Path(folder))
    words = json.dumps({**asdict(found), "holds": found.holds}, indent=1)
    if asked.summary:
        asked.summary.write_text(words + "\n")
    print(words)
    sys.exit(0 if found.holds else 1)


if __name__ == "__main__":
    main()
