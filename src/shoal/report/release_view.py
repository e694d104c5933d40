"""The rows of a release, wherever they are: what a report and a check of it need to know of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from shoal.engines import release_table as elsewhere
from shoal.engines.memory import LocalEngine, wrap
from shoal.engines.queries import how_many_rows
from shoal.engines.release_table import Held, class_sizes
from shoal.engines.selection import held_frame, is_spark
from shoal.errors import InputError
from shoal.evidence.evidence import Histogram, histogram
from shoal.io.csv_dialect import CsvOptions
from shoal.release import Release
from shoal.risk.columns import Contents, contents_of
from shoal.risk.table import contents_in_session
from shoal.verification.digest import Fingerprint, fingerprint


class Released(Protocol):
    """Published rows."""

    @property
    def names(self) -> list[str]:
        """The columns, in order."""

    @property
    def n_rows(self) -> int:
        """How many rows."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Their digest, and some of them."""

    def contents(self, name: str) -> Contents:
        """What a column holds, counted."""

    def class_sizes(self, columns: Sequence[str]) -> Histogram:
        """How many classes have each size, by the text that stands in some columns."""


@dataclass(frozen=True)
class Here:
    """In memory."""

    rows: pa.Table

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self.rows.column_names)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.rows.num_rows)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Their digest, and some of them."""
        return fingerprint(self.rows)

    def contents(self, name: str) -> Contents:
        """What a column holds, counted."""
        return contents_of(name, self.rows.column(name))

    def class_sizes(self, columns: Sequence[str]) -> Histogram:
        """How many classes have each size."""
        return histogram(LocalEngine().count_classes(self.rows, columns, [])[""].sizes)


@dataclass(frozen=True)
class There:
    """In a session; only counts come here."""

    held: Held

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self.held.names)

    @cached_property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.held.session.ask(how_many_rows(self.held.table)).column("n")[0].as_py())

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Their digest, and some of them."""
        held = self.held
        return elsewhere.fingerprint(held.session, held.table, held.columns, held.schema)

    def contents(self, name: str) -> Contents:
        """What a column holds, counted."""
        held = self.held
        kind = held.schema.types[self.names.index(name)]
        return contents_in_session(held.session, held.table, name, held.columns[name], kind)

    def class_sizes(self, columns: Sequence[str]) -> Histogram:
        """How many classes have each size."""
        held = self.held
        return class_sizes(held.session, held.table, held.columns, held.schema, columns)


def here(native: Any) -> Here:
    """A frame of any library."""
    table = wrap(native)
    return Here(pa.table({name: table.column(name) for name in table.names}))


def in_file(path: Path, options: CsvOptions) -> Here:
    """A file, read as anyone would."""
    engine = LocalEngine()
    settled, _ = engine.settle(path, options)
    return Here(engine.read(path, settled, engine.names(path, settled)))


@contextmanager
def rows_of(release: Release, held: Held | None = None) -> Iterator[Released]:
    """The rows of a release; `held` where they are in a session that is open."""
    if held is not None:
        yield There(held)
    elif release.table is None:
        raise InputError(
            "This release has no rows at hand: they are in the files that the run wrote. Ask the run "
            "itself for the report (`report=`, on the command line `--report`)."
        )
    elif is_spark(release.table):
        with held_frame(release.table) as opened:
            yield There(opened)
    else:
        yield here(release.table)


def digests_of(tables: Mapping[str, Any]) -> dict[str, str]:
    """The digests of the tables that sensitive values have apart."""
    return {name: here(table).fingerprint.digest for name, table in tables.items()}
