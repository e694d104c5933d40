"""The two methods of the L-clustering paper at every setting it looks at."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.reproduction._adult_trees import HIERARCHIES
from shoal.reproduction._stopwatch import Stopwatch
from shoal.reproduction.base import Progress

ORDER = (
    "age",
    "sex",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "salary-class",
)
"""The paper's quasi-identifiers are the first so many of these."""
SENSITIVE = "occupation"
OURS, THEIRS = "l-clustering", "incognito"
NAMES = {OURS: "L-clustering", THEIRS: "L-incognito"}


@dataclass(frozen=True)
class Sizes:
    """How much is run; as it stands, what the paper runs."""

    rows: int | None = None
    """Of the table; None for all."""
    quasi: tuple[int, ...] = (2, 5, 8)
    """Numbers of quasi-identifiers of the figures against l."""
    every_quasi: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8)
    some_l: tuple[int, ...] = (2, 7, 12)
    """Values of l of the figures against quasi-identifiers."""
    every_l: tuple[int, ...] = tuple(range(2, 14))
    repeats: int = 20
    repeated: tuple[int, int] = (5, 7)
    """Quasi-identifiers and l that stay while the other changes from one line to the next."""
    growing: tuple[int, ...] = tuple(range(10_000, 40_001, 5_000))
    """Rows of the figures against rows, as far as there are so many."""
    growing_at: tuple[tuple[int, int], ...] = ((3, 5), (3, 10), (8, 5), (8, 10))
    """Their quasi-identifiers and l."""
    times: int = 3
    """How often a time is taken; the least counts."""


QUICK = Sizes(
    rows=10_000,
    every_quasi=(2, 4, 5, 6, 8),
    every_l=(2, 4, 6, 7, 8, 10, 12),
    repeats=5,
    growing=(4_000, 7_000, 10_000),
    times=1,
)


@dataclass(frozen=True)
class Point:
    """One method at one setting."""

    loss: float
    share: float
    """RL: of the loss of one group of all rows."""
    seconds: float


@dataclass(frozen=True)
class Found:
    """Every figure, by method, quasi-identifiers and l, and where they matter rows."""

    sizes: Sizes
    rows: int
    points: dict[tuple[str, int, int], Point]
    repeats: dict[tuple[int, int], tuple[float, ...]]
    """RL of L-clustering, seed by seed, by quasi-identifiers and l."""
    growing: dict[tuple[str, int, int, int], Point]

    def by_l(self, method: str, d: int) -> list[Point]:
        """Along every l."""
        return [self.points[method, d, ell] for ell in self.sizes.every_l]

    def by_quasi(self, method: str, ell: int) -> list[Point]:
        """Along every number of quasi-identifiers."""
        return [self.points[method, d, ell] for d in self.sizes.every_quasi]

    def by_rows(self, method: str, d: int, ell: int) -> list[Point]:
        """Along the rows."""
        return [self.growing[method, d, ell, n] for n in self.sizes.growing]


def measure(table: pa.Table, sizes: Sizes, progress: Progress) -> Found:
    """Run all of it."""
    table = _some(table, sizes.rows or table.num_rows)
    small = {(d, ell) for d in sizes.quasi for ell in sizes.every_l}
    wide = {(d, ell) for d in sizes.every_quasi for ell in sizes.some_l}
    fixed, middle = sizes.repeated
    repeated = {(fixed, ell) for ell in sizes.some_l} | {(d, middle) for d in sizes.quasi}
    work: dict[Any, Any] = {}
    for d, ell in sorted(small | wide):
        for method in NAMES:
            work["point", method, d, ell] = partial(_point, table, method, d, ell, sizes.times)
    for n in sizes.growing:
        part = _some(table, n)
        for d, ell in sizes.growing_at:
            for method in NAMES:
                work["rows", method, d, ell, n] = partial(_point, part, method, d, ell, sizes.times)
    for d, ell in sorted(repeated):
        for seed in range(sizes.repeats):
            work["repeat", d, ell, seed] = partial(_point, table, OURS, d, ell, 1, seed)
    for method in NAMES:  # the first run compiles
        _point(_some(table, 500), method, 3, 2, 1)
    done: dict[Any, Point] = {}
    for at, (key, run) in enumerate(work.items()):
        progress("run", at / len(work))
        done[key] = run()
    return Found(
        sizes,
        table.num_rows,
        {key[1:]: point for key, point in done.items() if key[0] == "point"},
        {
            (d, ell): tuple(done["repeat", d, ell, seed].share for seed in range(sizes.repeats))
            for d, ell in sorted(repeated)
        },
        {key[1:]: point for key, point in done.items() if key[0] == "rows"},
    )


def _some(table: pa.Table, rows: int) -> pa.Table:
    """So many of the rows, drawn at random; fewer are part of more."""
    if rows >= table.num_rows:
        return table
    drawn = np.random.default_rng(0).permutation(table.num_rows)[:rows]
    return table.take(pa.array(np.sort(drawn)))


def _point(
    table: pa.Table,
    method: str,
    d: int,
    ell: int,
    times: int,
    seed: int = 0,
) -> Point:
    from shoal.pipeline.run import anonymize

    asked = _policy(method, d, ell) | {"seed": seed}
    taken = []
    for _ in range(times):
        watch = Stopwatch()
        release = anonymize(table, asked, progress=watch)
        taken.append(watch.seconds["group"])
    loss, share = release.metrics["loss"], release.metrics["relative-loss"]
    assert loss is not None
    return Point(loss, share or 0.0, min(taken))


def _policy(method: str, d: int, ell: int) -> dict[str, Any]:
    """L-clustering with a range of ages and sets of all else, Incognito with our trees."""
    columns: dict[str, Any] = {SENSITIVE: "sensitive"}
    for name in ORDER[:d]:
        kind = {"kind": "ordered" if name == "age" else "unordered"}
        how = kind if method == OURS else {"hierarchy": HIERARCHIES[name]}
        columns[name] = {"role": "quasi", **how}
    chosen = OURS if method == OURS else {"name": THEIRS, "metric": "relative-loss"}
    return {
        "columns": columns,
        "constraints": [{"l": ell, "of": SENSITIVE}],
        "method": chosen,
        "metrics": ["loss", "relative-loss"],
        "default": "drop",
    }
