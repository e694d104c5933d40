"""The published rows: their labels, classes and order, and the columns of the published table.

Rows are ordered by what is published of them, never by their place in the input.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.cells import Cells, in_order
from shoal.encoding.grouping import SUPPRESSED, Grouping, Spans, rows_by_group
from shoal.hierarchy.text import text_of
from shoal.kernels.sorting import sort_runs
from shoal.publish.labels import ANY, Labels, labels_of, stars
from shoal.publish.ranks import number_rows
from shoal.threads import each

Labelling = Callable[[Grouping, Spans], list[Labels]]
"""Gives the labels of the groups of a grouping, column by column."""


@dataclass(frozen=True)
class PublishedRows:
    """The rows of a release, before they become a frame or a file."""

    rows: Ints
    """(published,) the input row of each published row, in the published order."""
    labels: dict[str, pa.DictionaryArray]
    """Per quasi-identifier and per column with preferences, (published,) its label."""
    classes: int
    """Different combinations of labels."""
    suppressed: Bools
    """(n_rows,) canonical rows of which nothing is published: in no group, or with a star in every
    cell, since they are suppressed in some columns and generalised to the top in the others."""
    sizes: Ints
    """(classes,) rows of each class."""
    blank: Bools
    """(published,) rows whose other cells are starred too: suppressed in some columns together with
    too few others."""
    class_of: Codes
    """(published,) the class of each row."""
    class_by_class: bool = False
    """Whether the rows of a class are one after the other, in the order of the classes."""

    def rows_of_labels(self, name: str) -> tuple[pa.Array, Ints]:
        """The different labels of a column that occur, null for a missing value, and their rows."""
        column = self.labels[name]
        codes, rows = column.indices.to_numpy(zero_copy_only=False), None
        if self.class_by_class:  # the first row of each class stands for all of it
            codes, rows = codes[np.cumsum(self.sizes) - self.sizes], self.sizes
        counts = np.bincount(codes, rows, len(column.dictionary)).astype(np.int64)
        some = np.flatnonzero(counts)
        return column.dictionary.take(pa.array(some)), counts[some]


def assemble(
    cells: Cells,
    groupings: Sequence[Grouping],
    spans: Sequence[Spans],
    keep_order: bool,
    personal: Mapping[str, pa.DictionaryArray] | None = None,
    hashes: Words | None = None,
    labelled: Labelling | None = None,
) -> PublishedRows:
    """Label the groups and order their rows; rows suppressed in all columns are left out.

    personal: sensitive columns that are published with preferences, (n_rows,) in canonical order;
    `hashes` are then those of what is published apart from the quasi-identifiers.
    labelled: gives the labels of a grouping; without it they are what covers the values of a group.
    """
    labels: list[Labels] = []
    groups: list[Codes] = []
    names: list[str] = []
    suppressed = np.ones(cells.n_rows, np.bool_)
    blank = np.zeros(cells.n_rows, np.bool_)
    for grouping, span in zip(groupings, spans, strict=True):
        is_suppressed = grouping.group == SUPPRESSED
        suppressed &= is_suppressed
        if is_suppressed.sum() < grouping.least:
            blank |= is_suppressed
        domains = [cells.domains[column] for column in grouping.columns]
        if labelled is None:
            places = range(len(domains))
            new = each(lambda j, d=domains, s=span: labels_of(d[j], s, j), places, cells.n_rows)  # type: ignore[misc]
        else:
            new = labelled(grouping, span)
        labels += [_with_star(label) for label in new] if is_suppressed.any() else new
        names += [domain.name for domain in domains]
        groups += [grouping.group] * len(domains)
    classes, n_classes = _classes(labels, groups, suppressed)
    order = publish_order(cells.hashes if hashes is None else hashes, classes, n_classes, blank)
    if keep_order:
        order = order[np.argsort(cells.rows[order], kind="stable")]
    of_row: dict[int, pa.Array] = {}
    for label, group in zip(labels, groups, strict=True):
        if id(group) not in of_row:
            mine = in_order(group, order)
            # Arrow, which gathers faster, has no last place that is -1
            mine = np.where(mine == SUPPRESSED, len(label.of_group) - 1, mine)
            of_row[id(group)] = pa.array(mine)

    def coded(j: int) -> pa.DictionaryArray:
        codes = pa.array(labels[j].of_group).take(of_row[id(groups[j])])
        return pa.DictionaryArray.from_arrays(codes, labels[j].texts)

    columns = each(coded, range(len(names)), cells.n_rows)
    published = dict(zip(names, columns, strict=True))
    if blank.any():
        suppressed |= blank & _at_top(labels, groups)
    for name, column in (personal or {}).items():
        published[name] = _starred(column.take(pa.array(order)), blank[order])
    sizes = np.bincount(classes[classes != SUPPRESSED], minlength=n_classes)
    return PublishedRows(
        in_order(cells.rows, order),
        published,
        n_classes,
        suppressed,
        sizes,
        blank[order],
        in_order(classes, order),
        class_by_class=not keep_order,
    )


def _at_top(labels: Sequence[Labels], groups: Sequence[Codes]) -> Bools:
    """(n_rows,) canonical rows whose label is `*` in every column."""
    found = np.ones(len(groups[0]), np.bool_)
    for label, group in zip(labels, groups, strict=True):
        found &= stars(label.texts)[label.of_group[group]]
    return found


def _starred(column: pa.DictionaryArray, blank: Bools) -> pa.DictionaryArray:
    if not blank.any():
        return column
    return pc.if_else(pa.array(blank), ANY, column.dictionary_decode()).dictionary_encode()


def _with_star(label: Labels) -> Labels:
    """Labels in which the group SUPPRESSED (-1, so the last one) reads `*`."""
    texts = label.texts.to_pylist()
    if ANY not in texts:
        texts.append(ANY)
    star = np.int32(texts.index(ANY))
    return Labels(pa.array(texts, pa.string()), np.append(label.of_group, star))


def _classes(labels: list[Labels], groups: list[Codes], suppressed: Bools) -> tuple[Codes, int]:
    """(n_rows,) the class of each canonical row, SUPPRESSED where it is not published."""
    if len({id(group) for group in groups}) == 1 and not suppressed.any():
        # with one grouping the classes of its groups suffice
        every = np.arange(len(labels[0].of_group), dtype=np.int32)
        of_group, n_classes = classes_of(labels, [every] * len(labels))
        return of_group[groups[0]], n_classes
    classes = np.full(len(suppressed), SUPPRESSED, np.int32)
    kept = np.flatnonzero(~suppressed)
    if not len(kept):
        return classes, 0
    classes[kept], n_classes = classes_of(labels, [group[kept] for group in groups])
    return classes, n_classes


def classes_of(labels: list[Labels], groups: list[Codes]) -> tuple[Codes, int]:
    """(n,) the published class of each item and how many there are; classes in the order of labels.

    `groups` are aligned with `labels`: which group of that column's grouping each item belongs to.
    """
    ranks = [label.of_group[group] for label, group in zip(labels, groups, strict=True)]
    return number_rows(ranks, [len(label.texts) for label in labels])


def publish_order(
    hashes: Words,
    classes: Codes,
    n_classes: int,
    blank: Bools,
) -> Ints:
    """Canonical rows class by class, inside a class by the hash of what else is published of them.

    hashes: (n_rows,) these hashes. blank: (n_rows,) rows of which nothing else is published; they are
    last, since their place among the others would disclose something of what is suppressed.
    """
    rows, starts = rows_by_group(classes, n_classes)
    order = rows.astype(np.int64)
    if blank.any():
        hashes = np.where(blank, np.iinfo(np.uint64).max, hashes)
    sort_runs(order, starts, hashes)
    return order


@dataclass(frozen=True)
class OutputLayout:
    """How to gather the published table from the input."""

    columns: tuple[str, ...]
    """Published columns, in the order of the input."""
    labels: dict[str, pa.Array]
    """Columns with new values, in published order; the others keep their values and type."""
    rows: Ints
    """(published,) the input row of each published row."""

    def decoded(self) -> "OutputLayout":
        """The same with labels as plain text, for frames that would keep a dictionary."""
        texts = {
            name: label.dictionary_decode() if pa.types.is_dictionary(label.type) else label
            for name, label in self.labels.items()
        }
        return OutputLayout(self.columns, texts, self.rows)


def output_layout(
    published: PublishedRows,
    columns: Sequence[str],
    column: Callable[[str], pa.Array],
    starred: Ints,
    keep_order: bool,
) -> OutputLayout:
    """The published table; `starred` are input rows to publish with every cell as `*`.

    Columns with a star become text.
    """
    if not len(starred) and not published.blank.any():
        return OutputLayout(tuple(columns), dict(published.labels), published.rows)
    rows = np.concatenate([published.rows, starred])
    blank = np.concatenate([published.blank, np.ones(len(starred), np.bool_)])
    order = np.argsort(rows, kind="stable") if keep_order else np.arange(len(rows))
    stars = pa.array([ANY] * len(starred), pa.string())
    labels = {}
    for name in columns:
        kept = published.labels.get(name)
        if kept is not None:
            text = pa.concat_arrays([kept.dictionary_decode().cast(pa.string()), stars])
        else:
            text = text_of(column(name).take(pa.array(rows))).cast(pa.string())
            text = pc.if_else(pa.array(blank), ANY, text)
        labels[name] = text.take(pa.array(order))
    return OutputLayout(tuple(columns), labels, rows[order])
