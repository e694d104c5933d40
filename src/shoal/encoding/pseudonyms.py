"""Pseudonyms: keyed tokens in place of identifiers that must stay linkable.

A token is the first 128 bits of HMAC-SHA256 of the identifier under a secret key, in hex. The same
identifier has the same token in every table that is published with the key; without the key a token
cannot be computed from an identifier, so a list of all identifiers does not help to reverse it.
Identifiers are compared as those of persons: trimmed, in Unicode form NFKC and without case.

Source: Krawczyk, Bellare and Canetti, "HMAC: Keyed-Hashing for Message Authentication", RFC 2104, 1997.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field

import pyarrow as pa

from shoal.encoding.folding import folded
from shoal.hierarchy.text import known_text

TOKEN = re.compile(r"[0-9a-f]{32}")
DIGITS = 32


@dataclass(frozen=True)
class Pseudonyms:
    """Replaces the identifiers of a column by their tokens."""

    name: str
    """The column."""
    key: bytes = field(repr=False)

    def type_of(self, kind: pa.DataType) -> pa.DataType:  # noqa: ARG002 - that of every change
        """Tokens are text."""
        return pa.string()

    def __call__(self, column: pa.Array) -> pa.Array:
        """The tokens; a missing or blank identifier stays missing."""
        coded = known_text(column).dictionary_encode()
        # forms of a number stay apart: tokens of earlier releases must not change
        texts = folded(coded.dictionary, numbers=False).to_pylist()
        tokens = [token_of(text, self.key) for text in texts]
        return pa.array(tokens, pa.string()).take(coded.indices)


def token_of(identifier: str, key: bytes) -> str | None:
    """The token of a folded identifier; None where it is blank."""
    if not identifier:
        return None
    return hmac.new(key, identifier.encode(), hashlib.sha256).hexdigest()[:DIGITS]
