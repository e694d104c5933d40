"""The disclosure of a release by plain loops over its rows, as somebody would count by hand.

Shares no code with the library: rows are tuples of texts.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = dict[str, Any]


def alone(rows: Sequence[Row], columns: Sequence[str]) -> int:
    """Rows that no other equals in all these columns."""
    times = Counter(tuple(row[name] for name in columns) for row in rows)
    return sum(n == 1 for n in times.values())


def lone_people(rows: Sequence[Row], columns: Sequence[str], person: Sequence[Any]) -> int:
    """People who have a row that nobody else has in all these columns."""
    owners: dict[tuple[Any, ...], set[Any]] = {}
    for row, who in zip(rows, person, strict=True):
        owners.setdefault(tuple(row[name] for name in columns), set()).add(who)
    return len(set().union(*(who for who in owners.values() if len(who) == 1), set()))


def worst(rows: Sequence[Row], plain: Sequence[str], size: int) -> int:
    """The most rows that a set of so many columns singles out."""
    return max(alone(rows, chosen) for chosen in combinations(plain, size))


def nearly_unique(rows: Sequence[Row], name: str) -> bool:
    """Whether at least half of the values that there are belong to one row."""
    times = Counter(row[name] for row in rows if row[name] is not None)
    return bool(times) and 2 * sum(n == 1 for n in times.values()) >= sum(times.values())


def gives_away(plain: Sequence[Any], other: Sequence[Any], ordered: bool) -> bool:
    """Whether one column follows from another, by every pair of rows."""
    known = [(a, b) for a, b in zip(plain, other, strict=True) if a is not None and b is not None]
    pairs = set(known)
    lefts, rights = {a for a, _ in pairs}, {b for _, b in pairs}
    if len(pairs) == len(lefts) == len(rights) >= 2 and len(known) - len(lefts) >= 10:
        return True
    if is_no_coincidence([a for a in plain if a is not None], known):
        return True
    if not ordered or min(len(lefts), len(rights)) < 5 or len(known) < 10:
        return False
    ascends = all(b <= d for a, b in pairs for c, d in pairs if a < c)
    return ascends or all(b >= d for a, b in pairs for c, d in pairs if a < c)


def is_no_coincidence(values: Sequence[Any], known: Sequence[tuple[Any, Any]]) -> bool:
    """Whether each value goes with one other: the odds of each further row by chance, multiplied."""
    lefts = {a for a, _ in known}
    if len(set(known)) != len(lefts) or len(lefts) < 2:
        return False
    if 2 * len(set(values)) > len(values) or 2 * len(lefts) > len(known):
        return False
    alike = sum(b == d for _, b in known for _, d in known)  # also each with itself
    odds = Fraction(alike, len(known) ** 2)
    return odds ** (len(known) - len(lefts)) <= Fraction(1, 2**40)
