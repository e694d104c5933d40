"""Frames with columns of every type: lists, intervals, and integers that may be missing.

pandas gets its own intervals, lists and nullable types; polars gets what Arrow has. Columns that did not
change keep the type that their library gave them.
"""

from collections.abc import Collection, Mapping
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa

from shoal.errors import InputError
from shoal.io.frames import FrameTable

Closed = Literal["both", "left", "right"]


def frame_of_columns(
    table: FrameTable,
    new: pa.Table,
    kept: Collection[str] = (),
    closed: Mapping[str, Closed] | None = None,
    attributes: Mapping[str, list[str]] | None = None,
) -> Any:
    """A frame of the kind of `table`, with the rows in their order and the index of pandas.

    Parameters
    ----------
    table
        The frame that the columns were made from.
    new
        The columns.
    kept
        Those that are the same in both, and are taken from `table`.
    closed
        Columns of `low` and `high` that are intervals, with the ends that they include.
    attributes
        What pandas is to remember of the frame, where it is not empty.
    """
    same = [name for name in new.column_names if name in kept]
    if table.frame.implementation.is_pandas():
        pandas = nw.get_native_namespace(table.frame)
        native = table.frame.to_native()
        return _pandas(pandas, native, new, same, closed or {}, attributes or {})
    made = nw.from_arrow(new, backend=table.frame.implementation)
    return made.with_columns(*(table.frame[name] for name in same)).to_native()


def _pandas(
    pd: Any,
    native: Any,
    new: pa.Table,
    same: Collection[str],
    closed: Mapping[str, Closed],
    attributes: Mapping[str, list[str]],
) -> Any:
    columns = {
        name: native[name].array if name in same else _array(pd, new.column(name), closed.get(name))
        for name in new.column_names
    }
    frame = pd.DataFrame(columns, index=native.index)
    frame.attrs.update({key: list(names) for key, names in attributes.items() if names})
    return frame


def _array(pd: Any, column: pa.ChunkedArray, closed: Closed | None) -> Any:
    kind = column.type
    if closed is not None:
        return _intervals(pd, column.combine_chunks(), closed)
    if pa.types.is_list(kind):
        return pd.Series(column.to_pylist(), dtype=object).array
    nullable = {
        pa.int64(): pd.Int64Dtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    if column.null_count and kind in nullable:
        return column.to_pandas(types_mapper=nullable.get).array
    return column.to_pandas(date_as_object=False).array


def _intervals(pd: Any, pairs: pa.StructArray, closed: Closed) -> Any:
    """Intervals of pandas; an end that is open is infinite, which only numbers can be."""
    nothing = pairs.is_null()
    numeric = not pa.types.is_temporal(pairs.type.field("low").type)
    if pa.types.is_time(pairs.type.field("low").type):
        raise InputError(
            "pandas has no intervals of times of day. Decode the column as 'bounds' instead."
        )
    ends = []
    for i, infinite in enumerate((float("-inf"), float("inf"))):
        end = pairs.field(i)
        if numeric and (end.null_count or pairs.null_count or pa.types.is_decimal(end.type)):
            end = end.cast(pa.float64())
        series = end.to_pandas(date_as_object=False)
        if numeric:
            flags = end.is_null().to_numpy(zero_copy_only=False) & ~nothing.to_numpy(
                zero_copy_only=False
            )
            series = series.mask(flags, infinite) if flags.any() else series
        ends.append(series)
    if numeric and len({str(end.dtype) for end in ends}) > 1:
        ends = [end.astype("float64") for end in ends]
    return pd.arrays.IntervalArray.from_arrays(*ends, closed=closed)
