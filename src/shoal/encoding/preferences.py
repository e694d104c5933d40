"""Personal preferences: the level of protection that a person chooses for their own value.

Levels of protection are counted as sensitivity levels and as the levels of the column's hierarchy: 1
are the leaves, the highest is the root. Where a person prefers more than the value's own level, the
value's ancestor at that level is published instead.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain
from shoal.encoding.values import describe_uncovered, tally_of
from shoal.errors import HierarchyError, InputError
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import TOP

Levels = npt.NDArray[np.int8]


def read_preferences(cells: Cells, sensitive: str, preference: str, column: pa.Array) -> Levels:
    """(n_rows,) the hierarchy level at which each canonical row's value is published, 0 being raw.

    `column` has the preferences in the input's order; a missing one prefers nothing.
    """
    domain = cells.sensitive_domains[sensitive]
    if domain.spellings is not None:
        raise InputError(
            f"Column '{sensitive}': {domain.spellings.spellings:,} spellings are only "
            f"{domain.spellings.values:,} values, and with a `preference` every value needs one "
            "spelling: spell values alike in the table, or write `spelling: exact`."
        )
    preferred = _protection_levels(preference, column, check_levels(domain))[cells.rows]
    codes = cells.sensitive[sensitive]
    if domain.levels is None:  # every value is missing
        return np.zeros(cells.n_rows, np.int8)
    own = domain.levels[codes]
    return np.where((own > 0) & (preferred > own), preferred - 1, 0).astype(np.int8)


def check_levels(domain: Domain) -> int:
    """The highest sensitivity level; refused unless it is the root's level in the hierarchy."""
    tree, levels = domain.hierarchy, domain.levels
    if tree is None or levels is None:
        return 127  # every value is missing
    highest = int(levels.max(initial=0))
    has = f"Column '{domain.name}': its hierarchy has {tree.height + 1} levels, the values included"
    if highest > tree.height + 1:
        raise HierarchyError(
            f"{has}, but `levels` go up to {highest}. Add levels to the hierarchy, or lower the "
            "`levels`."
        )
    if highest < tree.height + 1:
        raise HierarchyError(
            f"{has}, but `levels` only go up to {highest}. With a `preference` both must have the "
            "same number: 1 is a value itself, the highest is the root. Give the most sensitive values "
            f"the level {tree.height + 1}, or remove a level from the hierarchy."
        )
    if tree.labels[-1][0] == TOP:
        raise HierarchyError(
            f"Column '{domain.name}': the root of its hierarchy is `{TOP}`, which looks like a "
            "suppressed value. With a `preference` it needs a name of its own, as in "
            "{tree: {any disease: ...}}."
        )
    return highest


def _protection_levels(name: str, column: pa.Array, highest: int) -> Ints:
    """(n,) the level of protection that each row prefers, 0 where it prefers none."""
    tally = tally_of(name, column)
    texts = pc.utf8_trim_whitespace(text_of(tally.values))
    whole = pc.match_substring_regex(texts, r"^\d{1,9}(\.0+)?$").to_numpy(zero_copy_only=False)
    numbers = np.array(
        [int(float(t)) if ok else 0 for t, ok in zip(texts.to_pylist(), whole, strict=True)],
        np.int64,
    )
    empty = pc.equal(texts, "").to_numpy(zero_copy_only=False)
    valid = (whole & (numbers >= 1) & (numbers <= highest)) | empty
    problem = f"are not whole numbers from 1 to {highest}"
    if description := describe_uncovered(problem, valid, tally):
        raise InputError(
            f"{description} It has the level of protection that people prefer: correct it, or leave "
            "it empty where there is no preference."
        )
    return tally.rows(numbers, 0).astype(np.int64)
