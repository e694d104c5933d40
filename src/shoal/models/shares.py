"""What the models share: amounts per group, and figures that may be stated.

Shares are divisions of whole numbers. A division of exact whole numbers is rounded correctly, so a
share of one fifth equals the 0.2 of a policy, and comparing needs no tolerance.

Shares are taken of the rows that have a value: taken of all rows they would be smaller than what
someone sees who knows that a person has one.
"""

import math

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.encoding.counts import Counts

DIGITS, DECIMALS = 6, 4
"""Figures are stated with so many decimals at most, and so many digits in all."""


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
    assert counts.totals is not None, "what is compared with everybody needs everybody's counts"
    return counts.totals


def rounded_up(figure: float, above: bool = False) -> float:
    """The nearest figure to state that is not below this one; `above`: nor equal to it."""
    if not math.isfinite(figure):
        return figure
    decimals = _decimals(figure)
    step = math.ceil(figure * 10**decimals) - 1
    while (stated := step / 10**decimals) < figure or (above and stated == figure):
        step += 1
    return stated


def rounded_down(figure: float) -> float:
    """The nearest figure to state that is not above this one."""
    if not math.isfinite(figure):
        return figure
    decimals = _decimals(figure)
    step = math.floor(figure * 10**decimals) + 1
    while (stated := step / 10**decimals) > figure:
        step -= 1
    return stated


def _decimals(figure: float) -> int:
    return max(0, min(DECIMALS, DIGITS - len(str(int(abs(figure))))))


def no_value(everyone: Counts, of: str) -> str:
    """What to say where nobody has a value, else nothing."""
    if with_value(everyone).any():
        return ""
    return (
        f"Every value of {of} is missing: nothing can be promised of it. Leave the constraint out."
    )
