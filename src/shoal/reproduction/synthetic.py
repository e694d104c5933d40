"""The synthetic table of the Classfly+ paper: nine uniform attributes and eight constraints.

The paper gives the nine attributes, their types and the constraints, but neither domains nor
hierarchies, on which precision depends. So there are several settings, chosen before any was run: a
first one, and others that change something of it. In the first, heights climb by 5, 10 and 25 cm, which
do not nest (a 10 cm interval may lie in two of 25), so no policy accepts them. Climbing is still well
defined, each value having one interval on every level, so the table is coded here by hand and given to
the methods without a policy.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Codes
from shoal.encoding.cells import Cells, build_cells
from shoal.encoding.domain import Domain, Kind
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.nested import NestedTree
from shoal.hierarchy.tree import HierarchyTree, changes, from_starts
from shoal.models.k import K

DAYS = (date(1990, 1, 1) - date(1950, 1, 1)).days
BIRTHS = [(date(1950, 1, 1) + timedelta(days=day)).isoformat() for day in range(DAYS)]
RACES = [f"race {i}" for i in range(5)]
SCHOOLS = [f"edu {i:02}" for i in range(16)]
EDU_TREE = {
    "*": {
        half: {
            f"{half}.{part}": SCHOOLS[at : at + 4]
            for part, at in enumerate(range(first, first + 8, 4))
        }
        for half, first in (("lower", 0), ("higher", 8))
    }
}
NESTED: dict[str, tuple[Sequence[str | int], Hierarchy]] = {
    "Race": (RACES, NestedTree({"*": RACES})),
    "Birth": (BIRTHS, DateParts(("month", "year", "decade"))),
    "Sex": (["f", "m"], NestedTree({"*": ["f", "m"]})),
    "ZIP": ([f"{z:05}" for z in range(2100, 2200)], Mask("right")),
    "Weight": (range(45, 105), Intervals((5, 10, 20), 45)),
    "Work_Hrs": (range(20, 60), Intervals((5, 10, 20), 20)),
    "Salary": (range(1000, 21000, 100), Intervals((500, 1000, 5000), 1000)),
    "Edu": (SCHOOLS, NestedTree(EDU_TREE)),
}
ZIPS = ([f"{z:05}" for z in range(100_000)], Mask("right"))
BY_YEAR = (BIRTHS, DateParts(("year",)))
SHORT: dict[str, tuple[Sequence[str | int], Hierarchy]] = {
    "Birth": (BIRTHS, DateParts(("year",))),
    "Height": (range(150, 200), Intervals((10,), 150)),
    "Weight": (range(45, 105), Intervals((10,), 45)),
    "Work_Hrs": (range(20, 60), Intervals((10,), 20)),
    "Salary": (range(1000, 21000, 100), Intervals((1000,), 1000)),
}
FIRST = "the first hierarchies"
SETTINGS: dict[str, dict[str, tuple[Sequence[str | int], Hierarchy]]] = {
    FIRST: {},
    "births from day to year": {"Birth": BY_YEAR},
    "all five-digit zip codes": {"ZIP": ZIPS},
    "births to year and five-digit zip codes": {"Birth": BY_YEAR, "ZIP": ZIPS},
    "one level per number or date": SHORT,
}
"""What each setting changes of the first."""
COLUMNS = ("Race", "Birth", "Sex", "ZIP", "Height", "Weight", "Work_Hrs", "Salary", "Edu")
CONSTRAINTS = (
    K(5, ("Race", "Birth", "Sex")),
    K(3, ("Birth", "Sex", "ZIP")),
    K(5, ("Sex", "ZIP")),
    K(3, ("ZIP", "Height")),
    K(6, ("Weight", "Work_Hrs", "Salary")),
    K(3, ("Work_Hrs", "Salary", "Edu")),
    K(4, ("Race", "Birth", "Edu")),
    K(8, ("ZIP", "Weight")),
)


def _heights() -> HierarchyTree:
    """150 to 199 cm by 5, 10 and 25, each counted from 150."""
    values = np.arange(150, 200)
    widths = (5, 10, 25)

    def label(level: int, firsts: npt.NDArray[np.intp]) -> list[str]:
        width = widths[level - 1]
        lows = (values[firsts] - 150) // width * width + 150
        return [f"[{low}-{low + width})" for low in lows.tolist()]

    starts = [changes((values - 150) // width) for width in widths]
    return from_starts([str(v) for v in values], starts, label)


def _domain(name: str, setting: str) -> tuple[Domain, Codes]:
    """The domain of a column and the code of each of its values, in the order of the lists above."""
    change = SETTINGS[setting]
    if name == "Height" and name not in change:
        tree, codes = _heights(), np.arange(50, dtype=np.int32)
    else:
        values, spec = change[name] if name in change else NESTED[name]
        tree, codes = spec.build(pa.array(list(values)), name, Path())
    texts = pa.array(list(tree.labels[0]), pa.string())
    return Domain(name, Kind.TREE, texts, -1, hierarchy=tree), codes


@cache
def domains(setting: str = FIRST) -> dict[str, tuple[Domain, Codes]]:
    """Per column its domain, and the code of each of its values."""
    return {name: _domain(name, setting) for name in COLUMNS}


def columns_named(constraints: Sequence[K]) -> list[str]:
    """The attributes that some constraint names: the quasi-identifiers of a run."""
    named = {name for one in constraints for name in one.on or COLUMNS}
    return [name for name in COLUMNS if name in named]


def coded(rows: int, seed: int, setting: str = FIRST) -> dict[str, Codes]:
    """All nine columns of a table, as codes; every value as likely as any other."""
    random = np.random.default_rng(seed)
    found = {}
    for name in COLUMNS:
        domain, codes = domains(setting)[name]
        found[name] = codes[random.integers(0, domain.size, rows)]
    return found


def cells_of(columns: dict[str, Codes], names: Sequence[str], setting: str = FIRST) -> Cells:
    """The table over some of its columns as the methods take it."""
    return build_cells(
        [(domains(setting)[name][0], columns[name]) for name in names], {}, [], seed=0
    )
