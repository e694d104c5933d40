"""What is counted of a release for its evidence, in sums that parts of a release add up to."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.values import COMMON
from shoal.evidence.bars import Bars, bars_of
from shoal.evidence.evidence import ColumnEvidence, Dominance, Evidence, Histogram, histogram
from shoal.evidence.generality import (
    generality,
    rows_of_levels,
    rows_of_words,
    spread_quasi,
    spread_sensitive,
    words_of,
    words_of_sensitive,
)
from shoal.hierarchy.base import Hierarchy
from shoal.metrics.base import ReleaseView, Sums
from shoal.threads import each

BARS, WORDS = "bar", "word"


@dataclass(frozen=True)
class Counting:
    """Which bar each value of each column belongs to; it can travel to where the rows are."""

    quasi: dict[str, Bars]
    sensitive: dict[str, Bars]

    def __call__(self, parts: ReleaseView) -> Sums:
        """Published rows of every bar, and of every word for how coarse they are."""
        places = [(i, j) for i, one in enumerate(parts.groupings) for j in range(len(one.columns))]

        def quasi(place: tuple[int, int]) -> Sums:
            i, j = place
            domain = parts.cells.domains[parts.groupings[i].columns[j]]
            after = self.quasi[domain.name].rows(spread_quasi(domain, parts.spans[i], j))
            words = rows_of_words(domain, parts.spans[i], j)
            return told(BARS, domain.name, after) | told(WORDS, domain.name, words)

        def secret(name: str) -> Sums:
            after = self.sensitive[name].rows(spread_sensitive(parts, name))
            return told(BARS, name, after) | told(WORDS, name, rows_of_levels(parts, name))

        found = each(quasi, places)
        found += each(secret, [name for name in self.sensitive if name in parts.cells.sensitive])
        return {key: rows for one in found for key, rows in one.items()}


def counting_of(
    domains: Sequence[Domain],
    rows_of_values: Sequence[Ints],
    sensitive: Mapping[str, tuple[Domain, Ints]],
) -> Counting:
    """What is counted of a table; sensitive: per column what it means, and rows with each value."""
    quasi = zip(domains, rows_of_values, strict=True)
    return Counting(
        {d.name: bars for d, bars in zip(domains, each(lambda q: bars_of(*q), quasi), strict=True)},
        {name: bars_of(*of, sensitive=True) for name, of in sensitive.items()},
    )


def told(what: str, name: str, rows: npt.NDArray[np.number]) -> Sums:
    """The sums of one column."""
    return {f"{what}:{i}:{name}": count for i, count in enumerate(rows.tolist()) if count}


def rows_told(sums: Sums, what: str, name: str, many: int) -> list[float]:
    """(many,) back from the sums."""
    return [sums.get(f"{what}:{i}:{name}", 0) for i in range(many)]


# Gather the evidence of a run, from the parts of its release or from sums over them.


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
    how: Mapping[str, Hierarchy | None]
    """The hierarchy of each quasi column."""
    schema: Mapping[str, str | None]
    """Every input column with its type, None where it was not read."""

    def counting(self) -> Counting:
        """What is to be counted of the release."""
        return counting_of(self.domains, self.rows_of_values, self.sensitive)


def collect(
    parts: ReleaseView,
    sizes: npt.NDArray[np.integer],
    losses: Mapping[str, float],
    how: Mapping[str, Hierarchy | None],
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
