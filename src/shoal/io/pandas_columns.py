"""What is special about pandas: object columns, an index, notes in `attrs`, categories.

Works on the user's own objects through their methods; pandas itself is not imported.
"""

import datetime
import numbers
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.errors import InputError, listed
from shoal.io.arrow import whole_numbers, withheld_codes

FAMILIES: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (np.bool_, "bool"),
    (numbers.Integral, "int"),
    (Decimal, "Decimal"),
    (numbers.Real, "float"),
    (str, "str"),
    (bytes, "bytes"),
    (datetime.datetime, "datetime"),
    (datetime.date, "date"),
)
"""Types that count as one kind of value; the first that fits is taken."""
NUMBERS = frozenset({"int", "float"})
"""May stand together in a column: both are numbers to everyone."""


def as_arrow(column: str, series: Any) -> pa.Array:
    """An object column as Arrow, if its values are of one kind."""
    kinds = {_family(kind) for kind in {type(value) for value in series.dropna()}}
    if len(kinds) > 1 and not kinds <= NUMBERS:
        raise InputError(
            f"Column '{column}' mixes values of the types {listed(sorted(kinds))}. Make it one "
            f"type first, for instance with df['{column}'].astype(str)."
        )
    try:
        return pa.Array.from_pandas(series)
    except (pa.ArrowException, OverflowError):
        # The library's message quotes a value, so it is not passed on.
        if kinds == {"int"}:
            missing = series.isna()
            texts = [None if m else str(v) for v, m in zip(series, missing, strict=True)]
            return whole_numbers(pa.array(texts, pa.string()))
        raise InputError(
            f"Column '{column}' holds Python objects ({listed(sorted(kinds))}) that Arrow cannot "
            "take. Make them texts, numbers or dates first."
        ) from None


def _family(kind: type) -> str:
    return next((name for base, name in FAMILIES if issubclass(kind, base)), kind.__name__)


def forget_withheld(before: Any, after: Any) -> Any:
    """The frame `after` without categories that only rows of `before` that are gone had used."""
    for name, dtype in after.dtypes.items():
        if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
            after[name] = _forget(before[name], after[name])
    return after


def _forget(before: Any, after: Any) -> Any:
    categories = before.cat.categories
    codes = [_codes(series) for series in (before, after)]
    lost = withheld_codes(codes[0], codes[1], len(categories))
    return after.cat.remove_categories(categories[lost]) if lost.any() else after


def _codes(series: Any) -> pa.Array:
    codes: npt.NDArray[np.integer[Any]] = series.cat.codes.to_numpy()
    return pa.array(codes, mask=codes < 0)
