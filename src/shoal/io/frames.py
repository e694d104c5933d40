"""Frames of other libraries in and out: pandas, polars, and others that offer Arrow streams.

Works on the user's own objects through their methods and narwhals; pandas and polars themselves are
not imported. A release has the kind of the table it was made from, and a column that was not
generalised is gathered by its own library, so its type is preserved. The categories of a release are
those of its own rows: others would tell of people who are not in the release.
"""

import datetime
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.stable.v2.dependencies import is_into_series

from shoal.arrays import Ints
from shoal.errors import InputError, listed
from shoal.io.arrow import one_chunk, whole_numbers
from shoal.io.tables import ArrowTable, Table, check_names

ALLOWED = "a pandas, polars or pyarrow table or a DuckDB relation"
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
"""Python types that count as one kind of value; the first that fits is taken."""
NUMBERS = frozenset({"int", "float"})
"""Kinds that may be mixed in a column."""
MOST_PERIODS = 100_000
"""Periods between the first and the last one: with more, only those that occur are counted."""


@dataclass(frozen=True)
class FrameTable:
    """A pandas or polars frame, through narwhals."""

    frame: nw.DataFrame[Any]
    _converted: dict[str, pa.Array] = field(default_factory=dict, repr=False, compare=False)
    """Columns that were asked for, since they are asked for again."""

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
        found = self._converted.get(name)
        if found is None:
            found = self._converted[name] = self._as_arrow(name)
        return found

    def _as_arrow(self, name: str) -> pa.Array:
        try:
            return self._column(name)
        except (pa.ArrowException, UnicodeError, OverflowError):
            # the library's message may quote a value, so it is not passed on
            raise InputError(
                f"Column '{name}' has values that Arrow cannot represent: of several types, or broken "
                "text. Convert it to one type first."
            ) from None

    def _column(self, name: str) -> pa.Array:
        series = self.frame[name]
        is_pandas = self.frame.implementation.is_pandas()
        if series.dtype == nw.Object:
            if is_pandas:
                return _from_objects(name, series.to_native())
            raise InputError(
                f"Column '{name}' has Python objects. Cast it to texts, numbers or dates first."
            )
        if series.dtype in (nw.Int128, nw.UInt128):
            return whole_numbers(_texts(series))
        if is_pandas and series.dtype in (nw.Unknown, nw.Categorical, nw.Enum):
            scale = _periods_or_intervals(series.to_native())
            if scale is not None:
                return scale
        if series.dtype == nw.Unknown:  # types that Arrow does not have are known by their text
            return _texts(series)
        found = one_chunk(series.to_arrow())
        if not is_pandas and isinstance(series.dtype, nw.Enum):
            return in_order(found, series.dtype.categories)
        return found

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: Ints,
        keep_index: bool,
    ) -> Any:
        """See Table.release."""
        unchanged = [name for name in columns if name not in labels]
        generalised = {name: labels[name] for name in columns if name in labels}
        parts = []
        if unchanged:
            parts.append(_with_used_categories(self.frame.select(unchanged)[rows]))
        if generalised:
            table = pa.table(generalised)
            parts.append(nw.from_arrow(table, backend=self.frame.implementation))
        if self.frame.implementation.is_pandas():
            parts = [self._indexed(part, rows, keep_index) for part in parts]
        joined = nw.concat(parts, how="horizontal").select(columns).to_native()
        if self.frame.implementation.is_pandas():
            joined = _with_used_pandas_categories(joined)
            joined.attrs.clear()
        return joined

    def _indexed(self, part: nw.DataFrame[Any], rows: Ints, keep_index: bool) -> nw.DataFrame[Any]:
        """The part with the index that the release is to have."""
        native = part.to_native().reset_index(drop=True)
        if keep_index:
            native.index = self.frame.to_native().index.take(rows)
        return nw.from_native(native, eager_only=True)


def is_frame(native: Any) -> bool:
    """Whether this is a table with named columns, and not an array or a list."""
    found = nw.from_native(native, eager_only=True, pass_through=True)
    return isinstance(found, nw.DataFrame)


def wrap(native: Any) -> Table:
    """The user's table, ready for the pipeline. DuckDB relations are wrapped by the engines."""
    if is_into_series(native):
        raise InputError(f"A {_kind(native)} is one column. Pass a table: {ALLOWED}.")
    try:
        frame = nw.from_native(native, pass_through=True)
    except nw.exceptions.DuplicateError:
        # `columns` of a pyarrow table are its values
        check_names(list(getattr(native, "column_names", None) or native.columns))
        raise
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"A {_kind(native)} has no rows yet: collect() it first.")
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
            f"The Arrow stream of a {_kind(native)} is not a table. Pass {ALLOWED}."
        ) from None
    check_names(list(table.column_names))
    return ArrowTable(table)


def _texts(series: nw.Series[Any]) -> pa.Array:
    return one_chunk(series.cast(nw.String).to_arrow()).cast(pa.string())


def _from_objects(column: str, series: Any) -> pa.Array:
    """A pandas column of Python objects as Arrow, if its values are of one kind."""
    kinds = {_family(kind) for kind in {type(value) for value in series.dropna()}}
    if len(kinds) > 1 and not kinds <= NUMBERS:
        raise InputError(
            f"Column '{column}' mixes values of the types {listed(sorted(kinds))}. Convert it to one "
            f"type first, for instance with df['{column}'].astype(str)."
        )
    try:
        return pa.Array.from_pandas(series)
    except (pa.ArrowException, OverflowError):
        # the library's message quotes a value, so it is not passed on
        if kinds == {"int"}:
            missing = series.isna()
            texts = [None if m else str(v) for v, m in zip(series, missing, strict=True)]
            return whole_numbers(pa.array(texts, pa.string()))
        raise InputError(
            f"Column '{column}' has Python objects ({listed(sorted(kinds))}) that Arrow cannot "
            "represent. Convert them to texts, numbers or dates first."
        ) from None


def _family(kind: type) -> str:
    return next((name for base, name in FAMILIES if issubclass(kind, base)), kind.__name__)


def _periods_or_intervals(series: Any) -> pa.Array | None:
    """A pandas column of periods or intervals as a categorical of their texts; None for others.

    Periods are ordered, and intervals unless they overlap; a categorical of them is as ordered as it
    says itself.
    """
    dtype = str(series.dtype)
    if dtype == "category":
        if not str(series.cat.categories.dtype).startswith(("interval", "period")):
            return None
        ordered = bool(series.cat.ordered)
    elif dtype.startswith("interval"):
        series = series.astype("category")
        ordered = bool(series.cat.categories.is_non_overlapping_monotonic)
    elif dtype.startswith("period"):
        return _periods(series)
    else:
        return None
    codes = series.cat.codes.to_numpy()
    texts = [str(category) for category in series.cat.categories]
    return _categorical(codes, texts, ordered=ordered)


def _periods(series: Any) -> pa.Array:
    """Periods on the scale of all periods from the first to the last one."""
    distinct = series.astype("category").cat
    codes, periods = distinct.codes.to_numpy(), list(distinct.categories)
    n = (periods[-1] - periods[0]).n + 1 if periods else 0
    if n <= MOST_PERIODS:
        codes = np.where(codes < 0, -1, series.array.asi8 - (periods[0].ordinal if n else 0))
        periods = [periods[0] + step for step in range(n)]
    return _categorical(codes, [str(period) for period in periods], ordered=True)


def _categorical(codes: Any, texts: list[str], *, ordered: bool) -> pa.DictionaryArray:
    """A categorical in Arrow; the code -1 is missing."""
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()), ordered=ordered)


def in_order(found: pa.DictionaryArray, categories: Sequence[str]) -> pa.DictionaryArray:
    """An enumeration of polars with its order, of which versions before 2 tell Arrow nothing."""
    if found.type.ordered:
        return found
    values = pa.array(categories, found.type.value_type)
    codes = pc.index_in(found.dictionary, values).take(found.indices)
    return pa.DictionaryArray.from_arrays(codes, values, ordered=True)


def _with_used_categories(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """A polars frame whose enumerations have only the categories that occur, in the same order."""
    if not frame.implementation.is_polars():
        return frame
    used = {}
    for name, dtype in frame.schema.items():
        if isinstance(dtype, nw.Enum):
            present = set(frame[name].drop_nulls().unique().cast(nw.String).to_list())
            categories = [category for category in dtype.categories if category in present]
            used[name] = nw.col(name).cast(nw.Enum(categories))
    return frame.with_columns(**used) if used else frame


def _with_used_pandas_categories(frame: Any) -> Any:
    """A pandas frame with the categories that occur, sorted where they have no order of their own:
    in the order of their first appearance they would tell the order of the input."""
    for name, dtype in frame.dtypes.items():
        if str(dtype) == "category":
            column = frame[name].cat.remove_unused_categories()
            if not dtype.ordered:
                column = column.cat.reorder_categories(sorted(column.cat.categories, key=_sort_key))
            frame[name] = column
    return frame


def _sort_key(value: Any) -> tuple[bool, Any]:
    """Numbers by size, anything else by text."""
    is_number = isinstance(value, numbers.Real)
    return (not is_number, value if is_number else str(value))


def _kind(native: Any) -> str:
    return f"{type(native).__module__.split('.')[0]} {type(native).__name__}"
