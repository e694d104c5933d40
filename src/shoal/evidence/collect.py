"""Collect the evidence of a run, from its release or from sums over parts of a release.

What is counted are rows of every bar of a column's distribution, and rows at every level of generality:
sums, so that the parts of a large release can be counted one by one.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.values import COMMON
from shoal.evidence.bars import Bars, choose_bars
from shoal.evidence.evidence import ColumnEvidence, Dominance, Evidence, Histogram, histogram
from shoal.evidence.generality import (
    generality,
    level_names,
    rows_by_level,
    sensitive_level_names,
    sensitive_rows_by_level,
    spread_quasi,
    spread_sensitive,
)
from shoal.hierarchy.base import Hierarchy
from shoal.metrics.base import ReleaseView, Sums
from shoal.threads import each

BARS, LEVELS = "bar", "level"
KINDS = {Kind.RANGE: "ordered", Kind.SET: "unordered", Kind.TREE: "hierarchy"}


@dataclass(frozen=True)
class Counting:
    """Counts a release: which bar each value of each column belongs to. It can be sent to executors."""

    quasi: dict[str, Bars]
    sensitive: dict[str, Bars]

    def __call__(self, parts: ReleaseView) -> Sums:
        """Published rows of every bar, and at every level of generality."""
        places = [(i, j) for i, one in enumerate(parts.groupings) for j in range(len(one.columns))]

        def quasi(place: tuple[int, int]) -> Sums:
            i, j = place
            domain = parts.cells.domains[parts.groupings[i].columns[j]]
            after = self.quasi[domain.name].rows(spread_quasi(domain, parts.spans[i], j))
            levels = rows_by_level(domain, parts.spans[i], j)
            return sums_of(BARS, domain.name, after) | sums_of(LEVELS, domain.name, levels)

        def sensitive(name: str) -> Sums:
            after = self.sensitive[name].rows(spread_sensitive(parts, name))
            return sums_of(BARS, name, after) | sums_of(
                LEVELS, name, sensitive_rows_by_level(parts, name)
            )

        others = [name for name in self.sensitive if name in parts.cells.sensitive]
        found = each(quasi, places, parts.cells.n_rows)
        found += each(sensitive, others, parts.cells.n_rows)
        return {key: rows for one in found for key, rows in one.items()}


@dataclass(frozen=True)
class Facts:
    """What is known of a table before a release is made."""

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
    people: Mapping[str, Ints] = field(default_factory=dict)
    """Where people are counted in memory: per column, how many hold each value."""
    n_people: int = 0
    """How many people there are, where they are counted."""

    def counting(self) -> Counting:
        """How the release is counted."""
        quasi = zip(self.domains, self.rows_of_values, strict=True)
        bars = each(
            lambda column: choose_bars(*column, people=self.people.get(column[0].name)),
            quasi,
            self.n_rows,
        )
        return Counting(
            {domain.name: one for domain, one in zip(self.domains, bars, strict=True)},
            {
                name: choose_bars(*of, sensitive=True, people=self.people.get(name))
                for name, of in self.sensitive.items()
            },
        )


def collect(
    parts: ReleaseView,
    sizes: npt.NDArray[np.integer],
    losses: Mapping[str, float],
    how: Mapping[str, Hierarchy | None],
    sensitive: Sequence[str],
    schema: Mapping[str, str | None],
) -> Evidence:
    """The evidence of a run in memory.

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
        people_of_values(cells, sensitive),
        0 if cells.people is None else cells.people.count,
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
    """The evidence of a run, from sums over all parts of its release.

    classes: histograms of class sizes before and after. apart: sensitive values are in tables of their
    own.
    """

    def column(name: str, kind: str, bars: Bars, levels: Sequence[str]) -> ColumnEvidence:
        return ColumnEvidence(
            kind=kind,  # type: ignore[arg-type]
            loss=losses.get(name),
            distribution=bars.distribution(
                np.array(rows_from_sums(sums, BARS, name, len(bars.labels)))
            ),
            generality=generality(
                levels, rows_from_sums(sums, LEVELS, name, len(levels)), facts.n_rows
            ),
            lumped=bars.lumped,
        )

    columns = {
        domain.name: column(
            domain.name,
            KINDS[domain.kind],
            counting.quasi[domain.name],
            level_names(domain, facts.how.get(domain.name)),
        )
        for domain in facts.domains
    }
    for name, (domain, _) in facts.sensitive.items():
        tree = domain.hierarchy
        levels = sensitive_level_names(1 if tree is None else tree.height + 1, apart)
        columns[name] = column(name, "sensitive", counting.sensitive[name], levels)
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
            if (found := _dominant(*of, facts.n_rows, facts.people.get(name), facts.n_people))
        },
        # labels over several values name some of them, unless they are nodes of a tree
        common={
            d.name: _common(d, facts.people.get(d.name, of))
            for d, of in rows
            if d.kind != Kind.TREE
        },
    )


def people_of_values(cells: Cells, sensitive: Sequence[str]) -> dict[str, Ints]:
    """Per quasi-identifier and sensitive column, (its domain's size,) the people who hold each value;
    none where rows are counted."""
    if cells.people is None:
        return {}
    person, n_people = cells.people.number.astype(np.int64), cells.people.count

    def count(codes: npt.NDArray[np.integer], size: int) -> Ints:
        pairs = np.unique(codes.astype(np.int64) * n_people + person)
        return np.bincount(pairs // n_people, minlength=size).astype(np.int64)

    found = {
        domain.name: count(np.repeat(cells.codes[:, j], cells.counts), domain.size)
        for j, domain in enumerate(cells.domains)
    }
    domains = cells.sensitive_domains
    return found | {name: count(cells.sensitive[name], domains[name].size) for name in sensitive}


def _dominant(
    domain: Domain, rows: Ints, n: int, people: Ints | None = None, n_people: int = 0
) -> Dominance | None:
    """The value of most rows, or of most people, who have it in at least one row."""
    known = rows[: domain.size if domain.missing < 0 else domain.missing]
    if not known.any():
        return None
    counts = known if people is None else people[: len(known)]
    code = int(counts.argmax())
    # where spellings were merged, the one that stands for all may be a rare one
    is_named = counts[code] >= COMMON and domain.spellings is None
    label = domain.texts[code].as_py() if is_named else None
    return Dominance(label, int(counts[code]) / (n_people or n), people=bool(n_people))


def _common(domain: Domain, rows: Ints) -> pa.Array:
    texts = domain.texts.filter(pa.array(rows >= COMMON))
    return texts.drop_null()


def digest_of_schema(schema: Mapping[str, str | None]) -> str:
    """A hash of column names and types, in their order."""
    return hashlib.sha256(json.dumps(list(schema.items())).encode()).hexdigest()


def sums_of(what: str, name: str, rows: npt.NDArray[np.number]) -> Sums:
    """The sums of one column, by keys that name it."""
    return {f"{what}:{i}:{name}": count for i, count in enumerate(rows.tolist()) if count}


def rows_from_sums(sums: Sums, what: str, name: str, many: int) -> list[float]:
    """(many,) the rows of one column, from the sums."""
    return [sums.get(f"{what}:{i}:{name}", 0) for i in range(many)]
