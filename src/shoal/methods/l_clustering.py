"""L-clustering: grow small clusters of different sensitive values, each by the nearest row."""

import math

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.domain import Kind
from shoal.encoding.grouping import Grouping
from shoal.errors import PolicyError, listed, nearest
from shoal.methods.base import BlockMethod, Progress, QuasiColumns, check_feasible
from shoal.methods.clustering import cluster
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement

MOST_VALUES = 10_000
"""A set column with more different values would take time with their square."""


@dataclass(frozen=True)
class LClustering(BlockMethod):
    """L-clustering: clusters grow by the nearest row with a new sensitive value, to l of them.

    Where a finished cluster is nearer than any such row, the two merge; rows that are left at the end
    join their nearest cluster. Little loss, for distinct l-diversity alone. The order in which rows
    start clusters is random: it comes from the seed.

    Source: the paper that introduces L-clustering, clustering for l-diversity without hierarchies. Its
    quadratic search is replaced by an exact index. A missing sensitive value never counts; such a row
    is left to the end, unless it brings a new value of another sensitive column.
    """

    weights: dict[str, float] | None = None
    """How much each quasi column counts in the loss, 0 or more; 1 for columns that are not named."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise what this method cannot honour, before any work."""
        _check_weights(self.weights or {}, columns)
        asked = [model.l for model in requirement.models if isinstance(model, L)]
        others = [m.name for m in requirement.models if not isinstance(m, L | K)]
        if not asked or others:
            found = f"asks for {listed(others)}" if others else "asks for no l"
            raise PolicyError(
                f"method: l-clustering honours l, and a k that is no larger, but the policy {found}. "
                "Use k-clustering or least-loss-partition, which honour every model."
            )
        largest = max((m.k for m in requirement.models if isinstance(m, K)), default=0)
        if largest > max(asked):
            raise PolicyError(
                f"method: l-clustering makes clusters of l different values (here {max(asked)}), "
                f"but the policy also asks for k = {largest}. Lower k to {max(asked)}, or use "
                "k-clustering or least-loss-partition, which honour both."
            )

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by growing clusters."""
        check_feasible(cells, requirement)
        asked: dict[str, int] = {}
        for model in requirement.models:
            if isinstance(model, L):
                asked[model.of] = max(model.l, asked.get(model.of, 0))
        _check_sets(cells)
        weights = self.weights or {}
        by_column = [weights.get(domain.name, 1.0) for domain in cells.domains]
        return (cluster(cells, asked, by_column, seed, progress),)


def _check_sets(cells: Cells) -> None:
    for domain in cells.domains:
        if domain.kind == Kind.SET and domain.size > MOST_VALUES:
            raise PolicyError(
                f"method: l-clustering compares sets of values, and column '{domain.name}' has "
                f"{domain.size:,} different values; at most {MOST_VALUES:,} are allowed. Give it a "
                "`hierarchy`, make it `ordered`, or use least-loss-partition."
            )


def _check_weights(weights: dict[str, float], columns: QuasiColumns) -> None:
    for name, weight in weights.items():
        if name not in columns:
            raise PolicyError(
                f"method: l-clustering has a weight for '{name}', which is no quasi column; "
                f"allowed: {listed(columns)}.{nearest(name, columns)}"
            )
        if not (weight >= 0 and math.isfinite(weight)):
            raise PolicyError(
                f"method: l-clustering has the weight {weight:g} for '{name}'; a weight is a number, "
                "0 or more."
            )
