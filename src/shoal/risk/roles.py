"""Which role a column should have, and why, in one sentence.

The name speaks first; where it says nothing, the values do. In doubt the answer is the careful one,
and always a suggestion: only people know what other people know.
"""

from dataclasses import dataclass
from typing import Literal

from shoal.risk.contents import LONGEST_CODE, Contents, Type
from shoal.risk.words import hint_of, is_number_name, is_postal, words_of

Role = Literal["identifier", "quasi", "sensitive", "plain", "preference"]
Treatment = Literal["dropped", "kept", "read", "ordered", "unordered", "mask", "date"]

NEARLY_ALL = 0.9
"""From this share of different values on, a column of texts or whole numbers names rows."""
MOSTLY = 0.5
"""The same for a column whose name ends in `id` or `number`."""
FEWEST_ROWS = 20
"""In a smaller table different values prove nothing."""
MANY_VALUES = 10
"""From so many different values on, a column nobody explains is taken to help recognise people."""
LONG_TEXT = 40
"""Average length from which text is taken to be written freely."""


@dataclass(frozen=True)
class Suggestion:
    """A role, how the column is to be published, and why."""

    role: Role
    treatment: Treatment
    reason: str


def suggest(column: Contents) -> Suggestion:
    """The role that fits the column best."""
    role, reason = _role(column)
    return Suggestion(role, _treatment(role, column), reason)


def _role(column: Contents) -> tuple[Role, str]:
    return _by_name(column) or _by_values(column)


def _by_name(column: Contents) -> tuple[Role, str] | None:
    hint = hint_of(column.name)
    if hint is None:
        return None
    meaning, words = hint
    by_name = (
        "by its name" if words == " ".join(words_of(column.name)) else f"by '{words}' in its name"
    )
    if meaning == "person":
        return "identifier", f"{by_name} it points at one person"
    if meaning == "preference":
        return "preference", f"{by_name} it says what people asked for"
    if column.type == Type.OTHER or (meaning == "quasi" and column.distinct == 0):
        return None  # nothing there to be counted or generalised
    if meaning == "sensitive":
        return "sensitive", f"{by_name} people may want to hide it"
    return "quasi", f"{by_name} others may know it"


def _by_values(column: Contents) -> tuple[Role, str]:
    rows = column.rows - column.missing
    if column.distinct == 0:
        return "plain", "every value is missing, so it tells nothing"
    if column.type == Type.OTHER:
        return "identifier", "it holds neither text, numbers nor dates and cannot be made coarser"
    if rows >= FEWEST_ROWS:
        share = column.distinct / rows
        if column.type == Type.TEXT and column.text_length >= LONG_TEXT and share >= MOSTLY:
            return "identifier", "it holds long free text, which may name people"
        if is_number_name(column.name) and share >= MOSTLY:
            return "identifier", "it is called a number or code, and most rows have their own"
        if share >= NEARLY_ALL and column.type in (Type.TEXT, Type.CODE, Type.WHOLE):
            return "identifier", "nearly every row has a value of its own"
    if column.distinct == 1:
        return "plain", "all rows have the same value"
    if column.distinct >= MANY_VALUES or rows < FEWEST_ROWS:
        return "quasi", f"{column.distinct:,} different values can help to recognise people"
    return "plain", f"only {column.distinct} different values, and the name says nothing special"


def _treatment(role: Role, column: Contents) -> Treatment:
    if role == "quasi":
        return quasi_treatment(column)
    return {"identifier": "dropped", "preference": "read"}.get(role, "kept")  # type: ignore[return-value]


def quasi_treatment(column: Contents) -> Treatment:
    """How the column is best made coarser."""
    if column.type == Type.CODE or (is_postal(column.name) and _is_short_code(column)):
        return "mask"
    if column.type == Type.DATE:
        return "date"
    return "ordered" if column.can_be_ordered else "unordered"


def _is_short_code(column: Contents) -> bool:
    if column.type == Type.WHOLE:
        return True
    return column.type == Type.TEXT and 0 < column.longest_text <= LONGEST_CODE
