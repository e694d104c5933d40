"""Personal preferences: where a person prefers more protection, a more general value is published."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Codes, Words
from shoal.encoding.cells import Cells, hash_rows
from shoal.encoding.domain import Domain
from shoal.publish.labels import leaf_texts

Levels = npt.NDArray[np.integer]


def published_texts(domain: Domain) -> list[str | None]:
    """How each node of a column's tree is published: the leaves, then the nodes level by level.

    Leaves are escaped where they could be taken for a more general value; a leaf that stands for
    itself on higher levels too is published as a leaf there.
    """
    tree = domain.hierarchy
    assert tree is not None
    leaves = leaf_texts(domain, tree, np.arange(tree.n_leaves)).to_pylist()
    texts = list(leaves)
    for level in range(1, tree.height + 1):
        first, last = tree.spans(level)
        for node, label in enumerate(tree.labels[level]):
            leaf = int(first[node])
            alone = leaf == last[node] and label == tree.labels[0][leaf]
            texts.append(leaves[leaf] if alone else label)
    return texts


def apply_preferences(cells: Cells, levels: Mapping[str, Levels]) -> dict[str, pa.DictionaryArray]:
    """Per column with preferences, (n_rows,) what is published, in canonical order.

    levels: (n_rows,) the hierarchy level at which each canonical row is published.
    """
    return {
        name: _labels(cells.sensitive_domains[name], cells.sensitive[name], level)
        for name, level in levels.items()
    }


def _labels(domain: Domain, codes: Codes, levels: Levels) -> pa.DictionaryArray:
    tree = domain.hierarchy
    if tree is None:  # every value is missing
        return pa.array([None] * len(codes), pa.string()).dictionary_encode()
    offsets = np.cumsum([0, *(len(level) for level in tree.labels)])
    place = offsets[levels] + tree.nodes[levels, codes]
    texts = published_texts(domain)
    # one number per text: only the text decides the place of a row
    known = sorted({text for text in texts if text is not None})
    number = {text: i for i, text in enumerate(known)}
    of_place = np.array([-1 if text is None else number[text] for text in texts], np.int32)
    index = of_place[place]
    gone = (codes == domain.missing) | (index < 0)
    return pa.DictionaryArray.from_arrays(
        pa.array(np.where(gone, 0, index), mask=gone), pa.array(known, pa.string())
    )


def published_hashes(
    cells: Cells, labels: Mapping[str, pa.DictionaryArray], others: Sequence[pa.Array], seed: int
) -> Words:
    """(n_rows,) per canonical row a hash of what is published of it apart from quasi-identifiers.

    Rows are published in its order: a hash of the original values would disclose something of them.
    others: the other published columns, in the input's order.
    """
    order = pa.array(cells.rows)
    columns = [*(labels[name] for name in sorted(labels)), *(each.take(order) for each in others)]
    return hash_rows(cells.n_rows, [], columns, seed)
