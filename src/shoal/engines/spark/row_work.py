"""Work on the rows of packages in the executors: functions on batches and groups, and where rows go."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.cells import hash_rows
from shoal.engines.sessions import BatchFunction, CountFunction, TableFunction
from shoal.engines.spark.arrow import Batches
from shoal.engines.spark.packages import (
    Packages,
    Rdd,
    Source,
    Work,
    all_rows,
    conformed,
    exchanged,
    gathered,
    joined,
    opened,
    package_of,
)
from shoal.io.arrow import one_chunk

SLOT_ROWS = 256
"""Rows that go to one place together at least, about, where there are many."""
SCATTERED_ROWS = 4096
"""Rows of a file that go to one place together: up to a thousand times as many wait in memory."""


def mapping(function: BatchFunction, schema: pa.Schema) -> Work:
    """What a function makes of each batch."""

    def work(batches: Batches) -> Packages:
        for batch in batches:
            if batch.num_rows:
                yield package_of(conformed(function(batch), schema))

    return work


def counting(count: CountFunction, size: int) -> Work:
    """What a function counts of all rows, as one package: where there are counts, and these."""

    def work(batches: Batches) -> Packages:
        totals = np.zeros(size, np.int64)
        for batch in batches:
            if batch.num_rows:
                count(batch, totals)
        at = np.flatnonzero(totals)
        yield package_of(pa.table({"at": at, "n": totals[at]}))

    return work


def as_they_are(batches: Batches) -> Packages:
    """All rows."""
    for batch in batches:
        yield package_of(batch)


def scattering(slots: int) -> Work:
    """The rows of a part in slots, some thousands at a time, by where they are in it: so a row goes to
    the same slot if it is read again, whatever the batches are then."""

    def work(batches: Batches) -> Packages:
        first = 0
        for batch in batches:
            at = 0
            while at < len(batch):
                block, before = divmod(first + at, SCATTERED_ROWS)
                rows = batch.slice(at, SCATTERED_ROWS - before)
                yield package_of(rows, block % slots)
                at += len(rows)
            first += len(batch)

    return work


def gathering(batches: Batches) -> Packages:
    """All rows in larger packages, texts that repeat as codes."""
    for batch in gathered(batches):
        columns = [coded_texts(column) for column in batch.columns]
        yield package_of(pa.table(columns, names=batch.schema.names))


def coded_texts(column: pa.Array) -> pa.Array:
    """Texts as codes, where most occur twice."""
    coded = column.dictionary_encode()
    return coded if 2 * len(coded.dictionary) <= len(column) else column


def first_of(limit: int) -> Work:
    """The first rows of a part, at most so many."""

    def work(batches: Batches) -> Packages:
        left = limit
        # to the end: a process that leaves some of its rows unread is not used again
        for batch in batches:
            if left > 0:
                yield package_of(batch.slice(0, left))
                left -= len(batch)

    return work


def rows_where(condition: Callable[[pa.Table], pa.Array], columns: tuple[str, ...]) -> Work:
    """Some columns of the rows for which a condition is true."""

    def work(batches: Batches) -> Packages:
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            found = rows.filter(condition(rows)).select(list(columns))
            if len(found):
                yield package_of(found)

    return work


def grouping(function: TableFunction, key: str, schema: pa.Schema, prepare: TableFunction) -> Work:
    """What a function makes of all rows of each key; these are in one part. prepare: what the rows of a
    key, texts being codes, pass through first."""

    def work(batches: Batches) -> Packages:
        rows = all_rows(batches)
        if rows is None:
            return
        keys = rows.column(key).to_numpy()
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
        for begin, end in pairwise([*starts.tolist(), len(order)]):
            some = rows.take(pa.array(order[begin:end]))
            yield package_of(conformed(function(prepare(some)), schema))

    return work


def placing(place: Callable[[pa.RecordBatch], tuple[pa.Table, Ints]], slots: int) -> Work:
    """The rows of each batch in the slots where they go, some thousands of rows at a time."""

    def work(batches: Batches) -> Packages:
        waiting: list[tuple[pa.Table, Ints]] = []
        for batch in batches:
            if batch.num_rows:
                waiting.append(place(batch))
            if sum(len(slot) for _, slot in waiting) >= SLOT_ROWS * slots:
                yield from sent(waiting)
                waiting = []
        yield from sent(waiting)

    return work


def sent(waiting: list[tuple[pa.Table, Ints]]) -> Packages:
    """Tables of rows, with the slot of each row, as one package per slot."""
    if not waiting:
        return
    rows = joined([rows for rows, _ in waiting])
    slot = np.concatenate([slot for _, slot in waiting])
    order = np.argsort(slot, kind="stable")
    rows = rows.take(pa.array(order))
    slot = slot[order]
    starts = np.flatnonzero(np.diff(slot, prepend=-1)).tolist()
    for begin, end in pairwise([*starts, len(slot)]):
        yield package_of(rows.slice(begin, end - begin), int(slot[begin]))


@dataclass(frozen=True)
class Placed:
    """The rows of a batch, and the slot of each by its key; they may pass through a function first."""

    key: str
    bounds: Ints
    """The first keys of all slots but the first."""
    before: BatchFunction | None

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.Table, Ints]:
        """Find the slots of a batch."""
        rows = batch if self.before is None else self.before(batch)
        keys = rows.column(self.key).to_numpy(zero_copy_only=False)
        return pa.Table.from_batches([rows]), np.searchsorted(self.bounds, keys, side="right")


@dataclass(frozen=True)
class Among:
    """The rows that have certain keys, and the slot of each by its key."""

    key: str
    values: pa.Array
    slots: int

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.Table, Ints]:
        """Find those of a batch."""
        rows = pa.Table.from_batches([batch])
        rows = rows.filter(pc.is_in(rows.column(self.key), self.values))
        return rows, slots_of(one_chunk(rows.column(self.key)), self.slots)


def slots_of(numbers: pa.Array, slots: int) -> Ints:
    """(n,) the slot of each number."""
    words = numbers.to_numpy().astype(np.int64).view(np.uint64)
    return (hash_rows(len(words), (words,), (), 0) % np.uint64(slots)).astype(np.int64)


def numbering(alike: tuple[str, ...], by: tuple[str, ...]) -> Work:
    """All rows of a part with nth: the number of each among those equal in some columns, from 1 on, by
    others. These are columns of whole numbers."""

    def work(batches: Batches) -> Packages:
        rows = all_rows(batches)
        if rows is not None:
            of = [rows.column(name).to_numpy() for name in alike]
            order = np.lexsort([*(rows.column(name).to_numpy() for name in by[::-1]), *of[::-1]])
            first = np.append(True, np.zeros(len(order) - 1, np.bool_))
            for each in of:
                first[1:] |= each[order[1:]] != each[order[:-1]]
            places = np.arange(len(order))
            nth = np.empty(len(order), np.int64)
            nth[order] = places - np.maximum.accumulate(np.where(first, places, 0)) + 1
            yield package_of(rows.append_column("nth", pa.array(nth)))

    return work


def repeated(source: Source, slots: int) -> Rdd:
    """The numbers that several rows have; source: rows of one column of numbers."""

    def place(batch: pa.RecordBatch) -> tuple[pa.Table, Ints]:
        return pa.Table.from_batches([batch]), slots_of(batch.column(0), slots)

    def work(batches: Batches) -> Packages:
        rows = all_rows(batches)
        if rows is not None:
            numbers = np.sort(rows.column(0).to_numpy())
            again = np.unique(numbers[1:][numbers[1:] == numbers[:-1]])
            yield package_of(pa.table([again], names=rows.column_names))

    sent = source.run(placing(place, slots))
    return Source(exchanged(sent, slots), opened(None, coded=False)).run(work)
