"""Gather the evidence of a run, from the parts of its release or from sums over them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.domain import Domain, Kind
from shoal.cells.tally import COMMON
from shoal.evidence.evidence import ColumnEvidence, Dominance, Evidence, Histogram
from shoal.evidence.generality import generality, words_of, words_of_sensitive
from shoal.evidence.sizes import histogram
from shoal.evidence.sums import BARS, WORDS, Counting, Ints, counting_of, rows_told
from shoal.hierarchy.spec import HierarchySpec
from shoal.metrics.base import Parts, Sums

KINDS = {Kind.RANGE: "ordered", Kind.SET: "unordered", Kind.TREE: "hierarchy"}


@dataclass(frozen=True)
class Facts:
    """What is known of a table before anything is made of it."""

    domains: tuple[Domain, ...]
    rows_of_values: tuple[Ints, ...]
    """Per quasi-identifier, rows that hold each value."""
    sensitive: Mapping[str, tuple[Domain, Ints]]
    """Per sensitive column, in the policy's order, what it means and rows that hold each value, a
    missing one too."""
    n_rows: int
    how: Mapping[str, HierarchySpec | None]
    """The hierarchy of each quasi column."""
    schema: Mapping[str, str | None]
    """Every input column with its type, None where it was not read."""

    def counting(self) -> Counting:
        """What is to be counted of the release."""
        return counting_of(self.domains, self.rows_of_values, self.sensitive)


def collect(
    parts: Parts,
    sizes: npt.NDArray[np.integer],
    losses: Mapping[str, float],
    how: Mapping[str, HierarchySpec | None],
    sensitive: Sequence[str],
    schema: Mapping[str, str | None],
) -> Evidence:
    """What is kept of a run.

    sizes: rows of every published class. losses: mean NCP by column. sensitive: these columns in the
    policy's order. For how and schema see `Facts`.
    """
    cells = parts.cells
    held = {name: (cells.sensitive_domains[name], cells.sensitive[name]) for name in sensitive}
    facts = Facts(
        cells.domains,
        cells.rows_of_values,
        {name: (d, np.bincount(codes, minlength=d.size)) for name, (d, codes) in held.items()},
        cells.n_rows,
        how,
        schema,
    )
    counting = facts.counting()
    both = histogram(cells.counts), histogram(sizes)
    return evidence_of(
        facts, counting, counting(parts), losses, both, apart=parts.formed is not None
    )


def evidence_of(
    facts: Facts,
    counting: Counting,
    sums: Sums,
    losses: Mapping[str, float],
    classes: tuple[Histogram, Histogram],
    apart: bool = False,
) -> Evidence:
    """The evidence, from what was counted of all parts of the release.

    classes: the sizes of those before and after. apart: sensitive values are in tables of their own.
    """
    n = facts.n_rows
    columns = {}
    for domain in facts.domains:
        name, words = domain.name, words_of(domain, facts.how.get(domain.name))
        bars = counting.quasi[name]
        columns[name] = ColumnEvidence(
            kind=KINDS[domain.kind],  # type: ignore[arg-type]
            loss=losses.get(name),
            distribution=bars.told(np.array(rows_told(sums, BARS, name, len(bars.labels)))),
            generality=generality(words, rows_told(sums, WORDS, name, len(words)), n),
            lumped=bars.lumped,
        )
    for name, (domain, _) in facts.sensitive.items():
        tree = domain.hierarchy
        words = words_of_sensitive(1 if tree is None else tree.height + 1, apart)
        bars = counting.sensitive[name]
        columns[name] = ColumnEvidence(
            kind="sensitive",
            loss=losses.get(name),
            distribution=bars.told(np.array(rows_told(sums, BARS, name, len(bars.labels)))),
            generality=generality(words, rows_told(sums, WORDS, name, len(words)), n),
            lumped=bars.lumped,
        )
    rows = zip(facts.domains, facts.rows_of_values, strict=True)
    return Evidence(
        columns=columns,
        before=classes[0],
        after=classes[1],
        schema_digest=digest_of_schema(facts.schema),
        input_columns=tuple(facts.schema),
        dominant={
            name: found
            for name, of in facts.sensitive.items()
            if (found := _dominant(*of, facts.n_rows))
        },
        # labels over several values name some of them, unless they are nodes of a tree
        common={d.name: _common(d, of) for d, of in rows if d.kind != Kind.TREE},
    )


def digest_of_schema(schema: Mapping[str, str | None]) -> str:
    """A hash of column names and types, in their order."""
    return hashlib.sha256(json.dumps(list(schema.items())).encode()).hexdigest()


def _dominant(domain: Domain, rows: Ints, n: int) -> Dominance | None:
    known = rows[: domain.size if domain.missing < 0 else domain.missing]
    if not known.any():
        return None
    code = int(known.argmax())
    text = domain.texts[code].as_py()
    return Dominance(text if known[code] >= COMMON else None, int(known[code]) / n)


def _common(domain: Domain, rows: Ints) -> pa.Array:
    texts = domain.texts.filter(pa.array(rows >= COMMON))
    return texts.drop_null()
