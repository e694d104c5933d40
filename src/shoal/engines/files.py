"""Files and frames on this machine: read, written and counted, as Arrow."""

import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.encoding.counts import Counts
from shoal.engines.database.base import BATCH
from shoal.engines.database.staging import StagedTable, Stored, open_table
from shoal.engines.duckdb.classes import count_csv, count_table
from shoal.engines.formats.base import FileFormat, format_of, format_to_write, located
from shoal.engines.formats.comparison import require_same_rows, sums_of
from shoal.engines.formats.csv import Csv
from shoal.engines.table_size import require_fits
from shoal.errors import InputError
from shoal.io.address import Address
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.paths import check_readable
from shoal.io.tables import ArrowTable, Table, check_names


class LocalFiles:
    """Reads, writes and counts tables in files. It keeps no state between calls."""

    def settle(
        self, path: Stored | Sequence[Path], options: CsvOptions = DETECT
    ) -> tuple[CsvOptions, tuple[str, ...]]:
        """What the file leaves open, detected where not given, and warnings about what was guessed.

        Pass the result on, so that it is detected once. Several paths are part files of one table.
        """
        if isinstance(path, Address | StagedTable):
            return options, ()
        places = [path] if isinstance(path, Path) else list(path)
        with _readable(places[0], options) as (kind, file, known):
            return kind.settle([file, *places[1:]], known)

    def names(self, path: Stored, options: CsvOptions = DETECT) -> list[str]:
        """The columns of a file or of a database's table."""
        if not isinstance(path, Path):
            with open_table(path) as table:
                return table.names
        with _readable(path, options) as (kind, file, known):
            return kind.names(file, kind.settle([file], known)[0])

    def read(
        self,
        path: Stored,
        options: CsvOptions = DETECT,
        columns: Sequence[str] | None = None,
        coded: bool = False,
    ) -> pa.Table:
        """The table, or the named columns of it, in the file's order of rows.

        Columns of a CSV are all text; other formats keep their types. coded: the texts of a large CSV
        may have codes, where that is faster.
        """
        if not isinstance(path, Path):
            with open_table(path) as table:
                return table.read(columns)
        with _readable(path, options) as (kind, file, known):
            settled = kind.settle([file], known)[0]
            require_fits(file, kind.names(file, settled) if columns is None else columns)
            if coded and isinstance(kind, Csv):
                return kind.read_coded(file, settled, columns)
            return kind.read(file, settled, columns)

    def require_fits(
        self, path: Path, options: CsvOptions = DETECT, columns: Sequence[str] | None = None
    ) -> None:
        """Raise `InputError` where these columns of a file would not fit into memory."""
        with _readable(path, options) as (kind, file, known):
            names = columns or kind.names(file, kind.settle([file], known)[0])
            require_fits(file, names)

    def write(
        self, table: pa.Table, path: Path | StagedTable, options: CsvOptions = DETECT
    ) -> None:
        """Write the table, rows in its order; the file extension decides the format.

        Where the format does not keep every value, the file is read back and compared.
        """
        if isinstance(path, StagedTable):
            path.write(table.schema, table.to_batches(max_chunksize=BATCH))
            return
        kind = format_to_write(path)
        kind.write(table, path, options)
        if not kind.exact:
            given = sums_of(kind, [table], table.num_columns)
            require_same_rows(kind, path, options, table.column_names, given)

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
            needed = _needed(columns, of, starred) or self.names(published)[:1]
            published = self.read(published, columns=needed)
        if not isinstance(published, Path):
            return count_table(published, columns, of, starred)
        with _readable(published, options) as (kind, file, known):
            if isinstance(kind, Csv):
                return count_csv(file, columns, of, known, starred)
            needed = _needed(columns, of, starred)
            rows = kind.read(file, kind.settle([file], known)[0], needed)
            return count_table(rows, columns, of, starred)


def _needed(*names: Sequence[str]) -> list[str]:
    """Every name once."""
    return list(dict.fromkeys(name for some in names for name in some))


@contextmanager
def _readable(place: Path, options: CsvOptions) -> Iterator[tuple[FileFormat, Path, CsvOptions]]:
    """A file and its format; errors in reading it are raised as `InputError`."""
    path, options = located(place, options)
    check_readable(path)
    kind = format_of(path)
    kind.require_packages(path)
    try:
        yield kind, path, options
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(
            f"{path} is not a whole gzip file. Pack it again, or drop the '.gz'."
        ) from None
    except PermissionError:
        raise InputError(f"{path} may not be read by this user.") from None


def wrap(native: Any) -> Table:
    """A frame of any kind, or a DuckDB relation, as a table; its `release` returns the same kind."""
    if isinstance(native, pa.Table):
        check_names(native.column_names)
        return ArrowTable(native)
    # what other frames need is loaded with the first of them
    database = sys.modules.get("duckdb")
    if database is not None and isinstance(native, database.DuckDBPyRelation):
        from shoal.engines.duckdb.relation import wrap_relation

        return wrap_relation(native)
    from shoal.io.frames import wrap as wrap_frame

    return wrap_frame(native)
