"""What a table of people promises, counted by plain code from published rows and their people."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

Row = tuple[tuple[Any, ...], str, Any]
"""A published row: its class, its person, its sensitive value (None where it is not known)."""


def by_class(rows: Iterable[Row]) -> dict[tuple[Any, ...], list[tuple[str, Any]]]:
    found = defaultdict(list)
    for key, person, value in rows:
        found[key].append((person, value))
    return found


def people(members: list[tuple[str, Any]]) -> set[str]:
    return {person for person, _ in members}


def having(members: list[tuple[str, Any]]) -> dict[Any, set[str]]:
    """Per value, the people who have it in some row."""
    found = defaultdict(set)
    for person, value in members:
        if value is not None:
            found[value].add(person)
    return found


def known(members: list[tuple[str, Any]]) -> set[str]:
    return {person for person, value in members if value is not None}


def smallest(rows: Sequence[Row]) -> int:
    return min(len(people(members)) for members in by_class(rows).values())


def diversity(rows: Sequence[Row]) -> int:
    """The largest l: at least l values, and for each l - 1 people who do not have it."""
    found = []
    for members in by_class(rows).values():
        who = having(members)
        others = [len(known(members) - some) + 1 for some in who.values()]
        found.append(min([len(who), *others]))
    return min(found)


def largest_share(rows: Sequence[Row]) -> Fraction:
    return max(
        Fraction(len(some), len(known(members)))
        for members in by_class(rows).values()
        for some in having(members).values()
    )


def least_entropy(rows: Sequence[Row]) -> float:
    found = []
    for members in by_class(rows).values():
        counts = [len(some) for some in having(members).values()]
        n = sum(counts)
        found.append(-sum(c / n * math.log(c / n) for c in counts) if n else -math.inf)
    return min(found)


def recursive(rows: Sequence[Row], l: int, c: float) -> bool:  # noqa: E741
    for members in by_class(rows).values():
        counts = sorted((len(some) for some in having(members).values()), reverse=True)
        if not counts or not counts[0] < c * sum(counts[l - 1 :]):
            return False
    return True


def farthest(rows: Sequence[Row]) -> float:
    """The largest equal distance of a class from all rows as one class."""
    reference = _shares_of_pairs([(person, value) for _, person, value in rows])
    return max(
        0.5 * sum(abs(_shares_of_pairs(m).get(v, 0) - p) for v, p in reference.items())
        for m in by_class(rows).values()
    )


def _shares_of_pairs(members: list[tuple[str, Any]]) -> dict[Any, float]:
    counts = {value: len(some) for value, some in having(members).items()}
    return {value: n / sum(counts.values()) for value, n in counts.items()}


def ratios(rows: Sequence[Row]) -> Iterable[float]:
    """Every share of people in a class over that in all rows; 0 where a class lacks a value."""
    everyone = [(person, value) for _, person, value in rows]
    whole = {v: len(some) / len(known(everyone)) for v, some in having(everyone).items()}
    for members in by_class(rows).values():
        own = having(members)
        for value, share in whole.items():
            yield len(own.get(value, ())) / max(1, len(known(members))) / share


def sharing_all(rows: Sequence[Row]) -> int:
    """The fewest people who share all classes of one person."""
    classes = {key: people(members) for key, members in by_class(rows).items()}
    of_person = defaultdict(set)
    for key, person, _ in rows:
        of_person[person].add(key)
    return min(len(set.intersection(*(classes[k] for k in own))) for own in of_person.values())


EPSILON = 1e-9
HOLDS: dict[str, Callable[..., bool]] = {
    "k": lambda rows, figure: smallest(rows) >= figure,
    "l": lambda rows, figure: diversity(rows) >= figure,
    "alpha": lambda rows, figure: largest_share(rows) <= Fraction(str(figure)),
    "entropy-l": lambda rows, figure: least_entropy(rows) >= math.log(figure) - 1e-6,
    "recursive-l": lambda rows, figure, c: recursive(rows, figure, c),
    "t": lambda rows, figure: farthest(rows) <= figure + EPSILON,
    "beta": lambda rows, figure: max(ratios(rows)) - 1 <= figure + EPSILON,
    "delta": lambda rows, figure: all(
        r > 0 and abs(math.log(r)) < figure + EPSILON for r in ratios(rows)
    ),
    "average-risk": lambda rows, figure: (
        len(by_class(rows)) / sum(len(people(m)) for m in by_class(rows).values()) <= figure
    ),
}
"""Per model, whether it holds."""
