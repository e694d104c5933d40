"""The encoded table of some cells in a session, without reading files."""

import numpy as np
import pyarrow as pa

from shoal.encoding.cells import Cells
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.encode import EncodedTable
from shoal.engines.queries import ENCODED, PERSON, WORD
from shoal.engines.words import word_layout


def store_cells(
    session: DuckSession, cells: Cells, payload: list[pa.Array] | None = None
) -> EncodedTable:
    """Create the encoded table; payload in canonical order, else each row's number in it."""
    n, counts = cells.n_rows, cells.counts
    codes = [np.repeat(column, counts).astype(np.int32) for column in cells.codes.T]
    names = tuple(sorted(cells.sensitive))
    plain = payload if payload is not None else [pa.array(np.arange(n, dtype=np.int64))]
    # keys rise inside a cell and are all over the place among cells
    cell = np.repeat(np.arange(cells.n_cells), counts)
    key = (np.arange(n) - cells.starts[cell]) * 1_000_003 - cell * 7_777_777
    columns = {"node": np.zeros(n, np.int64)}
    columns |= {f"c{j}": column for j, column in enumerate(codes)}
    columns |= {f"s{i}": cells.sensitive[name] for i, name in enumerate(names)}
    if cells.people is not None:  # hashes far apart, in the order of the people's numbers
        columns[PERSON] = cells.people.number.astype(np.int64) * 1_000_000_007 + 5
    columns |= {"h": np.arange(n, dtype=np.int64)[::-1].copy(), "key": key.astype(np.int64)}
    layout = word_layout([domain.size for domain in cells.domains])
    if layout is not None:
        columns[WORD] = layout.pack(codes)
    table = pa.table(columns | {f"p{i}": column for i, column in enumerate(plain)})
    table = table.take(np.random.default_rng(n).permutation(n))
    schema = pa.schema([table.schema.field(f"p{i}") for i in range(len(plain))])

    def pick(batch: pa.RecordBatch) -> pa.RecordBatch:
        return table.slice(batch.column(0)[0].as_py(), len(batch)).combine_chunks().to_batches()[0]

    session.map(ENCODED, f"SELECT i FROM range({n}) AS t(i) ORDER BY i", pick, table.schema)
    return EncodedTable(
        domains=cells.domains,
        sensitive_domains=cells.sensitive_domains,
        totals=cells.totals,
        rows_of_sensitive={
            name: np.bincount(cells.sensitive[name], minlength=domain.size)
            for name, domain in cells.sensitive_domains.items()
        },
        n_rows=n,
        rows_of_values=cells.rows_of_values,
        quasi=tuple(domain.name for domain in cells.domains),
        sensitive=names,
        payload=tuple(schema.names),
        schema=schema,
        has_target=False,
        n_people=None if cells.people is None else cells.people.count,
    )
