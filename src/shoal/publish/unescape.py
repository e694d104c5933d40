r"""Label texts taken apart: the counterpart of `escape`.

A backslash makes the character after it an ordinary one. What is left bare (a star, a bracket, a
comma) has a meaning.
"""

from collections.abc import Sequence

Piece = tuple[str, bool]
"""A character, and whether it is bare."""
BACKSLASH = "\\"


def pieces(text: str) -> list[Piece]:
    """The characters of a label; a backslash at the very end stands for itself."""
    if BACKSLASH not in text:
        return [(character, True) for character in text]
    found: list[Piece] = []
    at = 0
    while at < len(text):
        escaped = text[at] == BACKSLASH and at + 1 < len(text)
        at += escaped
        found.append((text[at], not escaped))
        at += 1
    return found


def plain(found: Sequence[Piece]) -> str:
    """The characters alone."""
    return "".join(character for character, _ in found)


def unescaped(text: str) -> str:
    """A raw value behind the label it is published as."""
    return plain(pieces(text)) if BACKSLASH in text else text


def split_at(found: Sequence[Piece], separator: str) -> list[list[Piece]]:
    """The pieces between bare separators."""
    parts: list[list[Piece]] = [[]]
    for piece in found:
        if piece == (separator, True):
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def enclosed(found: Sequence[Piece], first: str, last: str) -> bool:
    """Whether a label begins and ends with these bare characters."""
    return len(found) >= 2 and found[0] == (first, True) and found[-1] == (last, True)


def stars(found: Sequence[Piece]) -> tuple[int, int]:
    """How many bare stars a label begins and ends with; those of all stars count as its end."""
    bare = [piece == ("*", True) for piece in found]
    end = 0
    while end < len(bare) and bare[-1 - end]:
        end += 1
    begin = 0
    while begin < len(bare) - end and bare[begin]:
        begin += 1
    return begin, end
