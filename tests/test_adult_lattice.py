"""The full-domain searches on Adult, against a count of every node of the lattice.

Where the table is and how it is laid out: see `test_adult.py`.
"""

import csv
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import shoal
from tests.test_adult import QUASI as WITH_OCCUPATION
from tests.test_adult import folder  # noqa: F401 - a fixture, named again where it is used

QUASI = [*(name for name in WITH_OCCUPATION if name != "occupation"), "salary-class"]
K, L, LIMIT = 5, 3, 30_162 // 20
Node = tuple[int, ...]


class Counted(NamedTuple):
    """What was counted of one node."""

    small: int
    """Rows in classes of fewer than K."""
    plain: int
    """Rows in classes of fewer than K rows or L occupations."""
    dm: int
    """DM of the classes that hold K, the other rows being suppressed."""


def lines(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def paths(where: Path, name: str) -> dict[str, list[str]]:
    """From each value to its labels, lowest first."""
    return {row[0]: row for row in lines(where / f"adult_hierarchy_{name}.csv")}


@pytest.fixture(scope="module")
def lattice(folder: Path) -> dict[Node, Counted]:  # noqa: F811
    """Every node of the eight columns, counted from the rows with nothing of the package."""
    head, *rows = lines(folder / "adult.csv")
    columns = [[row[head.index(name)] for row in rows] for name in QUASI]
    coded = []
    for name, column in zip(QUASI, columns, strict=True):
        above = paths(folder, name)
        height = len(next(iter(above.values())))
        coded.append(
            [numbered([above[value][level] for value in column]) for level in range(height)]
        )
    jobs = numbered([row[head.index("occupation")] for row in rows])
    return {
        node: counted([levels[level] for levels, level in zip(coded, node, strict=True)], jobs)
        for node in product(*(range(len(levels)) for levels in coded))
    }


def numbered(texts: list[str]) -> npt.NDArray[np.int64]:
    return np.unique(texts, return_inverse=True)[1]


def counted(columns: list[npt.NDArray[np.int64]], jobs: npt.NDArray[np.int64]) -> Counted:
    key = np.zeros(len(jobs), np.int64)
    for column in columns:
        key = key * (int(column.max()) + 1) + column
    space = int(np.prod([int(column.max()) + 1 for column in columns]))
    if space > 50_000:
        key = np.unique(key, return_inverse=True)[1]
        space = int(key.max()) + 1
    sizes = np.bincount(key, minlength=space)
    seen = np.zeros(space * 14, np.bool_)
    seen[key * 14 + jobs] = True
    different = seen.reshape(space, 14).sum(axis=1)
    small, plain = sizes < K, (sizes < K) | (different < L)
    gone = int(sizes[small].sum())
    dm = int((sizes[~small] ** 2).sum()) + gone * len(jobs)
    return Counted(gone, int(sizes[plain].sum()), dm)


def release_of(folder: Path, method: Any, diverse: bool = False, **keys: Any) -> shoal.Release:  # noqa: F811
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": str(folder / f"adult_hierarchy_{name}.csv")}
        for name in QUASI
    }
    constraints: list[dict[str, Any]] = [{"k": K}]
    if diverse:
        columns["occupation"] = "sensitive"
        constraints.append({"l": L, "of": "occupation"})
    asked = {"columns": columns, "constraints": constraints, "default": "drop", **keys}
    return shoal.anonymize(folder / "adult.csv", asked, method=method)


def minimal(valid: set[Node]) -> list[Node]:
    """Valid nodes with none below them; in these trees every level nests."""
    below = {n: [(*n[:j], n[j] - 1, *n[j + 1 :]) for j in range(len(n)) if n[j]] for n in valid}
    return sorted(node for node in valid if not any(lower in valid for lower in below[node]))


@pytest.mark.parametrize("limit", [0, LIMIT])
@pytest.mark.parametrize("diverse", [False, True])
def test_all_minimal_nodes(
    folder: Path,  # noqa: F811
    lattice: dict[Node, Counted],
    diverse: bool,
    limit: int,
) -> None:
    valid = {n for n, c in lattice.items() if (c.plain if diverse else c.small) <= limit}
    release = release_of(
        folder, "incognito", diverse, suppression=limit / 30_162 if limit else None
    )
    found = [tuple(node[name] for name in QUASI) for node in release.minimal_nodes]
    print(len(found), "minimal nodes of", len(lattice), release.metrics["mean-ncp"])
    assert found == minimal(valid)


@pytest.mark.parametrize("limit", [0, LIMIT])
def test_the_optimum(folder: Path, lattice: dict[Node, Counted], limit: int) -> None:  # noqa: F811
    valid = [node for node, counts in lattice.items() if counts.small <= limit]
    best = min(valid, key=lambda node: (lattice[node].dm, sum(node), node))
    method = {"name": "optimal", "metric": "dm"}
    release = release_of(folder, method, suppression=limit / 30_162)
    print(release.metrics["dm"], release.suppressed_rows)
    assert release.metrics["dm"] == lattice[best].dm
    assert release.suppressed_rows == lattice[best].small
    levels = [list(release.columns[name].levels) for name in QUASI]
    assert levels == [[level] for level in best]
