"""Where the rows are: published rows as texts, and classes of them that are judged together."""

import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.counts import Counts
from shoal.cells.domain import Domain, Kind
from shoal.cells.rowhash import hash_rows
from shoal.errors import InputError
from shoal.hierarchy.text import is_bytes, text_of_bytes
from shoal.io.arrow import one_chunk
from shoal.large.kinds import as_read
from shoal.models.requirement import SIZES_ONLY, Model, asked_under
from shoal.verification.meaning import Meaning

STAR = "*"
Ints = npt.NDArray[np.int64]
JUDGED = pa.schema(
    [
        ("model", pa.int32()),
        ("classes", pa.int64()),
        ("rows", pa.int64()),
        ("failing", pa.int64()),
        ("smallest", pa.int64()),
        ("reached", pa.string()),
    ]
)
"""What is told of some classes: per model its place among those asked."""


def spelled(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """(n,) string: what a reader sees; what is not a number is missing."""
    column = as_read(column, kind)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    return text_of_bytes(column) if is_bytes(column.type) else column.cast(pa.string())


@dataclass(frozen=True)
class Spell:
    """A column to its texts."""

    place: str
    kind: pa.DataType

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        return pa.RecordBatch.from_pydict(
            {"v": spelled(batch.column(self.place), self.kind)}, pa.schema([("v", pa.string())])
        )


@dataclass(frozen=True)
class SpellAll:
    """Some columns to their texts k0, k1, ..."""

    columns: tuple[tuple[str, pa.DataType], ...]

    @property
    def schema(self) -> pa.Schema:
        """What comes out."""
        return pa.schema([(f"k{i}", pa.string()) for i in range(len(self.columns))])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        texts = [spelled(batch.column(place), kind) for place, kind in self.columns]
        return pa.RecordBatch.from_arrays(texts, schema=self.schema)


@dataclass(frozen=True)
class Seen:
    """The columns of one set of classes."""

    columns: tuple[int, ...]
    """Places of the class columns among the texts."""
    starred: tuple[int, ...]
    """Places of the columns in which an exempt row reads `*`; none where no row is exempt."""


@dataclass(frozen=True)
class See:
    """Published rows as their reader sees them.

    Gives `k0..` the texts of the class columns, `s0..` the number of each sensitive text (-1 for none
    and for `*`), and per set of classes `b0..` a piece that a class belongs to and `e0..` whether the
    row is exempt.
    """

    columns: tuple[tuple[str, pa.DataType], ...]
    """The place and type of every column that is read."""
    classes: tuple[int, ...]
    """Which of them make classes: k0, k1, ..."""
    sensitive: tuple[tuple[int, pa.Array], ...]
    """Which of them are sensitive: s0, s1, ...; and their texts, each once."""
    sets: tuple[Seen, ...]
    pieces: int

    @property
    def schema(self) -> pa.Schema:
        """What comes out."""
        return pa.schema(
            [
                *((f"k{i}", pa.string()) for i in range(len(self.classes))),
                *((f"s{i}", pa.int32()) for i in range(len(self.sensitive))),
                *((f"b{i}", pa.int32()) for i in range(len(self.sets))),
                *((f"e{i}", pa.int32()) for i in range(len(self.sets))),
            ]
        )

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spell a batch."""
        n = batch.num_rows
        texts = [spelled(batch.column(place), kind) for place, kind in self.columns]
        found = [texts[i] for i in self.classes]
        found += [_places(texts[i], known) for i, known in self.sensitive]
        for one in self.sets:
            words = hash_rows(n, (), [texts[i] for i in one.columns], 0)
            found.append(pa.array((words % np.uint64(self.pieces)).astype(np.int32)))
        for one in self.sets:
            exempt = np.full(n, bool(one.starred))
            for i in one.starred:
                star = pc.fill_null(pc.equal(texts[i], STAR), fill_value=False)
                exempt &= star.to_numpy(zero_copy_only=False)
            found.append(pa.array(exempt.astype(np.int32)))
        return pa.RecordBatch.from_arrays(found, schema=self.schema)


@dataclass(frozen=True)
class Judge:
    """Classes of one piece, counted by their texts, to what the models say of them."""

    keys: tuple[str, ...]
    """The class columns."""
    exempt: str
    sensitive: tuple[tuple[str, str], ...]
    """The sensitive columns that are asked about: where they stand, and their names."""
    meanings: dict[str, Meaning]
    totals: dict[str, Ints]
    """By sensitive column, over all classes of the release."""
    models: tuple[tuple[int, Model], ...]
    """The models, each with its place among all."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Judge whole classes."""
        counts = self._counts(rows)
        n = counts[SIZES_ONLY].n_groups
        told: list[tuple[int, int, int, int, int | None, str | None]] = []
        for place, model in self.models if n else ():
            asked = counts[asked_under(model)]
            failing = asked.sizes[~model.holds(asked)]
            smallest = int(failing.min()) if len(failing) else None
            total, reached = int(asked.sizes.sum()), json.dumps(_plain(model.reached(asked)))
            told.append((place, n, total, len(failing), smallest, reached))
        columns = list(zip(*told, strict=True)) or [()] * len(JUDGED)
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, JUDGED, strict=True)], JUDGED)

    def _counts(self, rows: pa.Table) -> dict[str, Counts]:
        owner = _numbered([one_chunk(rows.column(key)) for key in self.keys])
        times = rows.column("n").to_numpy().astype(np.int64)
        # a class of nothing but exempt rows is none
        seen = np.zeros(int(owner.max(initial=-1)) + 1, np.bool_)
        seen[owner[rows.column(self.exempt).to_numpy() == 0]] = True
        kept = seen[owner]
        owner, times = (np.cumsum(seen) - 1)[owner[kept]], times[kept]
        sizes = np.zeros(int(seen.sum()), np.int64)
        np.add.at(sizes, owner, times)
        empty = np.zeros(0, np.int64)
        none = Counts(sizes, np.zeros(len(sizes) + 1, np.int64), empty.astype(np.int32), empty)
        found = {SIZES_ONLY: none}
        for column, name in self.sensitive:
            texts = rows.column(column).to_numpy()[kept]
            counted = _histograms(name, sizes, owner, texts, times)
            found[name] = self.meanings[name].of(counted, self.totals[name])
        return found


def _places(texts: pa.Array, known: pa.Array) -> pa.Array:
    """(n,) the number of each text; -1 for none and for a star."""
    places = pc.fill_null(pc.index_in(texts, known), -1).cast(pa.int32())
    strange = pc.and_(pc.equal(places, -1), pc.not_equal(texts, STAR))
    if pc.any(strange).as_py():
        raise InputError(
            "The published table changed while it was being verified. Run again, and let nobody "
            "write to it."
        )
    return places


def _numbered(columns: list[pa.Array]) -> Ints:
    """(n,) a number for each combination, from 0 on."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        wide = found * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy()
        found = np.unique(wide, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def _histograms(
    name: str, sizes: Ints, owner: Ints, texts: npt.NDArray[np.integer], times: Ints
) -> Counts:
    known = texts >= 0
    width = int(texts.max(initial=0)) + 1
    entries, place = np.unique(owner[known] * width + texts[known], return_inverse=True)
    counts = np.zeros(len(entries), np.int64)
    np.add.at(counts, place.reshape(-1), times[known])
    starts = np.searchsorted(entries, np.arange(len(sizes) + 1) * width).astype(np.int64)
    domain = Domain(name, Kind.SET, pa.nulls(width, pa.string()), missing=-1)
    return Counts(sizes, starts, (entries % width).astype(np.int32), counts, domain)


def _plain(figure: float) -> float:
    """A figure as Python's own number: a whole one stays whole."""
    return int(figure) if isinstance(figure, int | np.integer) else float(figure)
