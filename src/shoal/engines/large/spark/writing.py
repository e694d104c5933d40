"""A folder of part files, written by the executors with the local engine's own writer.

Which rows a part holds and in which order follows from their content alone, so the folder is the same
for any number of workers, and a task that runs twice writes the same bytes twice.
"""

import os
import uuid
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from shoal.engines.large.spark.failures import carry
from shoal.engines.large.spark.tables import Frame
from shoal.engines.large.spark.travelling import SLOT, Batches, BatchesFunction
from shoal.engines.local import LocalEngine
from shoal.errors import InputError, ShoalError
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, ending_of, format_of

PART_ROWS = 250_000
WRITTEN = pa.schema([("file", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())])


def write_folder(
    frame: Frame,
    target: Path,
    names: Sequence[str],
    order: Sequence[str],
    options: CsvOptions,
    rows: int,
) -> int:
    """Write the frame, which has so many rows, into a new folder; gives how many were written.

    `order` are columns of the frame. The folder's name tells the format, as a file's would.
    """
    from pyspark.sql import functions as f

    if format_of(target) is Format.ARROW:
        raise InputError(
            f"{target}: Spark writes Parquet and CSV folders. Name one '.parquet' or '.csv'."
        )
    columns = list(frame.columns)
    slots = max(1, -(-rows // PART_ROWS))
    slot = f.pmod(f.xxhash64(*columns), f.lit(slots)).cast("int")
    ordered = [*order, *(column for column in columns if column not in order)]
    parts = (
        frame.withColumn(SLOT, slot)
        .repartitionById(slots, SLOT)
        .sortWithinPartitions(SLOT, *ordered)
    )
    target.mkdir()
    writer = _part_writer(str(target.absolute()), tuple(names), options)
    told = parts.mapInArrow(writer, "file string, rows bigint, bytes bigint").toArrow()
    _settle(target, told)
    if not told.num_rows:
        kinds = frame.limit(0).toArrow().schema.types
        empty = pa.table([pa.array([], kind) for kind in kinds], names=list(names))
        LocalEngine().write(empty, target / part_name(0, 0, ending_of(target)), options=options)
    return sum(told["rows"].to_pylist())


def part_name(slot: int, number: int, ending: str) -> str:
    """The name of a part file: slot by slot, and within a slot one after the other."""
    return f"part-{slot:05d}-{number:03d}{ending}"


def _part_writer(folder: str, names: tuple[str, ...], options: CsvOptions) -> BatchesFunction:
    def write(batches: Batches) -> Batches:
        yield from write_parts(batches, Path(folder), names, options)

    return write


def write_parts(
    batches: Batches, folder: Path, names: tuple[str, ...], options: CsvOptions
) -> Batches:
    """Write the rows of one task in an executor: sorted by slot already, at most PART_ROWS a file."""
    waiting: list[pa.RecordBatch] = []
    at, number = -1, 0
    for batch in batches:
        for slot, piece in _by_slot(batch):
            if slot != at:
                yield from _written(waiting, folder, at, number, names, options)
                waiting, at, number = [], slot, 0
            while piece.num_rows:
                room = PART_ROWS - sum(each.num_rows for each in waiting)
                waiting.append(piece.slice(0, room))
                piece = piece.slice(room)
                if piece.num_rows:
                    yield from _written(waiting, folder, at, number, names, options)
                    waiting, number = [], number + 1
    yield from _written(waiting, folder, at, number, names, options)


def _by_slot(batch: pa.RecordBatch) -> list[tuple[int, pa.RecordBatch]]:
    slots = batch.column(batch.schema.get_field_index(SLOT)).to_numpy()
    rows = batch.drop_columns([SLOT])
    starts = [0, *(i + 1 for i in (slots[1:] != slots[:-1]).nonzero()[0].tolist()), len(slots)]
    return [
        (int(slots[begin]), rows.slice(begin, end - begin))
        for begin, end in pairwise(starts)
        if end > begin
    ]


def _written(
    waiting: list[pa.RecordBatch],
    folder: Path,
    slot: int,
    number: int,
    names: tuple[str, ...],
    options: CsvOptions,
) -> Batches:
    if not waiting:
        return
    name = part_name(slot, number, ending_of(folder))
    # one task may run twice at once: each writes its own file, and the last to end wins
    mine = folder / f".{uuid.uuid4().hex}.{name}"
    table = pa.Table.from_batches(waiting).rename_columns(list(names))
    try:
        LocalEngine().write(table, mine, options=options)
    except (ShoalError, OSError):
        raise carry(
            InputError(
                f"{folder} could not be written by an executor. Is the disk full? The folder must be "
                "on storage that every worker and this machine share under the same path."
            )
        ) from None
    with mine.open("rb") as stream:
        os.fsync(stream.fileno())
    size = mine.stat().st_size
    mine.replace(folder / name)
    yield pa.record_batch([[name], [table.num_rows], [size]], schema=WRITTEN)


def _settle(folder: Path, told: pa.Table) -> None:
    """See that what the executors wrote is here, and that nothing else is."""
    sizes = dict(zip(told["file"].to_pylist(), told["bytes"].to_pylist(), strict=True))
    for name, size in sizes.items():
        try:
            found = (folder / name).stat().st_size
        except FileNotFoundError:
            found = -1
        if found != size:
            raise InputError(
                f"{folder}: a part that an executor wrote is not here as it was written. The folder "
                "must be on storage that every worker and this machine share under the same path."
            )
    for other in folder.iterdir():
        if other.name not in sizes:
            # of a task that was ended in the middle
            other.unlink()
