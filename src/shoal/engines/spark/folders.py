"""Folders of part files, written by the executors.

The rows of a part and their order follow from their content alone, so that a task that runs twice
writes the same bytes. Parts are written by the local engine's own writer.
"""

import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints
from shoal.encoding.cells import pack
from shoal.engines.files import LocalFiles
from shoal.engines.formats.base import format_of
from shoal.engines.formats.csv import Csv
from shoal.engines.formats.parquet import Parquet
from shoal.engines.spark.arrow import Batches
from shoal.engines.spark.packages import (
    Packages,
    Source,
    Work,
    all_rows,
    decoded,
    exchanged,
    opened,
    package_of,
    rows_of,
)
from shoal.engines.spark.row_hashes import xxhash64
from shoal.engines.spark.row_work import placing
from shoal.engines.spark.value_counts import chosen, repeats
from shoal.errors import InputError, ShoalError
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import CsvOptions
from shoal.io.paths import ending_of
from shoal.kernels.sorting import radix_argsort

SLOT = "shoal_slot"
"""The column that says into which part a row goes."""
PART_ROWS = 250_000
"""Rows that a part file has at most."""
WRITTEN = pa.schema([("file", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())])
"""What an executor returns of each part file."""


def write_folder(
    source: Source,
    columns: Sequence[str],
    kinds: Callable[[], Sequence[pa.DataType]],
    kept: str | None,
    target: Path,
    names: Sequence[str],
    order: Sequence[str],
    options: CsvOptions,
    rows: int,
) -> int:
    """Write rows, of which there are so many, to a new folder; returns how many were written.

    Parameters
    ----------
    source : Source
        The rows.
    columns : Sequence[str]
        The columns of the source to be written.
    kinds : Callable
        Finds the types of these.
    kept : str, optional
        The column that is negative where a row is left out.
    target : Path
        The folder; the extension of its name decides the format.
    names : Sequence[str]
        What the columns are called in the files.
    order : Sequence[str]
        By which of the columns the rows of a file are sorted first.
    options : CsvOptions
        How CSV files are written.
    rows : int
        How many rows there are.
    """
    if not isinstance(format_of(target), Csv | Parquet):
        raise InputError(
            f"{target}: Spark writes Parquet and CSV folders. Name one '.parquet' or '.csv'."
        )
    slots = max(1, -(-rows // PART_ROWS))
    ordered = [*order, *(column for column in columns if column not in order)]
    target.mkdir()
    parts = exchanged(source.run(placing(ByContent(tuple(columns), slots, kept), slots)), slots)
    writer = _part_writer(str(target.absolute()), tuple(names), ordered, options)
    found = Source(parts, opened(None, coded=True)).run(writer).collect()
    written = pa.concat_tables([WRITTEN.empty_table(), *map(rows_of, found)])
    _check_parts(target, written)
    if not written.num_rows:
        empty = pa.table([pa.array([], kind) for kind in kinds()], names=list(names))
        LocalFiles().write(empty, target / part_name(0, 0, ending_of(target)), options=options)
    return sum(written["rows"].to_pylist())


@dataclass(frozen=True)
class ByContent:
    """Rows without those that are left out, and the slot of each by what is in it, in a column too."""

    columns: tuple[str, ...]
    slots: int
    kept: str | None = None

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.Table, Ints]:
        """Find the slots of a batch."""
        rows = chosen(batch, self.kept).select(list(self.columns))
        slot = xxhash64(len(rows), map(one_chunk, rows.columns)) % self.slots
        return rows.append_column(SLOT, pa.array(slot.astype(np.int32))), slot


def in_order(rows: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The rows sorted by some columns, one after the other, missing values first."""
    ranks, sizes = [], []
    for name in columns:
        rank, size = _ranks(one_chunk(rows.column(name)))
        ranks.append(rank)
        sizes.append(size)
    for name in columns:
        # rows that differ in the sign of a zero alone have an order too
        if pa.types.is_floating(rows.column(name).type):
            values = one_chunk(rows.column(name)).fill_null(0.0).to_numpy(zero_copy_only=False)
            below = np.signbit(values) & (values == 0)
            if below.any():
                ranks.append((~below).astype(np.int32))
                sizes.append(2)
    order = np.arange(len(rows), dtype=np.int64)
    for word, bits in reversed(pack(ranks, sizes)):
        order = radix_argsort(word, bits, order)
    return rows.take(pa.array(order))


def _ranks(column: pa.Array) -> tuple[Codes, int]:
    """(n,) the place of each value among all different ones in order, from 1 on, 0 for a missing one;
    and how many places there are."""
    if pa.types.is_dictionary(column.type) and repeats(column.dictionary):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # one zero
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = coded.dictionary
    order = pc.sort_indices(values).to_numpy()
    rank = np.zeros(len(values) + 1, np.int32)
    rank[order] = np.arange(1, len(order) + 1, dtype=np.int32)
    codes = pc.fill_null(coded.indices, len(values)).to_numpy(zero_copy_only=False)
    return rank[codes], len(values) + 1


def part_name(slot: int, number: int, ending: str) -> str:
    """The name of a part file: slot by slot, and within a slot one after the other."""
    return f"part-{slot:05d}-{number:03d}{ending}"


def _part_writer(
    folder: str, names: tuple[str, ...], order: Sequence[str], options: CsvOptions
) -> Work:
    def write(batches: Batches) -> Packages:
        rows = all_rows(batches)
        if rows is not None:
            slot = rows.column(SLOT)[0].as_py()
            ordered = decoded(in_order(rows.drop_columns([SLOT]), order)).combine_chunks()
            for written in write_parts(ordered.to_batches(), slot, Path(folder), names, options):
                yield package_of(written)

    return write


def write_parts(
    batches: Iterable[pa.RecordBatch],
    slot: int,
    folder: Path,
    names: tuple[str, ...],
    options: CsvOptions,
) -> Batches:
    """Write the rows of one slot in an executor: in order already, at most PART_ROWS a file."""
    rows = pa.Table.from_batches(batches)
    for number, begin in enumerate(range(0, len(rows), PART_ROWS)):
        yield _write_part(rows.slice(begin, PART_ROWS), folder, slot, number, names, options)


def _write_part(
    rows: pa.Table,
    folder: Path,
    slot: int,
    number: int,
    names: tuple[str, ...],
    options: CsvOptions,
) -> pa.RecordBatch:
    name = part_name(slot, number, ending_of(folder))
    # a task may run twice at once: each writes its own file, and the last one to end wins
    mine = folder / f".{uuid.uuid4().hex}.{name}"
    table = rows.rename_columns(list(names))
    try:
        LocalFiles().write(table, mine, options=options)
    except (ShoalError, OSError):
        mine.unlink(missing_ok=True)
        raise InputError(
            f"{folder} could not be written by an executor. Is the disk full? The folder must be on "
            "storage that every worker and this machine share under the same path."
        ) from None
    with mine.open("rb") as stream:
        os.fsync(stream.fileno())
    size = mine.stat().st_size
    mine.replace(folder / name)
    return pa.record_batch([[name], [table.num_rows], [size]], schema=WRITTEN)


def _check_parts(folder: Path, written: pa.Table) -> None:
    """Check that the parts of all executors are here as they were written; remove other files."""
    sizes = dict(zip(written["file"].to_pylist(), written["bytes"].to_pylist(), strict=True))
    for name, size in sizes.items():
        try:
            found = (folder / name).stat().st_size
        except FileNotFoundError:
            found = -1
        if found != size:
            raise InputError(
                f"{folder}: a part that an executor wrote is missing here, or has another size. "
                "The folder must be on storage that every worker and this machine share under the "
                "same path."
            )
    for other in folder.iterdir():
        if other.name not in sizes:
            # of a task that was interrupted
            other.unlink()
