"""Files and frames on this machine: read, written and counted, as Arrow."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from narwhals.stable.v2.dependencies import is_duckdb_relation

from shoal.encoding.counts import Counts
from shoal.engines.database.base import BATCH
from shoal.engines.database.staging import StagedTable, Stored
from shoal.engines.database.tables import open_table
from shoal.engines.duckdb.classes import count_csv, count_table
from shoal.engines.duckdb.csv import read_csv, settle, write_csv
from shoal.errors import InputError
from shoal.io.address import Address
from shoal.io.columnar import columnar_names, read_columnar, write_columnar
from shoal.io.csv_dialect import DETECT, CsvOptions, header_names
from shoal.io.formats import Format, check_readable, format_of
from shoal.io.frames import Table
from shoal.io.frames import wrap as wrap_frame


class LocalFiles:
    """Reads, writes and counts tables in files. It keeps no state between calls."""

    def settle(
        self, path: Stored, options: CsvOptions = DETECT
    ) -> tuple[CsvOptions, tuple[str, ...]]:
        """The dialect of a CSV file, detected where not given, and warnings about what was guessed.

        Pass the result on, so that it is detected once. Other formats have no dialect.
        """
        if not isinstance(path, Path):
            return options, ()
        with _readable(path) as kind:
            return settle(path, options) if kind is Format.CSV else (options, ())

    def names(self, path: Stored, options: CsvOptions = DETECT) -> list[str]:
        """The columns of a file or a database's table, without reading its rows."""
        if not isinstance(path, Path):
            with open_table(path) as table:
                return table.names
        with _readable(path) as kind:
            if kind is not Format.CSV:
                return columnar_names(path, kind)
            return header_names(path, settle(path, options)[0])

    def read(
        self,
        path: Stored,
        options: CsvOptions = DETECT,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """The table, or the named columns of it, in the file's order of rows.

        Columns of a CSV are all text; other formats keep their types.
        """
        if not isinstance(path, Path):
            with open_table(path) as table:
                return table.read(columns)
        with _readable(path) as kind:
            if kind is Format.CSV:
                return read_csv(path, options, columns)
            return read_columnar(path, kind, columns)

    def write(
        self,
        table: pa.Table,
        path: Path | StagedTable,
        kind: Format | None = None,
        options: CsvOptions = DETECT,
    ) -> None:
        """Write the table, rows in its order; the file extension decides the format if not given."""
        if isinstance(path, StagedTable):
            path.write(table.schema, table.to_batches(max_chunksize=BATCH))
            return
        kind = kind or format_of(path)
        if kind is Format.CSV:
            write_csv(table, path, options)
        else:
            write_columnar(table, path, kind)

    def count_classes(
        self,
        published: pa.Table | Stored,
        columns: Sequence[str],
        of: Sequence[str] = (),
        options: CsvOptions = DETECT,
        starred: Sequence[str] = (),
    ) -> dict[str, Counts]:
        """The classes of rows that share the text of `columns`, missing values being equal.

        Under "" their sizes alone; under each column in `of` also how often each value occurs in
        each class, in the same order of classes. A missing or starred value has no entry.
        Classes of nothing but rows that read '*' in all the columns `starred` (if any) are left out.
        """
        if isinstance(published, Address | StagedTable):
            published = self.read(published, columns=_needed(columns, of, starred))
        if not isinstance(published, Path):
            return count_table(published, columns, of, starred)
        with _readable(published) as kind:
            if kind is Format.CSV:
                return count_csv(published, columns, of, options, starred)
            needed = _needed(columns, of, starred)
            return count_table(read_columnar(published, kind, needed), columns, of, starred)


def _needed(*names: Sequence[str]) -> list[str]:
    """Every name once."""
    return list(dict.fromkeys(name for some in names for name in some))


@contextmanager
def _readable(path: Path) -> Iterator[Format]:
    """The format of a file; errors in reading it are raised as `InputError`."""
    check_readable(path)
    kind = format_of(path)
    try:
        yield kind
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(
            f"{path} is not a whole gzip file. Pack it again, or drop the '.gz'."
        ) from None
    except PermissionError:
        raise InputError(f"{path} may not be read by this user.") from None


def wrap(native: Any) -> Table:
    """A frame of any kind, or a DuckDB relation, as a table; its `release` returns the same kind."""
    if is_duckdb_relation(native):
        # imported here, so that other frames do not load DuckDB
        from shoal.engines.duckdb.relation import wrap_relation

        return wrap_relation(native)
    return wrap_frame(native)
