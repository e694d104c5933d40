"""Codes by their first characters: a zip code, a diagnosis or a postcode, always this coarse.

With `characters: 4`, 02138 is published as 0213 whatever the guarantees need, and grows coarser from
there. Texts that are shorter stay as they are.
"""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.missing import is_missing
from shoal.encoding.reading import AS_FOUND, ValueReading
from shoal.encoding.rules import Recoding
from shoal.errors import InputError
from shoal.hierarchy.text import text_of


@dataclass(frozen=True)
class FirstCharacters(Recoding):
    """Publishes texts by their first characters."""

    name: str
    """The column."""
    kept: int
    """How many characters stay."""
    missing: tuple[str, ...] = ()
    """Codes for a missing value, which stay as they are."""
    reading: ValueReading = AS_FOUND
    """How texts are written."""
    gives_numbers: ClassVar[bool] = False

    @property
    def words(self) -> str:
        """What the rule does, for a report."""
        many = "character" if self.kept == 1 else f"{self.kept} characters"
        return f"texts are published by their first {many}"

    def type_of(self, kind: pa.DataType) -> pa.DataType:  # noqa: ARG002 - codes are texts
        """The type of the column once the rule was applied."""
        return pa.string()

    def __call__(self, column: pa.Array) -> pa.Array:
        """The column as it is published."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            raise InputError(
                f"Column '{self.name}' holds numbers, and codes that begin with 0 have lost it. Give "
                "them as texts, or publish numbers with `round`."
            )
        coded = text_of(column).cast(pa.string()).dictionary_encode()
        texts = coded.dictionary
        unknown = pa.array(is_missing(texts, self.missing, reading=self.reading))
        shorter = pc.utf8_slice_codeunits(pc.utf8_trim_whitespace(texts), 0, self.kept)
        return pc.if_else(unknown, texts, shorter).take(coded.indices)

    def holds(self, text: str) -> bool:
        """Whether a text may be a published value of the column."""
        return len(text) <= self.kept
