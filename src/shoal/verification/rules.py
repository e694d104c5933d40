"""Whether published values are what the column rules of a policy give.

The text of the release is all that is known here: labels of ranges and sets are taken apart, and every
number in them must be one that the rule publishes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.missing import is_missing
from shoal.encoding.pseudonyms import TOKEN
from shoal.encoding.rules import Recoding
from shoal.errors import VerificationFailed
from shoal.hierarchy.text import text_of

STAR = "*"
MISSING = "<missing>"
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
TOKENS = "pseudonyms of 32 hexadecimal digits"


@dataclass(frozen=True)
class PublishedRule:
    """What the published values of a column must be; it can be sent to another process."""

    name: str
    rule: Recoding | None
    """None for pseudonyms."""
    generalised: bool = False
    """Whether the column is a quasi-identifier, whose labels may be ranges or sets."""
    nodes: bool = False
    """Whether labels may be nodes of a hierarchy, which are no numbers."""

    @property
    def words(self) -> str:
        """The rule, for a message."""
        return TOKENS if self.rule is None else self.rule.words

    def is_broken(self, column: pa.Array) -> bool:
        """Whether some value of a column, or of a part of it, does not follow the rule."""
        texts = pc.unique(text_of(column)).drop_null().cast(pa.string())
        if self.rule is None:
            return any(text != STAR and not TOKEN.fullmatch(text) for text in texts.to_pylist())
        unknown = is_missing(texts, self.rule.missing, reading=self.rule.reading)
        return any(
            not missing and text != STAR and not self._holds(text, self.rule)
            for text, missing in zip(texts.to_pylist(), unknown, strict=True)
        )

    def _holds(self, text: str, rule: Recoding) -> bool:
        if self.nodes and not NUMBER.fullmatch(text):
            return True
        parts = _parts(text) if self.generalised else iter([text])
        return all(part == MISSING or rule.holds(part) for part in parts)


def _parts(label: str) -> Iterator[str]:
    """The values that a label names: both ends of a range, the members of a set."""
    if label[:1] + label[-1:] == "[]" and "~" in label:
        yield from label[1:-1].split("~")
    elif label[:1] + label[-1:] == "{}":
        yield from label[1:-1].split(", ")
    else:
        yield label


def require_rules(broken: Sequence[PublishedRule]) -> None:
    """Raise `VerificationFailed` for the rules that are broken, if there are any."""
    if broken:
        raise VerificationFailed(
            "\n".join(
                f"Column '{one.name}' has published values that do not follow the policy's rule: "
                f"{one.words}."
                for one in broken
            )
        )
