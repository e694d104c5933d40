"""From what a policy says of a hierarchy to the object that builds it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from shoal.errors import PolicyError, listed, nearest
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import PARTS, DateParts
from shoal.hierarchy.explicit import HOW, Tree
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask

HierarchySpec = CsvFile | Intervals | Mask | DateParts | Tree


@dataclass(frozen=True)
class _Kind:
    """How one kind of hierarchy is written in a policy."""

    make: type[HierarchySpec]
    allowed: str
    """What may stand under its key, in words."""
    fields: Mapping[str, str]
    """Its keys in a policy, and the field each one fills; its own key comes first."""
    words: tuple[str, ...] = ()
    """The words it knows, for the nearest spelling."""


KINDS = {
    "csv": _Kind(
        CsvFile,
        "the path of a file, with 'separator' one character",
        {"csv": "path", "separator": "separator"},
    ),
    "intervals": _Kind(
        Intervals,
        "a list of rising widths above 0, such as [5, 10, 20], with 'from' a number",
        {"intervals": "intervals", "from": "from_"},
    ),
    "mask": _Kind(Mask, "'right' or 'left'", {"mask": "mask"}, ("right", "left")),
    "date": _Kind(
        DateParts,
        f"a list out of {listed(PARTS)}, in this order, such as [month, year]",
        {"date": "date"},
        PARTS,
    ),
    "tree": _Kind(Tree, HOW, {"tree": "tree"}),
}
FORMS = (
    "Write the path of a CSV file, or one of {intervals: [5, 10]}, {mask: right}, "
    "{date: [month, year]}, {tree: {any: [a, b]}}, {csv: file.csv}."
)


def parse_spec(value: object) -> HierarchySpec:
    """The hierarchy that a policy's `hierarchy:` asks for; PolicyError when it cannot be meant."""
    if isinstance(value, HierarchySpec):
        return value
    if isinstance(value, str | os.PathLike):
        return CsvFile(os.fspath(value))
    if not isinstance(value, Mapping):
        raise PolicyError(f"hierarchy: found {value!r}. {FORMS}")
    kind = _kind_of(value)
    known = KINDS[kind].fields
    for key in value:
        if key not in known:
            raise PolicyError(
                f"hierarchy: found the key '{key}' beside '{kind}'; allowed "
                f"{'is' if len(known) == 1 else 'are'} {listed(known)}.{nearest(str(key), known)}"
            )
    return _make(kind, value)


def _kind_of(value: Mapping[Any, Any]) -> str:
    """The one key that says which kind it is."""
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


def _make(kind: str, value: Mapping[Any, Any]) -> HierarchySpec:
    form = KINDS[kind]
    try:
        return form.make(**{form.fields[key]: given for key, given in value.items()})
    except ValidationError as error:
        found = error.errors()[0]["input"]
        guess = nearest(found, form.words) if isinstance(found, str) else ""
        raise PolicyError(
            f"hierarchy: {kind}: found {found!r}; allowed is {form.allowed}.{guess}"
        ) from None
