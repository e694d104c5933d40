"""Give every value of a column its code.

Ordered columns ascend; a hierarchy's leaves go depth first; values without any order go from the
rarest to the most common. A cut between two codes then parts rare values from common ones, which
measurably loses less than a cut in the order of the alphabet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.domain import UNIT, Domain, Kind
from shoal.cells.parse import ordered_values
from shoal.cells.plain import plain
from shoal.cells.units import units_of
from shoal.errors import HierarchyError, InputError, listed
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import with_missing

if TYPE_CHECKING:
    from shoal.hierarchy import HierarchySpec

Codes = npt.NDArray[np.int32]
ANY = "*"
WHAT = {
    "DateParts": "are not dates such as 1964-03-07, which its hierarchy of date parts needs",
    "Intervals": "are not numbers, which its hierarchy of intervals needs",
}
"""What is wrong with a value that a hierarchy made from the values does not cover."""
SINGULAR = (
    ("have", "has"),
    ("are not dates", "is not a date"),
    ("are not numbers", "is not a number"),
    ("are no whole numbers", "is no whole number"),
    ("are", "is"),
)
"""How what is wrong begins with several values, and with one."""
COMMON = 10
"""A value may be named in an error only if at least so many rows share it."""


def number_quasi(
    name: str,
    column: pa.Array,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "HierarchySpec | None" = None,
    folder: Path = Path(),
) -> tuple[Domain, Codes]:
    """The domain of a quasi-identifier and the (n,) codes of its rows."""
    values, index = distinct(name, column)
    if not len(values):
        raise InputError(
            f"Column '{name}' is a quasi-identifier but every value of it is missing. "
            "Give it the role 'identifier', so that it is dropped, or leave its rows out."
        )
    if hierarchy is not None:
        return _by_tree(name, values, index, hierarchy, folder)
    return _by_order(name, values, index, kind, order) or _by_frequency(name, values, index)


def number_sensitive(
    name: str,
    column: pa.Array,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "HierarchySpec | None" = None,
    folder: Path = Path(),
    levels: Mapping[str, int] | None = None,
) -> tuple[Domain, Codes]:
    """The domain of a sensitive column and the (n,) codes of its rows.

    By text, unless it is said to be ordered or has a hierarchy. A `*`, which stands for a suppressed
    value in a release, counts as missing. levels: the sensitivity level of each value, by its text.
    """
    values, index = _without_star(*distinct(name, column))
    if hierarchy is not None and len(values):
        domain, codes = _by_tree(name, values, index, hierarchy, folder)
    elif (kind == "ordered" or order is not None) and len(values):
        ordered = _by_order(name, values, index, "ordered", order)
        assert ordered is not None  # what cannot be ordered was refused
        domain, codes = ordered
        if order is None:
            _check_read_back(name, values)
    else:
        domain, codes = _by_text(name, values, index)
    if levels is None:
        return domain, codes
    return replace(domain, levels=_levels(name, domain, levels, values, index)), codes


def _is_boolean(values: pa.Array) -> bool:
    return bool(pa.types.is_boolean(values.type)) or set(text_of(values).to_pylist()) <= {
        "false",
        "true",
    }


def _check_read_back(name: str, values: pa.Array) -> None:
    """Refuse an order that nobody could find again in the text of a release."""
    texts = text_of(values).cast(pa.string())
    parsed = ordered_values(texts, guess=False)
    if not _is_boolean(values) and (parsed is None or parsed.null_count):
        raise InputError(
            f"Column '{name}' is sensitive and to be ordered, but values of the type {values.type} "
            "cannot be put in order again by who reads the release. Give it an `order`, or turn it "
            "into numbers, dates, or times without a zone."
        )


def check_no_star(name: str, column: pa.Array) -> None:
    """Refuse a sensitive value that a reader of the release would take for a suppressed one."""
    values, index = distinct(name, column)
    star = pc.index(text_of(values), ANY).as_py()
    if star < 0:
        return
    rows = np.flatnonzero(index == star)
    where = ", ".join(f"{row + 1:,}" for row in rows[:5]) + (", …" if len(rows) > 5 else "")
    raise InputError(
        f"Column '{name}' is sensitive and reads '{ANY}' in {len(rows):,} "
        f"row{'s' if len(rows) > 1 else ''} (data rows {where}). In a release this means that a value "
        "is suppressed, so nobody could tell the two apart. Make it a missing value, or another word."
    )


def _levels(
    name: str, domain: Domain, levels: Mapping[str, int], values: pa.Array, index: Codes
) -> npt.NDArray[np.int32]:
    known = pa.array(list(levels), pa.string())
    has = pc.is_in(text_of(values), known).to_numpy(zero_copy_only=False)
    if found := uncovered(name, "have no level in the policy", has, values, index):
        raise HierarchyError(f"{found} Add what is missing to the `levels` of column '{name}'.")
    # leaves of a hierarchy that the table does not hold need no level
    return np.array([levels.get(text, 0) for text in domain.texts.to_pylist()], np.int32)


def _without_star(values: pa.Array, index: Codes) -> tuple[pa.Array, Codes]:
    star = pc.index(text_of(values), ANY).as_py()
    if star < 0:
        return values, index
    kept = np.arange(len(values)) != star
    place = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    return values.filter(pa.array(kept)), place[index]


def _by_text(name: str, values: pa.Array, index: Codes) -> tuple[Domain, Codes]:
    texts = text_of(values)
    by_text = pc.sort_indices(texts).to_numpy()
    missing = len(texts) if (index < 0).any() else -1
    codes = np.empty(len(texts), np.int32)
    codes[by_text] = np.arange(len(texts), dtype=np.int32)
    domain = Domain(name, Kind.SET, _texts(texts.take(pa.array(by_text)), missing), missing)
    return domain, _rows(codes, index, missing)


def _by_tree(
    name: str, values: pa.Array, index: Codes, hierarchy: "HierarchySpec", folder: Path
) -> tuple[Domain, Codes]:
    tree, codes = hierarchy.build(values, name, folder)
    what = WHAT.get(type(hierarchy).__name__, "are not in its hierarchy")
    _require_covered(name, what, codes >= 0, values, index)
    missing = -1
    if (index < 0).any():
        missing = tree.n_leaves
        tree = with_missing(tree)
    texts = _texts(pa.array(tree.labels[0], pa.string()), missing)
    return Domain(name, Kind.TREE, texts, missing, hierarchy=tree), _rows(codes, index, missing)


def _by_order(
    name: str, values: pa.Array, index: Codes, kind: str | None, order: Sequence[str] | None
) -> tuple[Domain, Codes] | None:
    """Ascending, if the column is ordered or, where nothing is said, can be; else None."""
    if kind == "ordered" and order is None and _is_boolean(values):
        order = ("false", "true")
    if order is not None:
        return _by_list(name, values, index, order)
    if kind == "unordered":
        return None
    parsed = ordered_values(values, guess=kind is None)
    if parsed is None:
        return None
    good = parsed.is_valid().to_numpy(zero_copy_only=False)
    what = "are neither numbers nor dates, but the column is to be ordered"
    _require_covered(name, what, good, values, index)
    return _ascending(name, parsed, index)


def distinct(name: str, column: pa.Array) -> tuple[pa.Array, Codes]:
    """The distinct values without nulls, and (n,) each row's place among them, -1 where missing."""
    column = plain(name, column)
    if pa.types.is_floating(column.type):
        # not a number means not known; adding nothing makes one zero of 0 and -0
        column = pc.if_else(pc.is_nan(column), None, pc.add(column, pa.scalar(0, column.type)))
    encoded = column.dictionary_encode()
    index = encoded.indices
    if index.null_count:
        index = pc.fill_null(index, -1)
    return encoded.dictionary, index.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)


def _rows(codes: npt.NDArray[np.integer], index: Codes, missing: int) -> Codes:
    # index -1 reads the last entry: the missing value's code
    return np.append(codes, missing).astype(np.int32)[index]


def _texts(texts: pa.Array, missing: int) -> pa.Array:
    texts = texts.slice(0, missing) if missing >= 0 else texts
    return pa.concat_arrays([texts, pa.nulls(1, pa.string())]) if missing >= 0 else texts


def _ascending(name: str, parsed: pa.Array, index: Codes) -> tuple[Domain, Codes]:
    unique = pc.unique(parsed)
    unique = unique.take(pc.sort_indices(unique))
    codes = pc.index_in(parsed, unique).to_numpy(zero_copy_only=False)
    place = _numbers(unique)
    if not np.isfinite(place).all():
        raise InputError(
            f"Column '{name}' holds infinite values, which no interval can end at. "
            "Replace them by a missing value or by the largest real one."
        )
    if max(-place[0], place[-1]) > np.finfo(np.float64).max / 4:
        place = place / 4  # else the width might not be a number
    width = place[-1] - place[0]
    positions = np.rint((place - place[0]) / (width or 1.0) * UNIT).astype(np.int64)
    return _range(name, text_of(unique), positions, units_of(unique), codes, index)


def _by_list(
    name: str, values: pa.Array, index: Codes, order: Sequence[str]
) -> tuple[Domain, Codes]:
    """Ordered labels are measured on their rank in the policy's list."""
    labels = pa.array(list(order), pa.string())
    codes = pc.fill_null(pc.index_in(text_of(values), labels), -1).to_numpy(zero_copy_only=False)
    _require_covered(name, "are not in its 'order' list", codes >= 0, values, index)
    positions = np.arange(len(order), dtype=np.int64) * UNIT // max(1, len(order) - 1)
    ranks = np.arange(len(order), dtype=np.float64)
    return _range(name, labels, positions, ranks, codes, index)


def _range(
    name: str,
    texts: pa.Array,
    positions: npt.NDArray[np.int64],
    units: npt.NDArray[np.float64],
    codes: npt.NDArray[np.integer],
    index: Codes,
) -> tuple[Domain, Codes]:
    missing = -1
    if (index < 0).any():
        missing = len(texts)
        positions = np.append(positions, 2 * UNIT)
        units = np.append(units, units[-1])
    domain = Domain(name, Kind.RANGE, _texts(texts, missing), missing, positions, units=units)
    return domain, _rows(codes, index, missing)


def _by_frequency(name: str, values: pa.Array, index: Codes) -> tuple[Domain, Codes]:
    texts = text_of(values)
    count = np.bincount(index[index >= 0], minlength=len(texts))
    by_text = pc.sort_indices(texts).to_numpy()
    order = by_text[np.argsort(count[by_text], kind="stable")]
    codes = np.empty(len(order), np.int32)
    codes[order] = np.arange(len(order), dtype=np.int32)
    missing = len(texts) if (index < 0).any() else -1
    domain = Domain(name, Kind.SET, _texts(texts.take(pa.array(order)), missing), missing)
    return domain, _rows(codes, index, missing)


def _numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    kind = values.type
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_integer(values.type):
        # exact differences first: large numbers lie closer together than a float can tell
        whole = values.to_numpy(zero_copy_only=False)
        if whole.itemsize < 8:
            whole = whole.astype(np.int64)
        return (whole - whole[0]).view(np.uint64).astype(np.float64)
    return values.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _require_covered(
    name: str, what: str, covered: npt.NDArray[np.bool_], values: pa.Array, index: Codes
) -> None:
    """Raise, naming values that many rows share and the row numbers of the others."""
    found = uncovered(name, what, covered, values, index)
    if found:
        raise HierarchyError(
            f"{found} Correct them in the table, add them to the hierarchy or list if there is one, "
            "or choose another treatment for the column."
        )


def uncovered(
    name: str, what: str, covered: npt.NDArray[np.bool_], values: pa.Array, index: Codes
) -> str:
    """What is wrong, with values that many rows share and the row numbers of the others; or nothing."""
    if covered.all():
        return ""
    bad = np.flatnonzero(~covered)
    count = np.bincount(index[index >= 0], minlength=len(values))
    rows = np.flatnonzero(np.isin(index, bad))
    common = bad[count[bad] >= COMMON]
    named = [f"'{text}'" for text in text_of(values.take(pa.array(common[:5]))).to_pylist()]
    which = f" Among them: {listed(named)}." if named else ""
    where = ", ".join(f"{row + 1:,}" for row in rows[:5]) + (", …" if len(rows) > 5 else "")
    if len(bad) == 1:
        what = next(what.replace(many, one, 1) for many, one in SINGULAR if what.startswith(many))
    return (
        f"Column '{name}': {len(bad):,} distinct value{'s' if len(bad) > 1 else ''} in {len(rows):,} "
        f"row{'s' if len(rows) > 1 else ''} {what} (data rows {where}).{which}"
    )
