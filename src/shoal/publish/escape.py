r"""Raw values that could be taken for a label get a backslash, so that a reader can always tell.

Labels are `[a~b]` (a range), `{a, b}` (a set), `*` (anything) and texts with a `*` (masked). A raw
value is escaped where it holds a `*` or a backslash, or begins like a range or a set; inside a set or
a range also where it holds what separates the members there.
"""

import pyarrow as pa
import pyarrow.compute as pc

ANY = "*"
MISSING = "<missing>"
"""How a missing value is written inside a set; on its own it stays missing."""


def alone(raw: pa.Array) -> pa.Array:
    """Raw texts as published when nothing else stands in the cell."""
    escaped = pc.replace_substring_regex(raw, r"([\\*])", r"\\\1")
    return pc.replace_substring_regex(escaped, r"^([\[{])", r"\\\1")


def in_set(raw: pa.Array) -> pa.Array:
    """Raw texts as members of a set; null becomes MISSING."""
    escaped = pc.replace_substring_regex(raw, r"([\\*,{}])", r"\\\1")
    escaped = pc.replace_substring_regex(escaped, r"^([\[<])", r"\\\1")
    return pc.fill_null(escaped, MISSING)


def in_range(raw: pa.Array) -> pa.Array:
    """Raw texts as ends of a range."""
    escaped = pc.replace_substring_regex(raw, r"([\\*~\]])", r"\\\1")
    return pc.replace_substring_regex(escaped, r"^([\[{])", r"\\\1")
