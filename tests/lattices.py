"""Random tables over hierarchies with a sensitive column, and releases of single nodes of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Grouping, spans_of
from shoal.hierarchy.tree import HierarchyTree, with_missing
from shoal.metrics.base import ReleaseView
from shoal.models.base import Model
from shoal.testing import TREE, histograms
from tests import naive_lattice as naive
from tests.coded import coded, trees
from tests.constrained import NAMES, crossing_trees
from tests.models.histograms import Values


@dataclass(frozen=True)
class Table:
    """The same table as the package sees it and as plain lists."""

    cells: Cells
    columns: list[naive.Column]
    rows: list[naive.Row]
    sensitive: Values

    def judge(self, models: Sequence[Model], limit: int) -> naive.Judge:
        """What any models say: classes that fail are dropped until none does."""
        alone = [model for model in models if not model.release_wide]
        over = [model for model in models if model.release_wide]

        def settle(groups: list[naive.Group], asked: Sequence[Model]) -> list[naive.Group] | None:
            kept = groups
            while kept:
                counts = histograms(self._values(kept))
                held = np.ones(len(kept), np.bool_)
                for model in asked:
                    held &= model.holds(counts)
                fewer = [g for g, holds in zip(kept, held, strict=True) if holds]
                if len(fewer) == len(kept):
                    break
                kept = fewer
            gone = len(self.rows) - sum(map(len, kept))
            return kept if kept and gone <= limit else None

        def judge(groups: list[naive.Group]) -> list[naive.Group] | None:
            kept = settle(groups, alone)
            if kept is not None and over:
                counts = histograms(self._values(kept))
                if not all(model.holds_over(counts) for model in over):  # type: ignore[attr-defined]
                    kept = settle(groups, models)
            return kept

        return judge

    def parts(self, node: naive.Node, kept: list[naive.Group]) -> ReleaseView:
        """The release of a node, taken apart."""
        group = np.full(len(self.rows), -1, np.int32)
        for number, members in enumerate(kept):
            group[members] = number
        levels = np.tile(np.array(node, np.int32), (len(kept), 1))
        grouping = Grouping(group, len(kept), tuple(range(len(node))), levels)
        spans = spans_of(self.cells, grouping)
        return ReleaseView(
            self.cells, (grouping,), (spans,), len(kept), group < 0, self.cells.target
        )

    def _values(self, groups: list[naive.Group]) -> list[Values]:
        return [[self.sensitive[i] for i in group] for group in groups]


@st.composite
def flat_trees(draw: st.DrawFn) -> tuple[Domain, naive.Column]:
    """A tree that cannot climb: its leaf is its root."""
    draw(st.none())
    tree = HierarchyTree((("only",),), np.zeros((1, 1), np.int32))
    return Domain("tree", Kind.TREE, pa.array(["only"]), -1, hierarchy=tree), {"nodes": [[0]]}


@st.composite
def gaps(draw: st.DrawFn) -> tuple[Domain, naive.Column]:
    """A tree with a missing value right under its root."""
    domain, _ = draw(trees())
    assert domain.hierarchy is not None
    tree = with_missing(domain.hierarchy)
    texts = pa.array([*domain.texts.to_pylist(), None], pa.string())
    found = Domain("tree", Kind.TREE, texts, domain.size, hierarchy=tree)
    return found, {"nodes": tree.nodes.tolist()}


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 25, max_columns: int = 3) -> Table:
    """Any table over trees, with ties, missing values and levels that need not nest."""
    kind = trees() | crossing_trees() | gaps() | flat_trees()
    pairs = draw(st.lists(kind, min_size=1, max_size=max_columns))
    pairs = [(replace(d, name=NAMES[i]), column) for i, (d, column) in enumerate(pairs)]
    row = st.tuples(*(st.integers(0, domain.size - 1) for domain, _ in pairs))
    pool = draw(st.lists(row, min_size=1, max_size=12))
    rows = sorted(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=max_rows)))
    n = len(rows)
    values = draw(st.lists(st.none() | st.integers(0, 4), min_size=n, max_size=n))
    target = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    labels = tuple(tuple(f"{i}.{x}" for x in sorted(set(r))) for i, r in enumerate(TREE))
    tree = with_missing(HierarchyTree(labels, np.array(TREE, np.int32)))
    texts = pa.array([*map(str, range(7)), None], pa.string())
    cells = replace(
        coded(rows, pairs).cells,
        sensitive={"ill": np.array([7 if v is None else v for v in values], np.int32)},
        sensitive_domains={"ill": Domain("ill", Kind.TREE, texts, 7, hierarchy=tree)},
        target=np.array(target, np.int32),
        population=np.array([(v or 0) % 3 for v in values], np.int64),  # as `counted` has it
    )
    return Table(cells, [column["nodes"] for _, column in pairs], rows, values)
