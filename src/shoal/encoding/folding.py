"""When two ids are one person's.

Ids are compared as a person would read them: after Unicode NFKC and case folding, without invisible
characters and spaces at their ends; runs of spaces are one, and 17.0 is 17.
"""

import re
import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.spelling import in_ascii

BLANKS = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"
"""The white space of ASCII."""
INSIDE = rf"[{BLANKS[1:]}]|  "
"""White space inside a text that is not one space."""
WHOLE = r"^(-?\d+)\.0+$"
"""A whole number as programs write it that read the column as decimals."""


def fold(text: str) -> str:
    """A text as ids are compared."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if not folded.isascii():
        folded = "".join(in_ascii(c) for c in folded if unicodedata.category(c) != "Cf")
    return re.sub(WHOLE, r"\1", " ".join(folded.split()), flags=re.ASCII)


def folded(texts: pa.Array) -> pa.Array:
    """(n,) each text folded; a missing one stays missing."""
    texts = texts.cast(pa.large_string())
    found = pc.ascii_lower(pc.ascii_trim(texts, characters=BLANKS))
    # what is ASCII and has single spaces needs no look by Python
    spaced = pc.match_substring_regex(found, INSIDE)
    plain = pc.fill_null(pc.and_not(pc.string_is_ascii(texts), spaced), True)
    found = pc.replace_substring_regex(found, WHOLE, r"\1")
    others = np.flatnonzero(~plain.to_numpy(zero_copy_only=False))
    if not len(others):
        return found
    special = [fold(text) for text in texts.take(pa.array(others)).to_pylist()]
    mask = np.zeros(len(texts), np.bool_)
    mask[others] = True
    return pc.replace_with_mask(found, pa.array(mask), pa.array(special, pa.large_string()))
