"""Arrow data in Spark: the types in which it is stored, and functions of ours in the executors.

The functions are sent to other processes: they hold small things and import shoal there. An error of
ours that one of them raises would come again each time that Spark tries the task again. So the task
ends without an error. That is a package of its own (`packages.py`), or it is added to an accumulator
where rows go to a frame, and the session raises it once the job is done.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from shoal.engines.column_types import SUPPORTED, storage_type, value_type_of
from shoal.errors import InputError, listed

Batches = Iterator[pa.RecordBatch]
BatchesFunction = Callable[[Batches], Batches]

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
