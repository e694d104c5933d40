"""What people asked for: the level of protection of their own value.

Levels of protection number as sensitivity levels do, and as the levels of the column's tree: 1 are
the leaves, the highest is the root. A person who asks for more than the value's own level gets the
value's ancestor at that level published instead.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain
from shoal.encoding.values import tally_of, uncovered
from shoal.errors import HierarchyError, InputError
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import TOP

Levels = npt.NDArray[np.int8]


def read_wishes(cells: Cells, sensitive: str, wish: str, column: pa.Array) -> Levels:
    """(n_rows,) the level of the tree at which each canonical row's value is published, 0 being raw.

    `column` are the wishes in the input's order; a missing one asks for nothing.
    """
    domain = cells.sensitive_domains[sensitive]
    asked = _numbers(wish, column, check_tree(domain))[cells.rows]
    codes = cells.sensitive[sensitive]
    if domain.levels is None:  # every value is missing
        return np.zeros(cells.n_rows, np.int8)
    own = domain.levels[codes]
    return np.where((own > 0) & (asked > own), asked - 1, 0).astype(np.int8)


def check_tree(domain: Domain) -> int:
    """The number of levels, if the tree has as many."""
    tree, levels = domain.hierarchy, domain.levels
    if tree is None or levels is None:
        return 127  # every value is missing
    highest = int(levels.max(initial=0))
    has = f"Column '{domain.name}': its hierarchy has {tree.height + 1} levels, the values included"
    if highest > tree.height + 1:
        raise HierarchyError(
            f"{has}, but `levels` go up to {highest}: a value of level {highest} has no level of "
            "the tree. Add levels to the tree, or lower the `levels`."
        )
    if highest < tree.height + 1:
        raise HierarchyError(
            f"{has}, but `levels` only go up to {highest}. With a `preference` the two must be as "
            "many: 1 is a value itself, the highest is the root. Give the most sensitive values the "
            f"level {tree.height + 1}, or take a level out of the tree."
        )
    if tree.labels[-1][0] == TOP:
        raise HierarchyError(
            f"Column '{domain.name}': the root of its hierarchy is `{TOP}`, which reads like a "
            "suppressed value. With a `preference` it needs a name of its own, as in "
            "{tree: {any disease: ...}}."
        )
    return highest


def _numbers(name: str, column: pa.Array, highest: int) -> Ints:
    """(n,) the level each row asks for, 0 where it asks for none."""
    tally = tally_of(name, column)
    texts = pc.utf8_trim_whitespace(text_of(tally.values))
    whole = pc.match_substring_regex(texts, r"^\d{1,9}(\.0+)?$").to_numpy(zero_copy_only=False)
    numbers = np.array(
        [int(float(t)) if ok else 0 for t, ok in zip(texts.to_pylist(), whole, strict=True)],
        np.int64,
    )
    empty = pc.equal(texts, "").to_numpy(zero_copy_only=False)
    good = (whole & (numbers >= 1) & (numbers <= highest)) | empty
    found = uncovered(f"are no whole numbers from 1 to {highest}", good, tally)
    if found:
        raise InputError(
            f"{found} It holds the level of protection that people ask for: correct it, or leave "
            "it empty where nothing is asked."
        )
    return tally.rows(numbers, 0).astype(np.int64)
