"""Send every row to its part of a table that was cut into very many.

For few parts SQL does it, as a CASE of cases. With more Java does not compile the long program that
Spark makes of it, and with a thousand Spark runs out of memory; a function does not mind.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.engines.large.tree import Tree
from shoal.kernels.walking import walk
from shoal.large.labels import Ints

MANY_PARTS = 32
"""With more parts than this rows are sent by a function."""


@dataclass(frozen=True)
class Walk:
    """Rows of the coded table with the number of their part in `node`, those of no number left out."""

    columns: tuple[str, ...]
    """What makes the canonical order: c0, ..., key, h."""
    cut: tuple[Ints, Ints, Ints, Ints, npt.NDArray[np.int64]]
    """See `kernels.walking`."""
    number: Ints
    """(nodes,) -1 for none."""
    schema: pa.Schema
    """What comes in and goes out."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Send a batch."""
        rows = np.empty((batch.num_rows, len(self.columns)), np.int64)
        for j, name in enumerate(self.columns):
            rows[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        node = self.number[walk(rows, *self.cut)]
        kept = node >= 0
        others = [name for name in self.schema.names if name != "node"]
        found = pa.RecordBatch.from_arrays([batch.column(name) for name in others], names=others)
        if not kept.all():
            found, node = found.filter(pa.array(kept)), node[kept]
        columns = {name: found.column(name) for name in others} | {"node": pa.array(node)}
        arrays = [columns[f.name].cast(f.type) for f in self.schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def walk_of(tree: Tree, numbers: Mapping[int, int], schema: pa.Schema) -> Walk:
    """What sends rows to the numbers of the nodes they lie in."""
    nodes = 2 * len(tree.cuts) + 1
    column, code, below, last = (np.full(nodes, -1, np.int64) for _ in range(4))
    lasts: list[tuple[int, ...]] = []
    for node, (cut, low, high) in tree.cuts.items():
        assert high == low + 1
        column[node], code[node], below[node] = cut.column, cut.code, low
        if cut.last is not None:
            last[node] = len(lasts)
            lasts.append(cut.last)
    number = np.full(nodes, -1, np.int64)
    for node, value in numbers.items():
        number[node] = value
    names = (*(f"c{j}" for j in range(tree.columns)), "key", "h")
    table = np.array(lasts, np.int64).reshape(len(lasts), len(names))
    return Walk(names, (column, code, below, last, table), number, schema)
