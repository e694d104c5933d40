"""Counts of values in packages: how many rows are equal in some columns.

Each part is counted by itself, what it has goes to slots by its value, and each slot is added up: only
values and counts move.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.cells import hash_rows
from shoal.engines.sessions import TableFunction
from shoal.engines.spark.arrow import Batches
from shoal.engines.spark.packages import Packages, Work, all_rows, decoded, joined, package_of
from shoal.engines.spark.row_work import sent
from shoal.io.arrow import one_chunk


def combined(rows: pa.Table, columns: Sequence[str], n: str | None = None) -> pa.Table:
    """The different combinations of some columns, and n: the rows of each, or the sum of a column.

    Texts stay codes where they are: numbers are compared faster. Zero is one value, whatever its sign,
    and so is what is not a number.
    """
    keys, dictionaries = {}, {}
    for name in columns:
        column = one_chunk(rows.column(name))
        if pa.types.is_dictionary(column.type) and repeats(column.dictionary):
            column = column.cast(column.type.value_type)
        if pa.types.is_dictionary(column.type):
            keys[name], dictionaries[name] = column.indices, column.dictionary
        elif pa.types.is_floating(column.type):
            zero, nan = (pa.scalar(value, column.type) for value in (0.0, float("nan")))
            keys[name] = pc.if_else(pc.is_nan(column), nan, pc.add(column, zero))
        else:
            keys[name] = column
    table = pa.table(keys)
    if n is None:
        found = table.group_by(list(keys), use_threads=False).aggregate([([], "count_all")])
    else:
        table = table.append_column("n", rows.column(n))
        found = table.group_by(list(keys), use_threads=False).aggregate([("n", "sum")])
    counts = found.column("count_all" if n is None else "n_sum").cast(pa.int64())
    shown = [
        pa.DictionaryArray.from_arrays(one_chunk(found.column(name)), dictionaries[name])
        if name in dictionaries
        else found.column(name)
        for name in keys
    ]
    return pa.table([*shown, counts], names=[*keys, "n"])


def repeats(values: pa.Array) -> bool:
    """Whether values of a dictionary are missing or equal."""
    return bool(values.null_count or len(pc.unique(values)) < len(values))


@dataclass(frozen=True)
class Combined:
    """Rows to the different combinations of their columns, with n: the rows of each."""

    columns: tuple[str, ...]

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Count rows."""
        return decoded(combined(rows, self.columns))


def chosen(batch: pa.RecordBatch | pa.Table, kept: str | None) -> pa.Table:
    """The rows that are not left out."""
    rows = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    return rows if kept is None else rows.filter(pc.greater_equal(rows.column(kept), 0))


def combining(columns: tuple[str, ...], slots: int, kept: str | None = None) -> Work:
    """The combinations of some columns in a part, in slots by what they are. kept: the column that is
    negative where a row is left out."""

    def work(batches: Batches) -> Packages:
        found = [combined(chosen(batch, kept), columns) for batch in batches if batch.num_rows]
        if found:
            rows = combined(joined(found), columns, "n")
            slot = hash_rows(len(rows), (), [one_chunk(rows.column(c)) for c in columns], 0)
            yield from sent([(rows, (slot % np.uint64(slots)).astype(np.int64))])

    return work


def adding_up(columns: tuple[str, ...], then: TableFunction) -> Work:
    """The combinations of all parts, in one slot of them; then: what they pass through."""

    def work(batches: Batches) -> Packages:
        rows = all_rows(batches)
        if rows is not None:
            yield package_of(then(combined(rows, columns, "n")))

    return work


def sizes_of(found: pa.Table) -> pa.Table:
    """size: the rows of combinations, times: how many have so many."""
    size, times = np.unique(found.column("n").to_numpy(), return_counts=True)
    return pa.table({"size": size, "times": times.astype(np.int64)})


def valuing(columns: tuple[str, ...], slots: int) -> Work:
    """The values v of some columns in a part, in slots by what they are; i: the position of the column,
    n: the rows with the value."""

    def work(batches: Batches) -> Packages:
        found: list[list[pa.Table]] = [[] for _ in columns]
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            for mine, name in zip(found, columns, strict=True):
                if len(rows):
                    counted = combined(rows, [name])
                    mine.append(pa.table(counted.columns, names=["v", "n"]))
        for i, mine in enumerate(found):
            if mine:
                values = decoded(combined(joined(mine), ["v"], "n"))
                values = values.append_column("i", pa.array(np.full(len(values), i, np.int32)))
                slot = hash_rows(len(values), (), [one_chunk(values.column("v"))], 0)
                yield from sent([(values, (slot % np.uint64(slots)).astype(np.int64))])

    return work


def at_most(limit: int) -> TableFunction:
    """The first rows, at most so many."""
    return lambda rows: rows.slice(0, limit)


def summing_forms(batches: Batches) -> Packages:
    """The labels of a part by form and size."""
    rows = all_rows(batches)
    if rows is not None:
        yield package_of(forms_together(decoded(rows), more=False))


def forms_together(rows: pa.Table, more: bool) -> pa.Table:
    """Labels by form and size, as `queries.count_forms` has them; more: `rows` are such counts."""
    counts: list[tuple[object, str]] = [("n_rows", "sum"), ("n_labels", "sum")]
    if not more:
        counts = [("n", "sum"), ([], "count_all")]
    found = rows.group_by(["form", "size"], use_threads=False)
    found = found.aggregate([*counts, ("low", "min"), ("high", "max")])
    totals = ["n_rows_sum", "n_labels_sum"] if more else ["n_sum", "count_all"]
    found = found.select(["form", "size", *totals, "low_min", "high_max"])
    return found.rename_columns(["form", "size", "n_rows", "n_labels", "low", "high"])
