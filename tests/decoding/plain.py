"""A plain parser of labels, one character at a time, as somebody would write it from the docs alone.

It shares no code with the package.
"""

from collections.abc import Iterator
from typing import Any

Label = tuple[str, tuple[str | None, ...]]
"""`any`, `missing`, `value`, `range` or `set`, and the raw values that are written in it."""


def characters(text: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether a backslash stood before it."""
    escaped = False
    for at, character in enumerate(text):
        if character == "\\" and not escaped and at + 1 < len(text):
            escaped = True
            continue
        yield character, escaped
        escaped = False


def parts(inside: list[tuple[str, bool]], mark: str) -> list[list[tuple[str, bool]]]:
    found: list[list[tuple[str, bool]]] = [[]]
    for character, escaped in inside:
        if character == mark and not escaped:
            found.append([])
        else:
            found[-1].append((character, escaped))
    return found


def word(some: list[tuple[str, bool]]) -> str:
    return "".join(character for character, _ in some)


def parse(label: str | None) -> Label:
    """What a label of a range or a set says."""
    if label is None:
        return "missing", ()
    if label == "*":
        return "any", ()
    read = list(characters(label))
    if len(read) > 1 and read[0] == ("{", False) and read[-1] == ("}", False):
        members: list[str | None] = []
        for i, part in enumerate(parts(read[1:-1], ",")):
            own = part[1:] if i else part  # the blank after a comma
            bare = [character for character, escaped in own if not escaped]
            is_missing = word(own) == "<missing>" and len(bare) == len(own)
            members.append(None if is_missing else word(own))
        return "set", tuple(members)
    if len(read) > 1 and read[0] == ("[", False) and read[-1] == ("]", False):
        ends = parts(read[1:-1], "~")
        if len(ends) == 2:
            return "range", (word(ends[0]), word(ends[1]))
    return "value", (word(read),)


def covers(label: str | None, raw: Any) -> bool:
    """Whether a label of a set or a value stands for a raw text."""
    kind, said = parse(label)
    if kind == "any":
        return True
    return raw is None if kind == "missing" else raw in said
