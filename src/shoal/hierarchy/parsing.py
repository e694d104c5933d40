"""From the `hierarchy:` of a policy to the object that builds it."""

import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from shoal.errors import PolicyError, listed, nearest
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.nested import NestedTree

KINDS: dict[str, type[Hierarchy]] = {
    next(iter(kind.policy_keys)): kind for kind in (CsvFile, Intervals, Mask, DateParts, NestedTree)
}
"""The kinds that a policy file can describe, by their key."""
FORMS = (
    "Write the path of a CSV file, or one of {intervals: [5, 10]}, {mask: right}, "
    "{date: [month, year]}, {tree: {any: [a, b]}}, {csv: file.csv}."
)


def parse_hierarchy(value: object) -> Hierarchy:
    """The hierarchy that a policy describes, or `PolicyError` with what is allowed."""
    if isinstance(value, Hierarchy):
        return value
    if isinstance(value, str | os.PathLike):
        return CsvFile(os.fspath(value))
    if not isinstance(value, Mapping):
        raise PolicyError(f"hierarchy: found {value!r}. {FORMS}")
    key = _kind_of(value)
    keys = KINDS[key].policy_keys
    for other in value:
        if other not in keys:
            raise PolicyError(
                f"hierarchy: found the key '{other}' next to '{key}'; allowed "
                f"{'is' if len(keys) == 1 else 'are'} {listed(keys)}.{nearest(str(other), keys)}"
            )
    return _create(key, value)


def _kind_of(value: Mapping[Any, Any]) -> str:
    """The one key that decides the kind."""
    kinds = [key for key in value if key in KINDS]
    if len(kinds) == 1:
        return str(kinds[0])
    if kinds:
        raise PolicyError(
            f"hierarchy: found {' and '.join(kinds)}; a column has one hierarchy. {FORMS}"
        )
    found = listed(f"'{key}'" for key in value) or "no key"
    guess = next((hint for key in value if (hint := nearest(str(key), KINDS))), "")
    raise PolicyError(f"hierarchy: found {found}; one of {listed(KINDS)} is needed.{guess} {FORMS}")


def _create(key: str, value: Mapping[Any, Any]) -> Hierarchy:
    kind = KINDS[key]
    try:
        return kind(**{kind.policy_keys[name]: given for name, given in value.items()})
    except ValidationError as error:
        found = error.errors()[0]["input"]
        guess = nearest(found, kind.choices) if isinstance(found, str) else ""
        raise PolicyError(
            f"hierarchy: {key}: found {found!r}; allowed is {kind.allowed}.{guess}"
        ) from None
