"""Codes that ascend with the values: numbers, dates, and lists that a policy gives."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.domain import UNIT, Domain, Kind, with_missing_text
from shoal.cells.parse import ordered_values
from shoal.cells.tally import Tally, require_covered
from shoal.cells.units import units_of
from shoal.errors import InputError
from shoal.hierarchy.text import text_of

Numbered = tuple[Domain, npt.NDArray[np.integer]]
"""A domain, and (m,) the code of each value of a tally."""


def by_order(tally: Tally, kind: str | None, order: Sequence[str] | None) -> Numbered | None:
    """Ascending, if the column is ordered or, where nothing is said, can be; else None."""
    if kind == "ordered" and order is None and _is_boolean(tally.values):
        order = ("false", "true")
    if order is not None:
        return _by_list(tally, order)
    if kind == "unordered":
        return None
    parsed = ordered_values(tally.values, guess=kind is None)
    if parsed is None:
        return None
    good = parsed.is_valid().to_numpy(zero_copy_only=False)
    what = "are neither numbers nor dates, but the column is to be ordered"
    require_covered(what, good, tally)
    return _ascending(tally, parsed)


def check_read_back(tally: Tally) -> None:
    """Refuse an order that nobody could find again in the text of a release."""
    texts = text_of(tally.values).cast(pa.string())
    parsed = ordered_values(texts, guess=False)
    if not _is_boolean(tally.values) and (parsed is None or parsed.null_count):
        raise InputError(
            f"Column '{tally.name}' is sensitive and to be ordered, but values of the type "
            f"{tally.values.type} cannot be put in order again by who reads the release. Give it an "
            "`order`, or turn it into numbers, dates, or times without a zone."
        )


def _is_boolean(values: pa.Array) -> bool:
    return bool(pa.types.is_boolean(values.type)) or set(text_of(values).to_pylist()) <= {
        "false",
        "true",
    }


def _ascending(tally: Tally, parsed: pa.Array) -> Numbered:
    unique = pc.unique(parsed)
    unique = unique.take(pc.sort_indices(unique))
    codes = pc.index_in(parsed, unique).to_numpy(zero_copy_only=False)
    place = _numbers(unique)
    if not np.isfinite(place).all():
        raise InputError(
            f"Column '{tally.name}' holds infinite values, which no interval can end at. "
            "Replace them by a missing value or by the largest real one."
        )
    if max(-place[0], place[-1]) > np.finfo(np.float64).max / 4:
        place = place / 4  # else the width might not be a number
    width = place[-1] - place[0]
    positions = np.rint((place - place[0]) / (width or 1.0) * UNIT).astype(np.int64)
    return _range(tally, text_of(unique), positions, units_of(unique)), codes


def _by_list(tally: Tally, order: Sequence[str]) -> Numbered:
    """Ordered labels are measured on their rank in the policy's list."""
    labels = pa.array(list(order), pa.string())
    found = pc.index_in(text_of(tally.values), labels)
    codes = pc.fill_null(found, -1).to_numpy(zero_copy_only=False)
    require_covered("are not in its 'order' list", codes >= 0, tally)
    positions = np.arange(len(order), dtype=np.int64) * UNIT // max(1, len(order) - 1)
    return _range(tally, labels, positions, np.arange(len(order), dtype=np.float64)), codes


def _range(
    tally: Tally,
    texts: pa.Array,
    positions: npt.NDArray[np.int64],
    units: npt.NDArray[np.float64],
) -> Domain:
    missing = -1
    if tally.missing:
        missing = len(texts)
        positions = np.append(positions, 2 * UNIT)
        units = np.append(units, units[-1])
    texts = with_missing_text(texts, missing)
    return Domain(tally.name, Kind.RANGE, texts, missing, positions, units=units)


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
