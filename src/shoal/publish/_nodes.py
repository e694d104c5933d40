"""Labels of a written-out hierarchy: each is the text of a node, or of a leaf as it is published."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.explicit import Tree
from shoal.publish import escape


@dataclass(frozen=True)
class Nodes:
    """What the texts of a hierarchy cover."""

    codes: npt.NDArray[np.int32]
    """(values,) the leaf of each value, or -1."""
    nodes: dict[str, tuple[int, int]]
    """The first and the last leaf under each node's text; of two such nodes one lies in the other."""
    leaves: dict[str, tuple[int, int]]
    """The same for the leaves, as they are published."""
    root: str

    def span(self, label: str) -> tuple[int, int] | None:
        """The first and the last leaf that a label covers; None if it is no node and no leaf."""
        return self.nodes.get(label) or self.leaves.get(label)

    def is_root(self, label: str) -> bool:
        """Whether a label covers the missing value too."""
        return label == self.root


def read_nodes(name: str, values: pa.Array, spec: CsvFile | Tree, folder: Path) -> Nodes:
    """The nodes of a hierarchy, and the leaves of some values."""
    tree, codes = spec.build(values, name, folder)
    nodes: dict[str, tuple[int, int]] = {}
    several: set[str] = set()
    for level in range(1, tree.height + 1):
        first, last = tree.spans(level)
        for text, a, b in zip(tree.labels[level], first.tolist(), last.tolist(), strict=True):
            nodes[text] = (a, b)  # levels rise, so the widest stays
            if b > a:
                several.add(text)
    texts = escape.alone(pa.array(tree.labels[0], pa.string())).to_pylist()
    leaves = {f"\\{t}" if t in several else t: (i, i) for i, t in enumerate(texts)}
    # a node over one leaf is told from another leaf by its text alone; the leaf then stands
    nodes = {text: span for text, span in nodes.items() if text in several or text not in leaves}
    return Nodes(codes, nodes, leaves, tree.labels[-1][0])
