"""From the values of a batch to their codes, wherever the batch is."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.plain import plain
from shoal.cells.rowhash import words_of
from shoal.cells.tally import Tally, known
from shoal.errors import InputError
from shoal.large.kinds import as_read

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Lookup:
    """The codes of one column's values."""

    name: str
    place: str
    """The column in the raw table."""
    kind: pa.DataType
    """Its type in the file."""
    words: npt.NDArray[np.uint64] | None
    """(m,) the values' words, ascending; None where two values share one."""
    values: pa.Array | None
    """(m,) the values themselves, where words do not tell them apart."""
    codes: Codes
    """(m,) the code of each."""
    missing: int
    """The code of the missing value, or -1."""

    def __call__(self, column: pa.Array) -> Codes:
        """(n,) the code of each row."""
        column = known(plain(self.name, as_read(column, self.kind)))
        gone = column.is_null().to_numpy(zero_copy_only=False)
        place, found = self._places(column)
        if not (found | gone).all() or (gone.any() and self.missing < 0):
            raise InputError(
                f"Column '{self.name}' holds other values than when it was first read. Do not change "
                "the table while it is being worked on; run again."
            )
        return np.where(gone, self.missing, np.append(self.codes, 0)[place]).astype(np.int32)

    def _places(self, column: pa.Array) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.bool_]]:
        """(n,) twice: where each value stands, and whether it is there at all."""
        if self.words is None:
            at = pc.fill_null(pc.index_in(column, self.values), -1).to_numpy(zero_copy_only=False)
            return at, at >= 0
        words = words_of(column)
        at = np.searchsorted(self.words, words)
        # one word more, for what lies above all: it is compared with a place that is not its own
        return at, np.append(self.words, 0)[at] == words


def lookup_of(tally: Tally, place: str, kind: pa.DataType, codes: Codes, missing: int) -> Lookup:
    """What finds the codes that a tally's values were given."""
    words = words_of(tally.values)
    order = np.argsort(words)
    if (np.diff(words[order]) == 0).any():
        return Lookup(tally.name, place, kind, None, tally.values, codes, missing)
    return Lookup(tally.name, place, kind, words[order], None, codes[order], missing)
