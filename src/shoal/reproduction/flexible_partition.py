"""The rounded ("flexible") partition beside Mondrian and bottom-up, on Adult."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.cells.cells import Cells
from shoal.cells.spans import spans_of
from shoal.cells.table import How, codes_in_order, encode
from shoal.methods import flexible_partition as rounded
from shoal.methods.base import Method
from shoal.methods.bottom_up import BottomUp
from shoal.methods.mondrian import Mondrian
from shoal.metrics.base import Parts
from shoal.metrics.cm import Cm
from shoal.metrics.dm import Dm
from shoal.models.k import K
from shoal.models.requirement import Requirement
from shoal.reproduction._adult import TRAINING_ROWS
from shoal.reproduction._clock import timed
from shoal.reproduction._flexible_claims import judged
from shoal.reproduction._flexible_figures import figures
from shoal.reproduction._flexible_found import BOTTOM_UP, OURS, RELAXED, STRICT, WIDEST, Found, Of
from shoal.reproduction.base import Progress, Result

if TYPE_CHECKING:
    import pyarrow as pa

QUASI = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
CLASS = "salary-class"
METHODS: dict[str, Method] = {
    OURS: rounded.FlexiblePartition(),
    WIDEST: rounded.FlexiblePartition("widest"),
    STRICT: Mondrian(),
    RELAXED: Mondrian(strict=False),
    BOTTOM_UP: BottomUp(),
}
SLOW = {BOTTOM_UP}
"""Those that run once for each k: their time grows with the square of the rows."""


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int
    ks: tuple[int, ...]
    repeats: int


FULL = Sizes(TRAINING_ROWS, (2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50), 7)
QUICK = Sizes(6_007, (2, 5, 10, 25, 50), 3)


class FlexiblePartition:
    """Groups, DM, CM and time against k, for the rounded partition and the three beside it."""

    title = "Rounded partition: no more rows in a group than there must be"
    source = (
        "The paper that introduces k-anonymity by a rounded partition function "
        "(“flexible partition”), Theorems 1 and 2 and Fig. 5"
    )
    uses_adult = True
    minutes = 3.0

    def run(self, adult: "pa.Table | None", quick: bool, progress: Progress) -> Result:
        """Run the paper's experiments on Adult, or on a table like it."""
        assert adult is not None
        return self.run_on(adult, QUICK if quick else FULL, progress)

    def run_on(self, adult: "pa.Table", sizes: Sizes, progress: Progress) -> Result:
        """Run them on so much."""
        cells = _cells(adult.slice(0, sizes.rows))
        for method in METHODS.values():  # compiles
            _measured(_cells(adult.slice(0, 200)), method, 5, 1)
        found = Found(cells.n_rows, sizes.ks)
        points = [(name, k) for k in sizes.ks for name in METHODS]
        for i, (name, k) in enumerate(points):
            progress(f"k = {k}", i / len(points))
            repeats = 1 if name in SLOW else sizes.repeats
            found.of[name, k] = _measured(cells, METHODS[name], k, repeats)
        return Result(judged(found), figures(found), _notes(cells.n_rows, sizes))


def _notes(rows: int, sizes: Sizes) -> tuple[str, ...]:
    return (
        f"{rows:,} rows, the first complete ones; 8 quasi-identifiers, ages as ranges, all else as "
        "sets of values; the class for CM is the salary.",
        "Which values of k the paper took is not known to us, since the axes of its figures are lost; "
        "these are ours.",
        "The paper lets a cut lie along any column. Ours takes the one that loses least; "
        f"“{WIDEST}” takes the widest, as Mondrian does. Claims are judged on the first.",
        "Groups are those formed: some may get the same label and are then one class in the release.",
        f"Time is that of the processor, over all threads, without reading and writing, the fastest "
        f"of {sizes.repeats} runs; {BOTTOM_UP} runs once for each k.",
    )


def _cells(table: "pa.Table") -> Cells:
    quasi = {name: How(kind="ordered" if name == "age" else "unordered") for name in QUASI}
    columns = {name: table[name].combine_chunks() for name in (*QUASI, CLASS)}
    cells = encode(columns.__getitem__, quasi, {}, [CLASS], 0)
    return replace(cells, target=codes_in_order(cells, columns[CLASS]))


def _measured(cells: Cells, method: Method, k: int, repeats: int) -> Of:
    asked = Requirement((K(k),))
    runs = [timed(lambda: method.group(cells, asked, 0, lambda _: None)) for _ in range(repeats)]
    groupings = runs[0][0]
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    nothing = np.zeros(cells.n_rows, np.bool_)
    parts = Parts(cells, groupings, spans, 0, nothing, cells.target)
    cm, dm = Cm().measure(parts), Dm().measure(parts)
    assert cm is not None
    assert dm is not None
    return Of(
        groups=len(parts.sizes),
        largest=int(parts.sizes.max()),
        dm=dm,
        cm=cm,
        seconds=min(seconds for _, seconds in runs),
    )
