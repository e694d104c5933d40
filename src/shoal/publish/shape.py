"""The columns of the published table: labels, untouched columns, and starred rows if asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.hierarchy.text import text_of
from shoal.publish.assemble import Published
from shoal.publish.escape import ANY


@dataclass(frozen=True)
class Shape:
    """How to gather the published table from the input."""

    columns: tuple[str, ...]
    """Published columns, in the order of the input."""
    labels: dict[str, pa.Array]
    """Columns that are made anew, in published order; the others keep their values and type."""
    rows: npt.NDArray[np.int64]
    """(published,) the input row behind each published row."""

    def decoded(self) -> "Shape":
        """The same with labels as plain text, for readers that would show a dictionary as such."""
        texts = {
            name: label.dictionary_decode() if pa.types.is_dictionary(label.type) else label
            for name, label in self.labels.items()
        }
        return Shape(self.columns, texts, self.rows)


def shape(
    published: Published,
    columns: Sequence[str],
    column: Callable[[str], pa.Array],
    starred: npt.NDArray[np.int64],
    keep_order: bool,
) -> Shape:
    """The published table; `starred` are input rows to publish with every cell as `*`.

    A star has no place in a column of numbers: columns that get one become text.
    """
    if not len(starred) and not published.blank.any():
        return Shape(tuple(columns), dict(published.labels), published.rows)
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
    return Shape(tuple(columns), labels, rows[order])
