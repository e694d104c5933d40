"""All counts of `docs/reliability.md` as they are kept in `benchmarks/results`.

python -m tests.fuzz.counts
"""

import json
from typing import Any

from tests.fuzz.campaign import RESULTS

ENGINES = ("memory", "disk", "spark")


def kept(name: str) -> dict[str, Any]:
    """A result, empty where there is none yet."""
    path = RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def lines() -> list[str]:
    """A line for each kind of test."""
    found = []
    for engine in ENGINES:
        one = kept(f"fuzz-{engine}")
        outcomes = one.get("outcomes", {})
        each = ", ".join(
            f"{outcomes.get(k, 0):,} {k}" for k in ("released", "infeasible", "refused")
        )
        seeds = [seed for some in one.get("findings", {}).values() for seed in some]
        cost = one.get("cpu_seconds", 0) / max(1, one.get("runs", 0))
        found.append(
            f"random runs, {engine}: {one.get('runs', 0):,} ({each}), {one.get('mended', 0)} mended, "
            f"open findings {seeds}, {1000 * cost:.0f} ms of CPU each"
        )
    mutants = kept("mutants")
    found.append(
        f"mutants: {mutants['tried']:,} of {mutants['mutants']:,} tried, {mutants['noticed']:,} "
        f"noticed, {len(mutants['equivalent'])} equivalent, {len(mutants['survivors'])} survive, "
        f"{mutants['open']} open"
    )
    crashes, soak, limits, signals = (kept(n) for n in ("crashes", "soak", "limits", "signals"))
    found.append(f"crashes: {crashes['kills']:,} kills, {crashes['failures']:,} failed calls")
    memory = [round(size / 1e6) for size in soak["memory"]]
    found.append(f"soak: {soak['runs']:,} runs, memory {memory[0]} to {memory[-1]} MB")
    wide = limits["wide"]
    found.append(
        f"wide table: {wide['peak'] / 1e9:.1f} GB, {wide['times_the_file']} times the file"
    )
    for way, one in signals.get("ways", {}).items():
        found.append(
            f"signals, {way}: {one['signalled']} runs, {one['wrong']} wrong, longest {one['longest']} s"
        )
    return found


if __name__ == "__main__":
    print(*lines(), sep="\n")
