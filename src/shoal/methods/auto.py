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
"""Rows up to which clusters are grown: more take too long."""
FEW_ROWS = 100
"""In fewer rows, clusters that are refined lose least whatever the labels are."""
FEW_VALUES = 5
"""A set of values with so many members at most loses as little as a hierarchy."""
MANY_VALUES = 64
"""From more values without order or hierarchy on, a partition loses less than local recoding."""


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

    local-recoding where every quasi-identifier has a hierarchy, is ordered or has at most 5 values.
    Otherwise, and for fewer than 100 rows, k-clustering with quick refinement for up to 100,000 rows
    under `k`, `l` and other models that every larger group holds too. Otherwise local-recoding again,
    or least-loss-partition where a column has more than 64 unordered values without a hierarchy and
    the table more than 100,000 rows. Anatomy, people with several rows and more than 5,000,000 rows
    are left to least-loss-partition. The release says what was chosen, and why.

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
        free = [domain for domain in facts.domains if _set_size(domain) > FEW_VALUES]
        sets = "every quasi-identifier has a hierarchy, is ordered or has few values"
        if len(free) == 1:
            sets = f"{free[0].name} has neither order nor hierarchy"
        elif free:
            sets = f"{len(free)} quasi-identifiers have neither order nor hierarchy"
        clustered = requirement.holds_when_joined and not facts.starred
        if clustered and (facts.n_rows < FEW_ROWS or (free and facts.n_rows <= MOST_CLUSTERED)):
            why = sets if facts.n_rows >= FEW_ROWS else f"the table has fewer than {FEW_ROWS} rows"
            # one block: every engine then has the rows in one place
            return Choice(KClustering(block_rows=MOST_CLUSTERED), why, facts.refine or "quick")
        if facts.n_rows > MOST_CLUSTERED and any(_set_size(one) > MANY_VALUES for one in free):
            return _partition(f"{sets}, and there are more than {MOST_CLUSTERED:,} rows", facts)
        if free and facts.n_rows <= MOST_CLUSTERED:
            sets = f"{sets}, but a larger group need not hold, or suppressed rows are starred"
        return Choice(LocalRecoding(), sets, facts.refine)

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by the method that is chosen for the cells, not refined."""
        choice = self.choose(Facts(cells.domains, cells.n_rows, requirement))
        return group_blocks(choice.method, cells, requirement, seed, progress)


def _partition(reason: str, facts: Facts) -> Choice:
    return Choice(LeastLossPartition(), reason, facts.refine)


def _set_size(domain: Domain) -> int:
    """How many values a column without order and hierarchy has; 0 for all others."""
    return domain.size - (domain.missing >= 0) if domain.kind == Kind.SET else 0
