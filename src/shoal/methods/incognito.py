"""Incognito: all minimal full-domain generalisations, and the best of them."""

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods._nodes import known_metric
from shoal.methods.base import Progress, QuasiColumns
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class Incognito:
    """Incognito: every row climbs alike; finds all minimal combinations of levels that hold.

    Searches the subsets of the columns by size, each from its lowest levels up. What lies above a
    node that holds is not counted, nor is a node of which a subset has failed; the counts of a node
    come from one below it. Where a node above one that holds may fail (a model that merging can break,
    or one that a bad class can spoil under a suppression limit above 0), all nodes are counted.
    Without a limit nothing is suppressed. Of the minimal nodes the best by `metric` is published.

    Source: LeFevre, DeWitt and Ramakrishnan, "Incognito: efficient full-domain k-anonymity", 2005.
    Subsets start at the lowest levels that any of their candidates has, as in its variant with
    super-roots.
    """

    metric: Annotated[str, AfterValidator(known_metric)] = "mean-ncp"
    """The metric by which the published node is chosen among the minimal ones."""

    from_cells: ClassVar[bool] = True
    """Rows that are equal are treated alike, so that counts of them are all it needs."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise what this method cannot honour, before any work."""
        from shoal.methods._full_domain import check_full_domain

        check_full_domain("incognito", requirement, columns)

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """One grouping, every row at the same levels, with all minimal nodes."""
        from shoal.methods._full_domain import infeasible, measuring, told
        from shoal.methods._search import valid_everywhere
        from shoal.methods._subsets import valid_nodes

        measured = measuring("incognito", self.metric, cells, requirement)
        counting, judge = measured.counting, measured.judge
        valid = (valid_nodes if judge.monotone else valid_everywhere)(judge, progress)
        minimal = counting.lattice.minimal(valid)
        if not minimal:
            raise infeasible(cells, requirement)
        costs = []
        for levels in minimal:
            classes = counting.roll(counting.raw, levels)
            kept = judge.kept(classes)
            assert kept is not None, "it was valid a moment ago"
            costs.append(measured.cost(classes, kept))
        chosen = measured.best(minimal, costs)
        words = (
            f"{len(minimal):,} of {counting.lattice.n_nodes:,} combinations of levels are minimal; "
            "published is the best of them"
        )
        grouping = told(measured, chosen, costs[minimal.index(chosen)], words)
        return (replace(grouping, minimal=tuple(minimal)),)
