"""The label of every group in every column: the one place where labels are made."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.domain import Domain, Kind
from shoal.cells.spans import Spans
from shoal.hierarchy.tree import Hierarchy
from shoal.kernels.spans import members as sorted_members
from shoal.publish import escape


@dataclass(frozen=True)
class Labels:
    """One column's labels."""

    texts: pa.Array
    """(m,) string: the different labels, in their order; null is the missing value."""
    of_group: npt.NDArray[np.int32]
    """(g,) which of them each group has."""


def labels_of(domain: Domain, spans: Spans, j: int) -> Labels:
    """The labels of the groups in one column, the j-th of the grouping."""
    if domain.kind == Kind.RANGE:
        return _ranges(domain, spans.low[:, j], spans.high[:, j])
    if domain.kind == Kind.SET:
        return _sets(domain, *spans.sets[j])
    return _nodes(domain, spans.low[:, j], spans.levels[:, j])


def _ranges(domain: Domain, low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> Labels:
    pairs, of_group = np.unique(low.astype(np.int64) << 32 | high, return_inverse=True)
    first, last = pairs >> 32, pairs & 0xFFFFFFFF
    ends = escape.in_range(domain.texts)
    text = pc.binary_join_element_wise(
        "[", ends.take(pa.array(first)), "~", ends.take(pa.array(last)), "]", ""
    )
    text = _where(first == last, escape.alone(domain.texts).take(pa.array(first)), text)
    if domain.missing >= 0:
        text = _where((last == domain.missing) & (first < last), escape.ANY, text)
    return _merged(text, of_group)


def _sets(domain: Domain, starts: npt.NDArray[np.int64], codes: npt.NDArray[np.int32]) -> Labels:
    """Members in the order of their text, whatever the order of their codes."""
    by_text = pc.sort_indices(domain.texts).to_numpy()
    rank = np.empty(domain.size, np.int32)
    rank[by_text] = np.arange(domain.size, dtype=np.int32)
    texts = domain.texts.take(pa.array(by_text))
    _, ranks = sorted_members(rank, codes, starts, domain.size)
    inside = escape.in_set(texts).take(pa.array(ranks))
    lists = pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), inside)
    joined = pc.binary_join_element_wise("{", pc.binary_join(lists, ", "), "}", "")
    single = np.diff(starts) == 1
    alone = escape.alone(texts).take(pa.array(ranks[starts[:-1]]))
    encoded = _where(single, alone, joined).dictionary_encode("encode")
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    of_group = place[encoded.indices.to_numpy(zero_copy_only=False)]
    return Labels(encoded.dictionary.take(pa.array(order)), of_group)


def _nodes(domain: Domain, low: npt.NDArray[np.int32], levels: npt.NDArray[np.int32]) -> Labels:
    """Node texts, in depth-first order; a leaf stands before the nodes above it."""
    tree = domain.hierarchy
    assert tree is not None
    first = low.astype(np.int64)
    for level in np.unique(levels[levels > 0]):
        at = levels == level
        first[at] = tree.spans(level)[0][tree.nodes[level, low[at]]]
    keys, of_group = np.unique(first << 32 | levels, return_inverse=True)
    leaf, level = keys >> 32, keys & 0xFFFFFFFF
    texts = tree.texts(level, tree.nodes[level, leaf])
    # a leaf that stands for itself on higher levels too is published as a leaf
    alone = leaf.copy()
    for each_level in np.unique(level[(level > 0) & (level < tree.height)]):
        at = level == each_level
        alone[at] = tree.spans(each_level)[1][tree.nodes[each_level, leaf[at]]]
    same = pc.fill_null(pc.equal(texts, domain.texts.take(pa.array(leaf))), False)
    whole = (level == 0) | (
        (level < tree.height) & (alone == leaf) & same.to_numpy(zero_copy_only=False)
    )
    texts = _where(whole, leaf_texts(domain, tree, leaf), texts)
    # below the root the missing value is alone, and stays missing
    gone = (leaf == domain.missing) & (level < tree.height)
    return _merged(_where(gone, None, texts), of_group)


def leaf_texts(domain: Domain, tree: Hierarchy, leaf: npt.NDArray[np.int64]) -> pa.Array:
    """How these leaves are published: escaped also where a node over several leaves reads the same."""
    texts = escape.alone(domain.texts.take(pa.array(leaf)))
    taken = [pa.array([], pa.string())]
    for level in range(1, tree.height + 1):
        several = np.flatnonzero(np.bincount(tree.nodes[level]) > 1)
        taken.append(tree.texts(np.full(len(several), level), several))
    marked = pc.binary_join_element_wise("\\", texts, "")
    return pc.if_else(pc.is_in(texts, pa.concat_arrays(taken), skip_nulls=True), marked, texts)


def _merged(texts: pa.Array, of_group: npt.NDArray[np.integer]) -> Labels:
    """Labels that read the same are one: two ranges with missing values, or a node and the one above
    it, may share a text."""
    encoded = texts.dictionary_encode("encode")
    places = encoded.indices.to_numpy(zero_copy_only=False)
    return Labels(encoded.dictionary, places[of_group].astype(np.int32))


def _where(flags: npt.NDArray[np.bool_], this: pa.Array | str | None, other: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(flags), this, other)
