"""Full-domain methods on tables larger than memory: search on distinct cells, label rows in place.

Such a method treats equal rows alike, so it needs only the distinct combinations of values with their
counts. It finds a label per cell and column, and every row looks up the labels of its cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import SUPPRESSED, Grouping, Spans, spans_of
from shoal.engines.column_types import storage_type
from shoal.engines.encode import EncodedTable
from shoal.engines.queries import ENCODED, count_combinations, squared_counts
from shoal.engines.sessions import Session
from shoal.errors import InputError
from shoal.evidence.collect import BARS, LEVELS, Counting, sums_of
from shoal.evidence.generality import sensitive_rows_by_level
from shoal.hierarchy.text import text_of
from shoal.metrics.base import ReleaseView, Sums
from shoal.metrics.recognition_rate import RecognitionRate
from shoal.publish.labels import ANY, labels_of, stars

MAX_CELLS = 5_000_000
"""Distinct combinations of quasi-identifiers and sensitive values that this process can hold."""
MAX_ROWS = 1_000_000_000
"""Rows of a table: this process keeps the group of each."""
AS_LABELLED, BLANK, AWAY, BEHIND = 0, 1, 2, 3
"""What a row of the published table is: see `PublishRows`."""
WITHHELD, PUBLISHED, STARRED = 0, 1, 2
"""What becomes of a cell's rows; of starred ones, all cells but the quasi ones read `*`."""
ALTERNATIVES = (
    "Or use least-loss-partition, flexible-partition or mondrian, which have no such limit."
)


def collect_cells(
    session: Session,
    encoded: EncodedTable,
    sensitive: Sequence[str],
    max_cells: int = MAX_CELLS,
    max_rows: int = MAX_ROWS,
) -> Cells:
    """The cells of the encoded table, each with as many rows as it has there.

    sensitive: the columns whose values are needed too.
    """
    if encoded.n_rows > max_rows:
        raise InputError(
            f"The table has {encoded.n_rows:,} rows, but a method that works on distinct rows keeps a "
            f"few numbers for each row in this process and takes at most {max_rows:,}. {ALTERNATIVES}"
        )
    d = len(encoded.domains)
    names = {name: f"s{encoded.sensitive.index(name)}" for name in sensitive}
    columns = [
        *(f"c{j}" for j in range(d)),
        *names.values(),
        *(["t"] if encoded.has_target else []),
    ]
    answer = session.query(count_combinations(ENCODED, columns, max_cells + 1, encoded.has_weights))
    if answer.num_rows > max_cells:
        raise InputError(
            f"The table has more than {max_cells:,} distinct combinations of quasi-identifiers"
            f"{' and sensitive values' if names else ''}, too many for a method that "
            "needs them all in this process. Make columns coarser first, or list fewer quasi columns. "
            f"{ALTERNATIVES}"
        )
    codes = {name: answer.column(name).to_numpy().astype(np.int32) for name in columns}
    order = np.lexsort([codes[name] for name in reversed(columns)])
    counts = answer.column("n").to_numpy().astype(np.int64)[order]
    combinations = np.stack([codes[f"c{j}"][order] for j in range(d)], axis=1)
    is_new = np.ones(len(combinations), np.bool_)
    is_new[1:] = (combinations[1:] != combinations[:-1]).any(axis=1)
    ends = np.cumsum(counts)

    def by_row(name: str) -> Codes:
        return np.repeat(codes[name][order], counts)

    weights = None
    if encoded.has_weights:
        # rows of a combination are treated alike, so the first may carry the weights of all
        weights = np.zeros(int(ends[-1]), np.int64)
        weights[ends - counts] = answer.column("w").cast(pa.int64()).to_numpy()[order]
    return Cells(
        domains=encoded.domains,
        codes=np.ascontiguousarray(combinations[is_new]),
        starts=np.append((ends - counts)[is_new], ends[-1]),
        # which rows these are is never needed: the rows look up their labels where they are
        rows=np.broadcast_to(np.int64(0), int(ends[-1])),
        hashes=np.broadcast_to(np.uint64(0), int(ends[-1])),
        sensitive={name: by_row(column) for name, column in names.items()},
        sensitive_domains={name: encoded.sensitive_domains[name] for name in names},
        target=by_row("t") if encoded.has_target else None,
        weights=weights,
    )


@dataclass(frozen=True)
class CellLabels:
    """What is published of each cell."""

    index: "CellIndex"
    texts: tuple[pa.Array, ...]
    """Per quasi-identifier its distinct labels."""
    label: Codes
    """(cells, d) the position of each cell's label among them."""
    outcome: npt.NDArray[np.int8]
    """(cells,) WITHHELD, PUBLISHED or STARRED."""
    sizes: Ints
    """(classes,) rows of every combination of labels that is published."""
    group: Codes
    """(cells,) the group of each in the first set of columns."""
    suppressed: Bools
    """(cells,) whether its rows are in no group at all."""
    lost: Bools
    """(cells,) whether nothing of its rows is published: they are in no group, or every cell of theirs
    reads `*`."""

    @property
    def has_stars(self) -> bool:
        """Whether some row's other cells are starred, so that their columns are text."""
        return bool((self.outcome == STARRED).any())


def label_cells(
    cells: Cells, groupings: Sequence[Grouping], starred: bool
) -> tuple[CellLabels, tuple[Spans, ...]]:
    """The labels of every cell.

    starred: whether rows that are suppressed in all columns are published as stars.
    """
    n, d = cells.codes.shape
    heads = cells.starts[:-1]
    label = np.zeros((n, d), np.int32)
    texts: list[pa.Array] = [pa.array([], pa.string())] * d
    suppressed, small = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    for grouping, span in zip(groupings, spans, strict=True):
        group = grouping.group[heads]
        in_no_group = group == SUPPRESSED
        suppressed &= in_no_group
        if (grouping.group == SUPPRESSED).sum() < grouping.least:
            small |= in_no_group
        for j, column in enumerate(grouping.columns):
            labels = labels_of(cells.domains[column], span, j)
            # one label more, for suppressed rows
            texts[column] = pa.concat_arrays([labels.texts, pa.array([ANY], pa.string())])
            label[:, column] = np.append(labels.of_group, len(labels.texts))[group]
    outcome = np.where(small, STARRED, PUBLISHED)
    outcome[suppressed] = STARRED if starred else WITHHELD
    sizes = _class_sizes(texts, label[~suppressed], cells.counts[~suppressed])
    group = groupings[0].group[heads].astype(np.int32)
    index = cell_index(cells)
    top = [stars(texts[column])[label[:, column]] for column in range(d)]
    lost = suppressed | (small & np.all(top, axis=0))
    found = CellLabels(
        index, tuple(texts), label, outcome.astype(np.int8), sizes, group, suppressed, lost
    )
    return found, spans


def _class_sizes(texts: list[pa.Array], label: Codes, rows: Ints) -> Ints:
    """(classes,) rows of each combination of labels; labels with the same text are one."""
    if not len(label):
        return np.zeros(0, np.int64)
    same = [one.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False) for one in texts]
    by_text = np.stack([same[j][label[:, j]] for j in range(len(texts))], axis=1)
    _, of = np.unique(by_text, axis=0, return_inverse=True)
    return np.bincount(of.reshape(-1), rows).astype(np.int64)


@dataclass(frozen=True)
class CellIndex:
    """Finds the cell of a row from its codes, column by column."""

    steps: tuple[tuple[int, Ints], ...]
    """Per column: how many codes it has, and the ascending numbers (cells so far x codes + code)."""

    def __call__(self, codes: Sequence[Codes]) -> Ints:
        """(n,) the place of each row's cell among all, in canonical order."""
        at = np.zeros(len(codes[0]), np.int64)
        for (size, numbers), column in zip(self.steps, codes, strict=True):
            at = np.searchsorted(numbers, at * size + column)
        return at


def cell_index(cells: Cells) -> CellIndex:
    """What finds these cells again."""
    steps, at = [], np.zeros(cells.n_cells, np.int64)
    for j, domain in enumerate(cells.domains):
        wanted = at * domain.size + cells.codes[:, j]
        numbers = np.unique(wanted)
        at = np.searchsorted(numbers, wanted)
        steps.append((domain.size, numbers))
    return CellIndex(tuple(steps))


@dataclass(frozen=True)
class PublishRows:
    """Encoded rows to published ones: labels q0.., payload p0..; text where stars may stand.

    `x` is AS_LABELLED, or BLANK for rows whose payload is published as stars, or AWAY for rows that
    are withheld, or BEHIND for the blank rows as they were; v0.. are the values behind the labels.
    """

    labels: CellLabels
    payload: tuple[tuple[str, pa.DataType], ...]
    """The columns beside the labels, and their types in the file."""
    codes: tuple[str, ...] = ()
    """Codes that are kept, -1 in starred rows; then `g` is the row's group."""
    behind: tuple[tuple[str, pa.DataType], ...] = ()
    """The values behind the labels, and their types in the file."""
    ids: tuple[str, ...] = ()
    """Hashes of identifiers that are kept, -2 in rows that are suppressed."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that are published and those behind them, in any order."""
        labels = self.labels
        d = len(labels.texts)
        cell = labels.index(
            [batch.column(f"c{j}").to_numpy(zero_copy_only=False) for j in range(d)]
        )
        outcome = labels.outcome[cell]
        twice = np.flatnonzero(outcome == STARRED)
        states = np.zeros(3, np.int32)
        states[[WITHHELD, PUBLISHED, STARRED]] = AWAY, AS_LABELLED, BLANK
        state = np.concatenate([states[outcome], np.full(len(twice), BEHIND, np.int32)])
        every = np.concatenate([np.arange(len(cell)), twice])
        rows, cell = batch.take(pa.array(every)), cell[every]
        is_starred, is_none = state == BLANK, state > BLANK
        hidden = pa.array(is_none)
        columns: dict[str, pa.Array] = {
            f"q{j}": pc.if_else(
                hidden, None, texts.take(pa.array(labels.label[cell, j])).cast(pa.string())
            )
            for j, texts in enumerate(labels.texts)
        }
        for name, kind in self.payload:
            column = rows.column(name)
            if labels.has_stars:
                text = text_of(column.cast(kind)).cast(pa.string())
                column = pc.if_else(pa.array(is_starred), ANY, text)
            columns[name] = column
        for name in self.codes:
            number = rows.column(name).to_numpy(zero_copy_only=False)
            unseen = is_starred | is_none
            columns[name] = pa.array(np.where(unseen, -1, number).astype(np.int32))
        if self.codes:
            group = np.where(is_none, -1, labels.group[cell])
            columns["g"] = pa.array(group.astype(np.int32))
        for name, _ in self.behind:
            columns[name] = rows.column(name)
        for name in self.ids:
            number = rows.column(name).to_numpy(zero_copy_only=False)
            columns[name] = pa.array(np.where(labels.suppressed[cell], -2, number))
        columns["x"] = pa.array(state)
        return pa.RecordBatch.from_pydict(columns, schema=self.schema)

    @property
    def schema(self) -> pa.Schema:
        """The published table's types."""
        labels = [(f"q{j}", pa.string()) for j in range(len(self.labels.texts))]
        stars = self.labels.has_stars
        others = [
            (name, pa.string() if stars else storage_type(kind)) for name, kind in self.payload
        ]
        codes = [(name, pa.int32()) for name in (*self.codes, *(["g"] if self.codes else []))]
        behind = [(name, storage_type(kind)) for name, kind in self.behind]
        ids = [(name, pa.int64()) for name in self.ids]
        return pa.schema([*labels, *others, *codes, *behind, *ids, ("x", pa.int32())])


@dataclass(frozen=True)
class SensitiveColumns:
    """The sensitive columns that no model needs: their codes stay with the published rows."""

    session: Session
    table: str
    """The published rows, with the codes of these columns and the group g of each row."""
    encoded: EncodedTable
    cells: Cells
    reported: bool
    """Whether they are counted for a report; else they are not among the published rows."""

    @cached_property
    def names(self) -> dict[str, str]:
        """The column of codes by name."""
        every = enumerate(self.encoded.sensitive_columns if self.reported else ())
        return {name: f"s{i}" for i, name in every if name not in self.cells.sensitive}

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns of codes."""
        return tuple(self.names.values())

    def evidence_sums(self, counting: Counting, parts: ReleaseView) -> Sums:
        """What is counted of these columns for a report."""
        sums: Sums = {}
        for name, code in self.names.items():
            value, n = self._numbers(count_combinations(self.table, [code]), code, "n")
            rows = np.zeros(self.encoded.sensitive_domains[name].size, np.int64)
            rows[value[value >= 0]] = n[value >= 0]
            sums |= sums_of(BARS, name, counting.sensitive[name].rows(rows))
            sums |= sums_of(LEVELS, name, sensitive_rows_by_level(parts, name))
        return sums

    def recognition_rate(self, metric: RecognitionRate, parts: ReleaseView) -> float | None:
        """The recognition rate over all sensitive columns; None where these were not counted."""
        if not self.reported and set(self.encoded.sensitive_columns) - set(self.cells.sensitive):
            return None
        sums = metric.sums(parts)
        if sums:
            (spans,) = parts.spans
            for name, code in self.names.items():
                missing = self.encoded.sensitive_domains[name].missing
                query = squared_counts(self.table, code, missing)
                group, squares = self._numbers(query, "g", "squares")
                sums[f"of:{name}"] = float((squares / spans.sizes[group].astype(float) ** 2).sum())
        return metric.figure(sums, replace(parts.totals, sensitive=self.encoded.sensitive_columns))

    def _numbers(self, sql: str, *columns: str) -> tuple[Ints, ...]:
        answer = self.session.query(sql)
        return tuple(answer.column(name).cast(pa.int64()).to_numpy() for name in columns)
