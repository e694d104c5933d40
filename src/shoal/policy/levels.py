"""Sensitivity levels of a column's values, in either of the forms that a policy may give them."""

from collections.abc import Iterator, Mapping
from typing import Any

from shoal.policy.wording import FieldPath, Problem, as_error, found

FORMS = "write a level per value, as in {flu: 1, HIV: 4}, or values per level, as in {1: [flu]}"

MOST = 100
"""Levels go with those of a tree, and no tree needs more."""


def read_levels(value: Any) -> dict[str, int] | None:
    """The level of each value by its text, from `{value: level}` or `{level: [values]}`."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not value:
        raise as_error(Problem((), f"found {found(value)}; {FORMS}"))
    pairs = list(_by_level(value) if _has_lists(value) else _by_value(value))
    known: dict[str, int] = {}
    problems = []
    for path, label, level in pairs:
        if not isinstance(level, int) or isinstance(level, bool) or not 1 <= level <= MOST:
            words = f"found {found(level)} as a level; must be a whole number from 1 to {MOST}"
            problems.append(Problem(path[:1], words))
        elif not isinstance(label, str):
            problems.append(Problem(path, f"found {found(label)}; must be a single value"))
        elif label in known:
            problems.append(Problem(path, f"'{label}' has a level already: {known[label]}"))
        else:
            known[label] = level
    if problems:
        raise as_error(*dict.fromkeys(problems))
    return dict(sorted(known.items()))


def _has_lists(value: Mapping[Any, Any]) -> bool:
    return any(isinstance(each, list | tuple) for each in value.values())


def _by_value(value: Mapping[Any, Any]) -> Iterator[tuple[FieldPath, Any, Any]]:
    for key, level in value.items():
        yield (str(key),), label_of(key), level


def _by_level(value: Mapping[Any, Any]) -> Iterator[tuple[FieldPath, Any, Any]]:
    for level, values in value.items():
        if not isinstance(values, list | tuple) or not values:
            words = f"found {found(values)}; must be a list of values, as in [flu, cold]"
            raise as_error(Problem((str(level),), words))
        for place, each in enumerate(values):
            # the keys of a YAML mapping are text
            number = int(level) if isinstance(level, str) and level.isdecimal() else level
            yield (str(level), place), label_of(each), number


def label_of(value: Any) -> Any:
    """A value as a table's text would show it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value
