"""Give every value of a column its code.

Ordered columns ascend; a hierarchy's leaves go depth first; values without any order go from the
rarest to the most common. A cut between two codes then parts rare values from common ones, which
measurably loses less than a cut in the order of the alphabet.

A column's tally is all that is needed, so a table that no memory holds is numbered alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.domain import Domain, Kind, with_missing_text
from shoal.cells.ordered import Numbered, by_order, check_read_back
from shoal.cells.tally import Codes, Tally, require_covered, tally_of, uncovered
from shoal.errors import HierarchyError, InputError
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import with_missing

if TYPE_CHECKING:
    from shoal.hierarchy import HierarchySpec

ANY = "*"
WHAT = {
    "DateParts": "are not dates such as 1964-03-07, which its hierarchy of date parts needs",
    "Intervals": "are not numbers, which its hierarchy of intervals needs",
}
"""What is wrong with a value that a hierarchy made from the values does not cover."""


def number_quasi(
    name: str,
    column: pa.Array,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "HierarchySpec | None" = None,
    folder: Path = Path(),
) -> tuple[Domain, Codes]:
    """The domain of a quasi-identifier and the (n,) codes of its rows."""
    tally = tally_of(name, column)
    domain, codes = quasi_domain(tally, kind, order, hierarchy, folder)
    return domain, tally.rows(codes, domain.missing)


def number_sensitive(
    name: str,
    column: pa.Array,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "HierarchySpec | None" = None,
    folder: Path = Path(),
    levels: Mapping[str, int] | None = None,
) -> tuple[Domain, Codes]:
    """The domain of a sensitive column and the (n,) codes of its rows; see `sensitive_domain`."""
    tally = tally_of(name, column)
    domain, codes = sensitive_domain(tally, kind, order, hierarchy, folder, levels)
    return domain, tally.rows(codes, domain.missing)


def quasi_domain(
    tally: Tally,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "HierarchySpec | None" = None,
    folder: Path = Path(),
) -> Numbered:
    """The domain of a quasi-identifier and the codes of its values."""
    if not len(tally.values):
        raise InputError(
            f"Column '{tally.name}' is a quasi-identifier but every value of it is missing. "
            "Give it the role 'identifier', so that it is dropped, or leave its rows out."
        )
    if hierarchy is not None:
        return _by_tree(tally, hierarchy, folder)
    return by_order(tally, kind, order) or _by_frequency(tally)


def sensitive_domain(
    tally: Tally,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "HierarchySpec | None" = None,
    folder: Path = Path(),
    levels: Mapping[str, int] | None = None,
) -> Numbered:
    """The domain of a sensitive column and the codes of its values.

    By text, unless it is said to be ordered or has a hierarchy. A `*`, which stands for a suppressed
    value in a release, counts as missing. levels: the sensitivity level of each value, by its text.
    """
    kept = np.arange(len(tally.values)) != _star(tally)
    known = tally if kept.all() else tally.only(kept)
    domain, codes = _sensitive(known, kind, order, hierarchy, folder)
    if levels is not None:
        domain = replace(domain, levels=_levels(known, domain, levels))
    every = np.full(len(kept), domain.missing, np.int32)
    every[kept] = codes
    return domain, every


def check_no_star(tally: Tally) -> None:
    """Refuse a sensitive value that a reader of the release would take for a suppressed one."""
    star = _star(tally)
    if star < 0:
        return
    rows = int(tally.counts[star])
    raise InputError(
        f"Column '{tally.name}' is sensitive and reads '{ANY}' in {rows:,} "
        f"row{'s' if rows > 1 else ''}{tally.where(np.array([star]))}. In a release this means that "
        "a value is suppressed, so nobody could tell the two apart. Make it a missing value, or "
        "another word."
    )


def _star(tally: Tally) -> int:
    place: int = pc.index(text_of(tally.values), ANY).as_py()
    return place


def _sensitive(
    tally: Tally,
    kind: str | None,
    order: Sequence[str] | None,
    hierarchy: "HierarchySpec | None",
    folder: Path,
) -> Numbered:
    if hierarchy is not None and len(tally.values):
        return _by_tree(tally, hierarchy, folder)
    if (kind != "ordered" and order is None) or not len(tally.values):
        return _by_text(tally)
    ordered = by_order(tally, "ordered", order)
    assert ordered is not None  # what cannot be ordered was refused
    if order is None:
        check_read_back(tally)
    return ordered


def _levels(tally: Tally, domain: Domain, levels: Mapping[str, int]) -> npt.NDArray[np.int32]:
    known = pa.array(list(levels), pa.string())
    has = pc.is_in(text_of(tally.values), known).to_numpy(zero_copy_only=False)
    if found := uncovered("have no level in the policy", has, tally):
        raise HierarchyError(
            f"{found} Add what is missing to the `levels` of column '{tally.name}'."
        )
    # leaves of a hierarchy that the table does not hold need no level
    return np.array([levels.get(text, 0) for text in domain.texts.to_pylist()], np.int32)


def _by_tree(tally: Tally, hierarchy: "HierarchySpec", folder: Path) -> Numbered:
    tree, codes = hierarchy.build(tally.values, tally.name, folder)
    what = WHAT.get(type(hierarchy).__name__, "are not in its hierarchy")
    require_covered(what, codes >= 0, tally)
    missing = -1
    if tally.missing:
        missing = tree.n_leaves
        tree = with_missing(tree)
    texts = with_missing_text(pa.array(tree.labels[0], pa.string()), missing)
    return Domain(tally.name, Kind.TREE, texts, missing, hierarchy=tree), codes


def _by_text(tally: Tally) -> Numbered:
    return _by_list(tally, pc.sort_indices(text_of(tally.values)).to_numpy())


def _by_frequency(tally: Tally) -> Numbered:
    by_text = pc.sort_indices(text_of(tally.values)).to_numpy()
    return _by_list(tally, by_text[np.argsort(tally.counts[by_text], kind="stable")])


def _by_list(tally: Tally, order: npt.NDArray[np.integer]) -> Numbered:
    """Values without an order of their own, in some order of their places."""
    codes = np.empty(len(order), np.int32)
    codes[order] = np.arange(len(order), dtype=np.int32)
    missing = len(order) if tally.missing else -1
    texts = with_missing_text(text_of(tally.values).take(pa.array(order)), missing)
    return Domain(tally.name, Kind.SET, texts, missing), codes
