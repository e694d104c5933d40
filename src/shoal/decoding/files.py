"""Releases in files and databases, decoded into another file or table, batch by batch."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.decoding.decoder import Choice, DecodedColumn, Decoder, decoded_table
from shoal.engines.database.base import BATCH
from shoal.engines.database.connections import feeding
from shoal.engines.database.staging import StagedTable, open_table
from shoal.engines.files import LocalFiles
from shoal.engines.formats.base import FileFormat, format_of, format_to_write, located
from shoal.engines.formats.csv import Csv
from shoal.engines.sources import Source, source_at
from shoal.engines.targets import Target, check_targets, targets_of
from shoal.errors import InputError, counted, listed
from shoal.io.address import Address, Place
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from shoal.progress import Clock
from shoal.results import Record, Result

ROWS = 1 << 17
"""Rows of a batch."""


@dataclass(frozen=True, repr=False)
class Decoding(Result):
    """A release that was decoded into a file or table."""

    output: Place
    """What was written."""
    rows: int
    columns: tuple[DecodedColumn, ...]
    """What became of every column of the release."""
    seed: int
    """The seed of drawn values."""
    notes: tuple[str, ...] = ()
    """What is good to know about single columns."""
    warnings: tuple[str, ...] = field(default=())
    """What was guessed about the file of the release."""

    @property
    def sampled(self) -> tuple[str, ...]:
        """The new columns whose values were drawn."""
        return tuple(name for one in self.columns if one.is_sampled for name in one.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows, as plain values for JSON."""
        return {
            "output": str(self.output),
            "rows": self.rows,
            "columns": [asdict(one) | {"columns": list(one.columns)} for one in self.columns],
            "sampled": list(self.sampled),
            "seed": self.seed,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def _records(self) -> Sequence[Record]:
        return [
            {
                "column": one.name,
                "form": one.form,
                "labels": one.labels,
                "becomes": list(one.columns),
            }
            for one in self.columns
        ]

    def _headline(self) -> str:
        return f"{counted(self.rows, 'row')} in {self.output}"


def decode_place(
    place: Place,
    policy: Policy,
    target: Place,
    choice: Choice,
    clock: Clock,
    options: CsvOptions,
    force: bool = False,
) -> Decoding:
    """Decode a release in a file, a folder of part files or a database.

    Raises
    ------
    InputError
        If the target cannot hold what the columns become.
    """
    choice.check()
    if isinstance(place, Path):
        place, options = located(place, options)
    check_targets([target], [], force, place)
    kind = format_to_write(target) if isinstance(target, Path) else None
    source = source_at(place, options)
    reader = _Rows(source)
    decoder = Decoder(policy, choice, reader.schema, untyped=reader.untyped)
    with clock.step("read"):
        rows = 0
        for batch in reader.batches():
            decoder.count(batch)
            rows += batch.num_rows
        clock.rows = rows
    decoder.settle()
    schema = decoder.decode(reader.schema.empty_table()).schema
    _check_schema(kind, target, schema, rows)
    with clock.step("write"), targets_of([target], [], force, place) as places:
        write_batches(places.tables[0], schema, (decoder.decode(b) for b in reader.batches()))
        places.describe_decoded()
        places.commit()
    return Decoding(
        target, rows, decoder.outcome(), choice.seed, tuple(decoder.notes), source.warnings
    )


def decode_source(
    place: Place, policy: Policy, choice: Choice, options: CsvOptions
) -> tuple[pa.Table, Decoder]:
    """A release in a file, a folder or a database as a table in memory."""
    if isinstance(place, Path):
        place, options = located(place, options)
    reader = _Rows(source_at(place, options))
    decoder = Decoder(policy, choice, reader.schema, untyped=reader.untyped)
    return decoded_table(pa.Table.from_batches(reader.batches(), reader.schema), decoder), decoder


class _Rows:
    """The rows of a release, which can be read again and again."""

    def __init__(self, source: Source) -> None:
        self.source, self.names = source, list(source.names)
        self.untyped = False
        if isinstance(source.place, Address):
            with open_table(source.place) as table:
                self.schema = table.schema(self.names)
            return
        first = self._path(source.files[0])
        kind = format_of(first)
        self.untyped = isinstance(kind, Csv)
        self.schema = kind.schema(first, source.options, self.names)

    def _path(self, place: Place) -> Path:
        assert isinstance(place, Path), "a database has one table"
        return place

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, some at a time."""
        source = self.source
        if isinstance(source.place, Address):
            with open_table(source.place) as table:
                yield from table.batches(self.schema)
            return
        for file in source.files:
            path = self._path(file)
            yield from format_of(path).batches(path, source.options, self.names, ROWS)


def _check_schema(kind: FileFormat | None, target: Place, schema: pa.Schema, rows: int) -> None:
    """Refuse lists and intervals where a format has single values only."""
    nested = [one.name for one in schema if pa.types.is_nested(one.type)]
    if nested and (kind is None or kind.name not in ("parquet", "arrow")):
        what = "a database's table" if kind is None else kind.title
        raise InputError(
            f"{target}: {what} holds single values, but {listed(repr(n) for n in nested)} would be "
            "lists or intervals. Decode them as 'bounds' or 'indicators', or write a .parquet file."
        )
    if kind is not None and isinstance(target, Path):
        kind.check_columns(target, schema.names, rows)


def write_batches(target: Target, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    """Write a table that comes in parts."""
    batches = (batch for table in tables for batch in table.cast(schema).to_batches(BATCH))
    if isinstance(target, StagedTable):
        target.write(schema, batches)
        return
    kind = format_to_write(target)
    if isinstance(kind, Csv):
        from shoal.engines.duckdb.csv import write_csv_batches

        with feeding(schema, batches) as rows:
            write_csv_batches(schema, rows, target, CsvOptions())
    elif kind.appendable:
        with kind.writer(target, schema, CsvOptions()) as writer:
            for batch in batches:
                writer.write_batch(batch)
    else:
        LocalFiles().write(pa.Table.from_batches(batches, schema), target)
