"""Counting what a reader of the release can tell apart.

This is the verifier's eye: it sees the published text and nothing of what the method knew. One
GROUP BY over the text finds the classes and lists each class's sensitive values; their histograms
are then made for all classes at once. For a table in memory the text of each column is numbered
first, which halves the work.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Ints
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.engines.duckdb.connection import connection, text
from shoal.engines.duckdb.csv import opened
from shoal.errors import InputError, listed, nearest
from shoal.hierarchy.text import is_bytes, text_of_bytes
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import CsvOptions
from shoal.threads import each

STAR = "*"
SIZES_ONLY = ""


@dataclass(frozen=True)
class Coded:
    """A column of texts as numbers."""

    codes: pa.Array
    """(n,) int32 the number of each row's text; null for a missing value."""
    texts: pa.Array
    """The text of each number; no text twice."""


def count_csv(
    path: Path,
    columns: Sequence[str],
    of: Sequence[str],
    options: CsvOptions,
    starred: Sequence[str],
) -> dict[str, Counts]:
    """The classes of a CSV file, which is never held as a whole."""
    with opened(path, options) as file:
        stars = {file.place(c): text(STAR) for c in starred}
        sql = _sql("{file}", [file.place(c) for c in columns], [file.place(c) for c in of], stars)
        classes = file.ask(sql)
    lists = (classes[f"v{i}"] for i in range(len(of)))
    found = [(_lengths(v), coded(c, pc.list_flatten(v))) for c, v in zip(of, lists, strict=True)]
    return _counts(classes["n"], dict(zip(of, found, strict=True)))


def count_table(
    table: pa.Table, columns: Sequence[str], of: Sequence[str], starred: Sequence[str]
) -> dict[str, Counts]:
    """The classes of a table in memory."""
    for column in (*columns, *of, *starred):
        if column not in table.column_names:
            raise InputError(
                f"The table has no column '{column}'.{nearest(column, table.column_names)} "
                f"It has: {listed(table.column_names)}."
            )
    needed = list(dict.fromkeys((*columns, *of, *starred)))
    seen = dict(zip(needed, each(lambda c: coded(c, table.column(c)), needed), strict=True))
    place = {c: f"c{i}" for i, c in enumerate(needed)}
    stars = {place[c]: str(pc.index(seen[c].texts, STAR).as_py()) for c in starred}
    numbers = {place[c]: seen[c].codes for c in needed}
    with connection(table.nbytes) as con:
        # A table without columns would lose its rows.
        con.register("published", pa.table(numbers or {"c0": pa.nulls(table.num_rows)}))
        sql = _sql("published", [place[c] for c in columns], [place[c] for c in of], stars)
        classes = con.sql(sql).to_arrow_table()
    lists = (classes[f"v{i}"] for i in range(len(of)))
    found = {
        c: (_lengths(v), Coded(one_chunk(pc.list_flatten(v)), seen[c].texts))
        for c, v in zip(of, lists, strict=True)
    }
    return _counts(classes["n"], found)


def _sql(source: str, columns: list[str], of: list[str], stars: dict[str, str]) -> str:
    """n: rows of each class; v0, v1, ...: the values of each sensitive column in it.

    stars: what a star looks like in some columns. A row that is all stars there may stand beside
    others in a class, as one of it; alone such rows make no class.
    """
    # Missing and starred values are listed too: sorting them out here would double the work.
    lists = (f", list({c}) AS v{i}" for i, c in enumerate(of))
    every = " AND ".join(f"{c} IS NOT DISTINCT FROM {star}" for c, star in stars.items())
    kept = f"HAVING NOT bool_and({every})" if stars else ""
    # Without a column to tell them apart, all rows are one class (and no rows are none).
    keys = ", ".join(columns) or "c0 IS NULL AND c0 IS NOT NULL"
    return f"SELECT count(*) AS n{''.join(lists)} FROM {source} GROUP BY {keys} {kept}"


def _lengths(lists: pa.ChunkedArray) -> Ints:
    lengths: Ints = pc.list_value_length(lists).to_numpy().astype(np.int64)
    return lengths


def _counts(n: pa.ChunkedArray, listed_values: dict[str, tuple[Ints, Coded]]) -> dict[str, Counts]:
    sizes = n.to_numpy().astype(np.int64)
    empty = np.zeros(0, dtype=np.int64)
    none = Counts(sizes, np.zeros(len(sizes) + 1, np.int64), empty.astype(np.int32), empty)
    counted = {c: _histograms(c, sizes, *found) for c, found in listed_values.items()}
    return {SIZES_ONLY: none, **counted}


def _histograms(name: str, sizes: Ints, lengths: Ints, values: Coded) -> Counts:
    """How often each value occurs in each class, values numbered by the order of their text."""
    by_text = pc.sort_indices(values.texts).to_numpy()
    by_text = by_text[~_equals(values.texts, STAR)[by_text]]
    # One place more, for missing values; they and stars have no rank.
    rank = np.full(len(values.texts) + 1, -1)
    rank[by_text] = np.arange(len(by_text))
    codes = rank[pc.fill_null(values.codes, len(values.texts)).to_numpy(zero_copy_only=False)]
    width = max(len(by_text), 1)
    # Class and value in one number: sorting it sorts both, and equal ones are one entry.
    keys = (np.repeat(np.arange(len(sizes)), lengths) * width + codes)[codes >= 0]
    entries, counts = np.unique(keys, return_counts=True)
    starts = np.searchsorted(entries, np.arange(len(sizes) + 1) * width)
    ranked = (entries % width).astype(np.int32)
    domain = Domain(name, Kind.SET, values.texts.take(pa.array(by_text)), missing=-1)
    return Counts(sizes, starts.astype(np.int64), ranked, counts.astype(np.int64), domain)


def _equals(texts: pa.Array, wanted: str) -> Bools:
    same: Bools = pc.equal(texts, wanted).to_numpy(zero_copy_only=False)
    return same


def coded(name: str, column: pa.ChunkedArray) -> Coded:
    """The column's texts as numbers; equal numbers mean equal texts."""
    if pa.types.is_null(column.type):
        return Coded(pa.nulls(len(column), pa.int32()), pa.array([], pa.string()))
    had_codes = pa.types.is_dictionary(column.type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        whole = one_chunk(column if had_codes else column.dictionary_encode())
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"Column '{name}' holds {column.type}; only plain values can be counted."
        ) from None
    texts = _spelled(whole.dictionary)
    if not had_codes:
        return Coded(whole.indices, texts)
    # A dictionary made by others may say the same text twice.
    once = texts.dictionary_encode()
    return Coded(once.indices.take(whole.indices), once.dictionary)


def _spelled(values: pa.Array) -> pa.Array:
    """Distinct values as distinct texts: their own, or numbers where they have none."""
    if is_bytes(values.type):
        return text_of_bytes(values)
    try:
        return values.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([str(i) for i in range(len(values))], pa.string())
