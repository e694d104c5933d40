"""The engine that applies the labels of a mapping to a table in memory."""

from typing import Any

import numpy as np

from shoal.encoding.grouping import SUPPRESSED, check_groupings, rows_by_group
from shoal.engines.label_mapping import LabelMapping
from shoal.engines.memory import MemoryEngine
from shoal.errors import Infeasible
from shoal.methods.base import counts_of_runs
from shoal.methods.uniform import UniformGroups, fixed_groups
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.progress import Progress


class MappedEngine(MemoryEngine):
    """Gives every row the labels of a mapping, and checks whether they satisfy the constraints."""

    def __init__(self, frame: Any, mapping: LabelMapping, suppress: bool) -> None:
        """frame: a table whose values all have a label. suppress: whether rows of classes that do not
        satisfy the constraints are left out."""
        super().__init__(frame)
        self._mapping, self._suppress = mapping, suppress

    def choose_method(self, policy: Policy, requirement: Requirement, rows: int) -> Policy:  # noqa: ARG002
        """No method runs."""
        return policy

    def group(self, requirement: Requirement, progress: Progress) -> int:
        """The classes of the mapping's labels."""
        cells, policy = self._cells, self._policy
        cuts = {
            domain.name: self._mapping.cut_of(domain, policy.column_spec(domain.name))
            for domain in cells.domains
        }
        grouping = fixed_groups(cells, cuts)
        group = grouping.group.copy()
        while True:
            kept = np.flatnonzero(group != SUPPRESSED)
            if not len(kept):
                break
            rows, starts = rows_by_group(group, grouping.n_groups)
            some = np.flatnonzero(np.diff(starts))
            begins = np.append(starts[some], len(rows)).astype(np.int64)
            totals = cells.totals_of_rows(kept)
            held = requirement.holds(counts_of_runs(cells, requirement, rows, begins, totals))
            if held.all():
                break
            failing = np.isin(group, some[~held])
            if not self._suppress:
                raise Infeasible(
                    f"{int(failing.sum()):,} of {cells.n_rows:,} rows are in {int((~held).sum()):,} "
                    "classes of the mapping's labels that do not satisfy the constraints. Leave them "
                    "out with --suppress (suppress=True), or make a new release of this table."
                )
            group[failing] = SUPPRESSED
        found = np.unique(group[group != SUPPRESSED], return_inverse=True)
        dense = np.full(len(group), SUPPRESSED, np.int32)
        dense[group != SUPPRESSED] = found[1].reshape(-1)
        columns = grouping.columns
        self._groupings = (type(grouping)(dense, len(found[0]), columns),)
        self._uniform = UniformGroups(self._groupings, cuts)
        check_groupings(cells, self._groupings, "mapping")
        progress(1.0)
        return int((dense == SUPPRESSED).sum())

    def refine(self, requirement: Requirement, progress: Progress) -> None:  # noqa: ARG002
        """Nothing is rearranged."""
        progress(1.0)
