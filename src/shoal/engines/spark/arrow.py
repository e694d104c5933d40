"""Arrow data in Spark: the types in which it is stored, and functions of ours in the executors.

The functions are sent to other processes: they hold small things and import shoal there. An error of
ours that one of them raises would come again each time that Spark tries the task again. So the task
ends without an error. Where the rows are kept, the error comes back as a row of its own, in the column
ERROR, and `Tables.keep` raises it; elsewhere it is added to an accumulator, and the session raises it
once the job is done.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from shoal.engines.column_types import SUPPORTED, storage_type, value_type_of
from shoal.engines.sessions import BatchFunction, TableFunction
from shoal.engines.spark.failures import packed
from shoal.errors import InputError, ShoalError, listed

Batches = Iterator[pa.RecordBatch]
BatchesFunction = Callable[[Batches], Batches]
Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)

SLOT = "shoal_slot"
"""The column that says into which part a row goes."""
ERROR = "shoal_error"
"""The column of errors of ours."""
SQL_TYPES = re.compile(
    r"string|boolean|tinyint|smallint|int|bigint|float|double|date|timestamp|timestamp_ntz|binary"
    r"|decimal\(\d+,\d+\)"
)
"""Spark's own names of the types that it stores exactly."""
EXACT = frozenset(
    {
        *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
        *(pa.string(), pa.binary(), pa.date32()),
    }
)


class Errors:
    """Adds up the errors of tasks; for an accumulator of Spark."""

    def zero(self, _: list[str]) -> list[str]:
        """None yet."""
        return []

    def addInPlace(self, one: list[str], other: list[str]) -> list[str]:  # noqa: N802
        """Those of both."""
        return [*one, *other]


Accumulator = Any
"""pyspark.Accumulator of `Errors`."""
UTC = ("UTC", "Etc/UTC", "+00:00", "Z")


def type_in_spark(kind: pa.DataType) -> pa.DataType | None:
    """The type in which a Parquet column comes back from Spark; None where values would change."""
    kind = value_type_of(kind)
    if pa.types.is_timestamp(kind) and kind.unit != "ns" and kind.tz in (None, *UTC):
        return pa.timestamp("us", tz=None if kind.tz is None else "UTC")
    stored = storage_type(kind)
    is_decimal = pa.types.is_decimal128(stored) and stored.scale >= 0
    return stored if not pa.types.is_null(kind) and (stored in EXACT or is_decimal) else None


def schema_in_spark(schema: pa.Schema) -> pa.Schema:
    """The schema in the types in which Spark stores it."""
    fields = []
    for field in schema:
        kind = type_in_spark(field.type)
        if kind is None:
            raise unsupported_type("A table", field.name, field.type)
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def unsupported_type(where: str, column: str, kind: object) -> InputError:
    """The error for a column that Spark cannot store as it is."""
    return InputError(
        f"{where}: column '{column}' has the type {kind}, which Spark does not store exactly. Supported "
        f"are {listed(SUPPORTED)}. Cast the column first, or run without --engine."
    )


def with_errors(schema: pa.Schema) -> pa.Schema:
    """The schema with the column of errors."""
    return schema.append(pa.field(ERROR, pa.string()))


def error_row(error: ShoalError, schema: pa.Schema) -> pa.RecordBatch:
    """The row of an error; `schema` has the column of errors."""
    values = [packed(error) if field.name == ERROR else None for field in schema]
    arrays = [pa.array([v], field.type) for v, field in zip(values, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def over_batches(
    function: BatchFunction, schema: pa.Schema, errors: Accumulator
) -> BatchesFunction:
    """The function on each batch; `schema` is in the types that Spark stores.

    Where it has the column of errors, an error of ours is a row, otherwise it is added to `errors`.
    """

    def run(batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                result = _call(function, batch, schema, errors)
                if result is None:
                    return
                yield pa.record_batch(_columns(result, schema), schema=schema)

    return run


def over_groups(
    function: TableFunction, key: str, schema: pa.Schema, errors: Accumulator
) -> BatchesFunction:
    """The function on all rows of each key, with errors as `over_batches` has them; the rows of a key
    are in one part. Java would have to sort whole rows to bring them together."""

    def run(batches: Batches) -> Batches:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts)
        keys = rows.column(key).to_numpy()
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
        for begin, end in pairwise([*starts.tolist(), len(order)]):
            result = _call(function, rows.take(pa.array(order[begin:end])), schema, errors)
            if result is None:
                return
            yield from pa.table(_columns(result, schema), schema=schema).to_batches()

    return run


def _columns(
    rows: pa.RecordBatch | pa.Table, schema: pa.Schema
) -> list[pa.Array | pa.ChunkedArray]:
    """The columns of the schema, in its types and order; no error unless there is one."""
    found = set(rows.schema.names)
    none = pa.nulls(rows.num_rows, pa.string())
    columns = [
        (
            rows.column(field.name) if field.name in found or field.name != ERROR else none,
            field.type,
        )
        for field in schema
    ]
    return [column if column.type == kind else column.cast(kind) for column, kind in columns]


def _call(
    function: Callable[[Rows], Rows], rows: Rows, schema: pa.Schema, errors: Accumulator
) -> Rows | pa.RecordBatch | None:
    """The function's result; None where an error of ours was added to `errors`."""
    try:
        return function(rows)
    except ShoalError as error:
        if ERROR in schema.names:
            return error_row(error, schema)
        errors.add([packed(error)])
        return None
