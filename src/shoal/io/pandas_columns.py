"""What is special about pandas: object columns, an index, notes in `attrs`, categories.

Works on the user's own objects through their methods; pandas itself is not imported.
"""

import datetime
import numbers
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, listed
from shoal.io.arrow import whole_numbers

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


def tidy_categories(frame: Any) -> Any:
    """The frame with categories made from its own values alone; see `arrow.tidy` for the reasons."""
    for name, dtype in frame.dtypes.items():
        if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
            column = frame[name].cat.remove_unused_categories()
            if not dtype.ordered:
                column = column.cat.reorder_categories(sorted(column.cat.categories, key=_sort_key))
            frame[name] = column
    return frame


def _sort_key(value: Any) -> tuple[bool, Any]:
    """Numbers by size, anything else by text."""
    is_number = isinstance(value, numbers.Real)
    return (not is_number, value if is_number else str(value))
