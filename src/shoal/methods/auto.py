"""The automatic choice of a method, from the policy and a few facts about the table.

The same table and policy give the same choice on every engine, so only methods are chosen that run on
all of them. The rules were measured, see `docs/choosing-a-method.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass as plain_dataclass
from typing import Literal, NamedTuple

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Method, Progress
from shoal.methods.blocks import group_blocks
from shoal.methods.k_clustering import KClustering
from shoal.methods.least_loss_partition import LeastLossPartition
from shoal.methods.local_recoding import LocalRecoding
from shoal.models.requirement import Requirement

MOST_RECODED = 5_000_000
"""Rows of a table whose distinct rows fit into memory on every engine."""
MOST_CLUSTERED = 100_000
"""Rows up to which clusters are grown and groups refined: more take too long."""
MOST_WIDE = 200_000_000
"""Rows times values of the widest column up to which clusters are grown: their time grows with both."""
FEW_ROWS = 100
"""In fewer rows, clusters that are refined lose least whatever the labels are; but where constraints
concern sensitive values, these could be learned by running the method again."""
FEW_VALUES = 5
"""A column with so many values at most needs no hierarchy."""
FEW_FREE, MANY_FREE = 0.2, 0.5
"""Shares of columns without a hierarchy: up to the first, local recoding loses less than clusters that
are refined; up to the second, less than a partition."""


class Facts(NamedTuple):
    """What the choice depends on."""

    domains: Sequence[Domain]
    """Of the quasi-identifiers."""
    n_rows: int
    requirement: Requirement
    anatomy: bool = False
    """Whether quasi-identifiers are published as they are."""
    starred: bool = False
    """Whether suppressed rows are published as stars."""
    refine: Literal["quick", "thorough"] | int | None = None
    """What the policy says about refinement."""


@plain_dataclass(frozen=True)
class Choice:
    """The method that was chosen."""

    method: Method
    reason: str
    """Why, in words that follow a colon."""
    refine: Literal["quick", "thorough"] | int | None = None

    @property
    def note(self) -> str:
        """One sentence for the release."""
        then = ", then refinement (quick)" if self.refine == "quick" else ""
        return f"auto chose {self.method.name}{then}: {self.reason}."


@dataclass(frozen=True)
class Auto(Method):
    """Automatic choice: the method that loses least on such a table in reasonable time.

    local-recoding where at most a fifth of the quasi-identifiers have more than 5 values and no
    hierarchy. Otherwise k-clustering for up to 100,000 rows under `k`, `l` and other models that every
    larger group holds too; under the rest, local-recoding. For fewer than 100 rows k-clustering under
    `k` alone, local-recoding where sensitive values are protected. Both with quick refinement for up to
    100,000 rows. For more, local-recoding where at most half of the quasi-identifiers have no hierarchy,
    else least-loss-partition, which also serves Anatomy, people with several rows, columns of very many
    values and more than 5,000,000 rows. The release says what was chosen, and why.

    Source: our own measurements.
    """

    def choose(self, facts: Facts) -> Choice:
        """Choose a method; the same on every engine."""
        requirement = facts.requirement
        if facts.anatomy:
            return _partition("quasi-identifiers are published as they are", facts)
        if requirement.counts_people:
            return _partition("people with several rows are counted", facts)
        if facts.n_rows > MOST_RECODED:
            return _partition(f"the table has more than {MOST_RECODED:,} rows", facts)
        free, few = sum(map(_is_free, facts.domains)), facts.n_rows < FEW_ROWS
        share, words = (
            free / len(facts.domains),
            f"{free} of {len(facts.domains)} quasi-identifiers",
        )
        why = f"{words} have more than {FEW_VALUES} values, published as ranges or sets"
        many = facts.n_rows > MOST_CLUSTERED
        wide = facts.n_rows * max(domain.size for domain in facts.domains) > MOST_WIDE
        joined = requirement.holds_when_joined and not facts.starred
        if few and joined and requirement.columns:
            why = (
                f"the table has fewer than {FEW_ROWS} rows, and clusters give sensitive values away"
            )
            return _recoding(why, facts)
        if joined and (few or (share > FEW_FREE and not (many or wide))):
            why = f"the table has fewer than {FEW_ROWS} rows" if few else why
            return Choice(KClustering(block_rows=MOST_CLUSTERED), why, facts.refine or "quick")
        if share > MANY_FREE and (many or wide):
            rows = f"there are more than {MOST_CLUSTERED:,} rows"
            return _partition(f"{why}, and {rows if many else 'one of them has very many'}", facts)
        if share > FEW_FREE and not joined:
            bar = (
                "suppressed rows are starred"
                if facts.starred
                else "joining two groups that hold the constraints need not give one that does"
            )
            why = f"{why}, which clusters would suit, but {bar}"
        return _recoding(why, facts)

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by the method that is chosen for the cells, not refined."""
        choice = self.choose(Facts(cells.domains, cells.n_rows, requirement))
        return group_blocks(choice.method, cells, requirement, seed, progress)


def _partition(reason: str, facts: Facts) -> Choice:
    return Choice(LeastLossPartition(), reason, facts.refine)


def _recoding(reason: str, facts: Facts) -> Choice:
    """Local recoding, refined where that takes a moment and is possible on every engine: there all rows
    must be in one block."""
    compares = any(model.compares_with_table for model in facts.requirement.models)
    if facts.n_rows > MOST_CLUSTERED or compares or facts.starred:
        return Choice(LocalRecoding(), reason, facts.refine)
    return Choice(LocalRecoding(block_rows=MOST_CLUSTERED), reason, facts.refine or "quick")


def _is_free(domain: Domain) -> bool:
    """Whether a column has many values and no hierarchy."""
    return domain.kind != Kind.TREE and domain.size - (domain.missing >= 0) > FEW_VALUES
