"""What the name of a column says it holds, as far as a preset needs it.

Names are split into words and folded to plain letters as for drafts (`vocabulary.py`), so that a column
means the same to both, in all their languages; runs of up to three words, written together, are looked
up.
"""

from collections.abc import Mapping

from shoal.encoding.vocabulary import LONGEST_RUN, without_umlauts, words_of


def runs_of(name: str) -> set[str]:
    """Runs of a name's words, written together, with umlauts as one letter and as two."""
    words = words_of(name)
    runs = {
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + LONGEST_RUN, len(words)) + 1)
    }
    return runs | {without_umlauts(run) for run in runs}


def meaning_of(name: str, vocabulary: Mapping[str, frozenset[str]]) -> str | None:
    """The first entry of a vocabulary that a run of a name's words is in."""
    runs = runs_of(name)
    return next((meaning for meaning, known in vocabulary.items() if runs & known), None)
