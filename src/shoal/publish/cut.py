"""A cut of a column: one set of labels for the whole table, which never overlap.

A cut puts every value of a column into one block, and every block has one label: a whole interval of
numbers or days, a set of values, a node of a hierarchy. Rows of one group are always in one block.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Grouping, Spans
from shoal.publish.label_parser import NUMBER
from shoal.publish.labels import ANY, Labels, labels_of
from shoal.publish.scale import Scale, Whole


@dataclass(frozen=True)
class Interval:
    """The numbers or dates under a label, in the units of the column's scale."""

    low: int
    end: int
    """Where the next interval may begin: the first place beyond it."""


@dataclass(frozen=True)
class Cut:
    """The blocks of a column."""

    block: Codes
    """(size,) the block of each code; blocks are numbered by their first code."""
    texts: pa.Array
    """(blocks,) string: the label of each; null for the missing value."""
    levels: Codes | None = None
    """TREE only. (size,) the level of the label of each code."""
    intervals: tuple[Interval | None, ...] = ()
    """Where the blocks are intervals of numbers or dates: each of them, None for the missing value."""
    widths: Floats | None = None
    """(blocks,) the width of each interval over that of the column."""

    @property
    def n_blocks(self) -> int:
        """Number of labels."""
        return len(self.texts)


Cuts = Mapping[str, Cut]
"""The cuts of columns with uniform labels, by name."""


def whole_cut(domain: Domain) -> Cut:
    """Everything under `*`."""
    levels = None
    if domain.hierarchy is not None:
        levels = np.full(domain.size, domain.hierarchy.height, np.int32)
        text = domain.hierarchy.labels[-1][0]
        return Cut(np.zeros(domain.size, np.int32), pa.array([text]), levels)
    return Cut(np.zeros(domain.size, np.int32), pa.array([ANY]), levels, widths=np.ones(1))


def interval_cut(domain: Domain, scale: Scale, intervals: list[Interval], block: Ints) -> Cut:
    """Blocks of numbers or days, given the block of each known value; the missing one is alone."""
    known = scale.counts(domain.texts.drop_null().to_pylist())
    texts: list[str | None] = [interval_text(scale, one) for one in intervals]
    span = max(1, int(known.max()) - int(known.min()))
    widths = [min(1.0, (one.end - one.low - scale.least) / span) for one in intervals]
    found: list[Interval | None] = [*intervals]
    if domain.missing >= 0:
        block = np.append(block, len(texts))
        texts, found, widths = [*texts, None], [*found, None], [*widths, 0.0]
    return Cut(
        block.astype(np.int32),
        pa.array(texts, pa.string()),
        intervals=tuple(found),
        widths=np.array(widths),
    )


def interval_text(scale: Scale, one: Interval) -> str:
    """`[20~29]` where values are whole numbers of a unit, `[20-30)` where they are decimals; the value
    itself where there is but one."""
    last = one.end - scale.least
    if last == one.low:
        return scale.write(one.low)
    if scale.is_discrete:
        return f"[{scale.write(one.low)}~{scale.write(last)}]"
    assert scale.sort == NUMBER
    return f"[{scale.write(one.low)}-{scale.write(one.end)})"


def cut_of_codes(domain: Domain, block: Ints) -> Cut:
    """Blocks of codes: of an ordered list, or of values without an order."""
    n = int(block.max()) + 1
    spans = _spans_of_blocks(domain, block.astype(np.int32), n)
    labels = labels_of(domain, spans, 0)
    return Cut(block.astype(np.int32), labels.texts.take(pa.array(labels.of_group)))


def cut_of_levels(domain: Domain, levels: Codes) -> Cut:
    """The nodes of a hierarchy at these levels, one of each code."""
    tree = domain.hierarchy
    assert tree is not None
    node = tree.nodes[levels, np.arange(domain.size)]
    keys = levels.astype(np.int64) << 32 | node
    _, first, block = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    block, first = rank[block.reshape(-1)], first[order]
    low = first.astype(np.int32)[:, None]
    spans = Spans(np.ones(len(first), np.int64), low, low, levels[first][:, None], {})
    labels = labels_of(domain, spans, 0)
    return Cut(block, labels.texts.take(pa.array(labels.of_group)), levels)


def _spans_of_blocks(domain: Domain, block: Codes, n: int) -> Spans:
    order = np.argsort(block, kind="stable").astype(np.int32)
    starts = np.searchsorted(block[order], np.arange(n + 1)).astype(np.int64)
    low, high = order[starts[:-1]][:, None], order[starts[1:] - 1][:, None]
    sets = {0: (starts, order)} if domain.kind == Kind.SET else {}
    return Spans(np.ones(n, np.int64), low, high, np.zeros((n, 1), np.int32), sets)


def under_cuts(domains: tuple[Domain, ...], grouping: Grouping, spans: Spans, cuts: Cuts) -> Spans:
    """The spans of groups whose labels in some columns are those of a cut: all values of the block."""
    low, high, levels = spans.low.copy(), spans.high.copy(), spans.levels.copy()
    sets, least = dict(spans.sets), dict(spans.least)
    for j, column in enumerate(grouping.columns):
        domain, cut = domains[column], cuts.get(domains[column].name)
        if cut is None:
            continue
        mine = cut.block[low[:, j]]
        if cut.levels is not None:
            levels[:, j] = cut.levels[low[:, j]]
            continue
        every = _spans_of_blocks(domain, cut.block, cut.n_blocks)
        low[:, j], high[:, j] = every.low[mine, 0], every.high[mine, 0]
        if cut.widths is not None:
            least[j] = cut.widths[mine]
        if domain.kind == Kind.SET:
            starts, members = every.sets[0]
            sizes = np.diff(starts)[mine]
            begins = np.append(0, np.cumsum(sizes)).astype(np.int64)
            offset = np.repeat(starts[:-1][mine] - begins[:-1], sizes)
            sets[j] = begins, members[np.arange(begins[-1]) + offset]
    return replace(spans, low=low, high=high, levels=levels, sets=sets, least=least)


def cut_labels(cut: Cut, low: Codes) -> Labels:
    """The labels of groups, given any code of each."""
    return Labels(cut.texts, cut.block[low])


def merged_bins(bins: Whole, rows: Ints, least: int, ends: int) -> Ints:
    """(values,) the block of ascending values: their bins, neighbours merged until a block has so many
    rows, the first and the last one until it has `ends`."""
    begins = np.append(True, bins[1:] != bins[:-1]).astype(np.bool_)
    bin_of = np.cumsum(begins) - 1
    many = np.bincount(bin_of, rows).astype(np.int64)
    first = int(np.searchsorted(np.cumsum(many), ends)) + 1
    last = len(many) - 1 - int(np.searchsorted(np.cumsum(many[::-1]), ends))
    found = np.zeros(len(many), np.int64)
    if first > last:
        return found[bin_of]
    block, summed = 1, 0
    for i in range(first, last):
        found[i] = block
        summed += int(many[i])
        if summed >= least:
            block, summed = block + 1, 0
    if summed or (found[:last] == block).any():  # what is left before the last block
        found[:last][found[:last] == block] = block - 1
    found[last:] = block
    return found[bin_of]
