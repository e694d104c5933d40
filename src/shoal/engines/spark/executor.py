"""What runs in the executors around a function of ours. Nothing here asks Spark for anything.

What is made here goes to other processes: it holds small things and imports shoal there.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pyarrow as pa

from shoal.engines.base import BatchFunction, TableFunction
from shoal.engines.spark.failures import carry
from shoal.engines.spark.tables import fit
from shoal.errors import ShoalError

Batches = Iterator[pa.RecordBatch]
BatchesFunction = Callable[[Batches], Batches]
Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)
SLOT = "shoal_slot"
"""The column that says into which part a row goes."""


def over_batches(function: BatchFunction, schema: pa.Schema) -> BatchesFunction:
    """The function on each batch; `schema` is in the types that Spark carries."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                yield shaped_batch(_ours(function, batch), schema)

    return run


def over_groups(function: TableFunction, schema: pa.Schema) -> TableFunction:
    """The function on all rows of a group."""

    def run(table: pa.Table) -> pa.Table:
        made = _ours(function, table.drop_columns([SLOT]))
        columns = [fit(made.column(field.name), field.type) for field in schema]
        return pa.table(columns, schema=schema)

    return run


def shaped_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of the schema, in its types and order."""
    columns = [fit(batch.column(field.name), field.type) for field in schema]
    return pa.record_batch(columns, schema=schema)


def _ours(function: Callable[[Rows], Rows], rows: Rows) -> Rows:
    try:
        return function(rows)
    except ShoalError as error:
        raise carry(error) from None
