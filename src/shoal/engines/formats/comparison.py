"""Whether a written file holds the rows that it was given.

For formats that do not keep every value exactly. Rows are compared as the digest of a release compares
them, by sums of hashes: in any number of batches, in any order, with nothing kept of them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

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
        self.rows = 0
        self.columns = np.zeros(columns, np.uint64)
        self.whole = np.uint64(0)

    def add(self, rows: pa.Table) -> None:
        """Count further rows."""
        texts = [canonical(one_chunk(column)) for column in rows.columns]
        self.rows += rows.num_rows
        for j, text in enumerate(texts):
            self.columns[j] += hash_rows(rows.num_rows, (), [text], 0).sum(dtype=np.uint64)
        self.whole += hash_rows(rows.num_rows, (), texts, 0).sum(dtype=np.uint64)


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
    changed = [
        name for name, same in zip(names, found.columns == given.columns, strict=True) if not same
    ]
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
