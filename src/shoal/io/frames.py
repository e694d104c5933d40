"""What is special about pandas: object columns, an index, notes in `attrs`, categories.

Works on the user's own objects through their methods; pandas itself is not imported.
"""

import datetime
import numbers
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from narwhals.stable.v2.dependencies import is_into_series

from shoal.arrays import Ints
from shoal.errors import InputError, listed
from shoal.io.arrow import gather, one_chunk, whole_numbers, without_metadata
from shoal.threads import each

FAMILIES: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (np.bool_, "bool"),
    (numbers.Integral, "int"),
    (Decimal, "Decimal"),
    (numbers.Real, "float"),
    (str, "str"),
    (bytes, "bytes"),
    (datetime.datetime, "datetime"),
    (datetime.date, "date"),
)
"""Types that count as one kind of value; the first that fits is taken."""
NUMBERS = frozenset({"int", "float"})
"""May stand together in a column: both are numbers to everyone."""


def as_arrow(column: str, series: Any) -> pa.Array:
    """An object column as Arrow, if its values are of one kind."""
    kinds = {_family(kind) for kind in {type(value) for value in series.dropna()}}
    if len(kinds) > 1 and not kinds <= NUMBERS:
        raise InputError(
            f"Column '{column}' mixes values of the types {listed(sorted(kinds))}. Make it one "
            f"type first, for instance with df['{column}'].astype(str)."
        )
    try:
        return pa.Array.from_pandas(series)
    except (pa.ArrowException, OverflowError):
        # The library's message quotes a value, so it is not passed on.
        if kinds == {"int"}:
            missing = series.isna()
            texts = [None if m else str(v) for v, m in zip(series, missing, strict=True)]
            return whole_numbers(pa.array(texts, pa.string()))
        raise InputError(
            f"Column '{column}' holds Python objects ({listed(sorted(kinds))}) that Arrow cannot "
            "take. Make them texts, numbers or dates first."
        ) from None


def _family(kind: type) -> str:
    return next((name for base, name in FAMILIES if issubclass(kind, base)), kind.__name__)


def tidy_categories(frame: Any) -> Any:
    """The frame with categories made from its own values alone; see `arrow.tidy` for the reasons."""
    for name, dtype in frame.dtypes.items():
        if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
            column = frame[name].cat.remove_unused_categories()
            if not dtype.ordered:
                column = column.cat.reorder_categories(sorted(column.cat.categories, key=_sort_key))
            frame[name] = column
    return frame


def _sort_key(value: Any) -> tuple[bool, Any]:
    """Numbers by size, anything else by text."""
    is_number = isinstance(value, numbers.Real)
    return (not is_number, value if is_number else str(value))


# Frames of other libraries in and out: pandas, polars, pyarrow, and whatever offers Arrow.


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
        rows: Ints,
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
        rows: Ints,
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
            return as_arrow(name, self.frame[name].to_native())
        raise InputError(
            f"Column '{name}' holds Python objects. Cast it to texts, numbers or dates first."
        )

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: Ints,
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
            joined = tidy_categories(joined)
            joined.attrs.clear()
        return joined

    def _indexed(self, part: nw.DataFrame[Any], rows: Ints, keep_index: bool) -> nw.DataFrame[Any]:
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
