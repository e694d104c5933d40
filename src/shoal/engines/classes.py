"""Counting what a reader of the release can tell apart.

This is the verifier's eye: it sees the published text and nothing of what the method knew. One
GROUP BY over the text finds the classes and lists each class's sensitive values; their histograms
are then made for all classes at once.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.counts import Counts
from shoal.engines.csv_read import opened
from shoal.engines.duck import connection
from shoal.errors import InputError, listed, nearest
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import CsvOptions

STAR = "*"
SIZES_ONLY = ""


def count_csv(
    path: Path,
    columns: Sequence[str],
    of: Sequence[str],
    options: CsvOptions,
    starred: Sequence[str],
) -> dict[str, Counts]:
    """The classes of a CSV file, which is never held as a whole."""
    with opened(path, options) as file:
        every = [[file.place(c) for c in part] for part in (columns, of, starred)]
        sql = _sql("{file}", *every)
        return _counts(file.ask(sql), of)


def count_table(
    table: pa.Table, columns: Sequence[str], of: Sequence[str], starred: Sequence[str]
) -> dict[str, Counts]:
    """The classes of a table in memory."""
    names = table.column_names
    for column in (*columns, *of, *starred):
        if column not in names:
            raise InputError(
                f"The table has no column '{column}'.{nearest(column, names)} "
                f"It has: {listed(names)}."
            )
    # A number is never a star, so with numbers among the columns there is no starred row.
    if not all(_is_text(table.schema.field(name).type) for name in starred):
        starred = ()
    needed = list(dict.fromkeys((*columns, *of, *starred)))
    place: Callable[[str], str] = {n: f"c{i}" for i, n in enumerate(needed)}.__getitem__
    texts = {place(n): as_text(n, table.column(n)) for n in needed}
    # A table without columns would lose its rows.
    seen = pa.table(texts or {"c0": pa.nulls(table.num_rows, pa.string())})
    every = [[place(c) for c in part] for part in (columns, of, starred)]
    with connection() as con:
        con.register("published", seen)
        sql = _sql("published", *every)
        return _counts(con.sql(sql).to_arrow_table(), of)


def _sql(source: str, columns: list[str], of: list[str], starred: list[str]) -> str:
    """n: rows of each class; v0, v1, ...: the values of each sensitive column in it."""
    lists = (f", list({c}) FILTER ({c} <> '{STAR}') AS v{i}" for i, c in enumerate(of))
    every = " AND ".join(f"{c} IS NOT DISTINCT FROM '{STAR}'" for c in starred)
    # A starred row may stand beside others in a class, as one of it; alone it makes no class.
    kept = f"HAVING NOT bool_and({every})" if starred else ""
    # Without a column to tell them apart, all rows are one class (and no rows are none).
    keys = ", ".join(columns) or "c0 IS NULL AND c0 IS NOT NULL"
    return f"SELECT count(*) AS n{''.join(lists)} FROM {source} GROUP BY {keys} {kept}"


def _counts(classes: pa.Table, of: Sequence[str]) -> dict[str, Counts]:
    sizes = classes["n"].to_numpy().astype(np.int64)
    empty = np.zeros(0, dtype=np.int64)
    none = Counts(sizes, np.zeros(len(sizes) + 1, np.int64), empty.astype(np.int32), empty)
    counted = {column: _histograms(sizes, classes[f"v{i}"]) for i, column in enumerate(of)}
    return {SIZES_ONLY: none, **counted}


def _histograms(sizes: npt.NDArray[np.int64], lists: pa.ChunkedArray) -> Counts:
    """How often each value occurs in each class, values numbered by the order of their text."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    coded = one_chunk(pc.list_flatten(lists).dictionary_encode())
    rank = np.empty(len(coded.dictionary), dtype=np.int64)
    rank[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank))
    codes = rank[coded.indices.to_numpy()]
    width = max(len(rank), 1)
    # Class and value in one number: sorting it sorts both, and equal ones are one entry.
    keys = np.repeat(np.arange(len(sizes)), lengths) * width + codes
    entries, counts = np.unique(keys, return_counts=True)
    starts = np.searchsorted(entries, np.arange(len(sizes) + 1) * width)
    values = (entries % width).astype(np.int32)
    return Counts(sizes, starts.astype(np.int64), values, counts.astype(np.int64))


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def as_text(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """The column as text; equal texts mean equal values."""
    kind = column.type
    if _is_text(kind):
        return column
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    try:
        coded = one_chunk(column.dictionary_encode())
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"Column '{name}' holds {kind}; only plain values can be counted."
        ) from None
    return pa.DictionaryArray.from_arrays(coded.indices, _spelled(coded.dictionary))


def _spelled(values: pa.Array) -> pa.Array:
    """Distinct values as distinct texts: their own, or numbers where they have none."""
    try:
        return values.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([str(i) for i in range(len(values))], pa.string())
