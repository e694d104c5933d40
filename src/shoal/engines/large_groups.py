"""Groups larger than a fragment: labelled from the counts of their rows, which then pass in parts.

Rows that nothing distinguishes, or that the constraints do not allow to be separated, are one group,
however many they are. Its label and its figures follow from the different rows and how many there are
of each; these are counted where the rows are. With its label known, the rows of a group need not be in
memory together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.counts import Reference
from shoal.encoding.domain import Domain
from shoal.encoding.grouping import Grouping, Spans, spans_of
from shoal.engines.fragments import TARGET, MeasureFragment
from shoal.engines.partition_tree import Locator, PartitionTree
from shoal.engines.queries import large_group_sizes, large_groups
from shoal.engines.sessions import Session
from shoal.metrics.base import AlikeRows, ReleaseView
from shoal.publish.labels import labels_of

MOST_KINDS = 1_000_000
"""Different rows of all large groups that are counted here; a group with more is handled as a whole."""
KINDS = "kinds"
"""The table of the counts of batches."""


@dataclass(frozen=True)
class LargeGroups:
    """What is known of the large groups of a table."""

    labels: Mapping[int, tuple[pa.Array, ...]]
    """Per fragment that is such a group, its label in each quasi-identifier, as an array of one text."""
    sums: tuple[str, ...]
    """What was measured of each, as text."""


NONE = LargeGroups({}, ())


@dataclass(frozen=True)
class CountKinds:
    """Counts the rows of a batch that are in large groups, by all that is measured of them."""

    locate: Locator
    columns: tuple[str, ...]

    reads_codes: ClassVar[bool] = True

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(name, pa.int64()) for name in (*self.columns, "n")])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Each different row once, and n: how many there are."""
        rows = pa.Table.from_batches([self.locate(batch)]).select(list(self.columns))
        found = rows.group_by(list(self.columns)).aggregate([([], "count_all")])
        arrays = [found.column(name).combine_chunks() for name in self.columns]
        arrays.append(found.column("count_all").combine_chunks())
        typed = [array.cast(pa.int64()) for array in arrays]
        return pa.RecordBatch.from_arrays(typed, schema=self.schema)


@dataclass(frozen=True)
class RepeatedCodes(Mapping[str, Codes]):
    """Codes by row, made of those by kind when they are asked for."""

    kinds: Mapping[str, Codes]
    times: Ints

    def __getitem__(self, name: str) -> Codes:
        """(n_rows,) the codes of a column."""
        return np.repeat(self.kinds[name], self.times)

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)


def label_large_groups(
    session: Session,
    tree: PartitionTree,
    domains: tuple[Domain, ...],
    sensitive: Mapping[str, Domain],
    totals: Mapping[str, Reference],
    has_target: bool,
    measure: MeasureFragment,
    most: int = MOST_KINDS,
) -> LargeGroups:
    """The labels and figures of the fragments that are one large group each.

    sensitive: the sensitive columns, in the order in which they are s0, s1, ...
    """
    wanted = [number for number, one in enumerate(tree.fragments) if one.is_group]
    if not wanted:
        return NONE
    codes = [f"c{j}" for j in range(len(domains))]
    secret = [f"s{i}" for i in range(len(sensitive))]
    columns = [*codes, *secret, *([TARGET] if has_target else [])]
    needed = [*columns, "key", "h"]  # what finds the rows of a group compares these too
    rows, locate = tree.rows(needed, pa.schema([]), by_sql=False, only=wanted)
    assert locate is not None
    count = CountKinds(locate, ("node", *columns))
    session.map(KINDS, rows, count, count.schema)
    sizes = session.query(large_group_sizes(KINDS, columns)).to_pylist()
    kept, room = [], most
    for one in sorted(sizes, key=lambda each: (each["kinds"], each["node"])):
        room -= one["kinds"]
        if room < 0:
            break
        kept.append(one["node"])
    labels, sums = {}, []
    if kept:
        answer = session.query(large_groups(KINDS, columns, kept)).sort_by("node")
        node = answer.column("node").to_numpy()
        for number in kept:
            begin, end = np.searchsorted(node, (number, number + 1)).tolist()
            group = _LargeGroup(domains, dict(sensitive), dict(totals), columns)
            found, parts = group.of(answer.slice(begin, end - begin))
            labels[number] = found
            sums.append(measure(parts))
    session.drop(KINDS)
    return LargeGroups(labels, tuple(sums))


@dataclass(frozen=True)
class _LargeGroup:
    domains: tuple[Domain, ...]
    sensitive: dict[str, Domain]
    totals: dict[str, Reference]
    columns: Sequence[str]

    def of(self, counted: pa.Table) -> tuple[tuple[pa.Array, ...], ReleaseView]:
        """The labels of a group, and what is measured; counted: its different rows."""
        ordered = counted.sort_by([(name, "ascending") for name in self.columns])
        by_name = {name: ordered.column(name).to_numpy().astype(np.int32) for name in self.columns}
        times = ordered.column("n").to_numpy().astype(np.int64)
        codes = np.stack([by_name[f"c{j}"] for j in range(len(self.domains))], axis=1)
        is_new = np.ones(len(codes), np.bool_)
        is_new[1:] = (codes[1:] != codes[:-1]).any(axis=1)
        cells, n = np.ascontiguousarray(codes[is_new]), int(times.sum())
        # all cells once are as wide as all rows
        columns = tuple(range(len(self.domains)))
        few = self._cells(cells, np.arange(len(cells) + 1), {})
        spans = spans_of(few, Grouping(np.zeros(len(cells), np.int32), 1, columns))
        secret = {name: by_name[f"s{i}"] for i, name in enumerate(self.sensitive)}
        alike = AlikeRows(times, secret, by_name.get(TARGET))
        starts = np.append((np.cumsum(times) - times)[is_new], n)
        every = self._cells(cells, starts, RepeatedCodes(secret, times))
        # arrays by row that take no memory: all are in the same group, and none is suppressed
        grouping = Grouping(np.broadcast_to(np.int32(0), n), 1, columns)
        none = np.broadcast_to(np.False_, n)
        target = None if alike.target is None else np.repeat(alike.target, times)
        whole = _sized(spans, n)
        parts = ReleaseView(every, (grouping,), (whole,), 0, none, target, alike=alike)
        found = (labels_of(domain, spans, j) for j, domain in enumerate(self.domains))
        return tuple(one.texts.take(pa.array(one.of_group)) for one in found), parts

    def _cells(self, codes: Codes, starts: Ints, secret: Mapping[str, Codes]) -> Cells:
        n = int(starts[-1])
        return Cells(
            domains=self.domains,
            codes=codes,
            starts=starts.astype(np.int64),
            rows=np.broadcast_to(np.int64(0), n),
            hashes=np.broadcast_to(np.uint64(0), n),
            sensitive=secret,
            sensitive_domains=self.sensitive,
            whole=self.totals,
        )


def _sized(spans: Spans, n: int) -> Spans:
    """The spans of one group, which has n rows."""
    return replace(spans, sizes=np.array([n], np.int64))
