"""Whether a release is true, in plain Python: row by row, every label read by its first character.

Nothing of Shoal is used. Rows of a release and of its table are matched by trying: two rows match if
every label covers the other's value and every other cell is equal, and each row of the table is used
once (Kuhn's algorithm).
"""

from collections.abc import Sequence

Row = dict[str, str | None]


def split(text: str, separator: str) -> list[str]:
    """The parts between separators that no backslash precedes."""
    parts, escaped = [""], False
    for character in text:
        if escaped:
            parts[-1] += "\\" + character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == separator:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def unescaped(text: str) -> str:
    found, escaped = "", False
    for character in text:
        if character == "\\" and not escaped:
            escaped = True
        else:
            found, escaped = found + character, False
    return found


def covers(label: str | None, value: str | None) -> bool:
    """Whether a label without a hierarchy covers a value."""
    if label == "*":
        return True
    if label is None:
        return value is None
    if label.startswith("{"):
        members = [part.removeprefix(" ") for part in split(label[1:-1], ",")]
        if value is None:
            return "<missing>" in members
        return value in [unescaped(member) for member in members if member != "<missing>"]
    if value is None:
        return False
    if label.startswith("["):
        low, high = (unescaped(end) for end in split(label[1:-1], "~"))
        return float(low) <= float(value) <= float(high)
    if unescaped(label) == value:
        return True
    try:
        return float(label) == float(value)
    except ValueError:
        return False


def is_true(release: Sequence[Row], table: Sequence[Row], quasi: Sequence[str]) -> bool:
    """Whether every row of the release is a row of the table, each of another one."""
    fits = [
        [
            i
            for i, raw in enumerate(table)
            if all(
                covers(cell, raw[name]) if name in quasi else cell == raw[name]
                for name, cell in row.items()
            )
        ]
        for row in release
    ]
    taken: dict[int, int] = {}

    def place(at: int, tried: set[int]) -> bool:
        for i in fits[at]:
            if i in tried:
                continue
            tried.add(i)
            if i not in taken or place(taken[i], tried):
                taken[i] = at
                return True
        return False

    return all(place(at, set()) for at in range(len(release)))
