"""The types of texts: which columns of a release without types are numbers, dates or booleans.

Only what any program reads alike is recognised: plain numbers without leading zeros, ISO dates and
times, `true` and `false`. Other ways to write dates and numbers count where the policy declares them.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools
from shoal.encoding.columns import BOOLEANS
from shoal.encoding.reading import AS_FOUND, ValueReading, declared_texts
from shoal.encoding.spelling import is_blank
from shoal.encoding.values import FAR_EXPONENT, LONG_NUMBER, NUMBER, PADDED_NUMBER, WHOLE_NUMBER
from shoal.hierarchy.text import text_of

ValueType: TypeAlias = Literal["nothing", "boolean", "integer", "float", "date", "time", "text"]
"""`nothing` fits every type: there was no value."""

DATE = r"^\d{4}-\d{2}-\d{2}$"
TIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$"
LONGEST_INTEGER = 18
ARROW = {
    "nothing": pa.string(),
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "text": pa.string(),
}
"""The type of a column in Arrow."""


def value_type(texts: pa.Array, reading: ValueReading = AS_FOUND) -> ValueType:
    """The narrowest type that all of some texts have; blank and missing ones fit every type."""
    if reading.type == "text":
        return "text"
    known = declared_texts(texts.drop_null(), reading)
    known = known.filter(pc.invert(is_blank(known)))
    if not len(known):
        return "nothing"
    if reading.type is None and pc.all(pc.is_in(known, pa.array(BOOLEANS))).as_py():
        return "boolean"
    if _all(known, WHOLE_NUMBER) and not _any(known, PADDED_NUMBER):
        longest = pc.max(pc.utf8_length(known)).as_py()
        return "integer" if longest <= LONGEST_INTEGER else "text"
    if _all(known, NUMBER) and not _any(known, PADDED_NUMBER):
        is_exact = not _any(known, LONG_NUMBER) and not _any(known, FAR_EXPONENT)
        return "float" if is_exact or _are_floats(known) else "text"
    if _all(known, DATE):
        return "date" if _casts(known, pa.date32()) else "text"
    if _all(known, rf"{DATE}|{TIME}"):
        return "time" if _casts(known, pa.timestamp("us")) else "text"
    return "text"


def joined_type(types: Iterable[ValueType]) -> ValueType:
    """The narrowest type of a column whose parts have these types."""
    found = set(types) - {"nothing"}
    if not found:
        return "nothing"
    if len(found) == 1:
        return found.pop()
    if found == {"integer", "float"}:
        return "float"
    return "time" if found == {"date", "time"} else "text"


def typed(texts: pa.Array, kind: ValueType, reading: ValueReading = AS_FOUND) -> pa.Array:
    """Texts in a type that all of them have."""
    if kind in ("text", "nothing"):
        return texts
    known = declared_texts(texts, reading)
    known = pc.if_else(is_blank(known), None, known)
    if kind == "boolean":
        return pc.equal(known, "true")
    return pc.replace_substring_regex(known, r"^\+", "").cast(ARROW[kind])


def category_type(texts: pa.Array, reading: ValueReading = AS_FOUND) -> ValueType:
    """The type of categories; text where two of them would become one value, or read differently."""
    kind = value_type(texts, reading)
    if kind in ("text", "nothing"):
        return "text"
    same: Bools = np.asarray(
        pc.fill_null(pc.equal(text_of(typed(texts, kind, reading)), texts), False).to_numpy(
            zero_copy_only=False
        ),
        np.bool_,
    )
    return kind if same.all() else "text"


def _are_floats(texts: pa.Array) -> bool:
    """Whether every number is written as the float that it is."""
    return all(repr(float(text)) == text for text in texts.to_pylist())


def _casts(texts: pa.Array, kind: pa.DataType) -> bool:
    try:
        texts.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _all(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _any(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())
