"""Gather the evidence of a run from the parts of its release."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.cells import Cells
from shoal.cells.domain import Kind
from shoal.cells.tally import COMMON
from shoal.evidence.bars import distribution
from shoal.evidence.evidence import ColumnEvidence, Dominance, Evidence
from shoal.evidence.generality import generality_of_quasi, generality_of_sensitive
from shoal.evidence.sizes import histogram
from shoal.evidence.spread import Rows, spread_quasi, spread_sensitive
from shoal.hierarchy.spec import HierarchySpec
from shoal.metrics.base import Parts
from shoal.threads import each

KINDS = {Kind.RANGE: "ordered", Kind.SET: "unordered", Kind.TREE: "hierarchy"}


def collect(
    parts: Parts,
    sizes: npt.NDArray[np.integer],
    losses: Mapping[str, float],
    how: Mapping[str, HierarchySpec | None],
    sensitive: Sequence[str],
    schema: Mapping[str, str | None],
) -> Evidence:
    """What is kept of a run.

    sizes: rows of every published class. losses: mean NCP by column. how: the hierarchy of each quasi
    column. sensitive: these columns in the policy's order. schema: every input column with its type,
    None where it was not read.
    """
    cells, apart = parts.cells, parts.formed is not None
    generality = generality_of_quasi(parts, how)
    spread = spread_quasi(parts)
    names = [domain.name for domain in cells.domains]

    def quasi(name: str) -> ColumnEvidence:
        rows = spread[name]
        bars, lumped = distribution(rows)
        kind = KINDS[rows.domain.kind]
        return ColumnEvidence(kind, losses.get(name), bars, generality[name], lumped)  # type: ignore[arg-type]

    def secret(name: str) -> ColumnEvidence:
        bars, lumped = distribution(spread_sensitive(parts, name), sensitive=True)
        coarse = generality_of_sensitive(parts, name, apart)
        return ColumnEvidence("sensitive", losses.get(name), bars, coarse, lumped)

    columns = dict(zip(names, each(quasi, names), strict=True))
    columns |= dict(zip(sensitive, each(secret, list(sensitive)), strict=True))
    return Evidence(
        columns=columns,
        before=histogram(cells.counts),
        after=histogram(sizes),
        schema_digest=digest_of_schema(schema),
        input_columns=tuple(schema),
        dominant={name: found for name in sensitive if (found := _dominant(cells, name))},
        common={name: _common(rows) for name, rows in spread.items() if _names_values(rows)},
    )


def digest_of_schema(schema: Mapping[str, str | None]) -> str:
    """A hash of column names and types, in their order."""
    return hashlib.sha256(json.dumps(list(schema.items())).encode()).hexdigest()


def _dominant(cells: Cells, name: str) -> Dominance | None:
    totals = cells.totals[name]
    if not totals.any():
        return None
    code = int(totals.argmax())
    text = cells.sensitive_domains[name].texts[code].as_py()
    return Dominance(text if totals[code] >= COMMON else None, int(totals[code]) / cells.n_rows)


def _names_values(rows: Rows) -> bool:
    """Whether labels over several values name some of them."""
    return rows.domain.kind != Kind.TREE


def _common(rows: Rows) -> pa.Array:
    texts = rows.domain.texts.filter(pa.array(rows.before >= COMMON))
    return texts.drop_null()
