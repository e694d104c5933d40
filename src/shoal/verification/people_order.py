"""Whether the people of an Anatomy release stand in an order that tells nothing of their values."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.parse import ordered_values
from shoal.errors import VerificationFailed
from shoal.hierarchy.text import known_text, text_of
from shoal.io.arrow import one_chunk


def require_order(group: npt.NDArray[np.int64], columns: Sequence[pa.ChunkedArray]) -> None:
    """Raise unless rows stand by group, and inside a group by the text of their columns.

    A number may be spelled otherwise in a file than in a frame (1 and 1.0), and an empty text may
    read as missing: two neighbours are out of order only where no such reading puts them in order.
    """
    wrong = np.diff(group) < 0
    open_pairs = np.diff(group) == 0
    for column in columns:
        values = known_text(one_chunk(column)).cast(pa.string())
        raw = _ranks(values)
        differ = open_pairs & (raw[1:] != raw[:-1])
        told = (raw[1:] >= 0) & (raw[:-1] >= 0)
        later = (np.diff(raw) < 0) & (np.diff(_ranks(_as_numbers(values))) < 0)
        wrong |= differ & told & later
        open_pairs &= ~differ
    if wrong.any():
        raise VerificationFailed(
            "The people are not sorted by group and then by the text of their columns: any other "
            "order could tell whose value is whose."
        )


def _ranks(texts: pa.Array) -> npt.NDArray[np.int64]:
    """(n,) the place of each text among the distinct ones, -1 where missing."""
    coded = texts.dictionary_encode()
    by_text = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.full(len(by_text) + 1, -1, np.int64)
    rank[by_text] = np.arange(len(by_text))
    codes = pc.fill_null(coded.indices, len(by_text)).to_numpy(zero_copy_only=False)
    return rank[codes]


def _as_numbers(texts: pa.Array) -> pa.Array:
    """The texts as a frame of numbers, dates or times would spell them, where they are such."""
    coded = texts.dictionary_encode()
    parsed = ordered_values(coded.dictionary, guess=True)
    return texts if parsed is None else text_of(parsed).cast(pa.string()).take(coded.indices)
