"""How far from the optimum: blocks of Adult, solved by column generation with HiGHS.

A release of a block is a choice of classes: a label, one node per column, and k rows or more under it.
It costs the loss of the label for each of its rows, and every row is in one class. The linear relaxation
of this choice is solved exactly: classes are added while one of them would lower the bound; for given
prices of the rows, the best class under a label is found by sorting. No release without suppression can
lose less than the bound. An integer program over labels (which are used, and which row has which) then
raises the bound and finds a release, in the time that it is given.

All eight columns have hierarchies, k = 5. Losses of Shoal's releases are counted from their published
text, by code of this file alone. `SHOAL_ADULT` names the folder with `adult.csv` and its hierarchies.
"""

import argparse
import itertools
import json
import os
import sys
import time
import warnings
from datetime import date
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pandas as pd

import shoal
from loss import QUASI, adult_policy

HERE = Path(__file__).parent
K = 5
RUNS: dict[str, dict[str, Any]] = {
    "auto": {},
    "local-recoding": {"method": "local-recoding"},
    "local-recoding, thorough": {"method": "local-recoding", "refine": "thorough"},
    "k-clustering, thorough": {"method": "k-clustering", "refine": "thorough"},
    "least-loss-partition": {"method": "least-loss-partition"},
}
MOST_PAIRS = 60_000
"""Pairs of a label and a row, up to which the integer program is tried."""
AT_ONCE = 400
"""Classes that are added at a time."""
SMALL = 1e-7


class Labels:
    """All labels that k rows of a block can share, the cheapest for each set of rows."""

    def __init__(self, block: pd.DataFrame, folder: Path) -> None:
        levels = [self._levels(block[name], folder, name) for name in block.columns]
        found: dict[bytes, float] = {}
        for vector in itertools.product(*map(range, map(len, levels))):
            node, cost = np.zeros(len(block), np.int64), np.zeros(len(block))
            for level, column in zip(vector, levels, strict=True):
                numbers, losses = column[level]
                node = node * (numbers.max() + 1) + numbers
                cost += losses
            _, first, of, rows = np.unique(
                node, return_index=True, return_inverse=True, return_counts=True
            )
            for label in np.flatnonzero(rows >= K):
                key = np.packbits(of == label).tobytes()
                price = float(cost[first[label]])
                found[key] = min(price, found.get(key, np.inf))
        bits = np.frombuffer(b"".join(found), np.uint8).reshape(len(found), -1)
        self.covers = np.unpackbits(bits, axis=1, count=len(block)).astype(bool)
        self.cost = np.array(list(found.values()))

    @staticmethod
    def _levels(column: pd.Series, folder: Path, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
        """Per level, the number of each row's node and what it loses."""
        lines = (folder / f"adult_hierarchy_{name}.csv").read_text().splitlines()
        above = {line.split(";")[0]: line.split(";") for line in lines}
        levels = []
        for level in range(len(next(iter(above.values())))):
            leaves: dict[str, int] = {}
            for path in above.values():
                leaves[path[level]] = leaves.get(path[level], 0) + 1
            nodes = [above[str(value)][level] for value in column]
            losses = [0.0 if leaves[node] == 1 else leaves[node] / len(above) for node in nodes]
            numbers = np.unique(nodes, return_inverse=True)[1].reshape(-1)
            one = (numbers, np.array(losses))
            if not levels or (levels[-1][0] != numbers).any():
                levels.append(one)
        return levels

    def best_classes(self, price: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per label its best class, (labels, rows), and what it saves at these prices of the rows."""
        saves = np.where(self.covers, price - self.cost[:, None], -np.inf)
        rank = np.argsort(np.argsort(-saves, axis=1, kind="stable"), axis=1)
        taken = self.covers & ((rank < K) | (saves > 0))
        return taken, np.where(taken, saves, 0.0).sum(axis=1)


def solve_relaxed(labels: Labels, n: int, most: int) -> float:
    """What no release can lose less than, by the average cell."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    for _ in range(n):
        model.addRow(1.0, 1.0, 0, np.array([], np.int32), np.array([]))
    known: set[tuple[int, bytes]] = set()

    def add(taken: np.ndarray, some: np.ndarray) -> int:
        before = len(known)
        for i in some.tolist():
            rows = np.flatnonzero(taken[i]).astype(np.int32)
            if (i, rows.tobytes()) not in known:
                known.add((i, rows.tobytes()))
                cost = float(labels.cost[i]) * len(rows)
                model.addCol(cost, 0.0, 1.0, len(rows), rows, np.ones(len(rows)))
        return len(known) - before

    add(labels.covers, np.flatnonzero(labels.covers.all(axis=1)))  # all rows in one class
    price, bound = np.full(n, labels.cost.max()), -np.inf
    for _ in range(most):
        taken, saves = labels.best_classes(price)
        best = np.argsort(-saves, kind="stable")[:AT_ONCE]
        new = add(taken, best[saves[best] > SMALL])
        model.run()
        if not new:
            bound = model.getInfo().objective_function_value
            break
        price = np.array(model.getSolution().row_dual)
    else:
        # no more than n / K classes can be chosen
        bound = price.sum() - labels.best_classes(price)[1].max() * (n // K)
    return bound / n / len(QUASI)


def solve_exactly(labels: Labels, n: int, bound: float, seconds: float) -> dict[str, float]:
    """A better bound and a release: which labels are used, and which row has which."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    label, row = np.nonzero(labels.covers)
    n_labels, pairs = len(labels.cost), len(label)
    for i in range(pairs):
        model.addCol(
            float(labels.cost[label[i]]), 0.0, 1.0, 0, np.array([], np.int32), np.array([])
        )
    for _ in range(n_labels):
        model.addCol(0.0, 0.0, 1.0, 0, np.array([], np.int32), np.array([]))
    for i in range(n):
        its = np.flatnonzero(row == i).astype(np.int32)
        model.addRow(1.0, 1.0, len(its), its, np.ones(len(its)))
    for i in range(n_labels):
        its = np.append(np.flatnonzero(label == i), pairs + i).astype(np.int32)
        weight = np.append(np.ones(len(its) - 1), -float(K))
        model.addRow(0.0, highspy.kHighsInf, len(its), its, weight)
    for i in range(pairs):
        both = np.array([i, pairs + label[i]], np.int32)
        model.addRow(-highspy.kHighsInf, 0.0, 2, both, np.array([1.0, -1.0]))
    for i in range(n_labels):
        model.changeColIntegrality(pairs + i, highspy.HighsVarType.kInteger)
    model.setOptionValue("time_limit", seconds)
    model.setOptionValue("mip_rel_gap", 1e-3)
    model.run()
    info, size = model.getInfo(), n * len(QUASI)
    return {
        "bound": max(bound, info.mip_dual_bound / size),
        "integer_program": info.objective_function_value / size,
    }


def loss_of(block: pd.DataFrame, release: pd.DataFrame, folder: Path) -> float:
    """Mean NCP of the published text."""
    sizes = release.groupby(QUASI).size()
    assert sizes.min() >= K, "a published class is too small"
    assert len(release) == len(block), "rows are missing"
    total = 0.0
    for name in QUASI:
        lines = (folder / f"adult_hierarchy_{name}.csv").read_text().splitlines()
        under: dict[str, int] = {}
        for line in lines:
            for node in set(line.split(";")):
                under[node] = under.get(node, 0) + 1
        losses = {node: 0.0 if rows == 1 else rows / len(lines) for node, rows in under.items()}
        total += float(release[name].astype(str).map(losses).sum())
    return total / len(block) / len(QUASI)


def blocks(adult: pd.DataFrame, rows: int, number: int) -> list[tuple[str, pd.DataFrame]]:
    """Neighbours in an order of the columns, and rows drawn at random."""
    rng, found = np.random.default_rng(1), []
    for _ in range(number):
        order = [QUASI[j] for j in rng.permutation(len(QUASI))]
        begin = int(rng.integers(0, len(adult) - rows))
        found.append(("neighbours", adult.sort_values(order).iloc[begin : begin + rows]))
        found.append(("drawn", adult.iloc[rng.permutation(len(adult))[:rows]]))
    return [(kind, block[QUASI].reset_index(drop=True)) for kind, block in found]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=200)
    asked.add_argument("--blocks", type=int, default=3, help="of each kind")
    asked.add_argument("--rounds", type=int, default=200, help="of column generation, at most")
    asked.add_argument("--seconds", type=float, default=60.0, help="of each integer program")
    asked.add_argument("--output", type=Path, default=HERE / "results" / "oracle.json")
    given = asked.parse_args()
    if "SHOAL_ADULT" not in os.environ:
        sys.exit("Adult is not there: set SHOAL_ADULT to the folder that holds adult.csv.")
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    folder = Path(os.environ["SHOAL_ADULT"])
    adult = pd.read_csv(folder / "adult.csv", sep=";")
    policy, _ = adult_policy(folder, "trees", QUASI, K)
    found = []
    for kind, block in blocks(adult, given.rows, given.blocks):
        began = time.process_time()
        labels = Labels(block, folder)
        one: dict[str, Any] = {"rows": given.rows, "kind": kind, "labels": len(labels.cost)}
        relaxed = solve_relaxed(labels, len(block), given.rounds)
        one["relaxation"] = round(relaxed, 5)
        if labels.covers.sum() <= MOST_PAIRS:
            exact = solve_exactly(labels, len(block), relaxed, given.seconds)
            one |= {name: round(value, 5) for name, value in exact.items()}
        else:
            one |= {"bound": one["relaxation"], "integer_program": None}
        one["cpu_seconds"] = round(time.process_time() - began, 1)
        one["releases"] = {}
        for name, keys in RUNS.items():
            release = shoal.anonymize(block, policy | keys)
            lost = loss_of(block, release.table, folder)
            over = round(lost / one["bound"] - 1, 4)
            one["releases"][name] = {"mean_ncp": round(lost, 5), "over_the_bound": over}
        found.append(one)
        print(json.dumps(one), flush=True)
    gaps = {
        name: round(float(np.mean([b["releases"][name]["over_the_bound"] for b in found])), 4)
        for name in RUNS
    }
    result = {
        "date": date.today().isoformat(),
        "k": K,
        "mean_over_the_bound": gaps,
        "blocks": found,
    }
    print(result["mean_over_the_bound"])
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
