"""Classfly+ beside Datafly, on the synthetic table of its paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.cells.spans import spans_of
from shoal.methods import classfly_plus as family
from shoal.methods.base import Method
from shoal.methods.datafly import Datafly
from shoal.metrics.base import Parts
from shoal.metrics.precision import Precision
from shoal.models.requirement import Requirement
from shoal.reproduction._classfly_claims import judged
from shoal.reproduction._classfly_figures import figures
from shoal.reproduction._classfly_found import Found, Point
from shoal.reproduction._clock import fastest
from shoal.reproduction._synthetic import CONSTRAINTS, cells_of, coded, columns_named
from shoal.reproduction.base import Progress, Result

METHODS: dict[str, Method] = {
    "datafly": Datafly(),
    "naive": family.ClassflyPlus("naive"),
    "complete": family.ClassflyPlus("complete"),
    "partial": family.ClassflyPlus("partial"),
}


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: tuple[int, ...]
    """Of the tables on which precision is compared."""
    fewer_rows: tuple[int, ...]
    """Of those for everything else."""
    constraints: tuple[int, ...]
    tables: int
    """Over which precision is averaged."""
    repeats: int


FULL = Sizes(
    tuple(range(1024, 10241, 1024)), tuple(range(2048, 10241, 2048)), tuple(range(2, 9)), 10, 21
)
QUICK = Sizes((1024, 4096, 7168, 10240), (2048, 6144, 10240), (2, 4, 6, 8), 3, 7)


class ClassflyPlus:
    """Precision and time against rows and constraints, for Datafly and the three of the family."""

    title = "Classfly+: k-anonymity under several constraints"
    source = (
        "Yang et al., k-anonymisation that supports multiple constraints (Classfly+), accepted 2005"
    )
    uses_adult = False
    minutes = 1.0

    def run(self, adult: object, quick: bool, progress: Progress) -> Result:  # noqa: ARG002
        """Run the paper's experiments; the table is made up, as the paper's was."""
        return self.run_on(QUICK if quick else FULL, progress)

    def run_on(self, sizes: Sizes, progress: Progress) -> Result:
        """Run them on so much."""
        found = _measured(sizes, progress)
        return Result(judged(found), figures(found), _notes(sizes))


def _notes(sizes: Sizes) -> tuple[str, ...]:
    return (
        "The paper's table is lost. Ours has its nine uniform attributes; their domains and "
        "hierarchies, on which precision depends, are our own.",
        "Heights climb by 5, 10 and 25 cm, which do not nest; a policy refuses this, so the table "
        "is given to the methods directly.",
        f"Precision is the mean over {sizes.tables} tables of each size. Time is that of the "
        f"processor, without reading and writing, the fastest of {sizes.repeats} runs.",
        "The paper draws its Fig. 4 as bars; with lines, small differences can be seen.",
    )


def _measured(sizes: Sizes, progress: Progress) -> Found:
    every = {(rows, size) for rows in sizes.fewer_rows for size in sizes.constraints}
    precise = sorted(every | {(rows, size) for rows in sizes.rows for size in (2, 4)})
    timed = sorted(every)
    found = Found(sizes.rows, sizes.fewer_rows, sizes.constraints, sizes.tables)
    for i, point in enumerate(precise):
        progress("precision", i / len(precise))
        _add_precision(found, point)
    for i, point in enumerate(timed):
        progress("times", i / len(timed))
        rows, size = point
        cells = _cells(rows, size, 0)
        calls = {
            name: lambda cells=cells, method=method, size=size: _grouped(cells, method, size)
            for name, method in METHODS.items()
        }
        found.seconds[point] = fastest(calls, sizes.repeats)
    return found


def _add_precision(found: Found, point: Point) -> None:
    rows, size = point
    every: dict[str, list[float]] = {name: [] for name in METHODS}
    for seed in range(found.tables):
        cells = _cells(rows, size, seed)
        answers = {name: _grouped(cells, method, size) for name, method in METHODS.items()}
        for name, answer in answers.items():
            every[name].append(_precision(cells, answer))
        found.compared += 1
        found.different += not _same(answers["complete"], answers["partial"])
    found.precision[point] = {name: mean(values) for name, values in every.items()}


def _cells(rows: int, constraints: int, seed: int) -> Cells:
    return cells_of(coded(rows, seed), columns_named(CONSTRAINTS[:constraints]))


def _grouped(cells: Cells, method: Method, constraints: int) -> tuple[Grouping, ...]:
    return method.group(cells, Requirement(CONSTRAINTS[:constraints]), 0, lambda _: None)


def _precision(cells: Cells, groupings: tuple[Grouping, ...]) -> float:
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    nothing = np.zeros(cells.n_rows, np.bool_)
    found = Precision().measure(Parts(cells, groupings, spans, 0, nothing, None))
    assert found is not None
    return found


def _same(one: Sequence[Grouping], other: Sequence[Grouping]) -> bool:
    """Whether two answers publish the same table, cell for cell."""
    return all(
        np.array_equal(_levels(a), _levels(b)) and a.columns == b.columns
        for a, b in zip(one, other, strict=True)
    )


def _levels(grouping: Grouping) -> np.ndarray:
    """(rows, columns) the level of each cell, -1 where it is suppressed."""
    assert grouping.levels is not None
    hidden = grouping.group < 0
    return np.where(hidden[:, None], -1, grouping.levels[grouping.group])
