"""Helpers for Arrow columns: chunks, dictionaries, large integers and metadata."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.io.deferred_pandas import defer_pandas

KEPT_METADATA = b"ARROW:extension:"
"""The one kind of field metadata that is part of a type."""
WIDE = {
    "large_string": "string",
    "string_view": "string",
    "large_binary": "binary",
    "binary_view": "binary",
}
SMALL_OFFSETS = 1 << 31
"""A column of short-offset text or bytes cannot be longer than this in one piece."""

defer_pandas()  # before anything is converted


def one_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The column in one piece; texts of more than 2 GB get wide offsets."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(column.type)
    if wide is not None and column.nbytes >= SMALL_OFFSETS:
        column = column.cast(wide)
    if pa.types.is_dictionary(column.type) and column.num_chunks:
        # to compare dictionaries takes far less than to unify them
        first, *others = (chunk.dictionary for chunk in column.chunks)
        # unifying looks up the codes below missing values too, which may be anything and crash it;
        # combining unifies as well, somewhat slower, and leaves those alone
        if not column.null_count and not all(one.equals(first) for one in others):
            column = column.unify_dictionaries()
    return column.combine_chunks()


def kind_name(kind: pa.DataType) -> str:
    """The type of a column's values by name, without its encoding: a dictionary, or wide offsets."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return WIDE.get(str(kind), str(kind))


def gather(column: pa.Array | pa.ChunkedArray, rows: Ints) -> pa.Array:
    """The values at `rows`, of the same type."""
    # one piece first: taking from many chunks is far slower
    whole = one_chunk(column)
    taken = _take(whole, pa.array(rows))
    return compact_dictionary(taken) if pa.types.is_dictionary(whole.type) else taken


def _take(column: pa.Array, rows: pa.Array) -> pa.Array:
    try:
        return column.take(rows)
    except pa.ArrowNotImplementedError:
        # views of text or bytes can be cast, but not gathered
        plain = pa.large_binary() if pa.types.is_binary_view(column.type) else pa.large_string()
        return column.cast(plain).take(rows).cast(column.type)


def compact_dictionary(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same values with a dictionary of these values alone.

    A value that does not occur would tell of people who are not in the table, and values in the order
    of their first appearance would tell the order of the rows. So only used values stay, each once, in
    the order of the categories where they have one, else sorted. A null among them is no value: Parquet
    has none in a dictionary.
    """
    values, ordered = column.dictionary, column.type.ordered
    indices = column.indices.drop_null() if column.indices.null_count else column.indices
    some = indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    used = np.bincount(some, minlength=len(values)) > 0
    kept = values.filter(pa.array(used))
    once = pc.unique(kept.drop_null())
    if not ordered:
        try:
            once = once.take(pc.sort_indices(once))
        except pa.ArrowNotImplementedError:
            once = once.take(pc.sort_indices(once.cast(pa.string())))
    new_code = pc.index_in(values, once).cast(column.type.index_type)
    codes = new_code.take(column.indices)
    return pa.DictionaryArray.from_arrays(codes, once, ordered=ordered)


def without_category_order(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The table with some of its ordered categoricals as unordered ones.

    For quasi-identifiers of files: engines for tables larger than memory do not read the categories,
    and all engines must give the same release.
    """
    for name in names:
        at = table.schema.get_field_index(name)
        kind = table.schema.field(at).type if at >= 0 else None
        if kind is not None and pa.types.is_dictionary(kind) and kind.ordered:
            unordered = pa.dictionary(kind.index_type, kind.value_type)
            table = table.set_column(at, name, table.column(at).cast(unordered))
    return table


def whole_numbers(texts: pa.Array) -> pa.Array:
    """Texts of whole numbers in the narrowest type for all of them; unchanged if they are too long."""
    longest = pc.max(pc.utf8_length(texts)).as_py() or 0
    # by length, not by trying: Arrow wraps a number just too long for a decimal around to another
    if longest <= 18:
        return texts.cast(pa.int64())
    if longest <= 37:
        return texts.cast(pa.decimal128(38, 0))
    return texts.cast(pa.decimal256(76, 0)) if longest <= 75 else texts


def without_metadata(table: pa.Table) -> pa.Table:
    """The table with nothing but names, types and values."""
    schema = pa.schema([_bare(field) for field in table.schema])
    return pa.Table.from_arrays(table.columns, schema=schema)


def _bare(field: pa.Field) -> pa.Field:
    kept = {k: v for k, v in (field.metadata or {}).items() if k.startswith(KEPT_METADATA)}
    return field.with_metadata(kept) if kept else field.remove_metadata()
