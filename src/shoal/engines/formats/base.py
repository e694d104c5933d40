"""File formats: what reads and writes a table of one kind of file, and the registry of them.

A format is a concrete subclass of `FileFormat` in a file of this folder, or one that another
distribution declares as an entry point of `shoal.formats`. The extension of a file decides its format.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from shoal import plugins
from shoal.errors import InputError, listed, nearest
from shoal.io.csv_dialect import CsvOptions
from shoal.io.paths import ending_of

SHEET_MARK = "#"
"""Between a file and the name of a sheet in it, as in `table.xlsx#Patients`."""


class BatchWriter(Protocol):
    """A file that takes a table batch by batch."""

    def write_batch(self, batch: pa.RecordBatch) -> object:
        """Append rows; the columns are those of the schema that the file was opened with."""


class FileFormat(plugins.Plugin, ABC):
    """A format of files.

    Methods get a path that exists, and options that `settle` has returned. A file that is damaged or
    of another format raises `InputError` with a message that quotes nothing of its content.
    """

    kind: ClassVar[plugins.Kind] = "formats"
    endings: ClassVar[tuple[str, ...]]
    """The extensions of such files, in lower case: `.csv`, `.csv.gz`."""
    title: ClassVar[str]
    """What such a file is called in messages, with its article: `a Parquet file`."""
    extra: ClassVar[str] = ""
    """The extra of Shoal that installs the libraries: `excel` for `pip install 'shoal[excel]'`."""
    packages: ClassVar[tuple[str, ...]] = ()
    """The modules that must be installed to read."""
    writer_packages: ClassVar[tuple[str, ...]] = ()
    """The modules that must be installed to write."""
    written: ClassVar[tuple[str, ...] | None] = None
    """The extensions that a release can have; None where all can be written."""
    appendable: ClassVar[bool] = True
    """Whether a file can be written batch by batch, for tables larger than memory."""
    has_sheets: ClassVar[bool] = False
    """Whether a file holds several tables, chosen by `sheet`."""
    takes_categories: ClassVar[bool] = False
    """Whether labels may be written as categories, which saves their decoding."""
    in_lines: ClassVar[bool] = False
    """Whether every row is a line of text or more, so that rows are counted by ends of lines."""
    costly: ClassVar[bool] = False
    """Whether reading a file takes so long that a table is kept once it was read."""
    keeps_types: ClassVar[bool] = False
    """Whether whole numbers and floats of 64 bits come back as such."""
    exact: ClassVar[bool] = True
    """Whether every value is kept as it is. Otherwise a written release is compared with the rows
    that were to be published, value by value, before it gets its name."""

    def settle(
        self,
        files: Sequence[Path],  # noqa: ARG002 - most formats say all of themselves
        options: CsvOptions,
    ) -> tuple[CsvOptions, tuple[str, ...]]:
        """The options with everything detected, and warnings about what was guessed.

        `files` are the part files of one table, mostly one. Options that are settled come back as they
        are.
        """
        return options, ()

    @abstractmethod
    def names(self, path: Path, options: CsvOptions) -> list[str]:
        """The columns, checked to be different."""

    @abstractmethod
    def schema(self, path: Path, options: CsvOptions, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns, as `batches` gives them."""

    @abstractmethod
    def batches(
        self, path: Path, options: CsvOptions, columns: Sequence[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        """Some columns under their names, about `size` rows at a time, in the order of the file."""

    def read(self, path: Path, options: CsvOptions, columns: Sequence[str] | None) -> pa.Table:
        """The table, or some columns of it, in the order of the file."""
        wanted = self.names(path, options) if columns is None else list(columns)
        schema = self.schema(path, options, wanted)
        batches = self.batches(path, options, wanted, 1 << 17)
        return pa.Table.from_batches(batches, schema)

    def rows(self, path: Path) -> int | None:  # noqa: ARG002
        """The number of rows, where it is known without reading them."""
        return None

    def text_size(self, path: Path, most: int) -> int:  # noqa: ARG002
        """The bytes of all values, which are more than the file where a text is stored once for many
        rows, as far as that is known without keeping any of them; counting may stop above `most`."""
        return path.stat().st_size

    def check_columns(self, path: Path, names: Sequence[str], rows: int | None = None) -> None:
        """Raise `InputError` for columns, or so many rows, that a file of the format cannot hold."""

    def as_written(self, table: pa.Table) -> pa.Table:
        """The rows as they come back from a file; what is not a number is missing."""
        columns = [
            pc.if_else(pc.is_nan(column), None, column)
            if pa.types.is_float32(column.type) or pa.types.is_float64(column.type)
            else column
            for column in table.columns
        ]
        return pa.table(columns, names=table.column_names)

    def write(self, table: pa.Table, path: Path, options: CsvOptions) -> None:
        """Write the columns of a table and nothing else, rows in its order."""
        with self.writer(path, table.schema, options) as writer:
            for batch in table.to_batches():
                writer.write_batch(batch)

    def writer(
        self,
        path: Path,
        schema: pa.Schema,  # noqa: ARG002
        options: CsvOptions,  # noqa: ARG002
    ) -> AbstractContextManager[BatchWriter]:
        """A new file that takes the table batch by batch; for formats that are `appendable`."""
        raise InputError(f"{path}: {self.title} is not written batch by batch.")

    def damaged(self, path: Path) -> InputError:
        """The error for a file that is not of this format."""
        return InputError(
            f"{path} is not {self.title}, or it is damaged. Write it again, or give the file the "
            "extension of its format."
        )

    def require_packages(self, path: Path, writing: bool = False) -> None:
        """Raise `InputError` unless the libraries of the format are installed."""
        needed = self.writer_packages if writing else self.packages
        missing = [name for name in needed if not _is_installed(name)]
        if missing:
            raise InputError(
                f"{path}: {'writing' if writing else 'reading'} {self.title} needs "
                f"{listed(missing)}, which is not installed. "
                f"Install it with: pip install 'shoal[{self.extra}]'"
            )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


_INSTANCES: dict[str, FileFormat] = {}
"""One of each: they have no state but what they may keep of the last file."""


def file_formats() -> dict[str, FileFormat]:
    """Every format by its name; CSV first."""
    found = plugins.formats()
    ordered = sorted(found, key=lambda name: (name != "csv", name))
    return {name: _INSTANCES.setdefault(name, found[name]()) for name in ordered}


def endings(writing: bool = False) -> dict[str, FileFormat]:
    """The format of every extension; with `writing` of those that a release may have."""
    return {
        ending: one
        for one in file_formats().values()
        for ending in (one.endings if one.written is None or not writing else one.written)
    }


def format_of(path: Path, *, writing: bool = False) -> FileFormat:
    """The format of a file by its extension; `writing`: only those that are written are proposed."""
    known, ending = endings(), ending_of(path)
    if ending not in known:
        found = (
            f"the extension '{ending}' is unknown" if ending else "the file name has no extension"
        )
        allowed = endings(writing)
        raise InputError(
            f"{path}: {found}, so the format cannot be decided. "
            f"Allowed: {listed(allowed, 40)}.{nearest(ending, allowed)}"
        )
    return known[ending]


def format_to_write(path: Path) -> FileFormat:
    """The format of a file that is to be written; its libraries are installed."""
    found = format_of(path, writing=True)
    if ending_of(path) not in (allowed := endings(writing=True)):
        raise InputError(
            f"{path}: files with the extension '{ending_of(path)}' can be read, but not written. "
            f"Allowed: {listed(allowed, 40)}."
        )
    found.require_packages(path, writing=True)
    return found


def located(place: Path, options: CsvOptions) -> tuple[Path, CsvOptions]:
    """A file and its options, the name of a sheet (`table.xlsx#Patients`) moved to the options."""
    text = str(place)
    if SHEET_MARK not in text or place.exists():
        return place, options
    marks = [at for at, character in enumerate(text) if character == SHEET_MARK]
    known = endings()
    files = [
        (Path(text[:at]), text[at + 1 :])
        for at in marks
        if (kind := known.get(ending_of(Path(text[:at])))) is not None and kind.has_sheets
    ]
    if not files:
        return place, options
    file, sheet = next((each for each in files if each[0].exists()), files[0])
    return file, replace(options, sheet=sheet or options.sheet)


def require_columns(path: Path, names: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    """The wanted columns of a file; raises `InputError` for one that is missing or there twice."""
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputError(f"{path} has more than one column named {listed(doubled)}. Rename them.")
    missing = [column for column in columns or () if column not in names]
    if missing:
        raise InputError(
            f"{path} has no column '{missing[0]}'.{nearest(missing[0], names)} "
            f"It has: {listed(names)}."
        )
    return list(names if columns is None else columns)
