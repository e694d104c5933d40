"""Sampling weights of a table larger than memory: read where the rows are, added up by class.

Weights are whole numbers of millionths, so the sums are those of a table in memory, row for row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.reading import AS_FOUND, ValueReading
from shoal.encoding.weights import FAULTS, SCALE, check_weights, weights_of
from shoal.engines.column_types import restore_type
from shoal.engines.queries import WEIGHT, count_weights, select, weighted_classes
from shoal.engines.sessions import Session


@dataclass(frozen=True)
class ReadWeights:
    """The weight of each row in millionths, beside some columns as they are."""

    name: str
    place: str
    """The column in the session's table."""
    kind: pa.DataType
    """Its type in the file."""
    missing: tuple[str, ...] = ()
    reading: ValueReading = AS_FOUND
    kept: tuple[tuple[str, pa.DataType], ...] = ()
    """The other columns, with their types in the session."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([*self.kept, (WEIGHT, pa.int64())])

    def of(self, batch: pa.RecordBatch) -> Ints:
        """(n,) the weights of a batch."""
        column = restore_type(batch.column(self.place), self.kind)
        return weights_of(column, self.missing, self.reading)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Read a batch."""
        columns = [batch.column(place) for place, _ in self.kept]
        return pa.RecordBatch.from_arrays([*columns, pa.array(self.of(batch))], schema=self.schema)


def read_weights_in(
    session: Session, table: str, read: ReadWeights, step: float | None = None
) -> str:
    """Make a table of the kept columns and the weights; gives its name.

    Raises
    ------
    InputError
        If some row has no weight, or one that is no number above 0.
    """
    name = f"{table}_weights"
    places = dict.fromkeys((*(place for place, _ in read.kept), read.place))
    session.map(name, select(table, list(places)), read, read.schema)
    require_weights(session, name, read.name, step)
    return name


def require_weights(session: Session, table: str, column: str, step: float | None = None) -> None:
    """Raise `InputError` for weights of a table by which a population cannot be estimated."""
    (found,) = session.query(count_weights(table, list(FAULTS))).to_pylist()
    faults = {fault: int(found[f"fault{-fault}"] or 0) for fault in FAULTS}
    check_weights(column, int(found["n"]), faults, float(found["total"] or 0) / SCALE, step=step)


def weights_of_classes(
    session: Session, table: str, columns: Sequence[str], where: str = ""
) -> tuple[Ints, Ints, Ints]:
    """Rows and weights that a class of a table has, and how many classes have both."""
    answer = session.query(weighted_classes(table, columns, where))
    sizes, weights, times = (
        answer.column(name).cast(pa.int64()).to_numpy() for name in ("size", "total", "times")
    )
    return sizes, weights, times
