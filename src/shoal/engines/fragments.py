"""Fragments of a table larger than memory: grouped and labelled where their rows are.

The code is the same as in memory. Nothing may depend on which fragment a row is in: columns mean what
they mean in the whole table, groups are compared with all its rows, and the cuts that led here count.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.cells import Cells, hash_rows, pack
from shoal.encoding.counts import Reference
from shoal.encoding.domain import Domain
from shoal.encoding.grouping import SUPPRESSED, Grouping, Spans, spans_of
from shoal.encoding.people import People
from shoal.engines.queries import PERSON, WEIGHT
from shoal.io.arrow import one_chunk
from shoal.kernels.sorting import radix_sort, run_starts, sort_runs
from shoal.methods.base import Method
from shoal.methods.blocks import group_blocks, group_rows, refine_rows
from shoal.methods.partition import Totals, cut_down, whole_table
from shoal.metrics.base import ReleaseView
from shoal.models.requirement import Requirement
from shoal.publish.labels import labels_of

SIGN = np.uint64(1 << 63)
"""Unsigned numbers are stored as signed ones of the same order."""


class MeasureFragment(Protocol):
    """Measures a fragment's groups; it can be sent to another process."""

    def __call__(self, parts: ReleaseView) -> str:
        """The figures of the fragment, as text."""


TARGET = "t"
"""Where the encoded table has the class of each row."""
NO_GROUP = -1
"""The group of the row that carries the sums of a fragment."""
WITHHELD = -2
"""The group of rows that are not published."""


@dataclass(frozen=True)
class GroupFragment:
    """Puts the rows of a fragment into groups; it can be sent to another process.

    A partition method goes on cutting. Any other runs inside blocks: the cuts that led to the fragment
    are those by which the method gets its blocks, so what is left of them can be done with the rows of
    the fragment alone, and a block's seed comes from the block.
    """

    method: Method
    requirement: Requirement
    n_rows: int
    """Of the whole table."""
    seed: int = 0
    is_table: bool = False
    """Whether the fragment is the whole table: then it is grouped as in memory, published classes and
    all."""

    passes: int = 0
    """How often the rows of the groups are looked at afterwards, to refine them."""

    def __call__(self, cells: Cells, depth: int, totals: Totals) -> Grouping:
        """The groups of a fragment `depth` cuts down; `totals` are the whole table's."""
        rule = self.method.partition_rule()
        if rule is None or self.is_table:
            asked = self.method, cells, self.requirement, self.seed, lambda _: None
            found = (
                group_rows(*asked) if self.is_table else group_blocks(*asked, n_rows=self.n_rows)
            )
            if self.passes:
                found = refine_rows(
                    self.method,
                    cells,
                    self.requirement,
                    found,
                    self.passes,
                    self.seed,
                    lambda _: None,
                    n_rows=self.n_rows,
                )
            (grouping,) = found
            return grouping
        return cut_down(
            cells,
            self.requirement,
            rule,
            whole_table(cells, sort_all=rule.compares_losses, depth=depth),
            lambda _: None,
            n_rows=self.n_rows,
            totals=totals,
        )


@dataclass(frozen=True)
class Finish:
    """From the rows of one fragment to published rows: q0, q1, ... (labels), p0, p1, ... (the other
    columns as they are), v0, v1, ... (the values behind the labels) and g, a number of the group that
    no group of another fragment has. Rows that are withheld have no labels, and g = WITHHELD."""

    domains: tuple[Domain, ...]
    sensitive: tuple[str, ...]
    sensitive_domains: dict[str, Domain]
    totals: dict[str, Reference]
    depths: Ints
    """Per fragment, how many cuts led to it."""
    payload: tuple[str, ...]
    """Which columns of the encoded table are published as they are."""
    group: GroupFragment
    more: tuple[str, ...] = ()
    """What the measuring needs of the encoded table beside codes."""
    behind: tuple[str, ...] = ()
    """Which columns of the encoded table are the values behind the labels."""
    measure: MeasureFragment | None = None
    """Measures the fragment; then one more row has the result as text in `sums`, with g = NO_GROUP."""
    has_people: bool = False
    """Whether people are counted; then they stay beside their published rows, as `u`."""
    has_weights: bool = False
    """Whether there are sampling weights; then they stay beside their published rows."""
    ids: tuple[str, ...] = ()
    """Hashes of identifiers that stay beside the published rows."""
    large: Mapping[int, tuple[pa.Array, ...]] = field(default_factory=dict)
    """Fragments that are one large group each, with its labels: their rows come in parts, and they are
    measured already."""
    pieces: int = 0
    """Where published classes are looked at again: into how many pieces, as `b`. Sensitive codes then
    stay beside the rows too."""

    @property
    def divisible(self) -> Collection[int]:
        """The fragments whose rows may come in parts."""
        return self.large.keys()

    @property
    def columns(self) -> list[str]:
        """What it needs of the encoded table, beside `node`."""
        quasi = [f"c{j}" for j in range(len(self.domains))]
        own = [*self.payload, *self.behind]
        return [*quasi, *self._secret, *self.more, *self._owners, "key", "h", *own]

    @property
    def _secret(self) -> list[str]:
        return [f"s{i}" for i in range(len(self.sensitive))]

    @property
    def _owners(self) -> list[str]:
        weights = [WEIGHT] if self.has_weights else []
        return [PERSON] if self.has_people else [*weights, *self.ids]

    def schema(self, encoded: pa.Schema) -> pa.Schema:
        """What it gives, where the payload has the types of `encoded`."""
        quasi = [pa.field(f"q{j}", pa.string()) for j in range(len(self.domains))]
        shown = [encoded.field(p) for p in (*self.payload, *self.behind)]
        owners = [(name, pa.int64()) for name in self._owners]
        judged = [(name, pa.int32()) for name in (["b", *self._secret] if self.pieces else [])]
        last = [("g", pa.int64()), ("sums", pa.string())]
        return pa.schema([*quasi, *shown, *owners, *judged, *last])

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Group and label the rows of one fragment."""
        number = rows["node"][0].as_py()
        if number in self.large:
            return self._rows_of_group(number, rows)
        cells = self._cells(rows)
        grouping = self.group(cells, int(self.depths[number]), self.totals)
        kept = np.flatnonzero(grouping.group >= 0)
        left = np.flatnonzero(grouping.group < 0)
        group = grouping.group[kept]
        found: dict[str, pa.Array | pa.ChunkedArray] = {}
        last = 0 if self.measure is None else 1
        """The row of sums."""
        spans = spans_of(cells, grouping)
        for j, column in enumerate(grouping.columns):
            labels = labels_of(self.domains[column], spans, j)
            places = labels.of_group[group].astype(np.int32)
            indices = pa.concat_arrays([pa.array(places), pa.nulls(len(left) + last, pa.int32())])
            found[f"q{column}"] = pa.DictionaryArray.from_arrays(indices, labels.texts)
        as_they_are = [*self.payload, *self.behind, *self._owners]
        as_they_are += self._secret if self.pieces else []
        order = np.concatenate([cells.rows[kept], cells.rows[left], np.zeros(last, np.int64)])
        is_none = np.arange(len(order)) >= len(order) - last
        taken = rows.select(as_they_are).combine_chunks().take(pa.array(order, mask=is_none))
        found |= dict(zip(as_they_are, taken.columns, strict=True))
        numbers = (number << 32) + group.astype(np.int64)
        if self.pieces:
            shown = [found[f"q{j}"] for j in range(len(self.domains))]
            piece = hash_rows(len(order), (), shown, 0) % np.uint64(self.pieces)
            found["b"] = pa.array(piece.astype(np.int32))
        ends = np.full(len(left), WITHHELD), np.full(last, NO_GROUP)
        found["g"] = pa.array(np.concatenate([numbers, *ends]))
        found["sums"] = pa.nulls(len(order), pa.string())
        if self.measure is not None:
            sums = self.measure(self._parts(cells, grouping, spans, rows))
            found["sums"] = pa.concat_arrays([found["sums"][1:], pa.array([sums], pa.string())])
        return pa.table(found)

    def _rows_of_group(self, number: int, rows: pa.Table) -> pa.Table:
        """Label some rows of a large group."""
        n = len(rows)
        found: dict[str, pa.Array | pa.ChunkedArray] = {
            f"q{j}": pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), label)
            for j, label in enumerate(self.large[number])
        }
        as_they_are = [*self.payload, *self.behind, *self._owners]
        as_they_are += self._secret if self.pieces else []
        found |= {name: one_chunk(rows[name]) for name in as_they_are}
        if self.pieces:
            shown = [label.dictionary_encode() for label in self.large[number]]
            piece = hash_rows(1, (), shown, 0) % np.uint64(self.pieces)
            found["b"] = pa.array(np.repeat(piece.astype(np.int32), n))
        found["g"] = pa.array(np.full(n, number << 32))
        found["sums"] = pa.nulls(n, pa.string())
        return pa.table(found)

    def _parts(self, cells: Cells, grouping: Grouping, spans: Spans, rows: pa.Table) -> ReleaseView:
        target = (
            _numbers(rows, TARGET).astype(np.int32)[cells.rows] if TARGET in self.more else None
        )
        hidden = grouping.group == SUPPRESSED
        return ReleaseView(cells, (grouping,), (spans,), 0, hidden, target)

    def _cells(self, rows: pa.Table) -> Cells:
        quasi = [rows[f"c{j}"].to_numpy().astype(np.int32) for j in range(len(self.domains))]
        keys = pack(quasi, [domain.size for domain in self.domains])
        hashes = _numbers(rows, "h").view(np.uint64) ^ SIGN
        order = np.arange(len(rows), dtype=np.int64)
        for word, bits in reversed(keys):
            order, first = radix_sort(word, bits, order)
        begins = run_starts([first, *(word[order] for word, _ in keys[1:])])
        starts = np.append(np.flatnonzero(begins), len(order)).astype(np.int64)
        sort_runs(order, starts, hashes)
        sort_runs(order, starts, _numbers(rows, "key").view(np.uint64) ^ SIGN)
        heads = order[starts[:-1]]
        sensitive = {
            name: _numbers(rows, f"s{i}").astype(np.int32)[order]
            for i, name in enumerate(self.sensitive)
        }
        return Cells(
            domains=self.domains,
            codes=np.stack([column[heads] for column in quasi], axis=1),
            starts=starts,
            rows=order,
            hashes=hashes[order],
            sensitive=sensitive,
            sensitive_domains=self.sensitive_domains,
            whole=self.totals,
            people=_people(_numbers(rows, PERSON)[order]) if self.has_people else None,
            weights=_numbers(rows, WEIGHT)[order] if self.has_weights else None,
        )


def _people(hashes: Ints) -> People:
    """The people of rows, by the hashes of their ids."""
    found, number = np.unique(hashes, return_inverse=True)
    return People(number.reshape(-1).astype(np.int32), len(found))


def _numbers(rows: pa.Table, name: str) -> Ints:
    return rows[name].to_numpy().astype(np.int64, copy=False)
