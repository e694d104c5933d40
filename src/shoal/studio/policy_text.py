"""A policy file as text that controls can change, line by line.

Values are texts here, as written: `02138` stays `02138` and `5` stays `5`, whatever a YAML reader would
make of them. Comments, quotes and the order of keys stay, and lines that a change does not concern stay
exactly as they are. What the text means is decided by `shoal.api.read_policy` alone.
"""

import difflib
import io
import json
import re
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from shoal.errors import PolicyError

Change = Callable[[CommentedMap], None]
"""Changes the keys of a policy in place; values are texts, mappings and lists."""
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./ -]*[A-Za-z0-9_./]|[A-Za-z_]")
"""Words that need no quotes in any place of a YAML file."""
NULLS = {"", "~", "null", "Null", "NULL"}
"""What a plain scalar without a value reads like; in quotes these are texts."""
RESERVED = {"true", "false", "null", "yes", "no", "on", "off"}
"""Words that YAML readers take for something else than text."""
KEPT = 8
"""Texts whose keys are kept."""


class _TextResolver(VersionedResolver):
    """Takes every plain scalar for a text."""

    @property
    def versioned_resolver(self) -> Any:
        """No pattern makes a number of a text."""
        return {}


def _yaml() -> YAML:
    reader = YAML(typ="rt")
    reader.preserve_quotes = True
    reader.width = 10**9
    reader.brace_single_entry_mapping_in_flow_sequence = True  # [{k: 5}], not [k: 5]
    reader.indent(mapping=2, sequence=4, offset=2)
    reader.Resolver = _TextResolver
    return reader


def parse(text: str) -> CommentedMap:
    """The keys of a policy, with its comments; the caller may change them."""
    return deepcopy(_parsed(text)[0])


@lru_cache(maxsize=KEPT)
def _parsed(text: str) -> tuple[CommentedMap, str]:
    """The keys of a policy, which nobody changes, and how they are written.

    Every control asks for those of the same text, and a copy takes half as long as reading it again.
    """
    try:
        data = _yaml().load(text)
    except YAMLError:
        raise PolicyError("The policy cannot be read as YAML; mend it in the drawer.") from None
    if not isinstance(data, CommentedMap):
        raise PolicyError("The policy is not a mapping; mend it in the drawer.")
    return data, _dumped(data)


def changed(text: str, change: Change) -> str:
    """The text with a change; lines that it does not concern stay as they are."""
    data = parse(text)
    change(data)
    return _patched(text, _parsed(text)[1], _dumped(data))


def is_null(value: Any) -> bool:
    """Whether a value that was read here is none: `key:` without a value, `~` or `null`."""
    return value is None or (type(value) is str and value in NULLS)


def scalar(value: Any) -> Any:
    """A value of Python as a text that YAML reads as this value."""
    if isinstance(value, dict):
        return flow_map(value)
    if isinstance(value, list | tuple):
        return flow_list(value)
    if isinstance(value, bool | None | int | float):
        return json.dumps(value)
    text = str(value)
    if PLAIN.fullmatch(text) and text.lower() not in RESERVED:
        return text
    return DoubleQuotedScalarString(text)


def flow_map(values: dict[str, Any]) -> CommentedMap:
    """A mapping that is written as `{a: 1, b: 2}`."""
    found = CommentedMap({scalar(key): scalar(value) for key, value in values.items()})
    found.fa.set_flow_style()
    return found


def flow_list(values: "list[Any] | tuple[Any, ...]") -> CommentedSeq:
    """A list that is written as `[a, b]`."""
    found = CommentedSeq([scalar(value) for value in values])
    found.fa.set_flow_style()
    return found


def difference(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that differ, with two around them: pairs of a mark (`+`, `-`, ` ` or `…`) and a line."""
    found: list[tuple[str, str]] = []
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    for line in lines:
        if line.startswith(("---", "+++")) and not found:
            continue
        if line.startswith("@@"):
            if found:
                found.append(("…", ""))
            continue
        found.append((line[0], line[1:]))
    return found


def _dumped(data: CommentedMap) -> str:
    out = io.StringIO()
    _yaml().dump(data, out)
    return out.getvalue()


def _patched(text: str, before: str, after: str) -> str:
    """The text with the difference of two other texts, of which the first is it in another layout.

    Lines are the same that differ in spaces alone. Where a changed line has no counterpart in the text,
    or the result would not mean the same, the second text is the result.
    """
    if before == text:
        return after
    mine, old, new = (each.splitlines(keepends=True) for each in (text, before, after))
    result = _spliced(mine, old, new)
    return result if result is not None and _same(result, after) else after


def _spliced(mine: list[str], old: list[str], new: list[str]) -> str | None:
    place: dict[int, int] = {}
    plain_old, plain_mine = (["".join(line.split()) for line in lines] for lines in (old, mine))
    matcher = difflib.SequenceMatcher(None, plain_old, plain_mine, autojunk=False)
    for block in matcher.get_matching_blocks():
        place |= {block.a + i: block.b + i for i in range(block.size)}
    result: list[str] = []
    reached = 0
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            continue
        near = i1 if i1 < i2 else i1 - 1 if i1 - 1 in place else i1
        if near not in place:
            return None
        if i1 < i2:
            start = place[i1]
            if [place.get(i) for i in range(i1, i2)] != list(range(start, start + i2 - i1)):
                return None
            end = start + i2 - i1
        else:
            start = end = place[near] + (near < i1)
        if start < reached:
            return None
        deeper = _indent(mine[place[near]]) - _indent(old[near])
        result += [*mine[reached:start], *(_indented(line, deeper) for line in new[j1:j2])]
        reached = end
    return "".join([*result, *mine[reached:]])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _indented(line: str, deeper: int) -> str:
    return " " * deeper + line if deeper >= 0 else line[min(-deeper, _indent(line)) :]


def _same(one: str, other: str) -> bool:
    """Whether two texts have the same keys and values."""
    try:
        return bool(_yaml().load(one) == _yaml().load(other))
    except YAMLError:
        return False
