"""The label of every group in every column.

Labels are `[a~b]` (a range), `{a, b}` (a set), `*` (anything) and texts with a `*` (masked). A raw
value that could be taken for a label is escaped with a backslash: where it contains a `*` or a
backslash, or begins like a range or a set; inside a set or a range also where it contains what
separates the members there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Spans
from shoal.hierarchy.tree import HierarchyTree
from shoal.kernels.labels import members as sorted_members
from shoal.publish.ranks import number_rows

ANY = "*"
MISSING = "<missing>"
"""How a missing value is written inside a set; on its own it is published as missing."""


MOST_BITS = 64
"""A set of so many values is a number."""
MANY_SETS = 20_000
"""So many sets are sorted by the ranks of their members where these take as many bits at most."""
MOST_RANK_BITS = 512
FEW_PAIRS = 1 << 16
"""Pairs of codes that are flagged in an array; and more for many groups."""


@dataclass(frozen=True)
class Labels:
    """One column's labels."""

    texts: pa.Array
    """(m,) string: the different labels, in their order; null is the missing value."""
    of_group: Codes
    """(g,) which of them each group has."""


def stars(texts: pa.Array) -> Bools:
    """(m,) which of these labels is `*`."""
    found: Bools = pc.fill_null(pc.equal(texts, ANY), False).to_numpy(zero_copy_only=False)
    return found


def labels_of(domain: Domain, spans: Spans, j: int) -> Labels:
    """The labels of the groups in one column, the j-th of the grouping."""
    if domain.kind == Kind.RANGE:
        return _ranges(domain, spans.low[:, j], spans.high[:, j])
    if domain.kind == Kind.SET:
        return _sets(domain, *spans.sets[j])
    return _nodes(domain, spans.low[:, j], spans.levels[:, j])


def _ranges(domain: Domain, low: Codes, high: Codes) -> Labels:
    pairs, of_group = _distinct(low.astype(np.int64) * domain.size + high, domain.size**2)
    first, last = pairs // domain.size, pairs % domain.size
    if domain.interval_ends is None:
        lows = highs = escape_in_range(domain.texts)
        text = _joined("[", lows.take(pa.array(first)), "~", highs.take(pa.array(last)), "]")
        alone = escape_alone(domain.texts)
    else:
        # from the lower end of the first interval to the upper end of the last one
        lows, highs = (_ends(ends, domain) for ends in domain.interval_ends)
        text = _joined(lows.take(pa.array(first)), ", ", highs.take(pa.array(last)))
        alone = domain.texts
    text = _where(first == last, alone.take(pa.array(first)), text)
    if domain.missing >= 0:
        text = _where((last == domain.missing) & (first < last), ANY, text)
    return _merged(text, of_group)


def _distinct(keys: Ints, size: int) -> tuple[Ints, npt.NDArray[np.integer]]:
    """The different keys, ascending, and (n,) the place of each; all are below `size`."""
    if size > max(FEW_PAIRS, len(keys)):
        found, place = np.unique(keys, return_inverse=True)
        return found, place
    used = np.zeros(size, np.bool_)
    used[keys] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[keys]


def _sets(domain: Domain, starts: Ints, codes: Codes) -> Labels:
    """Members in the order of their text, whatever the order of their codes."""
    by_text = pc.sort_indices(domain.texts).to_numpy()
    rank = np.empty(domain.size, np.int32)
    rank[by_text] = np.arange(domain.size, dtype=np.int32)
    texts = domain.texts.take(pa.array(by_text))
    of_set: Codes | None = None
    if domain.size <= MOST_BITS:
        starts, codes, of_set = _once(starts, codes)
    ranks = codes
    if (rank[1:] < rank[:-1]).any():
        _, ranks = sorted_members(rank, codes, starts, domain.size)
    found = _by_ranks(texts, starts, ranks) or _by_text(texts, starts, ranks)
    return found if of_set is None else Labels(found.texts, found.of_group[of_set])


def _by_text(texts: pa.Array, starts: Ints, ranks: Codes) -> Labels:
    """The labels of sets, sorted by comparing their texts; ranks: members, as places in `texts`."""
    joined = _set_texts(escape_in_set(texts), starts, ranks)
    single = np.diff(starts) == 1
    alone = escape_alone(texts).take(pa.array(ranks[starts[:-1]]))
    encoded = _where(single, alone, joined).dictionary_encode("encode")
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    of_group = place[encoded.indices.to_numpy(zero_copy_only=False)]
    return Labels(encoded.dictionary.take(pa.array(order)), of_group)


def _by_ranks(texts: pa.Array, starts: Ints, ranks: Codes) -> Labels | None:
    """The same, of many sets, without making a text of each; None where that would not be faster, or
    where the order of the labels does not follow from that of their members: one begins like another.
    """
    sizes = np.diff(starts)
    longest, bits = int(sizes.max(initial=0)), len(texts).bit_length()
    if len(sizes) < max(MANY_SETS, len(texts)) or longest * bits > MOST_RANK_BITS:
        return None
    inside = escape_in_set(texts)
    in_order = pc.sort_indices(inside)
    if _one_begins_another(inside.take(in_order).to_pylist()):
        return None
    place = np.empty(len(texts), np.int32)
    place[in_order.to_numpy()] = np.arange(len(texts), dtype=np.int32)
    several = np.flatnonzero(sizes > 1)
    # what ends a set, }, comes after the comma that goes on with it: after every member
    columns = [np.full(len(several), len(texts), np.int32) for _ in range(longest)]
    for i, column in enumerate(columns):
        has = sizes[several] > i
        column[has] = place[ranks[starts[several[has]] + i]]
    of_several, n_sets = np.zeros(0, np.int32), 0
    if len(several):
        of_several, n_sets = number_rows(columns, [len(texts) + 1] * longest)
    one = np.empty(n_sets, np.int64)
    one[of_several] = several
    joined = _set_texts(inside, *_chosen(starts, ranks, one))
    # a value alone has no braces; one that begins with a brace is escaped
    used, of_single = _distinct(ranks[starts[:-1]][sizes == 1].astype(np.int64), len(texts))
    alone = escape_alone(texts).take(pa.array(used))
    by_text = pc.sort_indices(alone).to_numpy()
    before = int(pc.sum(pc.less(alone, "{")).as_py() or 0)
    of_used = np.empty(len(used), np.int32)
    of_used[by_text] = np.arange(len(used)) + np.where(np.arange(len(used)) < before, 0, n_sets)
    alone = alone.take(pa.array(by_text))
    of_group = np.empty(len(sizes), np.int32)
    of_group[several] = of_several + before
    of_group[sizes == 1] = of_used[of_single]
    return Labels(pa.concat_arrays([alone[:before], joined, alone[before:]]), of_group)


def _one_begins_another(texts: list[str]) -> bool:
    """Whether one of some sorted texts begins like another one that is longer."""
    return any(longer.startswith(text) for text, longer in pairwise(texts))


def _set_texts(inside: pa.Array, starts: Ints, ranks: Codes) -> pa.Array:
    """The texts of sets of members; inside: how each member is written in a set."""
    members = inside.take(pa.array(ranks))
    lists = pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), members)
    return _joined("{", pc.binary_join(lists, ", "), "}")


def _chosen(starts: Ints, codes: Codes, which: Ints) -> tuple[Ints, Codes]:
    """Some of the sets, one after the other: where each begins, and their members."""
    sizes = np.diff(starts)[which]
    ends = np.cumsum(sizes)
    places = np.arange(int(sizes.sum())) + np.repeat(starts[which] - ends + sizes, sizes)
    return np.append(0, ends), codes[places]


def _once(starts: Ints, codes: Codes) -> tuple[Ints, Codes, Codes]:
    """Every different set once, and (g,) which of them each group has; codes are below MOST_BITS."""
    bits = np.uint64(1) << codes.astype(np.uint64)
    encoded = pa.array(np.bitwise_or.reduceat(bits, starts[:-1])).dictionary_encode()
    of_set = encoded.indices.to_numpy(zero_copy_only=False)
    first = np.empty(len(encoded.dictionary), np.int64)
    first[of_set[::-1]] = np.arange(len(of_set) - 1, -1, -1)
    return *_chosen(starts, codes, first), of_set


def _nodes(domain: Domain, low: Codes, levels: Codes) -> Labels:
    """Node texts, in depth-first order; a leaf comes before the nodes above it."""
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
    # below the root the missing value is alone, and is published as missing
    gone = (leaf == domain.missing) & (level < tree.height)
    return _merged(_where(gone, None, texts), of_group)


def leaf_texts(domain: Domain, tree: HierarchyTree, leaf: Ints) -> pa.Array:
    """How these leaves are published: escaped also where a node over several leaves has their text."""
    texts = escape_alone(domain.texts.take(pa.array(leaf)))
    taken = [pa.array([], pa.string())]
    for level in range(1, tree.height + 1):
        several = np.flatnonzero(np.bincount(tree.nodes[level]) > 1)
        taken.append(tree.texts(np.full(len(several), level), several))
    marked = _joined("\\", texts)
    return pc.if_else(pc.is_in(texts, pa.concat_arrays(taken), skip_nulls=True), marked, texts)


def _merged(texts: pa.Array, of_group: npt.NDArray[np.integer]) -> Labels:
    """Equal labels are one: two ranges with missing values, or a node and the one above it, may have
    the same text."""
    encoded = texts.dictionary_encode("encode")
    places = encoded.indices.to_numpy(zero_copy_only=False)
    return Labels(encoded.dictionary, places[of_group].astype(np.int32))


def _ends(texts: Sequence[str], domain: Domain) -> pa.Array:
    """(size,) one end of each interval; null for the missing value."""
    return pa.array([*texts, *[None] * (domain.size - len(texts))], pa.string())


def _joined(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


def _where(flags: Bools, this: pa.Array | str | None, other: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(flags), this, other)


def escape_alone(raw: pa.Array) -> pa.Array:
    """Raw texts as published alone in a cell."""
    escaped = pc.replace_substring_regex(raw, r"([\\*])", r"\\\1")
    return pc.replace_substring_regex(escaped, r"^([\[{])", r"\\\1")


def escape_in_set(raw: pa.Array) -> pa.Array:
    """Raw texts as members of a set; null becomes MISSING."""
    escaped = pc.replace_substring_regex(raw, r"([\\*,{}])", r"\\\1")
    escaped = pc.replace_substring_regex(escaped, r"^([\[<])", r"\\\1")
    return pc.fill_null(escaped, MISSING)


def escape_in_range(raw: pa.Array) -> pa.Array:
    """Raw texts as ends of a range."""
    escaped = pc.replace_substring_regex(raw, r"([\\*~\]])", r"\\\1")
    return pc.replace_substring_regex(escaped, r"^([\[{])", r"\\\1")
