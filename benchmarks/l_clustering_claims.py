"""What the L-clustering paper claims, on the 45,222 complete rows of Adult.

RL over l = 2..13 for 2, 5 and 8 quasi-identifiers, its spread over 20 seeds, and time against
quasi-identifiers, l and rows; and the same for Incognito, which the paper compares with, by the
hierarchies beside adult.csv. `SHOAL_ADULT_UCI` names the folder of the archive's files, `SHOAL_ADULT`
that of the hierarchies; without the latter the claims on Incognito are left out. Each claim says
whether it held, with the figures it was judged by. One run each, after one that compiles; processor
time, but for Incognito, whose search is timed by the clock.
"""

import argparse
import itertools
import json
import math
import os
import time
from datetime import date
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from adult_uci import PLACES, SENSITIVE, cells_of, like, rows
from shoal.cells.cells import Cells
from shoal.cells.domain import Kind
from shoal.cells.grouping import Grouping
from shoal.cells.spans import spans_of
from shoal.methods.l_clustering import LClustering
from shoal.models.l import L
from shoal.models.requirement import Requirement

HERE = Path(__file__).parent


def grouped(cells: Cells, l: int, seed: int = 0) -> tuple[Grouping, float]:  # noqa: E741
    asked = Requirement((L(l, SENSITIVE[0]),))
    began = time.thread_time()
    (grouping,) = LClustering().group(cells, asked, seed, lambda _: None)
    return grouping, time.thread_time() - began


def loss(cells: Cells, grouping: Grouping) -> float:
    """L(D, D*): per row and column the width of the label, nothing where it is one value."""
    spans = spans_of(cells, grouping)
    total = 0.0
    for j, domain in enumerate(cells.domains):
        low, high = spans.low[:, j], spans.high[:, j]
        if domain.kind == Kind.RANGE:
            assert domain.units is not None
            width = domain.units[high] - domain.units[low] + 1
        else:
            width = np.diff(spans.sets[j][0])
        total += float((spans.sizes * np.where(low == high, 0, width)).sum())
    return total


def relative(cells: Cells, grouping: Grouping) -> float:
    """RL: the loss over that of one group of all rows."""
    whole = Grouping(np.zeros(cells.n_rows, np.int32), 1, grouping.columns)
    return loss(cells, grouping) / loss(cells, whole)


def incognito(table: pa.Table, d: int, l: int) -> tuple[float, float]:  # noqa: E741
    """RL of the best minimal node, and the seconds of the search."""
    folder = Path(os.environ["SHOAL_ADULT"])
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": str(folder / f"adult_hierarchy_{name}.csv")}
        for name in list(PLACES)[:d]
    }
    policy = {
        "columns": columns | {SENSITIVE[0]: "sensitive"},
        "constraints": [{"l": l, "of": SENSITIVE[0]}],
        "method": {"name": "incognito", "metric": "relative-loss"},
        "metrics": ["relative-loss"],
        "default": "drop",
    }
    release = shoal.anonymize(table, policy)
    lost = release.metrics["relative-loss"]
    assert lost is not None
    return lost, release.seconds["group"]


def fits(x: list[float], y: list[float]) -> float:
    """How well a straight line fits: r squared."""
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def steepness(points: list[dict[str, Any]], d: int, l: int, what: str) -> float:  # noqa: E741
    """The exponent with which time grows with rows."""
    some = [one for one in points if (one["quasi"], one["l"]) == (d, l)]
    n, seconds = [one["rows"] for one in some], [one[what] for one in some]
    return math.log(seconds[-1] / seconds[0]) / math.log(n[-1] / n[0])


def judged(found: dict[str, list[dict[str, Any]]], both: bool) -> dict[str, dict[str, Any]]:
    """Each claim: whether it held, and by which figures."""
    by_l, by_quasi, by_rows = found["by_l"], found["by_quasi"], found["by_rows"]
    five = [one["rl"] for one in by_l if one["quasi"] == 5]
    quasi = sorted({one["quasi"] for one in by_l})
    steps = [b / a for a, b in itertools.pairwise(five)]
    spread = {one["quasi"]: one["deviation"] / one["mean"] for one in found["spread"]}
    tops = {d: _slowest(by_l, d) for d in quasi}
    ends = {min(one["l"] for one in by_l), max(one["l"] for one in by_l)}
    kinds = sorted({(one["quasi"], one["l"]) for one in by_rows})
    steep = {str(kind): steepness(by_rows, *kind, "seconds") for kind in kinds}
    d_of = [float(one["quasi"]) for one in by_quasi]
    line = fits(d_of, [one["seconds"] for one in by_quasi])
    claims: dict[str, tuple[bool, Any]] = {
        "RL stays under 10 % for 5 QI": (bool(five) and max(five) < 0.1, five),
        "RL grows slowly with l: by less than half from one l to the next, 5 QI": (
            all(step <= 1.5 for step in steps),
            steps,
        ),
        "repeats vary little: deviation under 2 % of the mean": (
            all(share < 0.02 for share in spread.values()),
            spread,
        ),
        "time grows linearly with QI: r squared of a line above 0.9": (line > 0.9, line),
        "time rises, then falls with l: the slowest l is not at an end": (
            not ends & set(tops.values()),
            tops,
        ),
        "time is quadratic in rows (ours should not be): exponent above 1.8": (
            min(steep.values()) > 1.8,
            steep,
        ),
    }
    if both:
        over = {f"{one['quasi']} QI, l={one['l']}": one["incognito_rl"] / one["rl"] for one in by_l}
        jumps = {d: _steps([o["incognito_rl"] for o in by_l if o["quasi"] == d]) for d in quasi}
        logs = [math.log(one["incognito_seconds"]) for one in by_quasi]
        times = [one["incognito_seconds"] for one in by_quasi]
        steep = {str(kind): steepness(by_rows, *kind, "incognito_seconds") for kind in kinds}
        slopes = {d: _slope(by_l, d) for d in (quasi[0], quasi[-1])}
        claims |= {
            "Incognito's RL is far above everywhere: at least 5 times": (
                min(over.values()) >= 5,
                over,
            ),
            "Incognito's RL jumps in steps: at least half of the steps of l change nothing": (
                all(jump["same"] * 2 >= jump["steps"] for jump in jumps.values()),
                jumps,
            ),
            "Incognito's time grows exponentially with QI: its logarithm fits a line better": (
                fits(d_of, logs) > fits(d_of, times),
                {"logarithm": fits(d_of, logs), "time": fits(d_of, times), "seconds": times},
            ),
            "Incognito's time grows linearly with rows: exponent 0.8 to 1.2": (
                all(0.8 <= one <= 1.2 for one in steep.values()),
                steep,
            ),
            "Incognito's time rises with l for the fewest QI and falls for the most": (
                slopes[quasi[0]] > 0 > slopes[quasi[-1]],
                slopes,
            ),
        }
    return {claim: {"held": held, "figures": figures} for claim, (held, figures) in claims.items()}


def _slowest(by_l: list[dict[str, Any]], d: int) -> int:
    return int(max((one for one in by_l if one["quasi"] == d), key=lambda o: o["seconds"])["l"])


def _steps(lost: list[float]) -> dict[str, float]:
    ratios = [b / a for a, b in itertools.pairwise(lost)]
    same = sum(ratio == 1 for ratio in ratios)
    return {"steps": len(ratios), "same": same, "largest": max(ratios, default=1.0)}


def _slope(by_l: list[dict[str, Any]], d: int) -> float:
    some = [one for one in by_l if one["quasi"] == d]
    return float(np.polyfit([o["l"] for o in some], [o["incognito_seconds"] for o in some], 1)[0])


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quasi", type=int, nargs="+", default=[2, 5, 8])
    asked.add_argument("--l", type=int, nargs="+", default=list(range(2, 14)))
    asked.add_argument("--seeds", type=int, default=20)
    asked.add_argument("--sizes", type=int, nargs="+", default=[10_000, 20_000, 30_000, 40_000])
    asked.add_argument("--rows", type=int, help="take so many of the rows")
    asked.add_argument("--output", type=Path, default=HERE / "results" / "l_clustering_claims.json")
    given = asked.parse_args()
    table, both = rows(), "SHOAL_ADULT" in os.environ
    table = table if given.rows is None else like(table, given.rows)

    def timed(some: pa.Table, d: int, l: int, **named: Any) -> dict[str, Any]:  # noqa: E741
        cells = cells_of(some, d)
        grouping, seconds = grouped(cells, l)
        one = {"quasi": d, "l": l, **named, "rl": relative(cells, grouping), "seconds": seconds}
        if both:
            one["incognito_rl"], one["incognito_seconds"] = incognito(some, d, l)
        print(one, flush=True)
        return one

    print("A small run, which compiles:", flush=True)
    timed(like(table, 500), 3, 2)
    found: dict[str, list[dict[str, Any]]] = {"spread": []}
    found["by_l"] = [timed(table, d, l) for d in given.quasi for l in given.l]  # noqa: E741
    for d in given.quasi:
        cells = cells_of(table, d)
        lost = [relative(cells, grouped(cells, 5, seed)[0]) for seed in range(given.seeds)]
        one = {"quasi": d, "l": 5, "mean": mean(lost), "deviation": pstdev(lost)}
        found["spread"].append(one)
        print(one, flush=True)
    found["by_quasi"] = [timed(table, d, 5) for d in range(2, 9)]
    found["by_rows"] = [
        timed(like(table, n), d, l, rows=n)
        for n in given.sizes
        for d, l in ((3, 5), (3, 10), (8, 5), (8, 10))  # noqa: E741
    ]
    claims = judged(found, both)
    for claim, one in claims.items():
        print("held        " if one["held"] else "did not hold", claim)
    result = {"date": date.today().isoformat(), "claims": claims, **found}
    given.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
