"""What would mend a policy: errors that name their own remedy, as steps that can be taken by a press."""

import re
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from shoal.studio.columns_text import with_setting
from shoal.studio.policy_text import Change

MISSING = re.compile(
    r"Column '(?P<name>.+)' is sensitive and reads .+Add `missing: (?P<codes>\[.+?\])` to the column\. "
    r"If .+ write `missing: (?P<real>\[.*?\])`\.",
    re.DOTALL,
)
"""Values of a sensitive column that are likely to stand for a missing one."""


@dataclass(frozen=True)
class Remedy:
    """A step that an error asks for."""

    label: str
    """What the user says by it."""
    step: str
    """Its name among the steps."""
    change: Change


def remedies(error: str) -> list[Remedy]:
    """The steps that an error proposes; empty where only the user can think of one."""
    if (found := MISSING.fullmatch(error)) is None:
        return []
    name, codes, real = found["name"], _list(found["codes"]), _list(found["real"])
    if codes is None or real is None:
        return []
    shown = ", ".join(str(code) for code in codes)
    return [
        Remedy(
            f"{shown} means missing",
            f"{name}: missing {shown}",
            with_setting(name, "missing", codes),
        ),
        Remedy("It is a real value", f"{name}: real values", with_setting(name, "missing", real)),
    ]


def _list(written: str) -> list[Any] | None:
    try:
        found = YAML(typ="safe", pure=True).load(written)
    except YAMLError:
        return None
    return found if isinstance(found, list) else None
