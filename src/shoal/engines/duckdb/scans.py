"""Parquet files that are tables of a session, read row group by row group by the threads that need them.

DuckDB hands out rows through one thread, and texts one by one. Arrow reads a row group wherever it is
asked to, and texts as the codes and the dictionary that are in the file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import InputError

MOST_BYTES = 1 << 28
"""Row groups with more are not read by Arrow, which has the columns of a row group in memory."""
DICTIONARIES = frozenset(("RLE_DICTIONARY", "PLAIN_DICTIONARY"))
"""Encodings of texts that are codes in a file."""
Piece = Callable[[], Iterable[pa.RecordBatch]]
"""Reads some batches of a table, in any thread."""


@dataclass(frozen=True)
class RowGroup:
    """Columns of a row group."""

    path: Path
    metadata: Any
    """That of the file, read once."""
    number: int
    batch: int
    """Rows that are read at a time."""
    columns: Mapping[str, str]
    """What they are called outside, and in the file."""
    coded: tuple[str, ...] = ()
    """Which of those in the file stay codes and dictionaries."""

    state: tuple[int, int] = (0, 0)
    """Size and time of change of the file when its metadata were read."""

    def __call__(self) -> Iterator[pa.RecordBatch]:
        """Its rows, batch by batch."""
        try:
            yield from self._batches()
        except (pa.ArrowException, OSError):
            if state_of(self.path) != self.state:
                raise InputError(
                    f"{self.path} changed while it was being read. Do not change the table during a "
                    "run; run again."
                ) from None
            raise

    def _batches(self) -> Iterator[pa.RecordBatch]:
        wanted = list(dict.fromkeys(self.columns.values()))
        with pq.ParquetFile(
            self.path, metadata=self.metadata, read_dictionary=list(self.coded)
        ) as file:
            for batch in file.iter_batches(
                self.batch, row_groups=[self.number], columns=wanted, use_threads=False
            ):
                arrays = [batch.column(name) for name in self.columns.values()]
                yield pa.RecordBatch.from_arrays(arrays, names=list(self.columns))


class FileScan:
    """Parquet files of one schema that are a table."""

    def __init__(self, files: Sequence[Path], names: Mapping[str, str] | None = None) -> None:
        """names: what the columns of the table are called in the files; by default the same."""
        self._files, self._names = tuple(files), names
        self._known: dict[tuple[Path, int, int], Any] = {}

    def _metadata(self, path: Path, state: tuple[int, int]) -> Any:
        """That of a file as it is now, read once."""
        if (path, *state) not in self._known:
            self._known[path, *state] = pq.read_metadata(path)
        return self._known[path, *state]

    def row_groups(
        self, columns: Sequence[str], batch: int, coded: bool = False
    ) -> list[RowGroup] | None:
        """The row groups of all files; None where DuckDB has to read them: their types are others in
        Arrow, or they are too large.

        batch: rows to read at a time. coded: texts that are codes and dictionaries in the files stay so.
        """
        states = [state_of(path) for path in self._files]
        metadata = [self._metadata(*each) for each in zip(self._files, states, strict=True)]
        schema = metadata[0].schema
        places = {schema.column(i).path: i for i in range(len(schema))}
        names = {column: self._name(column) for column in columns}
        types = {field.name: field.type for field in schema.to_arrow_schema()}
        if len(places) < len(schema) or any(
            name not in places or not _is_plain(types.get(name)) for name in names.values()
        ):
            return None
        texts = {n: places[n] for n in names.values() if coded and pa.types.is_string(types[n])}
        found = []
        for path, one, state in zip(self._files, metadata, states, strict=True):
            for number in range(one.num_row_groups):
                group = one.row_group(number)
                if group.total_byte_size > MOST_BYTES:
                    return None
                stay = (n for n, i in texts.items() if DICTIONARIES & {*group.column(i).encodings})
                found.append(RowGroup(path, one, number, batch, names, tuple(stay), state))
        return found

    def _name(self, column: str) -> str:
        return column if self._names is None else self._names.get(column, "")


def state_of(path: Path) -> tuple[int, int]:
    """What a file has another of, once it has changed."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _is_plain(kind: pa.DataType | None) -> bool:
    """Whether DuckDB and Arrow read a type alike."""
    if kind is None:
        return False
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_signed_integer(kind)
        or types.is_float32(kind)
        or types.is_float64(kind)
        or types.is_boolean(kind)
        or types.is_date32(kind)
    )
