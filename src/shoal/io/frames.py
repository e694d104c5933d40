"""Frames of other libraries in and out: pandas, polars, pyarrow, and whatever offers Arrow.

narwhals speaks to the libraries, so none of them is imported here unless the user's object is one.
The frame that leaves is of the kind that came, and a column that was not generalised is gathered by
its own library, so its type stays what it was.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from narwhals.stable.v2.dependencies import is_into_series

from shoal.errors import InputError, listed
from shoal.io import pandas_columns
from shoal.io.arrow import gather, one_chunk, whole_numbers, without_metadata
from shoal.threads import each

ALLOWED = "a pandas, polars or pyarrow table or a DuckDB relation"


class Table(Protocol):
    """A table of some library, as the pipeline sees it."""

    @property
    def names(self) -> list[str]:
        """The columns, in order."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def column(self, name: str) -> pa.Array:
        """One column in one piece; missing values are nulls."""

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: npt.NDArray[np.int64],
        keep_index: bool,
    ) -> Any:
        """A frame of the same kind with these columns in this order.

        labels: published texts, already in output order; rows: (n_out,) the input row behind each
        output row, for every column that has no labels. `keep_index` keeps the labels of a pandas
        index; otherwise rows are numbered afresh.
        """


@dataclass(frozen=True)
class ArrowTable:
    """A pyarrow table."""

    native: pa.Table

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self.native.column_names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.native.num_rows)

    def column(self, name: str) -> pa.Array:
        """One column in one piece."""
        return one_chunk(self.native.column(name))

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: npt.NDArray[np.int64],
        keep_index: bool,  # noqa: ARG002 - Arrow has no index
    ) -> pa.Table:
        """See Table.release."""

        def made(name: str) -> pa.Array:
            return labels[name] if name in labels else gather(self.native.column(name), rows)

        # Only what leaves is gathered, a few columns at a time: a second table is never held.
        arrays = each(made, columns)
        fields = []
        for name, array in zip(columns, arrays, strict=True):
            at = self.native.schema.get_field_index(name)  # -1 for a column that is added
            old = self.native.schema.field(at) if at >= 0 else None
            same = old is not None and old.type == array.type
            fields.append(old if same else pa.field(name, array.type))
        return without_metadata(pa.Table.from_arrays(arrays, schema=pa.schema(fields)))


@dataclass(frozen=True)
class FrameTable:
    """A pandas or polars frame, through narwhals."""

    frame: nw.DataFrame[Any]

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return self.frame.columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def column(self, name: str) -> pa.Array:
        """One column in one piece; missing values are nulls."""
        try:
            return self._column(name)
        except (pa.ArrowException, UnicodeError, OverflowError):
            # The library's message may quote a value, so it is not passed on.
            raise InputError(
                f"Column '{name}' holds values that Arrow cannot take: of several types, or broken "
                "text. Make it one type first."
            ) from None

    def _column(self, name: str) -> pa.Array:
        series = self.frame[name]
        if series.dtype == nw.Object:
            return self._objects(name)
        if series.dtype in (nw.Int128, nw.UInt128):
            return whole_numbers(_texts(series))
        # Types that Arrow has no name for, such as a pandas period, are known by their text.
        return _texts(series) if series.dtype == nw.Unknown else one_chunk(series.to_arrow())

    def _objects(self, name: str) -> pa.Array:
        if self.frame.implementation.is_pandas():
            return pandas_columns.as_arrow(name, self.frame[name].to_native())
        raise InputError(
            f"Column '{name}' holds Python objects. Cast it to texts, numbers or dates first."
        )

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: npt.NDArray[np.int64],
        keep_index: bool,
    ) -> Any:
        """See Table.release."""
        untouched = [name for name in columns if name not in labels]
        made = {name: labels[name] for name in columns if name in labels}
        parts = []
        if untouched:
            parts.append(self.frame.select(untouched)[rows])
        if made:
            parts.append(nw.from_arrow(pa.table(made), backend=self.frame.implementation))
        if self.frame.implementation.is_pandas():
            parts = [self._indexed(part, rows, keep_index) for part in parts]
        joined = nw.concat(parts, how="horizontal").select(columns).to_native()
        if self.frame.implementation.is_pandas():
            joined = pandas_columns.tidy_categories(joined)
            joined.attrs.clear()
        return joined

    def _indexed(
        self, part: nw.DataFrame[Any], rows: npt.NDArray[np.int64], keep_index: bool
    ) -> nw.DataFrame[Any]:
        """The part with the index that the release is to have."""
        native = part.to_native().reset_index(drop=True)
        if keep_index:
            native.index = self.frame.to_native().index.take(rows)
        return nw.from_native(native, eager_only=True)


def _texts(series: nw.Series[Any]) -> pa.Array:
    return one_chunk(series.cast(nw.String).to_arrow()).cast(pa.string())


def wrap(native: Any) -> Table:
    """The user's table, ready for the pipeline. DuckDB relations go through `engines.tables`."""
    if is_into_series(native):
        raise InputError(f"A {_kind(native)} is one column. Pass a table: {ALLOWED}.")
    try:
        frame = nw.from_native(native, pass_through=True)
    except nw.exceptions.DuplicateError:
        # The columns of a pyarrow table are its values; its names are called otherwise.
        check_names(list(getattr(native, "column_names", None) or native.columns))
        raise
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"A {_kind(native)} holds no rows yet: collect() it first.")
    if isinstance(frame, nw.DataFrame):
        return _eager(frame, native)
    if hasattr(native, "__arrow_c_stream__"):
        return _streamed(native)
    raise InputError(f"Cannot read a table from {_kind(native)}. Pass {ALLOWED}, or a file's path.")


def _eager(frame: nw.DataFrame[Any], native: Any) -> Table:
    check_names(list(frame.columns))
    if frame.implementation.is_pyarrow():
        return ArrowTable(native)
    if frame.implementation.is_pandas() or frame.implementation.is_polars():
        return FrameTable(frame)
    raise InputError(f"Cannot read a {_kind(native)}. Pass {ALLOWED}.")


def _streamed(native: Any) -> Table:
    try:
        table = pa.table(native)
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            f"The Arrow stream of a {_kind(native)} holds no table. Pass {ALLOWED}."
        ) from None
    check_names(list(table.column_names))
    return ArrowTable(table)


def check_names(names: Sequence[Any]) -> None:
    """Raise an InputError unless every name is a text of its own."""
    odd = [f"{name!r} ({type(name).__name__})" for name in names if not isinstance(name, str)]
    if odd:
        raise InputError(
            f"Column names must be texts, found {listed(odd)}. "
            "Rename them first, for instance with df.columns = [...]."
        )
    doubled = sorted(name for name, times in Counter(names).items() if times > 1)
    if doubled:
        raise InputError(
            f"The table has more than one column named {listed(doubled)}. Rename them first."
        )


def _kind(native: Any) -> str:
    return f"{type(native).__module__.split('.')[0]} {type(native).__name__}"
