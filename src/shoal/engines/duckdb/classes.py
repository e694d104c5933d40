"""Counting equivalence classes by the published text alone, for verification.

Nothing of the method is known here. One GROUP BY over the text finds the classes and lists each class's
sensitive values; their histograms are then counted for all classes at once. For a table in memory the
text of each column is numbered first, which halves the work; the classes of few rows are found from
these numbers alone, as a query takes longer to prepare than they take to count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Ints
from shoal.encoding.counts import Counts, group_histograms, size_counts
from shoal.encoding.domain import Domain, Kind
from shoal.engines.duckdb.connection import connection, text
from shoal.engines.duckdb.csv import open_csv
from shoal.errors import InputError, listed, nearest
from shoal.hierarchy.text import is_bytes, text_of_bytes
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import CsvOptions
from shoal.threads import each

STAR = "*"
SIZES_ONLY = ""
FEW = 10_000
"""Rows that are always counted without a query."""
MOST_NUMBERS = 1 << 62
"""Rows with different texts that one number can tell apart."""
RUNS = 0.5
"""The share of rows that differ from the one above them up to which runs of equal rows are counted."""


@dataclass(frozen=True)
class TextCodes:
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
    """The classes of a CSV file, which is never in memory as a whole."""
    with open_csv(path, options) as file:
        stars = {file.place(c): text(STAR) for c in starred}
        sql = _sql("{file}", [file.place(c) for c in columns], [file.place(c) for c in of], stars)
        classes = file.query(sql)
    return _counts(classes, of, number_texts)


def count_table(
    table: pa.Table, columns: Sequence[str], of: Sequence[str], starred: Sequence[str]
) -> dict[str, Counts]:
    """The classes of a table in memory."""
    there = set(table.column_names)
    for column in (*columns, *of, *starred):
        if column not in there:
            raise InputError(
                f"The table has no column '{column}'.{nearest(column, table.column_names)} "
                f"It has: {listed(table.column_names)}."
            )
    needed = list(dict.fromkeys((*columns, *of, *starred)))
    codes = each(lambda c: number_texts(c, table.column(c)), needed, table.num_rows)
    by_name = dict(zip(needed, codes, strict=True))
    if table.num_rows <= FEW:
        return _count_few(np.ones(table.num_rows, np.int64), by_name, columns, of, starred)
    return _count_by_query(table, by_name, columns, of, starred)


def _count_few(
    rows: Ints,
    by_name: Mapping[str, TextCodes],
    columns: Sequence[str],
    of: Sequence[str],
    starred: Sequence[str],
) -> dict[str, Counts]:
    """The classes of some runs of equal rows; see `_sql` for those that are left out.

    rows: those of each run, 1 where values are listed.
    """
    owner = _numbered([by_name[name] for name in columns], len(rows))
    if starred:
        stars = np.ones(len(rows), np.bool_)
        for name in starred:
            star = pc.index(by_name[name].texts, STAR).as_py()
            stars &= pc.fill_null(by_name[name].codes, -2).to_numpy(zero_copy_only=False) == star
        kept = np.bincount(owner, ~stars) > 0
    else:
        kept = np.ones(owner.max(initial=-1) + 1, np.bool_)
    some = np.flatnonzero(kept[owner])
    owner = (np.cumsum(kept) - 1)[owner[some]]
    sizes = np.bincount(owner, rows[some], int(kept.sum())).astype(np.int64)
    found = {SIZES_ONLY: size_counts(sizes)}
    for name in of:
        values = TextCodes(by_name[name].codes.take(pa.array(some)), by_name[name].texts)
        found[name] = _histograms(name, sizes, owner, values)
    return found


def _count_by_query(
    table: pa.Table,
    by_name: Mapping[str, TextCodes],
    columns: Sequence[str],
    of: Sequence[str],
    starred: Sequence[str],
) -> dict[str, Counts]:
    place = {c: f"c{i}" for i, c in enumerate(by_name)}
    numbers = {place[c]: codes.codes for c, codes in by_name.items()}
    if columns and not of:
        # rows of a class are often written one after the other: such a run is counted as one
        first = np.flatnonzero(_begins(list(numbers.values()), table.num_rows))
        if len(first) <= RUNS * table.num_rows:
            # without the database: closing it gives free memory, needed again, back to the system
            some = pa.array(first)
            runs = {c: TextCodes(one.codes.take(some), one.texts) for c, one in by_name.items()}
            return _count_few(np.diff(first, append=table.num_rows), runs, columns, of, starred)
    stars = {place[c]: str(pc.index(by_name[c].texts, STAR).as_py()) for c in starred}
    with connection(table.nbytes) as con:
        # A table without columns would lose its rows.
        con.register("published", pa.table(numbers or {"c0": pa.nulls(table.num_rows)}))
        sql = _sql("published", [place[c] for c in columns], [place[c] for c in of], stars)
        classes = con.sql(sql).to_arrow_table()
    return _counts(classes, of, lambda c, v: TextCodes(one_chunk(v), by_name[c].texts))


def _numbered(columns: Sequence[TextCodes], n: int) -> Ints:
    """(n,) equal numbers where rows have equal texts in all columns, from 0 on without gaps."""
    owner, bound = np.zeros(n, np.int64), 1
    for column in columns:
        size = len(column.texts) + 1
        if bound * size > MOST_NUMBERS:
            owner, bound = _without_gaps(owner)
        codes = pc.fill_null(column.codes, size - 1).to_numpy(zero_copy_only=False)
        owner, bound = owner * size + codes, bound * size
    return _without_gaps(owner)[0]


def _without_gaps(numbers: Ints) -> tuple[Ints, int]:
    """The place of each number among the different ones, and how many these are."""
    found, place = np.unique(numbers, return_inverse=True)
    return place.reshape(-1), len(found)


def _begins(columns: Sequence[pa.Array], n: int) -> Bools:
    """(n,) whether each row differs from the one above it in some column of numbers."""
    found = np.arange(n) == 0
    for column in columns:
        if column.null_count:
            known = column.is_valid().to_numpy(zero_copy_only=False)
            found[1:] |= known[1:] != known[:-1]
            column = pc.fill_null(column, 0)
        numbers = column.to_numpy(zero_copy_only=False)
        found[1:] |= numbers[1:] != numbers[:-1]
    return found


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


def _counts(
    classes: pa.Table, of: Sequence[str], codes: Callable[[str, pa.ChunkedArray], TextCodes]
) -> dict[str, Counts]:
    """The sizes of the classes, and the histograms of their values; `codes` numbers these."""
    sizes = classes["n"].to_numpy().astype(np.int64)
    found = {SIZES_ONLY: size_counts(sizes)}
    for i, name in enumerate(of):
        lists = classes[f"v{i}"]
        owner = np.repeat(np.arange(len(sizes)), pc.list_value_length(lists).to_numpy())
        found[name] = _histograms(name, sizes, owner, codes(name, pc.list_flatten(lists)))
    return found


def _histograms(name: str, sizes: Ints, owner: Ints, values: TextCodes) -> Counts:
    """How often each value occurs in each class, values numbered by the order of their text."""
    texts = values.texts
    by_text = pc.sort_indices(texts).to_numpy()
    by_text = by_text[pc.not_equal(texts, STAR).to_numpy(zero_copy_only=False)[by_text]]
    # one place more, for missing values; they and stars have no rank
    rank = np.full(len(texts) + 1, -1)
    rank[by_text] = np.arange(len(by_text))
    codes = rank[pc.fill_null(values.codes, len(texts)).to_numpy(zero_copy_only=False)]
    domain = Domain(name, Kind.SET, texts.take(pa.array(by_text)), missing=-1)
    return group_histograms(sizes, owner, codes, domain)


def number_texts(name: str, column: pa.ChunkedArray) -> TextCodes:
    """The column's texts as numbers; equal numbers mean equal texts."""
    if pa.types.is_null(column.type):
        return TextCodes(pa.nulls(len(column), pa.int32()), pa.array([], pa.string()))
    had_codes = pa.types.is_dictionary(column.type)
    if had_codes and pa.types.is_floating(column.type.value_type):
        column, had_codes = column.cast(column.type.value_type), False
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        whole = one_chunk(column if had_codes else column.dictionary_encode())
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"Column '{name}' has the type {column.type}; only single values can be counted."
        ) from None
    texts = _texts_of(whole.dictionary)
    if not had_codes:
        return TextCodes(whole.indices, texts)
    # a dictionary from another source may hold the same text twice
    once = texts.dictionary_encode()
    if len(once.dictionary) == len(texts) and not once.indices.null_count:
        return TextCodes(whole.indices, texts)
    return TextCodes(once.indices.take(whole.indices), once.dictionary)


def _texts_of(values: pa.Array) -> pa.Array:
    """Distinct values as distinct texts: their own, or numbers where they have none."""
    if is_bytes(values.type):
        return text_of_bytes(values)
    try:
        return values.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([str(i) for i in range(len(values))], pa.string())
