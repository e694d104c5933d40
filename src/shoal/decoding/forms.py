"""The forms of decoded labels: midpoints, bounds, intervals, lists, indicators, shares, samples.

A form makes one or several columns of values per label; the rows of a table take theirs from it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Floats, Ints
from shoal.decoding.marginals import (
    LabelCounts,
    ListMarginals,
    SpanMarginals,
    list_marginals,
    span_marginals,
)
from shoal.decoding.meaning import (
    ANYTHING,
    GONE,
    Categories,
    Exact,
    Meaning,
    Measured,
    Unlisted,
)
from shoal.errors import InputError, listed, nearest
from shoal.publish.labels import MISSING

NumberForm: TypeAlias = Literal["midpoint", "bounds", "interval", "expected", "sample", "label"]
CategoryForm: TypeAlias = Literal["label", "list", "indicators", "shares", "sample"]
NUMBER_FORMS: tuple[str, ...] = get_args(NumberForm)
CATEGORY_FORMS: tuple[str, ...] = get_args(CategoryForm)
ESTIMATED = ("expected", "shares", "sample")
"""Forms that need the marginals."""
CERTAIN = ("bounds", "interval", "list", "indicators")
"""Forms that say what is known of a row's value, and no more."""
MOST_COLUMNS = 2000
"""Columns that the values of one column may become."""
SAMPLED = "_sampled"
"""The end of the name of a column with drawn values."""

Draw: TypeAlias = Callable[[Ints], pa.Array]
"""The values of some rows by their labels, each drawn anew."""


@dataclass(frozen=True)
class Decoded:
    """What one column becomes."""

    name: str
    form: str
    columns: Mapping[str, pa.Array]
    """Per new column (labels,) the value of each label."""
    draw: Draw | None = None
    """For a sample, in place of the values of labels."""
    closed: Literal["both", "left", "right"] | None = None
    """For intervals, which ends they include."""

    def rows(self, codes: Ints) -> dict[str, pa.Array]:
        """The new columns of some rows, by the number of each row's label."""
        if self.draw is not None:
            return {name: self.draw(codes) for name in self.columns}
        at = pa.array(codes)
        return {name: values.take(at) for name, values in self.columns.items()}


def check_form(form: str, meaning: Meaning) -> None:
    """Raise `InputError` where a column cannot have a form."""
    why = why_not(form, meaning)
    if why:
        raise InputError(
            f"Column '{meaning.name}' cannot be decoded as '{form}': {why}. "
            f"Allowed: {', '.join(forms_of(meaning))}."
        )


def forms_of(meaning: Meaning) -> tuple[str, ...]:
    """The forms that a column can have."""
    if meaning.statistic:
        return tuple(form for form in meaning.forms if form in ("midpoint", "expected", "label"))
    hidden = isinstance(meaning, Categories) and meaning.unlisted
    return ("label",) if hidden else meaning.forms


def why_not(form: str, meaning: Meaning) -> str:
    """Why a column cannot have a form; empty where it can."""
    if form in forms_of(meaning):
        return ""
    if meaning.statistic:
        return (
            f"its labels are the {meaning.statistic} of each group, whose values are not published"
        )
    if isinstance(meaning, Unlisted):
        return meaning.why
    if isinstance(meaning, Categories):
        return meaning.unlisted or "its values are not numbers, dates or times"
    return "its values are numbers, dates or times"


def check_name_of_form(form: str, allowed: Sequence[str], where: str) -> None:
    """Raise `InputError` for a form that does not exist."""
    if form not in allowed:
        raise InputError(
            f"{where}: there is no form '{form}'.{nearest(form, allowed)} Allowed: {listed(allowed)}."
        )


def decoded(
    meaning: Meaning, form: str, counts: LabelCounts, tight: bool, random: np.random.Generator
) -> Decoded:
    """A column in a form that it can have.

    tight: whether every class has the ends of its ranges and the members of its sets. random: for
    samples.
    """
    name = meaning.name
    if meaning.statistic and form in CERTAIN:
        meaning = _nothing_known(meaning)
    if form == "label":
        values = meaning.values()
        texts = pa.array(list(meaning.labels), pa.string())
        return Decoded(name, form, {name: texts if values is None else values})
    if isinstance(meaning, Measured):
        return _measured(meaning, form, counts, tight, random)
    assert isinstance(meaning, Categories), "others have labels alone"
    return _listed(meaning, form, counts, tight, random)


def _nothing_known(meaning: Meaning) -> Meaning:
    """The same column where labels do not cover the values of their rows: each may stand for any."""
    unknown = (None,) * len(meaning.labels)
    if isinstance(meaning, Measured):
        return replace(meaning, low=unknown, high=unknown)
    return replace(meaning, state=np.where(meaning.state == GONE, GONE, ANYTHING).astype(np.int8))


def _measured(
    meaning: Measured, form: str, counts: LabelCounts, tight: bool, random: np.random.Generator
) -> Decoded:
    name = meaning.name
    if form == "midpoint":
        return Decoded(name, form, {name: midpoints(meaning)})
    if form in ("bounds", "interval"):
        ends = meaning.typed([*meaning.low, *meaning.high])
        low, high = ends[: len(meaning.low)], ends[len(meaning.low) :]
        if form == "bounds":
            return Decoded(name, form, {f"{name}_low": low, f"{name}_high": high})
        neither = pc.and_(low.is_null(), high.is_null())
        pairs = pa.StructArray.from_arrays([low, high], ["low", "high"], mask=neither)
        return Decoded(name, form, {name: pairs}, closed=meaning.closed)
    marginals = span_marginals(meaning, counts, tight)
    if form == "expected":
        return Decoded(name, form, {name: _expected(meaning, marginals)})
    points = meaning.typed(marginals.points)
    if pa.types.is_integer(points.type) and meaning.half_open.any() and not meaning.is_whole:
        points = points.cast(
            pa.float64()
        )  # what is drawn inside of `[0-500)` may be whole by chance
    return _sample(name, form, points, marginals, random)


def midpoints(meaning: Measured) -> pa.Array:
    """(labels,) the middle of each label; of a range without an end, the other one."""
    spans = list(zip(meaning.first, meaning.last, strict=True))
    if all(first is None or last is None or first == last for first, last in spans):
        return meaning.typed([last if first is None else first for first, last in spans])
    return _means(meaning, [_middle(first, last) for first, last in spans])


def _middle(first: Exact | None, last: Exact | None) -> Fraction | None:
    if first is None or last is None:
        end = last if first is None else first
        return None if end is None else Fraction(end)
    return (Fraction(first) + Fraction(last)) / 2


def _expected(meaning: Measured, marginals: SpanMarginals) -> pa.Array:
    if meaning.is_lossless:
        return meaning.typed(meaning.first)
    values = marginals.expected()
    return _means(meaning, _rounded(meaning, values) if meaning.sort == "number" else values)


def _rounded(meaning: Measured, values: Sequence[Fraction | None]) -> list[Fraction | None]:
    """Estimates with as many digits as a millionth of the column's range; inside of their labels."""
    ends = [Fraction(end) for end in (*meaning.first, *meaning.last) if end is not None]
    span = max(ends) - min(ends) if ends else Fraction(0)
    if not span:
        return list(values)
    digits = 6 - math.floor(math.log10(span))
    found: list[Fraction | None] = []
    for value, first, last in zip(values, meaning.first, meaning.last, strict=True):
        short = None if value is None else round(value, digits)
        outside = short is not None and (
            (first is not None and short <= first) or (last is not None and short >= last)
        )
        found.append(value if outside else short)
    return found


def _means(meaning: Measured, values: Sequence[Fraction | None]) -> pa.Array:
    """Numbers as floats; dates and times rounded down to what a column of them holds."""
    if meaning.sort == "number":
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    kind = meaning.typed([*meaning.first, *meaning.last]).type
    per = 1000 if meaning.sort != "date" and kind.unit == "us" else 1
    whole = [None if v is None else v // per * per for v in values]
    return meaning.typed(whole).cast(kind)


def _listed(
    meaning: Categories, form: str, counts: LabelCounts, tight: bool, random: np.random.Generator
) -> Decoded:
    name = meaning.name
    if form == "list":
        return Decoded(name, form, {name: _lists(meaning)})
    if form == "sample":
        marginals = list_marginals(meaning, counts, tight)
        values = pa.concat_arrays([meaning.typed_values, pa.nulls(1, meaning.typed_values.type)])
        return _sample(name, form, values, marginals, random)
    n = len(meaning.texts) + meaning.has_missing
    if n > MOST_COLUMNS:
        raise InputError(
            f"Column '{name}' has {n:,} values, and would become as many columns as '{form}'; at most "
            f"{MOST_COLUMNS:,} are made. Decode it as 'list', or give it a hierarchy in the policy."
        )
    if form == "indicators":
        return Decoded(name, form, _indicators(meaning))
    return Decoded(name, form, _shares(meaning, list_marginals(meaning, counts, tight)))


def _lists(meaning: Categories) -> pa.Array:
    """(labels,) the values of each label; none, not even an empty list, where it may be any."""
    values = pa.concat_arrays([meaning.typed_values, pa.nulls(1, meaning.typed_values.type)])
    offsets = pa.array(meaning.starts.astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, values.take(pa.array(meaning.entries)))
    return pc.if_else(pa.array(meaning.state == ANYTHING), None, lists)


def value_columns(meaning: Categories) -> list[str]:
    """The names of the columns of a column's values, that of the missing value last."""
    shown = (f"\\{text}" if text == MISSING else text for text in meaning.texts)
    names = [f"{meaning.name}={text}" for text in shown]
    return [*names, f"{meaning.name}={MISSING}"] if meaning.has_missing else names


def _indicators(meaning: Categories) -> dict[str, pa.Array]:
    """Per value (labels,) 1 where a label may stand for it."""
    flags = _PerValue(meaning, np.ones(len(meaning.entries)))
    return {
        name: pa.array(flags.of(i, 1.0).astype(np.int8))
        for i, name in enumerate(value_columns(meaning))
    }


def _shares(meaning: Categories, marginals: ListMarginals) -> dict[str, pa.Array]:
    """Per value (labels,) the share of a label's rows that are expected to have it."""
    share = _PerValue(meaning, marginals.in_labels)
    return {
        name: pa.array(share.of(i, float(marginals.shares[i])))
        for i, name in enumerate(value_columns(meaning))
    }


class _PerValue:
    """The weights of the entries of labels, by value."""

    def __init__(self, meaning: Categories, weights: Floats) -> None:
        self.anything, self.weights = meaning.state == ANYTHING, weights
        self.label = np.repeat(np.arange(len(meaning.labels)), np.diff(meaning.starts))
        self.order = np.argsort(meaning.entries, kind="stable")
        places = np.arange(len(meaning.texts) + 2)
        self.bounds = np.searchsorted(meaning.entries[self.order], places)

    def of(self, value: int, everywhere: float) -> Floats:
        """(labels,) the weight of a value in each label; `everywhere`: where a label may be any."""
        found = np.where(self.anything, everywhere, 0.0)
        chosen = self.order[self.bounds[value] : self.bounds[value + 1]]
        found[self.label[chosen]] = self.weights[chosen]
        return found


def _sample(
    name: str,
    form: str,
    values: pa.Array,
    marginals: SpanMarginals | ListMarginals,
    random: np.random.Generator,
) -> Decoded:
    """Drawn values, under a name that says so."""

    def draw(codes: Ints) -> pa.Array:
        # a pair per row, so that the numbers do not depend on where a table is cut into batches
        pairs = random.random((len(codes), 2))
        found = marginals.draw(codes, pairs[:, 0], pairs[:, 1])
        return values.take(pa.array(found, mask=found < 0))

    return Decoded(name, form, {f"{name}{SAMPLED}": values[:0]}, draw)
