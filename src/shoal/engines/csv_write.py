"""Writing CSV so that reading it gives the same values back.

A missing value is written as nothing, an empty text as "" (two quotes), rows in the order given.
"""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from shoal.engines.duck import Connection, connection, name, text
from shoal.errors import InputError
from shoal.hierarchy.text import text_of
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import is_packed


def write_csv(table: pa.Table, path: Path, options: CsvOptions) -> None:
    """Write the table as UTF-8 text in the dialect of `options`."""
    columns = [f"c{i}" for i in range(table.num_columns)]
    # DuckDB tells names apart without regard to case, so it gets ours.
    published = pa.table([_plain(column) for column in table.columns], columns)
    with connection(table.nbytes) as con:
        con.register("published", published)
        copy_csv(con, "published", columns, table.column_names, path, options)


def copy_csv(
    con: Connection,
    table: str,
    columns: Sequence[str],
    names: Sequence[str],
    path: Path,
    options: CsvOptions,
) -> None:
    """Write these columns of a table of the database under other names, rows in its order."""
    settled = options.for_output(path)
    plain_header = _plain_header(names)
    rows = _rows(table, columns, names, plain_header)
    quote = text(settled.quote or '"')
    target = text(str(path.absolute()))
    try:
        con.execute(
            f"COPY ({rows}) TO {target} (FORMAT csv, HEADER {plain_header}, "
            f"DELIMITER {text(settled.separator or ',')}, QUOTE {quote}, ESCAPE {quote}, "
            f"NULLSTR '', COMPRESSION {'gzip' if is_packed(path) else 'none'}, "
            # A temporary file of its own would be one that nobody removes after a crash.
            "USE_TMP_FILE false)"
        )
    except duckdb.IOException:
        # Its message may name a value; ours names the file.
        raise InputError(f"{path} could not be written. Is the disk full?") from None


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """The column in a type that DuckDB knows; the text of the others is what a CSV holds anyway."""
    strange = pa.types.is_float16(column.type) or pa.types.is_decimal256(column.type)
    return text_of(column) if strange or pa.types.is_interval(column.type) else column


def _plain_header(names: Sequence[str]) -> bool:
    """Whether DuckDB writes these names as they are: it changes empty and doubled ones."""
    return all(names) and len({name.lower() for name in names}) == len(names)


def _rows(table: str, columns: Sequence[str], names: Sequence[str], plain_header: bool) -> str:
    """The SQL of the rows to write, the header as the first where DuckDB would change a name."""
    if plain_header:
        shown = ", ".join(f"{c} AS {name(n)}" for c, n in zip(columns, names, strict=True))
        return f"SELECT {shown} FROM {table}"
    header = ", ".join(text(n) for n in names)
    cast = ", ".join(f"CAST({c} AS VARCHAR)" for c in columns)
    return f"SELECT {header} UNION ALL SELECT {cast} FROM {table}"
