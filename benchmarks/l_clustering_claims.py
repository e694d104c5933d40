"""What the L-clustering paper claims, on the 45,222 complete rows of Adult.

RL over l = 2..13 for 2, 5 and 8 quasi-identifiers, its spread over 20 seeds, and time against
quasi-identifiers, l and rows. `SHOAL_ADULT_UCI` names the folder of the archive's files. Each claim
says whether it held. Where figures of a full-domain method are to stand beside them, `others` takes
them as {name: function of (cells, l) to groups}.
"""

import argparse
import itertools
import json
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import numpy as np

from adult_uci import SENSITIVE, cells_of, like, rows
from shoal.cells.cells import Cells
from shoal.cells.domain import Kind
from shoal.cells.grouping import Grouping
from shoal.cells.spans import spans_of
from shoal.methods.l_clustering import LClustering
from shoal.models.l import L
from shoal.models.requirement import Requirement

HERE = Path(__file__).parent
others: dict[str, Callable[[Cells, int], Grouping]] = {}


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


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quasi", type=int, nargs="+", default=[2, 5, 8])
    asked.add_argument("--l", type=int, nargs="+", default=list(range(2, 14)))
    asked.add_argument("--seeds", type=int, default=20)
    asked.add_argument("--sizes", type=int, nargs="+", default=[10_000, 20_000, 30_000, 40_000])
    asked.add_argument("--output", type=Path, default=HERE / "results" / "l_clustering_claims.json")
    given = asked.parse_args()
    table = rows()
    grouped(cells_of(like(table, 500), 3), 2)  # compiles
    by_l, spread, by_quasi, by_rows = [], [], [], []
    for d in given.quasi:
        cells = cells_of(table, d)
        for l in given.l:  # noqa: E741
            grouping, seconds = grouped(cells, l)
            one: dict[str, Any] = {"quasi": d, "l": l, "rl": relative(cells, grouping)}
            one |= {"seconds": seconds}
            one |= {name: relative(cells, other(cells, l)) for name, other in others.items()}
            by_l.append(one)
            print(one, flush=True)
    for d in given.quasi:
        cells = cells_of(table, d)
        found = [relative(cells, grouped(cells, 5, seed)[0]) for seed in range(given.seeds)]
        spread.append({"quasi": d, "l": 5, "mean": mean(found), "deviation": pstdev(found)})
        print(spread[-1], flush=True)
    for d in range(2, 9):
        by_quasi.append({"quasi": d, "l": 5, "seconds": grouped(cells_of(table, d), 5)[1]})
    for n in given.sizes:
        for d, l in ((3, 5), (3, 10), (8, 5), (8, 10)):  # noqa: E741
            seconds = grouped(cells_of(like(table, n), d), l)[1]
            by_rows.append({"rows": n, "quasi": d, "l": l, "seconds": seconds})
    five = [one["rl"] for one in by_l if one["quasi"] == 5]
    claims = {
        "RL stays under 10 % for 5 quasi-identifiers": bool(five) and max(five) < 0.1,
        "RL grows slowly with l: never by more than half from one l to the next": all(
            b <= 1.5 * a for a, b in itertools.pairwise(five)
        ),
        "repeats vary little: deviation under 2 % of the mean": all(
            one["deviation"] < 0.02 * one["mean"] for one in spread
        ),
        "time rises, then falls with l": all(_rises_and_falls(by_l, d) for d in given.quasi),
    }
    for claim, held in claims.items():
        print("held        " if held else "did not hold", claim)
    result = {"date": date.today().isoformat(), "claims": claims, "by_l": by_l, "spread": spread}
    result |= {"by_quasi": by_quasi, "by_rows": by_rows}
    given.output.write_text(json.dumps(result, indent=2) + "\n")


def _rises_and_falls(by_l: list[dict[str, Any]], d: int) -> bool:
    seconds = [one["seconds"] for one in by_l if one["quasi"] == d]
    top = seconds.index(max(seconds))
    return 0 < top < len(seconds) - 1


if __name__ == "__main__":
    main()
