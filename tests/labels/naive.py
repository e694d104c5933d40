"""Forms of labels by plain code: what a class is, and the statistics of its values.

Nothing of Shoal is used. Rows of a release carry the number of their row in the table, in a column that
is published as it is.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from statistics import median

from tests.truth.naive import split, unescaped

Row = dict[str, str | None]


def classes(rows: Sequence[Row], quasi: Sequence[str]) -> dict[tuple[str | None, ...], list[Row]]:
    """Rows by what is published of them, those with a star everywhere left out."""
    found: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        if any(row[name] != "*" for name in quasi):
            found.setdefault(tuple(row[name] for name in quasi), []).append(row)
    return found


def half_up(number: Fraction) -> int:
    return floor(number + Fraction(1, 2))


def whole_statistic(form: str, values: Sequence[int]) -> str:
    """The statistic of whole numbers, rounded to a whole number."""
    numbers = [Fraction(value) for value in values]
    if form == "midpoint":
        return str(half_up((min(numbers) + max(numbers)) / 2))
    if form == "mean":
        return str(half_up(sum(numbers, Fraction(0)) / len(numbers)))
    assert form == "median"
    return str(half_up(Fraction(median(numbers))))


def modes(values: Sequence[str | None]) -> set[str | None]:
    """The most frequent values."""
    counts = Counter(values)
    return {value for value, times in counts.items() if times == max(counts.values())}


def mean_of_people(values: Sequence[tuple[str, int]]) -> str:
    """The mean of the means of people, from pairs of a person and a value."""
    whose: dict[str, list[int]] = {}
    for person, value in values:
        whose.setdefault(person, []).append(value)
    means = [Fraction(sum(mine), len(mine)) for mine in whose.values()]
    return str(half_up(sum(means, Fraction(0)) / len(means)))


def members(
    label: str | None, values: Sequence[str | None], tree: dict[str, list[str]]
) -> set[str]:
    """The values that a label is over, read by its first character; `tree`: leaves by node."""
    if label == "*":
        return {str(value) for value in values}
    if label is None:
        return {"None"} & {str(value) for value in values}
    if label in tree:
        return set(tree[label]) & {str(value) for value in values}
    known = [value for value in values if value is not None]
    if label.startswith("{"):
        inside = [part.removeprefix(" ") for part in split(label[1:-1], ",")]
        found = {unescaped(part) for part in inside if part != "<missing>"} & set(known)
        return found | ({"None"} if "<missing>" in inside else set())
    if label.startswith("[") and label.endswith("]"):
        low, high = label[1:-1].split("~")
        return {value for value in known if float(low) <= float(value) <= float(high)}
    if label.startswith("["):
        at = label.index("-", 2)
        low, high = label[1:at], label[at + 1 : -1]
        return {value for value in known if float(low) <= float(value) < float(high)}
    return {value for value in known if value == unescaped(label)}
