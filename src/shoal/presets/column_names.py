"""What the name of a column says it holds, as far as a preset needs it.

A name is split into words (`birthDate`, `birth-date`, `birth_date`: birth, date); runs of up to three of
them, written together, are looked up.
"""

import re
from collections.abc import Mapping

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
LONGEST_RUN = 3


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def meaning_of(name: str, vocabulary: Mapping[str, frozenset[str]]) -> str | None:
    """The first entry of a vocabulary that a run of a name's words is in."""
    words = words_of(name)
    runs = {
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + LONGEST_RUN, len(words)) + 1)
    }
    return next((meaning for meaning, known in vocabulary.items() if runs & known), None)
