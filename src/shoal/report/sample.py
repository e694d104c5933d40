"""Some published rows, without the cells that few rows share."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.tally import COMMON
from shoal.publish.unescape import enclosed, pieces, plain, split_at
from shoal.verification.digest import Fingerprint


def sample(
    names: Sequence[str], found: Fingerprint, common: Mapping[str, pa.Array]
) -> dict[str, Any]:
    """The rows of a release's fingerprint: as good as any, whatever the order of all rows. As text; a
    missing value is an empty text, a hidden one None.

    Hidden are cells whose text fewer than `COMMON` published rows share, and labels that name a value
    which fewer input rows share. common: per column with such labels the values that may be named.
    """
    shown = [
        _cells(pc.fill_null(column, "").to_pylist(), times.tolist(), common.get(name))
        for name, column, times in zip(names, found.some.columns, found.times, strict=True)
    ]
    rows = [list(row) for row in zip(*shown, strict=True)]
    rows.sort(key=lambda row: [(cell is None, cell or "") for cell in row])
    hidden = sum(cell is None for row in rows for cell in row)
    return {"columns": list(names), "rows": rows, "hidden": hidden}


def _cells(texts: list[str], times: list[int], common: pa.Array | None) -> list[str | None]:
    return [
        text if n >= COMMON and (common is None or _named(text) <= _known(common, text)) else None
        for text, n in zip(texts, times, strict=True)
    ]


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
