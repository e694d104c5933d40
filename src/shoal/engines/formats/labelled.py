"""What the files of Stata, SPSS and SAS share: variable labels, value labels and missing codes.

Values are read as their labels where every value that occurs has one, unless the policy asks for codes.
Codes that the file itself declares missing are missing. Numbers without fractions are whole, although
these programs store all numbers alike.
"""

import datetime
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.formats.base import FileFormat, require_columns
from shoal.errors import InputError, counted, listed
from shoal.hierarchy.text import text_of
from shoal.io.commit import final_path
from shoal.io.csv_dialect import CsvOptions
from shoal.io.paths import ending_of
from shoal.io.variables import Variable

CHUNK = 1 << 17
"""Rows that are read at a time; a part of the file before them may be passed over again."""
WHOLE = 2.0**53
SECONDS_OF_A_DAY = 86_400
LARGEST_CODE = 2_000_000_000
"""A code that Stata can label."""
FEW_DIGITS = 15
"""A decimal of so many digits is the float that it reads as."""
KINDS: tuple[tuple[type, pa.DataType], ...] = (
    (datetime.datetime, pa.timestamp("us")),
    (datetime.date, pa.date32()),
    (datetime.time, pa.time64("us")),
    (str, pa.string()),
    (int, pa.int64()),
    (float, pa.float64()),
)
"""The type of a column by the class of its first value; the first that fits is taken."""


@dataclass
class _Survey:
    """What the values of a column are."""

    kind: pa.DataType | None = None
    whole: bool = True
    seen: set[Any] = field(default_factory=set)
    """The values that occur, as far as they matter: of columns with value labels."""


class LabelledFormat(FileFormat):
    """A file of a statistics package."""

    extra: ClassVar[str] = "stats"
    packages: ClassVar[tuple[str, ...]] = ("pyreadstat",)
    writer_packages: ClassVar[tuple[str, ...]] = ("pyreadstat", "polars")
    costly: ClassVar[bool] = True
    exact: ClassVar[bool] = False
    appendable: ClassVar[bool] = False
    counts_seconds: ClassVar[bool] = False
    """Whether times are stored as seconds, so that they may be durations of more than a day."""
    in_parts: ClassVar[tuple[str, ...]] = ()
    """The extensions that are read a part at a time; others are read at once."""

    def settle(
        self, files: Sequence[Path], options: CsvOptions
    ) -> tuple[CsvOptions, tuple[str, ...]]:
        """What the first file says about its columns, and what the values of all files are."""
        if options.variables:
            return options, ()
        about = self._about(files[0], options)
        for other in files[1:]:
            if self._about(other, options).variable_value_labels != about.variable_value_labels:
                raise InputError(
                    f"{files[0]} and {other} are not parts of one table: their value labels differ."
                )
        labels = {n: dict(about.variable_value_labels.get(n, {})) for n in about.column_names}
        surveys = {name: _Survey() for name in about.column_names}
        for path in files:
            for part in self._parts(path, options, about.column_names, CHUNK):
                for name, values in part.items():
                    _survey(surveys[name], values, len(labels[name]))
        clocks = [name for name, found in surveys.items() if found.kind == pa.time64("us")]
        long = self._beyond_a_day(files, options, clocks)
        variables, warnings = [], []
        for name in about.column_names:
            codes: dict[Any, str] = {}
            if labels[name] and options.labels is not False:
                codes, warning = _usable(name, labels[name], surveys[name].seen)
                warnings += [warning] if warning else []
            kind = pa.duration("ms") if name in long else surveys[name].kind or pa.string()
            if codes:
                kind = pa.string()
            elif pa.types.is_floating(kind) and surveys[name].whole:
                kind = pa.int64()
            label = about.column_names_to_labels.get(name) or ""
            variables.append(Variable(name, kind, label, tuple(codes.items())))
        return replace(options, variables=tuple(variables)), tuple(warnings)

    def names(self, path: Path, options: CsvOptions) -> list[str]:
        """The names of the variables."""
        return require_columns(path, self._about(path, options).column_names, None)

    def schema(self, path: Path, options: CsvOptions, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns."""
        options, _ = self.settle([path], options)
        known = {one.name: one for one in options.variables}
        wanted = require_columns(path, list(known), columns)
        return pa.schema([(name, known[name].type) for name in wanted])

    def batches(
        self, path: Path, options: CsvOptions, columns: Sequence[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        """Some columns, a part of the file at a time where the library allows it."""
        options, _ = self.settle([path], options)
        known = {one.name: one for one in options.variables}
        wanted = require_columns(path, list(known), columns)
        schema = pa.schema([(name, known[name].type) for name in wanted])
        raw = [name for name in wanted if pa.types.is_duration(known[name].type)]
        usual = [name for name in wanted if name not in raw]
        parts = self._parts(path, options, usual, size) if usual else repeat({})
        seconds = self._parts(path, options, raw, size, raw=True) if raw else repeat({})
        for one, other in zip(parts, seconds, strict=False):
            values = {**one, **other}
            arrays = [_column(values[name], known[name]) for name in wanted]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def rows(self, path: Path) -> int | None:
        """How many rows the file says it has."""
        return self._about(path, CsvOptions()).number_rows

    @abstractmethod
    def reader(self, path: Path) -> Callable[..., Any]:
        """The function of the library that reads a file."""

    def _about(self, path: Path, options: CsvOptions) -> Any:
        """What the file says about itself."""
        return self._call(path, options, metadataonly=True)[1]

    def _beyond_a_day(
        self, files: Sequence[Path], options: CsvOptions, clocks: Sequence[str]
    ) -> set[str]:
        """The columns of times that are durations: the library drops their days."""
        if not clocks or not self.counts_seconds:
            return set()
        return {
            name
            for path in files
            for part in self._parts(path, options, clocks, CHUNK, raw=True)
            for name, values in part.items()
            if any(value is not None and not 0 <= value < SECONDS_OF_A_DAY for value in values)
        }

    def _parts(
        self,
        path: Path,
        options: CsvOptions,
        columns: Sequence[str],
        size: int,
        raw: bool = False,
    ) -> Iterator[Mapping[str, list[Any]]]:
        """The values of some columns; with `raw` dates and times as the numbers that they are."""
        if not columns:
            return
        how: dict[str, Any] = {"usecols": list(columns), "disable_datetime_conversion": raw}
        if ending_of(path) not in self.in_parts:
            yield self._call(path, options, **how)[0]
            return
        begin, rows = 0, size
        while rows == size:
            part, _ = self._call(path, options, row_offset=begin, row_limit=size, **how)
            rows = len(part[columns[0]])
            begin += rows
            if rows:
                yield part

    def _call(self, path: Path, options: CsvOptions, **how: Any) -> tuple[Any, Any]:
        from pyreadstat import PyreadstatError, ReadstatError

        encoding = {"encoding": options.encoding} if options.encoding else {}
        try:
            return self.reader(path)(str(path), output_format="dict", **encoding, **how)
        except OverflowError:
            raise InputError(
                f"{path} has a date before the year 1 or after 9999. Correct it, or make the column a "
                "number."
            ) from None
        except (PyreadstatError, ReadstatError, UnicodeError, ValueError, OSError):
            # the library's message may quote the file, so it is not passed on
            raise self.damaged(path) from None

    def longest_label(self) -> int:
        """The most bytes of a value label."""
        return 32_000

    def text_as_written(self, texts: pa.Array) -> pa.Array:
        """Texts as they come back from a file."""
        return texts

    def as_written(self, table: pa.Table) -> pa.Table:
        """The rows as they come back from a file."""
        columns = [
            self.text_as_written(text_of(column)) if pa.types.is_string(column.type) else column
            for column in table.columns
        ]
        return super().as_written(pa.table(columns, names=table.column_names))

    def write(self, table: pa.Table, path: Path, options: CsvOptions) -> None:
        """Write the table with the labels that its source had, as far as they were published."""
        import polars
        from pyreadstat import PyreadstatError, ReadstatError

        self.check_columns(path, table.column_names)
        origins = {one.name: one for one in options.origins}
        columns, values = {}, {}
        for name in table.column_names:
            codes = origins[name].codes if name in origins else ()
            columns[name], labels = self._coded(table.column(name).combine_chunks(), codes)
            if labels:
                values[name] = labels
        frame = polars.from_arrow(pa.table(columns))
        about = {name: origins[name].label for name in columns if name in origins}
        try:
            self.write_frame(path, frame, {n: text for n, text in about.items() if text}, values)
        except OSError:
            path = final_path(path)
            raise InputError(f"{path} could not be written. Is the disk full?") from None
        except (PyreadstatError, ReadstatError, ValueError, OverflowError):
            raise InputError(
                f"{final_path(path)}: {self.title} cannot hold a column or a value of this release. "
                "Write CSV, Parquet or an Excel workbook."
            ) from None

    def write_frame(
        self,
        path: Path,
        frame: Any,  # noqa: ARG002
        labels: dict[str, str],  # noqa: ARG002
        values: dict[str, dict[int, str]],  # noqa: ARG002
    ) -> None:
        """Write a polars frame with variable labels and value labels."""
        raise InputError(f"{path}: {self.title} is not written.")

    def _coded(
        self, column: pa.Array, codes: Sequence[tuple[Any, str]]
    ) -> tuple[pa.Array, dict[int, str]]:
        """A column as the file holds it, and its value labels: of published values only."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_boolean(column.type):
            codes, column = ((0, "false"), (1, "true")), text_of(column)
        known = {text: code for code, text in codes if isinstance(code, int | float)}
        if not known or not pa.types.is_string(column.type):
            return _storable(column), {}
        texts = sorted(pc.unique(column.drop_null()).to_pylist())
        if any(len(text.encode()) > self.longest_label() for text in texts) or "" in texts:
            return column, {}
        free = math.floor(max(known.values())) + 1
        code_of = {text: known[text] for text in texts if text in known}
        others = [text for text in texts if text not in known]
        code_of |= {text: free + i for i, text in enumerate(others)}
        if any(code != int(code) or abs(code) > LARGEST_CODE for code in code_of.values()):
            return column, {}
        numbers = [None if v is None else int(code_of[v]) for v in column.to_pylist()]
        labels = {int(code): text for text, code in sorted(code_of.items(), key=lambda p: p[1])}
        return pa.array(numbers, pa.int32()), labels


def _survey(found: _Survey, values: list[Any], labels: int) -> None:
    """Take note of some values of a column."""
    if found.kind is None:
        first = next((value for value in values if value is not None and value != ""), None)
        if first is not None:
            found.kind = next(kind for cls, kind in KINDS if isinstance(first, cls))
    if found.kind is not None and pa.types.is_floating(found.kind) and found.whole:
        numbers = pa.array(values, pa.float64())
        whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), WHOLE))
        found.whole = pc.all(whole).as_py() is not False
    if labels and len(found.seen) <= labels:
        found.seen.update(value for value in values if value is not None and value != "")


def _usable(name: str, labels: dict[Any, str], seen: set[Any]) -> tuple[dict[Any, str], str]:
    """The labels of a column, if its values can be read as labels; else why not."""
    unlabelled = [value for value in seen if value not in labels]
    used = {code: text for code, text in labels.items() if code in seen}
    if unlabelled:
        if not used:
            return {}, ""
        return {}, (
            f"Column '{name}' has labels for {counted(len(used), 'value')} and others without, so it "
            "was read by its codes."
        )
    if len(set(used.values())) < len(used):
        return {}, f"Column '{name}' has values that share a label, so it was read by its codes."
    return used, ""


def _column(values: list[Any], variable: Variable) -> pa.Array:
    """Some values in the type of their column."""
    if variable.codes:
        texts = dict(variable.codes)
        return pa.array([texts.get(value) for value in values], pa.string())
    if pa.types.is_string(variable.type):
        return pa.array([value or None for value in values], pa.string())
    if pa.types.is_duration(variable.type):
        seconds = pa.array(values, pa.float64(), from_pandas=True)
        return pc.round(pc.multiply(seconds, 1000)).cast(pa.int64()).cast(variable.type)
    if pa.types.is_integer(variable.type):
        return pa.array(values, pa.float64(), from_pandas=True).cast(pa.int64())
    return pa.array(values, variable.type, from_pandas=True)


def _storable(column: pa.Array) -> pa.Array:
    """The column in a type that these files have; others as text."""
    kind = column.type
    if pa.types.is_integer(kind):
        most = pc.max(pc.abs(column.cast(pa.float64(), safe=False))).as_py() or 0
        return column.cast(pa.int64()) if most < WHOLE else text_of(column)
    if pa.types.is_floating(kind):
        wide = column.cast(pa.float64())
        wide = pc.if_else(pc.is_nan(wide), None, wide)
        return text_of(column) if pc.any(pc.is_inf(wide)).as_py() else wide
    if pa.types.is_decimal(kind):
        few = all(
            len(v.as_tuple().digits) <= FEW_DIGITS for v in column.to_pylist() if v is not None
        )
        return column.cast(pa.float64()) if few else text_of(column)
    if pa.types.is_date(kind):
        return column.cast(pa.date32())
    if (pa.types.is_timestamp(kind) and kind.tz is None) or pa.types.is_time(kind):
        # seconds, as these programs count
        whole = pa.timestamp("s") if pa.types.is_timestamp(kind) else pa.time32("s")
        try:
            fine = pa.timestamp("us") if pa.types.is_timestamp(kind) else pa.time64("us")
            return column.cast(whole).cast(fine)
        except pa.ArrowInvalid:
            return text_of(column)
    return column if pa.types.is_null(kind) else text_of(column)


def refuse_names(path: Path, bad: Sequence[str], program: str, rule: str) -> None:
    """Raise `InputError` for columns whose names a program does not allow."""
    if bad:
        raise InputError(
            f"{final_path(path)}: {program} does not allow the column name "
            f"{listed(map(repr, bad))}: {rule} Rename the column in the source, or write CSV, Parquet "
            "or an Excel workbook."
        )
