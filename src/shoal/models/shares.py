"""Amounts per group that the models share.

Shares are divisions of whole numbers. A division of exact whole numbers is rounded correctly, so a
share of one fifth equals the 0.2 of a policy, and comparing needs no tolerance.

Shares are taken of the rows that have a value: taken of all rows they would be smaller than what
an attacker computes who knows that a person has one.
"""

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.encoding.counts import Counts


def owners(counts: Counts) -> Ints:
    """(entries,) the group of each entry."""
    return np.repeat(np.arange(counts.n_groups), np.diff(counts.starts))


def sums(counts: Counts, amounts: Ints) -> Ints:
    """(g,) the sum of an amount over the entries of each group."""
    out = np.zeros(counts.n_groups, amounts.dtype)
    some = np.diff(counts.starts) > 0
    if some.any():
        out[some] = np.add.reduceat(amounts, counts.starts[:-1][some])
    return out


def largest(counts: Counts, amounts: Floats, without: float) -> Floats:
    """(g,) the largest amount among the entries of each group; `without` where there is none."""
    out = np.full(counts.n_groups, without, np.float64)
    some = np.diff(counts.starts) > 0
    if some.any():
        out[some] = np.maximum.reduceat(amounts, counts.starts[:-1][some])
    return out


def with_value(counts: Counts) -> Ints:
    """(g,) rows of each group that have a value."""
    return sums(counts, counts.counts)


def totals_of(counts: Counts) -> Ints:
    """(domain.size,) rows of the whole table with each value."""
    assert counts.totals is not None, "models that compare with the whole table need its counts"
    return counts.totals
