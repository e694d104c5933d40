"""Who may be behind a row: candidates of known people in a raw table and in a release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.table import How
from shoal.publish import escape
from shoal.publish.covering import Covering, Matches, distinct_texts
from shoal.publish.reading import read
from shoal.risk.contents import contents_of
from shoal.risk.uniqueness import Packed

Ints = npt.NDArray[np.int64]
STAR = "*"


@dataclass(frozen=True)
class Values:
    """A sensitive column of the attacked table, by class; missing and starred values are left out."""

    texts: list[str]
    """The different values, the most frequent first; equally frequent ones by text."""
    totals: Ints
    """(values,) rows with each."""
    starts: Ints
    """(classes + 1,) class i has the entries starts[i]..starts[i+1] of the next two arrays."""
    values: npt.NDArray[np.int32]
    counts: Ints


@dataclass(frozen=True)
class Linked:
    """Known people, and the classes of the attacked table that may hold them."""

    sizes: Ints
    """(classes,) rows of each."""
    of_row: Ints
    """(rows,) the class of each row of the attacked table."""
    person: Ints
    """(people,) which of the different known rows each person is."""
    matches: "Iterator[Matches]"
    """The classes over the different known rows."""
    n_known: int
    """Different known rows."""
    unread: dict[str, int]
    """Per column, labels that could not be read."""


def link_release(
    release: pa.Table, known: pa.Table, names: Sequence[str], how: Mapping[str, How], folder: Path
) -> Linked:
    """By containment: a class may hold a person whose values its labels cover."""
    heads, of_row, sizes = _classes(release, names)
    labels = {name: release.column(name).take(pa.array(heads)) for name in names}
    found = Covering(labels, {name: known.column(name) for name in names}, how, folder)
    return Linked(sizes, of_row, found.row_of, found.matches(), found.n_rows, found.unread)


def link_raw(
    raw: pa.Table, known: pa.Table, names: Sequence[str], how: Mapping[str, How]
) -> Linked:
    """By equality: of numbers and dates in ordered columns, elsewhere of texts; missing values are
    equal to each other."""
    together = [_alike(name, raw.column(name), known.column(name), how.get(name)) for name in names]
    packed = Packed.nothing(raw.num_rows + known.num_rows)
    for codes in together:
        packed = packed.beside([_Codes(codes, int(codes.max(initial=0)) + 1)])
    ours, theirs = np.split(packed.renumbered().numbers, [raw.num_rows])
    different, of_row, sizes = np.unique(ours, return_inverse=True, return_counts=True)
    people, person = np.unique(theirs, return_inverse=True)
    place = np.minimum(np.searchsorted(different, people), max(len(different) - 1, 0))
    there = different[place] == people if len(different) else np.zeros(len(people), np.bool_)
    starts = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
    part = Matches(slice(0, len(people)), starts, place[there].astype(np.int32))
    return Linked(sizes.astype(np.int64), of_row, person, iter([part]), len(people), {})


@dataclass(frozen=True)
class _Codes:
    codes: Ints
    size: int


def _alike(name: str, raw: pa.ChunkedArray, known: pa.ChunkedArray, how: How | None) -> Ints:
    """Codes of two columns, one after the other: equal where the values are the same one."""
    ours, theirs = distinct_texts(name, raw), distinct_texts(name, known)
    place = {text: i for i, text in enumerate(ours.texts)}
    same = [place.get(text, -1) for text in theirs.texts]
    # a raw value is published as a label for itself alone; reading it tells which values it equals
    flat = How(how.kind, how.order) if how and how.hierarchy is None else How("unordered")
    labels = escape.alone(pa.array(ours.texts, pa.string())).to_pylist()
    found = read(name, labels, theirs.texts, flat)
    spans = found.high >= found.low
    if spans.any():
        first = {int(low): i for i, low in reversed(list(enumerate(found.low))) if spans[i]}
        merged = [first[int(found.low[i])] if spans[i] else i for i in range(len(labels))]
        same = [
            first.get(int(axis), one) if axis >= 0 else one
            for axis, one in zip(found.axis[:-1], same, strict=True)
        ]
    else:
        merged = list(range(len(labels)))
    missing, n = len(labels), len(labels) + 1
    fresh = [one if one >= 0 else n + i for i, one in enumerate(same)]
    left = np.array([*merged, missing], np.int64)[ours.codes]
    right = np.array([*fresh, missing], np.int64)[theirs.codes]
    return np.concatenate([left, right])


def _classes(table: pa.Table, names: Sequence[str]) -> tuple[npt.NDArray[np.intp], Ints, Ints]:
    """A row of each class, each row's class, and the classes' rows."""
    columns = [contents_of(name, table.column(name)) for name in names]
    numbers = Packed.nothing(table.num_rows).beside(columns).numbers
    _, heads, of_row, sizes = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    return heads, of_row, sizes.astype(np.int64)


def values_of(name: str, column: pa.ChunkedArray, of_row: Ints, n_classes: int) -> Values:
    """How often each sensitive value occurs in each class."""
    found = distinct_texts(name, column)
    rows = np.bincount(found.codes, minlength=len(found.texts) + 1)
    ranked = sorted(
        (i for i, text in enumerate(found.texts) if text != STAR),
        key=lambda i: (-rows[i], found.texts[i]),
    )
    rank = np.full(len(found.texts) + 1, -1, np.int64)
    rank[ranked] = np.arange(len(ranked))
    codes = rank[found.codes]
    width = max(1, len(ranked))
    entries, counts = np.unique((of_row * width + codes)[codes >= 0], return_counts=True)
    starts = np.searchsorted(entries, np.arange(n_classes + 1) * width).astype(np.int64)
    return Values(
        [found.texts[i] for i in ranked],
        rows[ranked].astype(np.int64),
        starts,
        (entries % width).astype(np.int32),
        counts.astype(np.int64),
    )
