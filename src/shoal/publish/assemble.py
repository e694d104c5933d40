"""Put the published table together: which rows, in which order, with which labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.cells import Cells
from shoal.cells.grouping import SUPPRESSED, Grouping
from shoal.cells.spans import Spans
from shoal.publish.escape import ANY
from shoal.publish.labels import Labels, labels_of
from shoal.publish.order import classes_of, publish_order
from shoal.threads import each

NOTHING: Mapping[str, pa.DictionaryArray] = {}


@dataclass(frozen=True)
class Published:
    """What leaves the house, before it takes the shape of a frame or a file."""

    rows: npt.NDArray[np.int64]
    """(published,) the input row behind each published row, in the published order."""
    labels: dict[str, pa.DictionaryArray]
    """Per quasi-identifier and per column in which wishes count, (published,) its label."""
    classes: int
    """Different combinations of labels."""
    suppressed: npt.NDArray[np.bool_]
    """(n_rows,) canonical rows that are suppressed in every column."""
    sizes: npt.NDArray[np.int64]
    """(classes,) rows of each class."""
    blank: npt.NDArray[np.bool_]
    """(published,) rows whose other cells are starred too: suppressed in some columns, with too few
    others to hide among."""


def assemble(
    cells: Cells,
    groupings: Sequence[Grouping],
    spans: Sequence[Spans],
    keep_order: bool,
    personal: Mapping[str, pa.DictionaryArray] = NOTHING,
    hashes: npt.NDArray[np.uint64] | None = None,
) -> Published:
    """Label the groups and bring their rows into an order; rows suppressed everywhere are left out.

    personal: sensitive columns that are published otherwise than they are, (n_rows,) in canonical
    order; `hashes` are then those of what is published beside the quasi-identifiers.
    """
    labels: list[Labels] = []
    groups: list[npt.NDArray[np.int32]] = []
    names: list[str] = []
    suppressed = np.ones(cells.n_rows, np.bool_)
    blank = np.zeros(cells.n_rows, np.bool_)
    for grouping, span in zip(groupings, spans, strict=True):
        hidden = grouping.group == SUPPRESSED
        suppressed &= hidden
        if hidden.sum() < grouping.least:
            blank |= hidden
        domains = [cells.domains[column] for column in grouping.columns]
        made = each(lambda j, d=domains, s=span: labels_of(d[j], s, j), range(len(domains)))  # type: ignore[misc]
        labels += [_with_star(label) for label in made] if hidden.any() else made
        names += [domain.name for domain in domains]
        groups += [grouping.group] * len(domains)
    classes, n_classes = _classes(labels, groups, suppressed)
    order = publish_order(cells.hashes if hashes is None else hashes, classes, n_classes, blank)
    if keep_order:
        order = order[np.argsort(cells.rows[order], kind="stable")]
    published = {
        name: pa.DictionaryArray.from_arrays(pa.array(label.of_group[group[order]]), label.texts)
        for name, label, group in zip(names, labels, groups, strict=True)
    }
    for name, column in personal.items():
        published[name] = _starred(column.take(pa.array(order)), blank[order])
    sizes = np.bincount(classes[classes != SUPPRESSED], minlength=n_classes)
    return Published(cells.rows[order], published, n_classes, suppressed, sizes, blank[order])


def _starred(column: pa.DictionaryArray, blank: npt.NDArray[np.bool_]) -> pa.DictionaryArray:
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


def _classes(
    labels: list[Labels], groups: list[npt.NDArray[np.int32]], suppressed: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int32], int]:
    """(n_rows,) the class of each canonical row, SUPPRESSED where it leaves the table."""
    if len({id(group) for group in groups}) == 1 and not suppressed.any():
        # one grouping: its groups are classed, not every row
        every = np.arange(len(labels[0].of_group), dtype=np.int32)
        of_group, n_classes = classes_of(labels, [every] * len(labels))
        return of_group[groups[0]], n_classes
    classes = np.full(len(suppressed), SUPPRESSED, np.int32)
    kept = np.flatnonzero(~suppressed)
    if not len(kept):
        return classes, 0
    classes[kept], n_classes = classes_of(labels, [group[kept] for group in groups])
    return classes, n_classes
