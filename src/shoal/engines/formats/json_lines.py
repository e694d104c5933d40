"""JSON lines: an object in every line, a key of which is a column.

Texts, numbers and truth values keep their types; a column with several of them is text. Keys that a
line does not have are missing. DuckDB reads the file, so that a table larger than memory can be one.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, ClassVar, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.duckdb.connection import connection, file_literal, text
from shoal.engines.formats.base import BatchWriter, FileFormat, require_columns
from shoal.errors import InputError, listed
from shoal.hierarchy.text import text_of
from shoal.io.commit import final_path
from shoal.io.csv_dialect import CsvOptions, open_bytes
from shoal.io.paths import is_gzipped
from shoal.io.variables import Variable

LONG = "LONG"
"""The kind of a whole number of 64 bits that is none of a float."""
LONGEST_WHOLE = 1 << 53
"""Up to here every whole number is one of a float."""
WHOLE = frozenset({"BIGINT", "UBIGINT", LONG})
NUMBERS = WHOLE | {"DOUBLE"}
LONGEST_LINE = 1 << 26
FEW_DIGITS = 15
"""A decimal of so many digits is the float that it reads as."""
SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
}


class JsonLines(FileFormat):
    """JSON lines (.jsonl, .ndjson), also gzipped; in UTF-8."""

    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
    title: ClassVar[str] = "a file of JSON lines"
    in_lines: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    exact: ClassVar[bool] = False

    def settle(
        self, files: Sequence[Path], options: CsvOptions
    ) -> tuple[CsvOptions, tuple[str, ...]]:
        """The keys of all lines, with the type of their values."""
        if options.variables:
            return options, ()
        keys = list(dict.fromkeys(key for path in files for key in self._keys(path)))
        found: dict[str, set[str]] = {key: set() for key in keys}
        for path in files:
            for key, kinds in self._kinds(path, keys).items():
                found[key] |= kinds
        nested = [key for key, kinds in found.items() if kinds & {"OBJECT", "ARRAY"}]
        if nested:
            raise InputError(
                f"{files[0]}: {listed(map(repr, nested))} has objects or lists as values. A table has "
                "texts, numbers and truth values: write nested values into columns of their own."
            )
        variables = tuple(Variable(key, _type_of(kinds)) for key, kinds in found.items())
        return replace(options, variables=variables), ()

    def names(self, path: Path, options: CsvOptions) -> list[str]:
        """The keys: those of the first line in its order, then others by name."""
        return [one.name for one in self.settle([path], options)[0].variables]

    def schema(self, path: Path, options: CsvOptions, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns."""
        known = {one.name: one.type for one in self.settle([path], options)[0].variables}
        return pa.schema([(n, known[n]) for n in require_columns(path, list(known), columns)])

    def batches(
        self, path: Path, options: CsvOptions, columns: Sequence[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        """Some columns, rows in the order of the file."""
        schema = self.schema(path, options, columns)
        values = ", ".join(
            f"CAST(json->>{_pointer(field.name)} AS {SQL_TYPES[field.type]}) AS c{i}"
            for i, field in enumerate(schema)
        )
        with self._intact(path), connection(path.stat().st_size) as con:
            rows = con.sql(f"SELECT {values or 'NULL AS c0'} FROM {_lines(path)}")
            for batch in rows.to_arrow_reader(size):
                arrays = [
                    array.cast(f.type) for array, f in zip(batch.columns, schema, strict=False)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _keys(self, path: Path) -> list[str]:
        """The keys of a file."""
        with self._intact(path), connection(path.stat().st_size) as con:
            # most files have few different lists of keys
            found = con.execute(
                "SELECT json_type(json) = 'OBJECT', json_keys(json), count(*) "
                f"FROM {_lines(path)} GROUP BY ALL"
            ).fetchall()
            first = con.execute(f"SELECT json_keys(json) FROM {_lines(path)} LIMIT 1").fetchone()
        others = sum(times for is_object, _, times in found if not is_object)
        if others:
            raise InputError(
                f"{path}: {others:,} of its lines are not JSON objects. Every line must be one, "
                'such as {"age": 31, "town": "Ath"}.'
            )
        doubled = sum(times for _, keys, times in found if len(set(keys)) < len(keys))
        if doubled:
            raise InputError(f"{path}: {doubled:,} of its lines have a key twice. Rename one.")
        every = sorted({key for _, keys, _ in found for key in keys})
        return list(dict.fromkeys([*(first[0] if first else []), *every]))

    def _kinds(self, path: Path, keys: Sequence[str]) -> dict[str, set[str]]:
        """The JSON types of each key's values, a number too long for 64 bits counting as text: in an id
        every digit counts."""
        if not keys:
            return {}
        limit = LONGEST_WHOLE
        types = ", ".join(
            f"list(DISTINCT CASE WHEN {kind} IS NULL OR {kind} NOT IN ('BIGINT', 'UBIGINT', 'DOUBLE') "
            f"OR NOT regexp_full_match(json->>{at}, '-?[0-9]{{16,}}') THEN {kind} "
            f"WHEN try_cast(json->>{at} AS BIGINT) IS NULL THEN 'VARCHAR' "
            f"WHEN CAST(json->>{at} AS BIGINT) BETWEEN -{limit} AND {limit} THEN {kind} "
            f"ELSE '{LONG}' END)"
            for at, kind in ((at, f"json_type(json, {at})") for at in map(_pointer, keys))
        )
        with self._intact(path), connection(path.stat().st_size) as con:
            found = con.execute(f"SELECT {types} FROM {_lines(path)}").fetchone()
        assert found is not None
        return {
            key: {kind for kind in kinds or () if kind not in (None, "NULL")}
            for key, kinds in zip(keys, found, strict=True)
        }

    @contextmanager
    def _intact(self, path: Path) -> Iterator[None]:
        """Raise DuckDB's errors as ours: its messages quote the line."""
        try:
            yield
        except (duckdb.Error, pa.ArrowException, OSError):
            raise self._first_bad_line(path) or self.damaged(path) from None

    def _first_bad_line(self, path: Path) -> InputError | None:
        """The error for the first line that is not JSON, if there is one."""
        with open_bytes(path) as stream:
            for number, line in enumerate(stream, 1):
                try:
                    if line.strip():
                        json.loads(line)
                except ValueError:
                    return InputError(
                        f"{path}, line {number}: this is not JSON in UTF-8. Every line must be one JSON "
                        "object."
                    )
        return None

    @contextmanager
    def writer(
        self,
        path: Path,
        schema: pa.Schema,  # noqa: ARG002 - a batch has its own
        options: CsvOptions,  # noqa: ARG002
    ) -> Iterator[BatchWriter]:
        """A new file that takes the table batch by batch."""
        try:
            with path.open("wb") as plain:
                if not is_gzipped(path):
                    yield _LineWriter(plain)
                    return
                # without a time and a name: the same release is the same file
                with gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as packed:
                    yield _LineWriter(cast(IO[bytes], packed))
        except OSError:
            raise InputError(
                f"{final_path(path)} could not be written. Is the disk full?"
            ) from None


class _LineWriter:
    """A file that takes batches as lines."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        if not batch.num_rows:
            return
        values = pa.table(
            [_plain(c) for c in batch.columns], [f"c{i}" for i in range(len(batch.columns))]
        )
        pairs = ", ".join(f"{text(name)}, c{i}" for i, name in enumerate(batch.schema.names))
        with connection(values.nbytes) as con:
            con.register("rows", values)
            lines = con.sql(f"SELECT CAST(json_object({pairs}) AS VARCHAR) AS line FROM rows")
            for part in lines.to_arrow_reader(1 << 16):
                found = part.column(0).to_pylist()
                self._stream.write("".join(f"{line}\n" for line in found).encode())


def _type_of(kinds: set[str]) -> pa.DataType:
    if kinds == {"BOOLEAN"}:
        return pa.bool_()
    if kinds and kinds <= WHOLE:
        return pa.int64()
    # as floats, some of the long ones would be one number
    return pa.float64() if kinds and kinds <= NUMBERS - {LONG} else pa.string()


def _plain(column: pa.Array) -> pa.Array:
    """The column in a type that JSON has; others as text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode())
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        known = pc.if_else(pc.is_nan(column), None, column)
        return text_of(known) if pc.any(pc.is_inf(known)).as_py() else known
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return column
    if pa.types.is_decimal(kind) and kind.precision <= FEW_DIGITS:
        return column.cast(pa.float64())
    return text_of(column)


def _lines(path: Path) -> str:
    """The SQL of the lines of a file, as a column `json`."""
    packed = "'gzip'" if is_gzipped(path) else "'none'"
    return (
        f"read_json_objects({file_literal(path)}, format='newline_delimited', compression={packed}, "
        f"maximum_object_size={LONGEST_LINE})"
    )


def _pointer(key: str) -> str:
    """A JSON pointer to a key, as an SQL literal."""
    return text("/" + key.replace("~", "~0").replace("/", "~1"))
