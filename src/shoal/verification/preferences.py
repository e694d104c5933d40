"""Verifying sensitive values that personal preferences published as wider ones.

Every raised value must follow from the original and the preference. Nothing here relies on what made
the release: published texts are looked up in the hierarchy that the policy gives.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Codes, Ints
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.counts import Counts, RaisedCounts
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.missing import is_missing
from shoal.encoding.spelling import fold
from shoal.errors import HierarchyError, VerificationFailed
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import HierarchyTree

STAR = "*"
Node = tuple[int, int]
"""Level of the tree, 0 being the leaves, and number on it."""


def tree_of(how: ColumnSpec, name: str, folder: Path) -> Domain:
    """The column's domain as the policy alone gives it."""
    assert how.hierarchy is not None
    assert how.levels is not None
    if not how.exact_spelling and len({fold(value) for value in how.levels}) < len(how.levels):
        raise HierarchyError(
            f"Column '{name}': its `levels` list several spellings of one value, and with a "
            "`preference` every value needs one spelling. Keep one, or write `spelling: exact`."
        )
    tree, _ = how.hierarchy.build(pa.array(list(how.levels), pa.string()), name, folder)
    levels = np.array([how.levels.get(leaf, 0) for leaf in tree.labels[0]], np.int32)
    texts = pa.array(tree.labels[0], pa.string())
    return Domain(name, Kind.TREE, texts, -1, hierarchy=tree, levels=levels)


def leaf_text(tree: HierarchyTree, leaf: int) -> str:
    """How a value is published that is not raised."""
    text = re.sub(r"([\\*])", r"\\\1", tree.labels[0][leaf])
    text = re.sub(r"^([\[{])", r"\\\1", text)
    wide = {
        label
        for level in range(1, tree.height + 1)
        for node, label in enumerate(tree.labels[level])
        if len(under(tree, (level, node))) > 1
    }
    return "\\" + text if text in wide else text


def node_text(tree: HierarchyTree, node: Node) -> str:
    """How a value is published that is raised to a node."""
    leaves, label = under(tree, node), tree.labels[node[0]][node[1]]
    alone = len(leaves) == 1 and tree.labels[0][leaves[0]] == label
    return leaf_text(tree, int(leaves[0])) if alone else label


def under(tree: HierarchyTree, node: Node) -> npt.NDArray[np.intp]:
    """The leaves under a node."""
    return np.flatnonzero(tree.nodes[node[0]] == node[1])


def effective(domain: Domain, node: Node) -> npt.NDArray[np.intp]:
    """The leaves that a value raised to a node may be.

    The rule raises a value only above its own level, and everybody may know the rule: a leaf that is
    as sensitive as the node is high was never raised to it.
    """
    assert domain.hierarchy is not None
    assert domain.levels is not None
    leaves = under(domain.hierarchy, node)
    own = domain.levels[leaves]
    left = leaves[(own > 0) & (own <= node[0])]
    return left if len(left) else leaves


def texts_of_tree(tree: HierarchyTree) -> dict[str, Node]:
    """What each published text stands for; of nodes that read the same, the widest."""
    known = {leaf_text(tree, leaf): (0, leaf) for leaf in range(tree.n_leaves)}
    leaves = set(known)
    for level in range(1, tree.height + 1):
        for node in range(len(tree.labels[level])):
            text = node_text(tree, (level, node))
            if text not in leaves:
                known[text] = (level, node)
    return known


def at_worst(counts: Counts, how: ColumnSpec, folder: Path) -> Counts:
    """The histograms of a release alone: what a raised label hides is taken at its worst."""
    assert counts.domain is not None
    domain = tree_of(how, counts.domain.name, folder)
    assert domain.hierarchy is not None
    assert domain.levels is not None
    known = texts_of_tree(domain.hierarchy)
    texts = counts.domain.texts.to_pylist()
    nodes = [known.get(text) for text in texts]
    gone = is_missing(counts.domain.texts, how.missing, how.exact_codes, how.reading)
    strange = sum(node is None and not out for node, out in zip(nodes, gone, strict=True))
    if strange:
        raise VerificationFailed(
            f"The release holds {strange:,} different values of {domain.name} that are neither "
            "values nor wider values of the hierarchy in the policy. Is this the policy it was made "
            "by?"
        )
    is_leaf = np.array([node is not None and node[0] == 0 for node in nodes], np.bool_)
    code = np.array([0 if node is None else node[1] for node in nodes], np.int32)
    owner = np.repeat(np.arange(counts.n_groups), np.diff(counts.starts))
    plain = is_leaf[counts.values] if len(nodes) else np.zeros(0, np.bool_)
    values, rows, owners = code[counts.values[plain]], counts.counts[plain], owner[plain]
    order = np.lexsort((values, owners))
    values, rows, owners = values[order], rows[order], owners[order]
    raised = [
        (node, owner[counts.values == i], counts.counts[counts.values == i])
        for i, node in enumerate(nodes)
        if node is not None and node[0] > 0
    ]
    return replace(
        counts,
        starts=np.searchsorted(owners, np.arange(counts.n_groups + 1)).astype(np.int64),
        values=values,
        counts=rows,
        domain=domain,
        totals=np.bincount(values, rows, minlength=domain.size).astype(np.int64),
        raised=_raised(counts.n_groups, domain, owners, values, raised),
    )


def _raised(
    n: int,
    domain: Domain,
    owners: npt.NDArray[np.intp],
    values: Codes,
    raised: list[tuple[Node, npt.NDArray[np.intp], Ints]],
) -> RaisedCounts:
    """A raised label is one value more only where nothing in sight, and no raised label below it,
    may be the same value."""
    assert domain.levels is not None
    by_level = np.zeros((n, int(domain.levels.max(initial=0)) + 1), np.int64)
    more, known = np.zeros(n, np.int64), np.zeros(n, np.int64)
    below: list[tuple[set[int], npt.NDArray[np.intp]]] = []
    for node, groups, rows in sorted(raised, key=lambda one: one[0]):
        leaves = effective(domain, node)
        known[groups] += rows
        for level in np.unique(domain.levels[leaves]):
            by_level[groups, level] += rows
        new = np.zeros(n, np.bool_)
        new[groups] = True
        new[owners[np.isin(values, leaves)]] = False
        for inside, those in below:
            if inside <= set(leaves.tolist()):
                new[those] = False
        more += new
        below.append((set(leaves.tolist()), groups))
    return RaisedCounts(more, by_level, known)


def require_rule(
    domain: Domain, original: pa.Array, preference: pa.Array, published: pa.Array
) -> None:
    """Raise unless each published value is the original, or its ancestor at exactly the preferred level.

    The three are row by row; a starred cell is no value.
    """
    triples = zip(
        text_of(original).to_pylist(),
        text_of(preference).to_pylist(),
        text_of(published).to_pylist(),
        strict=True,
    )
    wrong = sum(
        shown != _expected(domain, own, preferred) for own, preferred, shown in _values(triples)
    )
    if wrong:
        raise VerificationFailed(
            f"{wrong:,} combinations of a value of {domain.name}, the protection asked for and what "
            "was published do not follow the personal rule. Nothing is handed out."
        )


def _values(
    triples: Iterable[tuple[str | None, str | None, str | None]],
) -> set[tuple[str | None, str | None, str | None]]:
    return {(own, preferred, shown) for own, preferred, shown in triples if shown != STAR}


def _expected(domain: Domain, own: str | None, preferred: str | None) -> str | None:
    tree = domain.hierarchy
    assert tree is not None
    assert domain.levels is not None
    if own is None or own in ("", STAR):
        return None
    leaf = tree.labels[0].index(own)
    level = int(float(preferred)) if preferred is not None and preferred.strip() else 0
    if level <= domain.levels[leaf]:
        return leaf_text(tree, leaf)
    return node_text(tree, (level - 1, int(tree.nodes[level - 1, leaf])))
