"""What quasi-identifiers tell about a target: columns count by it where a policy has `predict`.

A column whose detail is gone altogether has lost all that it told about the target: its mutual
information with it, in bits. So the loss of a column is weighed by these bits, and methods keep the
detail from which the target can be predicted. A target of many numbers is taken in classes of about
equal size, so that regression is served too.
"""

from collections.abc import Sequence
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
LEAST = 1 / 50
"""No column counts less than this beside the one that tells most: what tells nothing of the target still
counts a little."""


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
    middle = 2 * np.cumsum(known) - known
    found = np.minimum(middle * CLASSES // (2 * int(known.sum())), CLASSES - 1).astype(np.int32)
    if domain.missing >= 0:
        found[domain.missing] = CLASSES
    return found


def bits_about(counts: Ints) -> float:
    """The mutual information of a column with a target, in bits; never below 0.

    counts: (values, classes) rows. Where values are many for the rows, chance alone tells something:
    what is to be expected of it is subtracted.

    Source: the correction is that of Miller, "Note on the bias of information estimates", 1955.
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n = int(counts.sum())
    if n == 0:
        return 0.0
    bits = float(_weighed(counts) - _weighed(counts.sum(axis=1)) - _weighed(counts.sum(axis=0))) / n
    by_chance = (counts.shape[0] - 1) * (counts.shape[1] - 1) / (2 * n * float(np.log(2)))
    return max(0.0, bits + float(np.log2(n)) - by_chance)


def _weighed(counts: Ints) -> float:
    some = counts[counts > 0]
    return float((some * np.log2(some)).sum())


def steered(domains: Sequence[Domain], bits: Sequence[float]) -> list[Domain]:
    """The domains, each counting by what it tells about the target, and by its importance."""
    most = max(bits, default=0.0)
    if most <= 0:  # nothing can be predicted
        return list(domains)
    weights = {
        domain.name: domain.share * max(found, LEAST * most)
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
