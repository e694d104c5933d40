"""Whether a written file holds the rows that it was given.

For formats that do not keep every value exactly. Rows are compared as the digest of a release compares
them, by sums of hashes: in any number of batches, in any order, with nothing kept of them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.arrays import Words
from shoal.encoding.cells import hash_rows
from shoal.engines.formats.base import FileFormat
from shoal.errors import VerificationFailed, listed
from shoal.io.arrow import one_chunk
from shoal.io.commit import final_path
from shoal.io.csv_dialect import CsvOptions
from shoal.verification.digest import canonical


class RowSums:
    """Sums over the rows of a table: how many there are, a hash of each column and one of the rows."""

    def __init__(self, columns: int) -> None:
        self.rows = self.whole = 0
        self.columns = [0] * columns

    def add(self, rows: pa.Table) -> None:
        """Count further rows."""
        texts = [canonical(one_chunk(column)) for column in rows.columns]
        self.rows += rows.num_rows
        for j, text in enumerate(texts):
            self.columns[j] += _sum(hash_rows(rows.num_rows, (), [text], 0))
        self.whole += _sum(hash_rows(rows.num_rows, (), texts, 0))


def _sum(hashes: Words) -> int:
    """The sum of 64-bit numbers, which may be longer; that of each half is not."""
    high, low = hashes >> np.uint64(32), hashes & np.uint64(0xFFFFFFFF)
    return (int(high.sum(dtype=np.uint64)) << 32) + int(low.sum(dtype=np.uint64))


def require_same_rows(
    kind: FileFormat, path: Path, options: CsvOptions, names: Sequence[str], given: RowSums
) -> None:
    """Raise `VerificationFailed` unless a file holds the rows that were given to it."""
    settled, _ = kind.settle([path], options)
    found = RowSums(len(names))
    if (columns := kind.names(path, settled)) != list(names):
        raise VerificationFailed(
            f"{final_path(path)}: the written file has the columns {listed(columns)} instead of "
            f"{listed(names)}."
        )
    for batch in kind.batches(path, settled, names, 1 << 17):
        found.add(pa.Table.from_batches([batch]))
    if found.rows != given.rows:
        raise VerificationFailed(
            f"{final_path(path)}: {given.rows:,} rows were written, but {found.rows:,} came back."
        )
    pairs = zip(names, found.columns, given.columns, strict=True)
    changed = [name for name, one, other in pairs if one != other]
    if changed or found.whole != given.whole:
        raise VerificationFailed(
            f"{final_path(path)}: {kind.title} does not give back what was written to it"
            f"{f' in column {listed(map(repr, changed))}' if changed else ''}, so nothing was "
            "published. Write CSV or Parquet."
        )


def sums_of(kind: FileFormat, tables: Iterable[pa.Table], columns: int) -> RowSums:
    """The sums of rows, as they must come back from a file."""
    given = RowSums(columns)
    for table in tables:
        given.add(kind.as_written(table))
    return given
