"""The columns of the published table: labels, untouched columns, and starred rows if asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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

    A star has no place in a column of numbers, so with starred rows every column becomes text.
    """
    if not len(starred):
        return Shape(tuple(columns), dict(published.labels), published.rows)
    rows = np.concatenate([published.rows, starred])
    stars = pa.array([ANY] * len(starred), pa.string())
    order = np.argsort(rows, kind="stable") if keep_order else np.arange(len(rows))
    labels = {}
    for name in columns:
        kept = published.labels.get(name)
        text = (
            kept.dictionary_decode()
            if kept is not None
            else text_of(column(name).take(pa.array(published.rows)))
        )
        labels[name] = pa.concat_arrays([text.cast(pa.string()), stars]).take(pa.array(order))
    return Shape(tuple(columns), labels, rows[order])
