"""Which leaf a value is: found by its text, in a tree that is there or in one being built."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class Leaves:
    """Distinct texts in text order, and which of them each value is."""

    texts: pa.Array
    """(n,) string, ascending by code point, no two equal, none missing."""
    of_value: npt.NDArray[np.int32]
    """(values,) the place of each value's text."""

    def codes(self, order: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """(values,) the code of each value when the texts order[0], order[1], .. are the leaves.

        A value whose text is not in `order` gets -1.
        """
        place = np.full(len(self.texts), -1, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return place[self.of_value]


def leaves_of(values: pa.Array) -> Leaves:
    """The leaves behind the values; none of the values may be missing."""
    coded = text_of(values).dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Leaves(coded.dictionary.take(pa.array(order)), rank[coded.indices.to_numpy()])


def codes_of(values: pa.Array, hierarchy: Hierarchy) -> npt.NDArray[np.int32]:
    """(values,) the leaf with each value's text, or -1."""
    leaves = pa.array(hierarchy.labels[0], pa.string())
    found = pc.index_in(text_of(values), value_set=leaves).fill_null(-1)
    codes: npt.NDArray[np.int32] = found.to_numpy()
    return codes
