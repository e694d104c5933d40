"""The sampling weights of a survey: how many people of the population each row stands for.

Weights are kept as whole numbers of millionths. Whole numbers have the same sum in any order, so the
population of a class is the same on every engine. A weight that is published rounded is read as it is
published: whoever has the release can then add up what the run added up.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Floats, Ints
from shoal.encoding.counts import SCALE as SCALE
from shoal.encoding.missing import is_missing
from shoal.encoding.reading import AS_FOUND, ValueReading, declared_texts, is_text
from shoal.encoding.values import NUMBER
from shoal.errors import InputError, data_rows
from shoal.hierarchy.text import text_of

MOST = 9_000_000_000_000
"""The largest population that sums of 64 bits can hold, in people."""
MISSING, TEXT, NOT_POSITIVE, TOO_LARGE = -1, -2, -3, -4
"""In place of a weight: why a value is none."""
FAULTS: Mapping[int, tuple[str, str]] = {
    MISSING: (
        "have no weight",
        "how many people they stand for is not known. Fill in the weights, or leave these rows out",
    ),
    TEXT: (
        "hold no number",
        "a weight is a number above 0. Correct them, list codes for a missing weight under `missing`, "
        'or say how numbers are written, as in `read: {decimal: ","}`',
    ),
    NOT_POSITIVE: (
        "have a weight of 0 or below",
        "a row stands for at least one person, itself. Leave these rows out, or correct the weights; "
        "replicate weights are no sampling weights",
    ),
    TOO_LARGE: (
        f"have a weight above {MOST:,} or an infinite one",
        "no population is that large. Correct the weights",
    ),
}
ROWS = slice(0, 5)
"""So many rows without a weight are named."""


def weights_of(
    column: pa.Array, missing: Sequence[str] = (), reading: ValueReading = AS_FOUND
) -> Ints:
    """(n,) the weight of each row in millionths; one of the negative numbers above where it has none.

    Each value is read by itself, so the result is the same in any batch. Texts have a decimal point
    unless `reading` says otherwise.
    """
    if pa.types.is_dictionary(column.type):
        indices = pc.fill_null(column.indices, len(column.dictionary)).to_numpy(False)
        return np.append(weights_of(column.dictionary, missing, reading), MISSING)[indices]
    numbers, found = _numbers(column, missing, reading)
    known = found == 0
    with np.errstate(invalid="ignore"):
        found[known & ~(numbers > 0)] = NOT_POSITIVE
        found[known & (numbers > MOST)] = TOO_LARGE
    known = found == 0
    found[known] = np.rint(numbers[known] * SCALE).astype(np.int64)
    found[known & (found == 0)] = NOT_POSITIVE  # below half a millionth
    return found


def _numbers(
    column: pa.Array, missing: Sequence[str], reading: ValueReading
) -> tuple[Floats, Ints]:
    """(n,) the numbers, and (n,) 0 where there is one, else why not."""
    kind, types = column.type, pa.types
    found = np.zeros(len(column), np.int64)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        numbers = pc.cast(column, pa.float64(), safe=False)
        if missing:
            found[is_missing(text_of(column), missing, reading=reading)] = MISSING
    elif is_text(kind):
        texts = column.cast(pa.string())
        found[is_missing(texts, missing, reading=reading)] = MISSING
        texts = pc.utf8_trim_whitespace(declared_texts(texts, reading))
        is_number = pc.match_substring_regex(texts, NUMBER)
        plain = pc.replace_substring_regex(pc.if_else(is_number, texts, None), r"^\+", "")
        numbers = plain.cast(pa.float64())
        known = pc.fill_null(is_number, False).to_numpy(zero_copy_only=False)
        found[(found == 0) & ~known] = TEXT
    else:
        numbers = pa.nulls(len(column), pa.float64())
        found[:] = TEXT
    gone = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    found[gone] = MISSING
    return numbers.fill_null(0.0).to_numpy(zero_copy_only=False), found


def read_weights(
    name: str,
    column: pa.Array,
    missing: Sequence[str] = (),
    reading: ValueReading = AS_FOUND,
    step: float | None = None,
) -> Ints:
    """(n,) the weight of each row in millionths; `step`: what the weights were rounded to.

    Raises
    ------
    InputError
        If some row has no weight, or one that is no number above 0.
    """
    found = weights_of(column, missing, reading)
    faults = {fault: np.flatnonzero(found == fault) for fault in FAULTS}
    check_weights(
        name,
        len(found),
        {fault: len(rows) for fault, rows in faults.items()},
        float(found[found > 0].sum(dtype=np.float64)) / SCALE,
        {fault: rows[ROWS].tolist() for fault, rows in faults.items()},
        step,
    )
    return found


def check_weights(
    name: str,
    rows: int,
    faults: Mapping[int, int],
    total: float,
    where: Mapping[int, Sequence[int]] | None = None,
    step: float | None = None,
) -> None:
    """Raise `InputError` for weights by which a population cannot be estimated.

    faults: per kind of fault the rows that have it. where: some of these rows. step: what the weights
    were rounded to, where they were.
    """
    for fault, (what, why) in FAULTS.items():
        if some := faults.get(fault, 0):
            if fault == NOT_POSITIVE and step is not None:
                what = f"have a weight that `round: {step:g}` makes 0, or one of 0 or below"
                why = "a release would not count them. Choose a smaller `round`, or correct the weights"
            few = list((where or {}).get(fault, ()))
            places = f" ({data_rows(few, some)})" if few else ""
            raise InputError(
                f"Column '{name}' has the role weight, but {some:,} of {rows:,} rows {what}{places}: "
                f"{why}."
            )
    if total > MOST:
        raise InputError(
            f"Column '{name}' has the role weight, but its weights add up to more than {MOST:,} "
            "people. Correct them, or give the role to another column."
        )


def check_constant(name: str, person: str | None, differing: int, people: int) -> None:
    """Raise `InputError` where a person's rows have different weights; `person`: the column of ids."""
    of = "" if person is None else f" of '{person}'"
    if differing:
        raise InputError(
            f"Column '{name}' has the role weight, but {differing:,} of {people:,} people{of} have "
            "different weights in their rows: how many people each stands for is not known. Give every "
            "person one weight, such as that of the last wave, or make the column an identifier."
        )


def differing_people(people: Ints, weights: Ints) -> int:
    """How many people have different weights; `people` are numbered 0, 1, 2, …"""
    low = np.full(int(people.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    high = np.zeros(len(low), np.int64)
    np.minimum.at(low, people, weights)
    np.maximum.at(high, people, weights)
    return int((low < high).sum())
