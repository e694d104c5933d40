"""Truth of labels that are a statistic: the midpoint, mean, median or mode of their class.

What a class is follows from the published texts alone: the rows that read alike in all columns that were
grouped together. What the statistic must be follows from the values of these rows in the table. Nothing
of how labels were computed is used but the scale of the column, which says what is rounded to.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Ints
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.rules import ColumnRule
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.policy import Policy
from shoal.publish.label_parser import unescaped
from shoal.publish.microaggregation import STATISTICS
from shoal.publish.scale import Scale, scale_of

STAR = "*"

Key = int | str | None
"""What values are compared by: a place on the scale or in a list, or a text; None is missing."""
Weighted = Mapping[Key, Fraction]
"""The values of a class, and how much each counts."""


class StatisticsCheck:
    """Checks the columns of a release whose labels are statistics of their classes."""

    def __init__(
        self,
        policy: Policy,
        grouped: Sequence[Sequence[str]],
        published: Callable[[str], pa.Array],
        people: Ints | None,
    ) -> None:
        """grouped: the columns that were grouped together. people: (rows,) whose row each is, where
        people are counted."""
        self._forms = {name: policy.columns[name].labels for name in policy.quasi}
        self._grouped, self._published, self._people = grouped, published, people

    def concerns(self, name: str) -> bool:
        """Whether the labels of a column are statistics."""
        return self._forms.get(name) in STATISTICS and any(name in one for one in self._grouped)

    def untrue(
        self, name: str, values: pa.Array, texts: Sequence[str | None], spec: ColumnSpec
    ) -> Bools | None:
        """(rows,) whether each label is not the statistic of its class; None where all are.

        values: (rows,) the place of each row's value among `texts`, null where it is missing; texts are
        None where they stand for a missing value.
        """
        (columns,) = (one for one in self._grouped if name in one)
        published = text_of(one_chunk(self._published(name))).cast(pa.string())
        if spec.rule is not None:
            published = spec.rule.without_marks(published)
            texts = spec.rule.without_marks(pa.array(texts, pa.string())).to_pylist()
        scale = _scale(texts, spec)
        keys = [*(_key(text, scale, spec) for text in texts), None]
        code = values.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
        labels = published.to_pylist()
        classes = self._classes(columns)
        order = np.argsort(classes, kind="stable")
        starts = np.append(np.flatnonzero(np.diff(classes[order], prepend=-1)), len(order))
        wrong = np.zeros(len(order), np.bool_)
        form = str(spec.labels)
        for begin, end in pairwise(starts.tolist()):
            rows = order[begin:end]
            label = labels[rows[0]]
            if label == STAR:
                continue
            found = self._weighted(rows, code, keys)
            if not _is_statistic(form, label, found, scale, spec):
                wrong[rows] = True
        return wrong if wrong.any() else None

    def _classes(self, columns: Sequence[str]) -> Ints:
        """(rows,) a number for each combination of published texts."""
        number = np.zeros(len(one_chunk(self._published(columns[0]))), np.int64)
        for name in columns:
            texts = text_of(one_chunk(self._published(name))).cast(pa.string())
            coded = texts.dictionary_encode("encode")
            codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
            both = number * (len(coded.dictionary) + 1) + codes
            number = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return number

    def _weighted(self, rows: Ints, code: Ints, keys: Sequence[Key]) -> Weighted:
        """The values of some rows: everybody counts once, where people are counted."""
        found: dict[Key, Fraction] = {}
        if self._people is None:
            for value, times in zip(*np.unique(code[rows], return_counts=True), strict=True):
                key = keys[value]
                found[key] = found.get(key, Fraction(0)) + int(times)
            return found
        mine = self._people[rows]
        _, person, times = np.unique(mine, return_inverse=True, return_counts=True)
        for value, many in zip(code[rows].tolist(), times[person].tolist(), strict=True):
            key = keys[value]
            found[key] = found.get(key, Fraction(0)) + Fraction(1, many)
        return found


def _scale(texts: Sequence[str | None], spec: ColumnSpec) -> Scale | None:
    """The scale of a column of numbers or dates."""
    if spec.order is not None or spec.kind == "unordered":
        return None
    if spec.hierarchy is not None and spec.hierarchy.reads == "text":
        return None
    base = spec.rule.base if isinstance(spec.rule, ColumnRule) else None
    known = [text for text in texts if text is not None and text.strip()]
    return scale_of(known, base) if known else None


def _key(text: str | None, scale: Scale | None, spec: ColumnSpec) -> Key:
    if text is None or (scale is not None and not text.strip()):
        return None
    if scale is not None:
        return scale.count(text)
    if spec.order is not None:
        return spec.order.index(text) if text in spec.order else text
    return text


def _is_statistic(
    form: str, label: str | None, values: Weighted, scale: Scale | None, spec: ColumnSpec
) -> bool:
    """Whether a label is the statistic of these values."""
    read = None if label is None else _key(unescaped(label), scale, spec)
    if label is not None and read is None:
        return False  # no number, and no date
    if form == "mode":
        return read in values and values[read] == max(values.values())
    if None in values or read is None:
        return read is None and list(values) == [None]
    if len(values) == 1:
        return read in values
    if scale is None:
        return read == _lower_middle(values)
    numbers = {key: weight for key, weight in values.items() if isinstance(key, int)}
    if len(numbers) < len(values) or not isinstance(read, int) or read % scale.step:
        return False
    if form == "midpoint":
        exact = Fraction(min(numbers) + max(numbers), 2)
    elif form == "mean":
        exact = sum((key * weight for key, weight in numbers.items()), Fraction(0))
        exact /= sum(numbers.values())
    else:
        exact = _median(numbers)
    # rounded to the nearest step; what is between two of them, to the upper one
    return -scale.step < 2 * (read - exact) <= scale.step


def _lower_middle(values: Weighted) -> Key:
    """The least value up to which half of the weights are."""
    total, below = sum(values.values()), Fraction(0)
    for key in sorted(values, key=lambda key: (isinstance(key, str), key)):
        below += values[key]
        if 2 * below >= total:
            return key
    return None


def _median(values: Mapping[int, Fraction]) -> Fraction:
    """The middle of the least value up to which half of the weights are, and of the greatest one from
    which on half of them are."""
    total, ends = sum(values.values()), []
    for keys in (sorted(values), sorted(values, reverse=True)):
        below = Fraction(0)
        for key in keys:
            below += values[key]
            if 2 * below >= total:
                ends.append(key)
                break
    return Fraction(sum(ends), 2)
