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


def commonest(counts: Counts) -> Ints:
    """(g,) how often the commonest value of each group occurs; 0 where it has none."""
    return largest(counts, counts.counts.astype(np.float64), without=0.0).astype(np.int64)


def with_value(counts: Counts) -> Ints:
    """(g,) rows of each group that have a value; where people are counted, pairs of a person and a
    value that she has."""
    return sums(counts, counts.counts)


def known(counts: Counts) -> Ints:
    """(g,) rows of each group that have a value, be it published as a more general one; where people
    are counted, people who have one."""
    rows = with_value(counts) if counts.known is None else counts.known
    return rows if counts.raised is None else rows + counts.raised.rows


def everyone(counts: Counts) -> int:
    """Rows, or people, of the whole table that have a value."""
    return int(totals_of(counts).sum()) if counts.everyone is None else counts.everyone


def totals_of(counts: Counts) -> Ints:
    """(domain.size,) rows of the whole table with each value."""
    assert counts.totals is not None, "models that compare with the whole table need its counts"
    return counts.totals
