"""The models as their papers write them: plain Python, fractions, one group at a time.

A group is a list of values, None for a missing one; `everybody` is such a list for the whole table.
Nothing of the package is used here.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Group = Sequence[int | None]
Tree = Sequence[Sequence[int]]
"""tree[level][leaf]: the node over each leaf, leaves at level 0, one root on top."""


def present(group: Group) -> list[int]:
    """The values that are there."""
    return [value for value in group if value is not None]


def shares(group: Group) -> dict[int, Fraction]:
    """Each value's share of the rows that have a value."""
    values = present(group)
    return {value: Fraction(n, len(values)) for value, n in Counter(values).items()}


def entropy(group: Group) -> float:
    """Shannon's, in nats; -inf where there is no value."""
    if not present(group):
        return -math.inf
    return -math.fsum(float(p) * math.log(p) for p in shares(group).values())


def alpha(group: Group) -> Fraction:
    """The commonest value's share of the rows that have a value; 0 where none has."""
    return max(shares(group).values(), default=Fraction(0))


def recursive(group: Group, l: int, c: Fraction) -> bool:  # noqa: E741
    """r1 < c (rl + … + rm)."""
    counts = sorted(Counter(present(group)).values(), reverse=True)
    if len(counts) < l:
        return False
    return counts[0] < c * sum(counts[l - 1 :])


def total_variation(group: Group, everybody: Group) -> Fraction:
    """Half the sum of |q - p|."""
    q, p = shares(group), shares(everybody)
    return sum((abs(q.get(v, Fraction(0)) - p[v]) for v in p), Fraction(0)) / 2


def ordered_distance(group: Group, everybody: Group) -> Fraction:
    """Li et al.: the running sum of r_i = q_i - p_i, its size added up, over m - 1."""
    q, p = shares(group), shares(everybody)
    running, moved = Fraction(0), Fraction(0)
    values = sorted(p)
    for value in values[:-1]:
        running += q.get(value, Fraction(0)) - p[value]
        moved += abs(running)
    return moved / (len(values) - 1) if len(values) > 1 else Fraction(0)


def hierarchical_distance(group: Group, everybody: Group, tree: Tree) -> Fraction:
    """Li et al.: for each inner node, its height over the tree's, times what moves between its
    children: the smaller of what some have too much and others too little."""
    q, p = shares(group), shares(everybody)
    height = len(tree) - 1
    extra = {
        (0, leaf): q.get(leaf, Fraction(0)) - p.get(leaf, Fraction(0))
        for leaf in range(len(tree[0]))
    }
    cost = Fraction(0)
    for level in range(1, height + 1):
        for node in set(tree[level]):
            leaves = [leaf for leaf in range(len(tree[0])) if tree[level][leaf] == node]
            children = [
                extra[level - 1, child] for child in {tree[level - 1][leaf] for leaf in leaves}
            ]
            too_much = sum((e for e in children if e > 0), Fraction(0))
            too_little = sum((-e for e in children if e < 0), Fraction(0))
            cost += Fraction(level, height) * min(too_much, too_little)
            extra[level, node] = sum(children, Fraction(0))
    return cost


def growths(group: Group, everybody: Group) -> dict[int, Fraction]:
    """(q - p) / p of every value of the table."""
    q, p = shares(group), shares(everybody)
    return {value: (q.get(value, Fraction(0)) - p[value]) / p[value] for value in p}


def beta(group: Group, everybody: Group, most: Fraction, enhanced: bool) -> bool:
    """Every positive growth is at most β, and at most -ln p where that counts."""
    p = shares(everybody)
    if not present(group):
        return False
    return all(
        growth <= most and (not enhanced or float(growth) <= -math.log(p[value]))
        for value, growth in growths(group, everybody).items()
        if growth > 0
    )


def delta(group: Group, everybody: Group, below: float) -> bool:
    """|ln(q / p)| < δ for every value of the table; a value that is lacking is infinitely far."""
    q, p = shares(group), shares(everybody)
    return bool(present(group)) and all(
        value in q and abs(math.log(q[value] / p[value])) < below for value in p
    )


def distance(name: str, tree: Tree) -> Callable[[Group, Group], Fraction]:
    """One of the three, 1 for a group without any value."""
    every: dict[str, Any] = {
        "equal": total_variation,
        "ordered": ordered_distance,
        "hierarchical": lambda group, everybody: hierarchical_distance(group, everybody, tree),
    }
    return lambda group, everybody: every[name](group, everybody) if present(group) else Fraction(1)
