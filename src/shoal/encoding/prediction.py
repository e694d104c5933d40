"""What quasi-identifiers tell about a target: columns count by it where a policy has `predict`.

A column whose detail is gone altogether has lost all that it told about the target: its mutual
information with it, in bits. What another column tells as well is not lost with it, though. So columns
are taken in turn, always the one that tells most beyond each of those before it, and the loss of a
column is weighed by a power of these bits: methods keep the detail from which the target can be
predicted. A target of many numbers is taken in classes of about equal size, so that regression is served
too.

Source: the turns are those of Fleuret, "Fast binary feature selection with conditional mutual
information", 2004, who chooses features so. Departure: what is told beyond another column is estimated
with few groups of values in both, as a share of what the column tells, since a table has too few rows
for all pairs of values.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.arrays import Codes, Ints
from shoal.encoding.columns import BY_VALUES, encode_quasi
from shoal.encoding.domain import Domain, Kind, shares_of
from shoal.errors import InputError

CLASSES = 10
"""Numbers with more different values are taken in so many classes."""
MOST_CLASSES = 1000
"""More different values without an order are refused."""
POWER = 0.7
"""Columns count by this power of their bits: measured on Adult, models then learn as much as from
releases by the bits themselves, and the other columns lose a quarter less."""
LEAST = 1 / 15
"""No column counts less than this beside the one that tells most: what tells nothing of the target still
counts a little."""
GROUPS = 16
"""The most groups of values of a column, where two columns are looked at together."""
ROWS_OF_CELL = 20
"""Groups are so few that a pair of them has so many rows on average, for every class but one."""
MOST_VALUES = 1000
"""A column with more values is not compared with others."""


def target_classes(name: str, column: pa.Array) -> Codes:
    """(n,) the class of each row: its value, or among many numbers or dates one of `CLASSES`."""
    domain, codes = encode_quasi(name, column, BY_VALUES)
    rows = np.bincount(codes, minlength=domain.size).astype(np.int64)
    return class_of_values(domain, rows)[codes]


def class_of_values(domain: Domain, rows: Ints) -> Codes:
    """(size,) the class of each value of a target; rows: (size,) those with each value.

    Classes of numbers have about the same number of rows. A missing value is a class of its own.
    """
    values = np.arange(domain.size, dtype=np.int32)
    known = rows.copy()
    if domain.missing >= 0:
        known[domain.missing] = 0
    if domain.kind != Kind.RANGE or np.count_nonzero(known) <= CLASSES:
        if domain.size > MOST_CLASSES:
            raise InputError(
                f"Column '{domain.name}' has {domain.size:,} different values without an order, too "
                f"many classes to predict; at most {MOST_CLASSES:,} are allowed. Name a column of "
                "classes, numbers or dates in `predict`."
            )
        return values
    found = _parts(known, CLASSES)
    if domain.missing >= 0:
        found[domain.missing] = CLASSES
    return found


def _parts(rows: Ints, n: int) -> Codes:
    """(size,) one of n parts of about equally many rows for each value, in the order of the values."""
    middle = 2 * np.cumsum(rows) - rows
    return np.minimum(middle * n // (2 * max(1, int(rows.sum()))), n - 1).astype(np.int32)


def bits_about(counts: Ints) -> float:
    """The mutual information of a column with a target, in bits; never below 0.

    counts: (values, classes) rows.
    """
    return bits_beyond(counts[None])


def bits_beyond(counts: Ints) -> float:
    """The mutual information of a column with a target among rows that are equal in another column.

    counts: (values of the other column, values, classes) rows. Where values are many for the rows,
    chance alone tells something: what is to be expected of it is subtracted. Never below 0.

    Source: the correction is that of Miller, "Note on the bias of information estimates", 1955.
    """
    n = int(counts.sum())
    if n == 0:
        return 0.0
    of_value, of_class = counts.sum(axis=2), counts.sum(axis=1)
    bits = _weighed(counts) - _weighed(of_value) - _weighed(of_class)
    bits += _weighed(of_value.sum(axis=1))
    values, classes = (np.maximum(1, (each > 0).sum(axis=1)) for each in (of_value, of_class))
    by_chance = float(((values - 1) * (classes - 1)).sum()) / (2 * float(np.log(2)))
    return max(0.0, (bits - by_chance) / n)


def bits_of_columns(
    domains: Sequence[Domain],
    rows: Sequence[Ints],
    n_classes: int,
    target: str,
    alone: Callable[[int], Ints],
    together: Callable[[int, int, Codes, Codes], Ints],
) -> list[float]:
    """What each column tells about a target beyond those that tell more.

    rows: per column (size,) those with each value. target: the name of the target, which may be one of
    the columns; nothing is told beyond it. alone(j): (values, classes) the rows of a column.
    together(i, j, group_i, group_j): (groups of i, groups of j, classes) the rows of two columns, of
    whose values the groups are given.
    """
    whole = [bits_about(alone(j)) for j in range(len(domains))]
    found = list(whole)
    n = int(rows[0].sum()) if len(rows) else 0
    most = min(GROUPS, int((n / (ROWS_OF_CELL * max(1, n_classes - 1))) ** 0.5))
    if most < 2:  # too few rows to tell what one column tells beyond another
        return found
    group = [_value_groups(*each, most) for each in zip(domains, rows, strict=True)]
    left = list(range(len(domains)))
    while left:
        i = max(left, key=found.__getitem__)  # the first of equals
        left.remove(i)
        if found[i] <= 0:
            break
        if domains[i].name == target or domains[i].size > MOST_VALUES:
            continue
        for j in left:
            if domains[j].name == target or domains[j].size > MOST_VALUES or found[j] <= 0:
                continue
            counts = together(i, j, group[i], group[j])
            told = bits_about(counts.sum(axis=0))
            if told > 0:
                share = min(1.0, bits_beyond(counts) / told)
                found[j] = min(found[j], share * whole[j])
    return found


def _value_groups(domain: Domain, rows: Ints, most: int) -> Codes:
    """(size,) one of few groups for each value: neighbours where values have an order, else the common
    values alone and all others together."""
    if domain.size <= most:
        return np.arange(domain.size, dtype=np.int32)
    if domain.kind != Kind.SET:
        return _parts(rows, most)
    found = np.full(domain.size, most - 1, np.int32)
    found[np.argsort(-rows, kind="stable")[: most - 1]] = np.arange(most - 1)
    return found


def _weighed(counts: Ints) -> float:
    some = counts[counts > 0]
    return float((some * np.log2(some)).sum())


def steered(domains: Sequence[Domain], bits: Sequence[float]) -> list[Domain]:
    """The domains, each counting by what it tells about the target, and by its importance."""
    most = max(bits, default=0.0)
    if most <= 0:  # nothing can be predicted
        return list(domains)
    weights = {
        domain.name: domain.share * max((found / most) ** POWER, LEAST)
        for domain, found in zip(domains, bits, strict=True)
    }
    shares = shares_of(weights)
    return [
        replace(domain, share=shares[domain.name], bits=bits[j]) for j, domain in enumerate(domains)
    ]


def counts_of(codes: Codes, size: int, classes: Codes) -> Ints:
    """(size, classes) how many rows have each value with each class."""
    wide = int(classes.max(initial=0)) + 1
    pairs = codes.astype(np.int64) * wide + classes
    return np.bincount(pairs, minlength=size * wide).reshape(size, wide).astype(np.int64)


def counts_of_both(one: Codes, other: Codes, classes: Codes) -> Ints:
    """(groups, groups of the other, classes) how many rows have each group of two columns."""
    wide = int(other.max(initial=0)) + 1
    size = (int(one.max(initial=0)) + 1) * wide
    found = counts_of(one.astype(np.int64) * wide + other, size, classes)
    return found.reshape(-1, wide, found.shape[1])
