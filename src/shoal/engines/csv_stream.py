"""Reading a CSV that memory need not hold: the rows of `csv_read`, batch by batch."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from shoal.engines.csv_errors import LINE_TOO_LONG, reworded
from shoal.engines.csv_read import LINE_LIMITS, CsvFile, check_separators, opened
from shoal.engines.duck import connection
from shoal.io.csv_dialect import CsvOptions

BATCH_ROWS = 50_000


def csv_batches(
    path: Path, options: CsvOptions, columns: Sequence[str], batch_rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The named columns as text, called p0, p1, ... in this order, rows in the order of the file.

    What is wrong with the file may show only after rows were given: they count for nothing then.
    """
    with opened(path, options) as file:
        rows = 0
        for limit in LINE_LIMITS:
            try:
                for batch in _batches(file, columns, limit, batch_rows, rows):
                    rows += batch.num_rows
                    yield batch
                break
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                if LINE_TOO_LONG not in str(error).lower() or limit == LINE_LIMITS[-1]:
                    raise _reworded(file, error) from None
        check_separators(file, rows)


def _batches(
    file: CsvFile, columns: Sequence[str], limit: int, batch_rows: int, given: int
) -> Iterator[pa.RecordBatch]:
    """The rows after the first `given` ones."""
    chosen = ", ".join(f"{file.place(name)} AS p{i}" for i, name in enumerate(columns))
    with connection(file.plain.stat().st_size) as con:
        rows = con.sql(f"SELECT {chosen} FROM {file.scan(limit)}")
        for batch in rows.to_arrow_reader(batch_rows):
            if batch.num_rows > given:
                yield batch.slice(given)
            given = max(0, given - batch.num_rows)


def _reworded(file: CsvFile, error: Exception) -> Exception:
    """The database speaks through Arrow here, which keeps its words and loses its kinds."""
    ours = error if isinstance(error, duckdb.Error) else duckdb.Error(str(error))
    return reworded(file.path, file.options, len(file.names), ours)
