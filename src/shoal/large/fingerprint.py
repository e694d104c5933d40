"""The fingerprint of a published table in a session: the one that the same rows have in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.cells.rowhash import hash_rows
from shoal.engines.large.profiling import counted, how_many_rows, rows_of
from shoal.engines.large.session import Session
from shoal.io.arrow import one_chunk
from shoal.large.coding import as_signed, as_unsigned
from shoal.large.kinds import as_read
from shoal.verification.canonical import canonical
from shoal.verification.digest import (
    PIECE,
    Fingerprint,
    Piece,
    n_pieces,
    piece_of,
    put_together,
    times_of,
)


def fingerprint(
    session: Session, table: str, columns: Mapping[str, str], schema: pa.Schema
) -> Fingerprint:
    """Rows are written as texts where they are, and hashed piece by piece.

    columns: by its name in the release, in the release's order, where each column stands in the
    table. schema: the types of these, in the same order, in the release's files.
    """
    n = int(session.ask(how_many_rows(table)).column("n")[0].as_py())
    places = tuple(zip(columns.values(), schema.types, strict=True))
    spell, shorten = SpellOut(places, n_pieces(n)), Shorten(len(places))
    spelled, short, times = (f"{table}_{what}" for what in ("canonical", "short", "times"))
    session.map(spelled, rows_of(table, list(columns.values())), spell, spell.schema)
    # rows that are equal come as one, so that a piece never grows with them
    rows, sizes = counted(spelled, spell.schema.names), [PIECE] * spell.pieces
    session.map_groups(short, rows, "b", shorten, shorten.schema, sizes, once=True)
    made = put_together(list(columns), n, shorten.pieces(session.ask(rows_of(short, ["*"]))))
    count = CountTimes(tuple(one_chunk(column) for column in made.some.columns))
    session.map(
        times, rows_of(spelled, [f"x{j}" for j in range(len(places))]), count, TIMES, once=True
    )
    found = session.ask(rows_of(times, TIMES.names))
    for name in (spelled, short, times):
        session.drop(name)
    return replace(made, times=count.together(found))


@dataclass(frozen=True)
class SpellOut:
    """Published rows as the texts that count: x0, x1, ..., their hash h, and the piece b."""

    columns: tuple[tuple[str, pa.DataType], ...]
    """The place and type of every column."""
    pieces: int

    @property
    def schema(self) -> pa.Schema:
        """What comes out."""
        return _schema([("b", pa.int32()), ("h", pa.int64())], len(self.columns))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        texts = [canonical(as_read(batch.column(place), kind)) for place, kind in self.columns]
        words = hash_rows(batch.num_rows, (), texts, 0)
        piece = (words % np.uint64(self.pieces)).astype(np.int32)
        held = [text.dictionary_decode().cast(pa.string()) for text in texts]
        found = [pa.array(piece), pa.array(as_signed(words)), *held]
        return pa.RecordBatch.from_arrays(found, schema=self.schema)


@dataclass(frozen=True)
class Shorten:
    """The different rows of a piece to its digest and its first rows."""

    columns: int

    @property
    def schema(self) -> pa.Schema:
        """What comes out: a row for each of the first rows, all with the digest of their piece."""
        first = [("b", pa.int32()), ("digest", pa.string()), ("h", pa.int64())]
        return _schema(first, self.columns)

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Hash a piece."""
        texts = [one_chunk(rows[f"x{j}"]).dictionary_encode() for j in range(self.columns)]
        counts = rows["n"].to_numpy().astype(np.int64)
        piece = piece_of(texts, as_unsigned(one_chunk(rows["h"])), counts)
        few = len(piece.words)
        head = [
            pa.array([rows["b"][0].as_py()] * few, pa.int32()),
            pa.array([piece.digest] * few),
            pa.array(as_signed(piece.words)),
        ]
        held = [column.cast(pa.string()) for column in piece.some]
        return pa.Table.from_arrays([*head, *held], schema=self.schema)

    def pieces(self, told: pa.Table) -> dict[int, Piece]:
        """What all pieces told, by their numbers."""
        number = told["b"].to_numpy()
        found = {}
        for one in np.unique(number).tolist():
            rows = told.filter(pa.array(number == one)).sort_by("h")
            some = [one_chunk(rows[f"x{j}"]) for j in range(self.columns)]
            digest, words = rows["digest"][0].as_py(), as_unsigned(one_chunk(rows["h"]))
            found[one] = Piece(digest, words, some)
        return found


TIMES = pa.schema([("j", pa.int32()), ("i", pa.int32()), ("n", pa.int64())])
"""n rows of a batch have in column j the text of the i-th row that is shown."""


@dataclass(frozen=True)
class CountTimes:
    """How many rows of a batch share each cell that is shown."""

    some: tuple[pa.Array, ...]
    """Per column the texts that are shown."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Count a batch."""
        found = [
            times_of(batch.column(f"x{j}").dictionary_encode(), some)
            for j, some in enumerate(self.some)
        ]
        few = len(self.some[0]) if self.some else 0
        column, row = (np.indices((len(found), few)).reshape(2, -1)).astype(np.int32)
        n = np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int64)
        arrays = [pa.array(one[n > 0]) for one in (column, row, n)]
        return pa.RecordBatch.from_arrays(arrays, schema=TIMES)

    def together(self, told: pa.Table) -> tuple[np.ndarray, ...]:
        """What was counted in all batches."""
        found = tuple(np.zeros(len(some), np.int64) for some in self.some)
        for j, i, n in zip(*(told[name].to_pylist() for name in TIMES.names), strict=True):
            found[j][i] += n
        return found


def _schema(first: list[tuple[str, pa.DataType]], columns: int) -> pa.Schema:
    return pa.schema([*first, *((f"x{j}", pa.string()) for j in range(columns))])
