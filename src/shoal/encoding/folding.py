"""When two ids are one person's.

Ids are compared as a person would read them: after Unicode NFKC and case folding, without invisible
characters and spaces at their ends; runs of spaces are one. Whole numbers are one in all forms in which
programs write them: 17.0, +17 and 1.7e+01 are 17. With a zero in front they are texts, since 017 may be
somebody else.
"""

import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.spelling import fold_characters

BLANKS = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"
"""The white space of ASCII."""
INSIDE = r"[\x00-\x1f\x7f]|  "
"""White space inside a text that is not one space, or a character of control."""
SPACE, POINT, ZERO, DELETE, REFERENCE = b" .0\x7f&"
WHOLE = r"^(-?\d+)\.0+$"
"""A whole number as programs write it that read the column as decimals."""
NUMBER = r"^[+-]?(0|[1-9]\d*)(\.\d*)?(e[+-]?\d{1,2})?$"
"""A number that may be a whole one in another form."""
SETTLED = r"^-?\d+$"
"""A whole number without a point, a plus sign or an exponent."""


def fold(text: str, numbers: bool = True) -> str:
    """A text as ids are compared; numbers: whether forms of a whole number beside 17.0 are one."""
    return _number(_without_zeros(fold_characters(text)), numbers)


def _without_zeros(text: str) -> str:
    return re.sub(WHOLE, r"\1", text, flags=re.ASCII)


def _number(text: str, numbers: bool = True) -> str:
    """A whole number in its shortest form; any other text as it is."""
    if not numbers or not re.match(NUMBER, text, re.ASCII) or re.match(SETTLED, text, re.ASCII):
        return text
    number = Decimal(text)
    return str(int(number)) if number == number.to_integral_value() else text


def folded(texts: pa.Array, numbers: bool = True) -> pa.Array:
    """(n,) each text folded; a missing one stays missing.

    numbers: as in `fold`.
    """
    texts = texts.cast(pa.large_string())
    if not len(texts):
        return texts
    found = pc.ascii_lower(pc.ascii_trim(texts, characters=BLANKS))
    # what is ASCII and has single spaces needs no look by Python
    plain = pc.string_is_ascii(texts)
    # bytes are looked through far faster than texts: most columns have no such id
    _, offsets, content = found.buffers()
    begin, end = np.frombuffer(offsets, np.int64)[[found.offset, found.offset + len(found)]]
    data = np.frombuffer(content or b"", np.uint8)[begin:end]
    first, second = data[:-1], data[1:]
    unseen = (data < SPACE) | (data == DELETE)
    if unseen.any() or ((first == SPACE) & (second == SPACE)).any():
        plain = pc.and_not(plain, pc.match_substring_regex(found, INSIDE))
    if (data == REFERENCE).any():  # a character as HTML writes it
        plain = pc.and_not(plain, pc.match_substring(found, "&"))
    if ((first == POINT) & (second == ZERO)).any():
        found = pc.replace_substring_regex(found, WHOLE, r"\1")
    if numbers:
        number = pc.match_substring_regex(found, NUMBER)
        plain = pc.and_not(plain, pc.and_not(number, pc.match_substring_regex(found, SETTLED)))
    plain = pc.fill_null(plain, True)
    others = np.flatnonzero(~plain.to_numpy(zero_copy_only=False))
    if not len(others):
        return found
    special = [fold(text, numbers) for text in texts.take(pa.array(others)).to_pylist()]
    mask = np.zeros(len(texts), np.bool_)
    mask[others] = True
    return pc.replace_with_mask(found, pa.array(mask), pa.array(special, pa.large_string()))
