"""When two texts are one: ids of people, and spellings of a value.

Texts are compared after Unicode NFKC, trimming and case folding, as a person would read them.
"""

import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BLANKS = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"
"""The white space of ASCII."""


def fold(text: str) -> str:
    """A text as texts are compared: NFKC, trimmed, case folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).strip()


def folded(texts: pa.Array) -> pa.Array:
    """(n,) each text folded; a missing one stays missing."""
    texts = texts.cast(pa.large_string())
    plain = pc.fill_null(pc.string_is_ascii(texts), True)
    # what is ASCII needs no look by Python
    found = pc.ascii_lower(pc.ascii_trim(texts, characters=BLANKS))
    others = np.flatnonzero(~plain.to_numpy(zero_copy_only=False))
    if not len(others):
        return found
    special = [fold(text) for text in texts.take(pa.array(others)).to_pylist()]
    mask = np.zeros(len(texts), np.bool_)
    mask[others] = True
    return pc.replace_with_mask(found, pa.array(mask), pa.array(special, pa.large_string()))
