"""Some published rows, without the cells that few rows share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.tally import COMMON
from shoal.hierarchy.text import text_of
from shoal.publish.unescape import enclosed, pieces, plain, split_at

ROWS = 10


def sample(published: Mapping[str, pa.Array], common: Mapping[str, pa.Array]) -> dict[str, Any]:
    """Rows spread over the release, as text; a missing value is an empty text, a hidden one None.

    Hidden are cells whose text fewer than `COMMON` published rows share, and labels that name a value
    which fewer input rows share. common: per column with such labels the values that may be named.
    """
    n = len(next(iter(published.values()))) if published else 0
    at = np.unique(np.linspace(0, n - 1, min(ROWS, n)).round().astype(np.int64))
    shown = {name: _cells(column, at, common.get(name)) for name, column in published.items()}
    rows = [list(row) for row in zip(*shown.values(), strict=True)]
    hidden = sum(cell is None for row in rows for cell in row)
    return {"columns": list(published), "rows": rows, "hidden": hidden}


def _cells(column: pa.Array, at: Any, common: pa.Array | None) -> list[str | None]:
    coded = pc.fill_null(text_of(column).cast(pa.string()), "").dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    counts = np.bincount(codes, minlength=len(coded.dictionary))
    found: list[str | None] = []
    for code in codes[at]:
        text = coded.dictionary[int(code)].as_py()
        told = counts[code] >= COMMON and (common is None or _named(text) <= _known(common, text))
        found.append(text if told else None)
    return found


def _known(common: pa.Array, label: str) -> set[str]:
    """The values named in a label that may be."""
    named = pa.array(sorted(_named(label)), pa.string())
    known: list[str] = named.filter(pc.is_in(named, value_set=common)).to_pylist()
    return set(known)


def _named(label: str) -> set[str]:
    """The values that a range or a set names; none for a value on its own, which is counted."""
    found = pieces(label)
    if enclosed(found, "[", "]"):
        ends = split_at(found[1:-1], "~")
        return {plain(end) for end in ends} if len(ends) == 2 else set()
    if enclosed(found, "{", "}"):
        members = [
            part[1:] if place and part[:1] == [(" ", True)] else part
            for place, part in enumerate(split_at(found[1:-1], ","))
        ]
        return {plain(member) for member in members if member != pieces("<missing>")}
    return set()
