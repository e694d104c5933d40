"""Tables of a session outside of its database: Parquet files that DuckDB scans, and rows kept by a key.

Appending rows to a table of DuckDB takes four times as long as writing them to a Parquet file with
Arrow, and is done by one thread. DuckDB scans both equally fast.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.sessions import ReviseFunction
from shoal.threads import in_turn

BATCH = 1 << 17
"""Rows of a batch."""
FEW_ROWS = 1 << 14
"""Parts with fewer rows share a file."""
RUN_BYTES = 96_000_000
"""Bytes of rows by key that are in memory."""
BatchFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
Edges = list[tuple[int, int, int]]
"""Keys with their first rows and the rows after their last."""


class PartFiles:
    """The files of one table; parts are written by the threads that make them."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        """folder: it does not exist yet."""
        self.folder, self._schema = folder, schema
        self._numbers = count()
        self._few: list[pa.Table] = []
        """Parts with few rows, which will share a file."""
        folder.mkdir(parents=True)

    @property
    def files(self) -> list[Path]:
        """All of them."""
        return sorted(self.folder.iterdir())

    def fill(
        self,
        function: Callable[..., pa.RecordBatch | pa.Table],
        pieces: Iterable[Callable[[], Iterable[pa.RecordBatch | pa.Table]]],
    ) -> None:
        """Write what a function makes of each item of all pieces, several of these at a time."""

        def make(piece: Callable[[], Iterable[pa.RecordBatch | pa.Table]]) -> list[pa.Table]:
            return self.make(function, piece())

        for parts in in_turn(make, pieces):
            self.add_few(parts)
        if self._few or not self.files:
            self._write(pa.concat_tables([self._schema.empty_table(), *self._few]))
            self._few = []

    def make(
        self,
        function: Callable[..., pa.RecordBatch | pa.Table],
        items: Iterable[pa.RecordBatch | pa.Table],
    ) -> list[pa.Table]:
        """Write what a function makes of some items, in any thread; what has few rows is returned."""
        few = []
        for item in items:
            part = self._conform(function(item))
            if len(part) < FEW_ROWS:
                few.append(part)
            else:
                self._write(part)
        return few

    def add_few(self, parts: Iterable[pa.Table]) -> None:
        """Write parts with few rows together, once there are enough."""
        self._few += parts
        if sum(map(len, self._few)) >= BATCH:
            self._write(pa.concat_tables(self._few))
            self._few = []

    def replace(self, key: str, other: "PartFiles") -> None:
        """Put the rows of another table in the place of those with the same key."""
        # each file once: equal keys are often neighbours
        some = [np.unique(pq.read_table(f, columns=[key]).column(key)) for f in other.files]
        values = np.unique(np.concatenate(some))

        def without(file: Path) -> None:
            with pq.ParquetFile(file) as opened:
                keys = opened.read(columns=[key]).column(key).to_numpy()
                found = values[np.searchsorted(values[:-1], keys)] == keys
                if not found.any():
                    return
                kept = opened.read().filter(pa.array(~found))
            self._write(kept.cast(self._schema))
            file.unlink()

        for _ in in_turn(without, self.files):
            pass
        for file in other.files:
            file.rename(self._next())

    def revise(self, function: ReviseFunction) -> None:
        """Put what a function makes of its columns into the last of these, file by file."""

        def again(file: Path) -> None:
            with pq.ParquetFile(file) as opened:
                found = function(opened.read(columns=list(function.columns)))
                if found is None:
                    return
                rows = opened.read()
            at = rows.schema.get_field_index(function.columns[-1])
            self._write(rows.set_column(at, rows.schema.field(at), found))
            file.unlink()

        for _ in in_turn(again, self.files):
            pass

    def remove(self) -> None:
        """Remove all files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _conform(self, part: pa.RecordBatch | pa.Table) -> pa.Table:
        """The part in the types of the table; texts may be in a dictionary, as they are written."""
        columns = []
        for field in self._schema:
            column = part.column(field.name)
            kind = column.type
            if (
                pa.types.is_dictionary(kind)
                and len(part) >= FEW_ROWS
                and not _lists_missing(column)
            ):
                kind = kind.value_type
            columns.append(column if kind == field.type else column.cast(field.type))
        return pa.table(columns, self._schema.names)

    def _next(self) -> Path:
        return self.folder / f"{next(self._numbers):06}.parquet"

    def _write(self, part: pa.Table) -> None:
        pq.write_table(
            part,
            self._next(),
            row_group_size=BATCH,
            compression="none",
            # codes and texts; numbers of 64 bits hardly repeat
            use_dictionary=[f.name for f in self._schema if not _is_wide(f.type)],
            write_statistics=False,
            store_schema=False,
        )


def _lists_missing(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether no value is one of the values of a dictionary, which Parquet does not have."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return any(chunk.dictionary.null_count for chunk in chunks)


def _is_wide(kind: pa.DataType) -> bool:
    types = pa.types
    # a dictionary would take 0 and -0 for one number
    return bool(types.is_int64(kind) or types.is_floating(kind) or types.is_boolean(kind))


@dataclass(frozen=True)
class SortByKey:
    """Puts the rows of a batch in the order of a key; they pass through a function before."""

    key: str
    before: BatchFunction | None = None

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Edges]:
        """The sorted rows, and where those of each key are."""
        rows = batch if self.before is None else self.before(batch)
        keys = rows.column(self.key).to_numpy(zero_copy_only=False)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1)).tolist()
        ends = [*starts[1:], len(keys)]
        edges = list(zip(keys[starts].tolist(), starts, ends, strict=True))
        return rows.take(pa.array(order)), edges


class RowsByKey:
    """Rows by a key; in memory up to a limit, otherwise in files with the rows of a key together."""

    def __init__(self, folder: Path) -> None:
        """folder: where the files go; it does not exist yet."""
        self._folder = folder
        self._held: dict[int, list[pa.RecordBatch]] = {}
        self._bytes = 0
        self._files: list[pa.ipc.RecordBatchFileReader] = []
        self._locks: list[Lock] = []
        """One of each file, which one thread reads at a time."""
        self._places: dict[int, list[tuple[int, int]]] = {}
        """Per key, the files and the batches in them."""

    def add(self, rows: pa.RecordBatch, edges: Edges) -> None:
        """Take the rows of a batch, sorted by their key."""
        for key, begin, end in edges:
            self._held.setdefault(key, []).append(rows.slice(begin, end - begin))
        self._bytes += rows.nbytes
        if self._bytes >= RUN_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._folder.mkdir(exist_ok=True)
        path = self._folder / f"{len(self._files)}.arrow"
        schema = next(iter(self._held.values()))[0].schema
        # not compressed: rows are small numbers in small types, and hashes, which do not shrink
        options = pa.ipc.IpcWriteOptions(use_threads=False)
        with pa.ipc.new_file(str(path), schema, options=options) as writer:
            for number, (key, parts) in enumerate(self._held.items()):
                writer.write_batch(_together(parts))
                self._places.setdefault(key, []).append((len(self._files), number))
        # not mapped: pages of the file would count as memory of this process
        self._files.append(pa.ipc.open_file(pa.OSFile(str(path))))
        self._locks.append(Lock())
        self._held, self._bytes = {}, 0

    def __iter__(self) -> "Iterator[Callable[[], list[pa.Table]]]":
        """What reads all rows of each key, key by key; rows in memory are forgotten once they are
        returned."""
        for key in sorted({*self._held, *self._places}):
            yield partial(self._rows, self._places.pop(key, []), self._held.pop(key, []))

    def _rows(self, places: list[tuple[int, int]], held: list[pa.RecordBatch]) -> list[pa.Table]:
        """The rows at some places and some that are in memory."""
        parts = []
        for file, number in places:
            with self._locks[file]:
                parts.append(self._files[file].get_batch(number))
        return [pa.Table.from_batches([*parts, *held])]

    def remove(self) -> None:
        """Remove all files."""
        self._files, self._held = [], {}
        shutil.rmtree(self._folder, ignore_errors=True)


def _together(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(parts) == 1:
        return parts[0]
    table = pa.Table.from_batches(parts).combine_chunks()
    return table.to_batches()[0]
