"""Methods that treat equal rows alike: count the cells where the rows are, search here.

Only the different combinations of values come here, with their counts. What the method finds is a
label per cell and column; every row then looks up those of its own cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import SUPPRESSED, Grouping, Spans, spans_of
from shoal.engines.base import Session
from shoal.engines.encode import Coded, stored_kind
from shoal.engines.queries import cells as cells_question
from shoal.engines.queries import counted, squares
from shoal.errors import InputError
from shoal.evidence.collect import BARS, LEVELS, Counting, sums_of
from shoal.evidence.generality import sensitive_rows_by_level
from shoal.hierarchy.text import text_of
from shoal.metrics.base import ReleaseView, Sums
from shoal.metrics.recognition_rate import RecognitionRate
from shoal.publish.labels import ANY, labels_of

MOST_CELLS = 5_000_000
"""Different combinations of quasi-identifiers and sensitive values that may be brought here."""
MOST_ROWS = 1_000_000_000
"""Rows of a table: the group of each is a number that is held here."""
ELSE = "Or use least-loss-partition, flexible-partition or mondrian, which have no such limit."


def bring_cells(
    session: Session,
    coded: Coded,
    sensitive: Sequence[str],
    most: int = MOST_CELLS,
    most_rows: int = MOST_ROWS,
) -> Cells:
    """The cells of the coded table, each with as many rows as it has there.

    sensitive: the columns whose values are needed too.
    """
    if coded.n_rows > most_rows:
        raise InputError(
            f"The table has {coded.n_rows:,} rows, but a method that decides in one place holds a few "
            f"numbers for each of them there, so it takes at most {most_rows:,}. {ELSE}"
        )
    d = len(coded.domains)
    names = {name: f"s{coded.sensitive.index(name)}" for name in sensitive}
    codes = [*(f"c{j}" for j in range(d)), *names.values()]
    codes += ["t"] if coded.has_target else []
    found = session.ask(cells_question("coded", codes, most + 1))
    if found.num_rows > most:
        raise InputError(
            f"The table has more than {most:,} different combinations of quasi-identifiers"
            f"{' and sensitive values' if names else ''}, too many for a method that looks at all of "
            f"them in one place. Make columns coarser first, or list fewer quasi columns. {ELSE}"
        )
    by = {name: found.column(name).to_numpy().astype(np.int32) for name in codes}
    order = np.lexsort([by[name] for name in reversed(codes)])
    counts = found.column("n").to_numpy().astype(np.int64)[order]
    every = np.stack([by[f"c{j}"][order] for j in range(d)], axis=1)
    new = np.ones(len(every), np.bool_)
    new[1:] = (every[1:] != every[:-1]).any(axis=1)
    ends = np.cumsum(counts)
    starts = np.append((ends - counts)[new], ends[-1])

    def by_row(name: str) -> Codes:
        return np.repeat(by[name][order], counts)

    return Cells(
        domains=coded.domains,
        codes=np.ascontiguousarray(every[new]),
        starts=starts,
        # which rows these are, nobody asks: the rows look up their labels where they are
        rows=np.broadcast_to(np.int64(0), int(ends[-1])),
        hashes=np.broadcast_to(np.uint64(0), int(ends[-1])),
        sensitive={name: by_row(column) for name, column in names.items()},
        sensitive_domains={name: coded.sensitive_domains[name] for name in names},
        target=by_row("t") if coded.has_target else None,
    )


@dataclass(frozen=True)
class Labelled:
    """What is published of each cell."""

    table: "CellTable"
    texts: tuple[pa.Array, ...]
    """Per quasi-identifier the different labels."""
    label: Codes
    """(cells, d) which of them."""
    shown: npt.NDArray[np.int8]
    """(cells,) 0: withheld, 1: published, 2: published, with all other cells starred."""
    sizes: Ints
    """(classes,) rows of every combination of labels that is published."""
    group: Codes
    """(cells,) the group of each in the first set of columns."""

    @property
    def has_stars(self) -> bool:
        """Whether some row's other cells are starred, so that their columns are text."""
        return bool((self.shown == 2).any())


def label_cells(
    cells: Cells, groupings: Sequence[Grouping], starred: bool
) -> tuple[Labelled, tuple[Spans, ...]]:
    """The labels of every cell.

    starred: whether rows that are suppressed in all columns are published, as stars.
    """
    n, d = cells.codes.shape
    heads = cells.starts[:-1]
    label = np.zeros((n, d), np.int32)
    texts: list[pa.Array] = [pa.array([], pa.string())] * d
    hidden, blank = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    for grouping, span in zip(groupings, spans, strict=True):
        group = grouping.group[heads]
        gone = group == SUPPRESSED
        hidden &= gone
        if (grouping.group == SUPPRESSED).sum() < grouping.least:
            blank |= gone
        for j, column in enumerate(grouping.columns):
            made = labels_of(cells.domains[column], span, j)
            # one label more, for suppressed rows
            texts[column] = pa.concat_arrays([made.texts, pa.array([ANY], pa.string())])
            label[:, column] = np.append(made.of_group, len(made.texts))[group]
    shown = np.where(blank, 2, 1)
    shown[hidden] = 2 if starred else 0
    kept = label[~hidden]
    readable = [_as_read(texts[j], kept[:, j]) for j in range(d)]
    sizes = np.zeros(0, np.int64)
    if len(kept):
        _, of = np.unique(np.stack(readable, axis=1), axis=0, return_inverse=True)
        sizes = np.bincount(of.reshape(-1), cells.counts[~hidden]).astype(np.int64)
    group = groupings[0].group[heads].astype(np.int32)
    labelled = Labelled(cell_table(cells), tuple(texts), label, shown.astype(np.int8), sizes, group)
    return labelled, spans


def _as_read(texts: pa.Array, label: Codes) -> Codes:
    """Labels that read the same get one number."""
    same = texts.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False)
    found: Codes = same[label]
    return found


@dataclass(frozen=True)
class CellTable:
    """Finds the cell of a row from its codes, column by column."""

    steps: tuple[tuple[int, Ints], ...]
    """Per column: how many codes it has, and the ascending numbers (cells so far x codes + code)."""

    def __call__(self, codes: Sequence[Codes]) -> Ints:
        """(n,) the place of each row's cell among all, in canonical order."""
        at = np.zeros(len(codes[0]), np.int64)
        for (size, numbers), column in zip(self.steps, codes, strict=True):
            at = np.searchsorted(numbers, at * size + column)
        return at


def cell_table(cells: Cells) -> CellTable:
    """What finds these cells again."""
    steps, at = [], np.zeros(cells.n_cells, np.int64)
    for j, domain in enumerate(cells.domains):
        wanted = at * domain.size + cells.codes[:, j]
        numbers = np.unique(wanted)
        at = np.searchsorted(numbers, wanted)
        steps.append((domain.size, numbers))
    return CellTable(tuple(steps))


@dataclass(frozen=True)
class Publish:
    """Coded rows to published ones: labels q0.., payload p0..; text where stars may stand."""

    labelled: Labelled
    payload: tuple[tuple[str, pa.DataType], ...]
    """The columns beside the labels, and their types in the file."""
    codes: tuple[str, ...] = ()
    """Codes that are carried along, -1 in starred rows; then `g` is the row's group."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that are published, in any order."""
        found = self.labelled
        d = len(found.texts)
        codes = [batch.column(f"c{j}").to_numpy(zero_copy_only=False) for j in range(d)]
        cell = found.table(codes)
        shown = found.shown[cell]
        kept = shown > 0
        made: dict[str, pa.Array] = {}
        for j, texts in enumerate(found.texts):
            made[f"q{j}"] = texts.take(pa.array(found.label[cell[kept], j]))
        rows = batch.filter(pa.array(kept))
        star = pa.array(shown[kept] == 2)
        for name, kind in self.payload:
            column = rows.column(name)
            if found.has_stars:
                column = pc.if_else(star, ANY, text_of(column.cast(kind)).cast(pa.string()))
            made[name] = column
        for name in self.codes:
            number = rows.column(name).to_numpy(zero_copy_only=False)
            made[name] = pa.array(np.where(shown[kept] == 2, -1, number).astype(np.int32))
        if self.codes:
            made["g"] = pa.array(found.group[cell[kept]])
        return pa.RecordBatch.from_pydict(made, schema=self.schema)

    @property
    def schema(self) -> pa.Schema:
        """The published table's types."""
        labels = [(f"q{j}", pa.string()) for j in range(len(self.labelled.texts))]
        stars = self.labelled.has_stars
        others = [
            (name, pa.string() if stars else stored_kind(kind)) for name, kind in self.payload
        ]
        carried = [(name, pa.int32()) for name in (*self.codes, *(["g"] if self.codes else []))]
        return pa.schema([*labels, *others, *carried])


# Sensitive columns whose values stay with the rows, because no model asks for them: what a report and


@dataclass(frozen=True)
class Secrets:
    """The sensitive columns that are not among the cells."""

    session: Session
    table: str
    """The published rows, with the codes of these columns and the group g of each row."""
    coded: Coded
    cells: Cells
    wanted: bool
    """Whether anybody asks about them; else they stay out of the published rows."""

    @cached_property
    def names(self) -> dict[str, str]:
        """Where each column has its codes."""
        every = enumerate(self.coded.sensitive if self.wanted else ())
        return {name: f"s{i}" for i, name in every if name not in self.cells.sensitive}

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns of codes."""
        return tuple(self.names.values())

    def counted(self, counting: Counting, parts: ReleaseView) -> Sums:
        """What a report tells of these columns."""
        found: Sums = {}
        for name, code in self.names.items():
            answer = self._ask(counted(self.table, [code]), code, "n")
            rows = np.zeros(self.coded.sensitive_domains[name].size, np.int64)
            seen = answer[0] >= 0
            rows[answer[0][seen]] = answer[1][seen]
            found |= sums_of(BARS, name, counting.sensitive[name].rows(rows))
            found |= sums_of(LEVELS, name, sensitive_rows_by_level(parts, name))
        return found

    def recognised(self, metric: RecognitionRate, parts: ReleaseView) -> float | None:
        """The recognition rate, of all sensitive columns; None where these were not asked about."""
        if not self.wanted and set(self.coded.sensitive) - set(self.cells.sensitive):
            return None
        sums = metric.sums(parts)
        if sums:
            (spans,) = parts.spans
            for name, code in self.names.items():
                missing = self.coded.sensitive_domains[name].missing
                group, rows = self._ask(squares(self.table, code, missing), "g", "squares")
                sums[f"of:{name}"] = float((rows / spans.sizes[group].astype(float) ** 2).sum())
        return metric.figure(sums, replace(parts.totals, sensitive=self.coded.sensitive))

    def _ask(self, sql: str, *columns: str) -> tuple[Ints, ...]:
        found = self.session.ask(sql)
        return tuple(found.column(name).cast(pa.int64()).to_numpy() for name in columns)
