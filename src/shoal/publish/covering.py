"""Which rows of another table are covered by which published classes.

For every value of the other table and every column there is a set of classes whose label covers it,
stored as bits. The classes that cover a row are the intersection of the sets of its values: a few
machine words per column, so ten thousand classes against millions of rows take seconds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints, Words
from shoal.encoding.columns import BY_VALUES, ColumnSpec, as_published
from shoal.encoding.values import canonical, countable
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.publish.label_parser import LabelCoverage, parse_labels

MOST_BYTES = 1 << 26
"""The memory that one step of the work may take."""


@dataclass(frozen=True)
class Matches:
    """The classes that cover some rows."""

    rows: slice
    starts: Ints
    """(rows + 1,) row i is covered by the classes starts[i]..starts[i+1] of the next array."""
    classes: Codes


class Covering:
    """Published classes, and the different rows of another table that they cover."""

    def __init__(
        self,
        classes: Mapping[str, pa.Array],
        rows: Mapping[str, pa.Array],
        specs: Mapping[str, ColumnSpec],
        folder: Path = Path(),
    ) -> None:
        """classes: per column, (n_classes,) the label of each class. rows: for the same columns,
        (n_rows,) raw values, of any type. specs: what the policy says about the columns."""
        names = list(classes)
        self.n_classes = len(next(iter(classes.values())))
        labels = {
            name: distinct_texts(name, _without_marks(classes[name], specs.get(name, BY_VALUES)))
            for name in names
        }
        read = {
            name: as_published(name, one_chunk(rows[name]), specs.get(name, BY_VALUES))
            for name in names
        }
        values = {name: distinct_texts(name, read[name]) for name in names}
        self._readings: dict[str, LabelCoverage] = {}
        for name in names:
            spec = specs.get(name, BY_VALUES).with_order_of(one_chunk(rows[name]))
            texts = [*labels[name].texts, None]
            self._readings[name] = parse_labels(name, texts, values[name].texts, spec, folder)
        self._of_class = {name: labels[name].codes for name in names}
        sizes = [reading.n_values for reading in self._readings.values()]
        self._codes, self.row_of, self.counts = _distinct_rows(
            [values[name].codes for name in names], sizes
        )
        self.unread: dict[str, int] = {
            name: int(reading.unread[np.unique(labels[name].codes)].sum())
            for name, reading in self._readings.items()
        }
        """Per column, the different labels that could not be read."""

    @property
    def n_rows(self) -> int:
        """Different rows; `row_of` gives each row's, `counts` how often each occurs."""
        return len(self.counts)

    def matches(self) -> Iterator[Matches]:
        """The classes that cover the different rows, some rows at a time."""
        from shoal.kernels.linkage import list_bits

        width = -(-self.n_classes // 64)
        step = max(1, MOST_BYTES // (64 * max(1, width)))
        if not self.n_classes:
            nothing = np.zeros(self.n_rows + 1, np.int64)
            yield Matches(slice(0, self.n_rows), nothing, np.zeros(0, np.int32))
            return
        # the sets of a column with few values are computed once, those of others where needed
        small = {
            name: self._bits(name, np.arange(reading.n_values), width)
            for name, reading in self._readings.items()
            if reading.n_values * width * 8 <= MOST_BYTES
        }
        for begin in range(0, self.n_rows, step):
            codes = self._codes[begin : begin + step]
            words = np.full((len(codes), width), np.iinfo(np.uint64).max, np.uint64)
            for j, name in enumerate(self._readings):
                if name in small:
                    words &= small[name][codes[:, j]]
                    continue
                needed, place = np.unique(codes[:, j], return_inverse=True)
                words &= self._bits(name, needed, width)[place]
            starts, classes = list_bits(words)
            yield Matches(slice(begin, begin + len(codes)), starts, classes)

    def _bits(self, name: str, needed: Ints, width: int) -> Words:
        """(needed, width) per value of a column the classes whose label covers it, as bits."""
        reading, of_class = self._readings[name], self._of_class[name]
        out = np.zeros((len(needed), width * 8), np.uint8)
        n_labels = len(reading.low)
        step = max(1, MOST_BYTES // (8 * max(n_labels, self.n_classes)))
        for begin in range(0, len(needed), step):
            some = needed[begin : begin + step]
            # needed codes may have gaps: only whole runs are read
            first, last = int(some[0]), int(some[-1]) + 1
            if last - first <= 4 * len(some) + 64:
                covered = reading.covers(first, last)[some - first]
            else:
                covered = np.concatenate([reading.covers(int(c), int(c) + 1) for c in some])
            packed = np.packbits(covered[:, of_class], axis=1, bitorder="little")
            out[begin : begin + len(some), : packed.shape[1]] = packed
        return out.view("<u8").astype(np.uint64, copy=False)


def _without_marks(labels: pa.Array, spec: ColumnSpec) -> pa.Array:
    """The labels with plain numbers for the ends that a column rule gives."""
    if spec.rule is None:
        return labels
    labels = one_chunk(labels)
    if pa.types.is_dictionary(labels.type):  # as large files are read
        labels = labels.dictionary_decode()
    return spec.rule.without_marks(labels)


def population_of(
    classes: Mapping[str, pa.Array],
    rows: Mapping[str, pa.Array],
    specs: Mapping[str, ColumnSpec],
    folder: Path = Path(),
    people: Ints | None = None,
) -> Ints:
    """(n_classes,) how many rows of another table each published class covers; with `people`, the
    numbers of their people, how many different ones.

    See `Covering` for the other arguments.
    """
    covering = Covering(classes, rows, specs, folder)
    if people is not None:
        return _people_of(covering, people)
    counts = np.zeros(covering.n_classes, np.int64)
    for part in covering.matches():
        weights = np.repeat(covering.counts[part.rows], np.diff(part.starts))
        # whole numbers below 2**53, so sums of floats are exact
        counts += np.bincount(part.classes, weights, covering.n_classes).astype(np.int64)
    return counts


def _people_of(covering: Covering, people: Ints) -> Ints:
    wide = int(people.max(initial=0)) + 1
    pairs = np.unique(covering.row_of * wide + people)
    starts = np.searchsorted(pairs, np.arange(covering.n_rows + 1) * wide)
    found = np.zeros(0, np.int64)
    for part in covering.matches():
        row = np.repeat(np.arange(part.rows.start, part.rows.stop), np.diff(part.starts))
        number = starts[row + 1] - starts[row]
        first = np.repeat(starts[row] - (np.cumsum(number) - number), number)
        person = pairs[first + np.arange(len(first))] % wide
        found = np.union1d(found, np.repeat(part.classes.astype(np.int64), number) * wide + person)
    return np.bincount(found // wide, minlength=covering.n_classes).astype(np.int64)


@dataclass(frozen=True)
class Texts:
    """A column as different texts and codes."""

    texts: list[str]
    codes: Ints
    """(n,) the text of each row; a missing value has the code after the last text."""
    missing: bool
    """Whether some value is missing."""


def distinct_texts(name: str, column: pa.Array | pa.ChunkedArray) -> Texts:
    """The different values of a column as text, as labels and hierarchies are matched."""
    encoded = canonical(countable(name, one_chunk(column))).dictionary_encode()
    once = text_of(encoded.dictionary).dictionary_encode()
    codes = once.indices.take(encoded.indices)
    texts: list[str] = once.dictionary.to_pylist()
    filled = pc.fill_null(codes.cast(pa.int64()), len(texts)).to_numpy(zero_copy_only=False)
    return Texts(texts, filled, bool(codes.null_count))


def _distinct_rows(columns: list[Ints], sizes: list[int]) -> tuple[Ints, Ints, Ints]:
    """The different rows, which of them each row is, and how often each occurs."""
    numbers, size = np.zeros(len(columns[0]), np.int64), 1
    for column, base in zip(columns, sizes, strict=True):
        if size * base >= 2**62:
            _, numbers = np.unique(numbers, return_inverse=True)
            size = int(numbers.max(initial=0)) + 1
        numbers, size = numbers * base + column, size * base
    _, first, row_of, counts = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    return np.stack([column[first] for column in columns], axis=1), row_of, counts
