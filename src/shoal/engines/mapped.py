"""The engine that applies the labels of a mapping to a table in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Ints
from shoal.encoding.grouping import SUPPRESSED, check_groupings, rows_by_group
from shoal.engines.label_mapping import LabelMapping
from shoal.engines.memory import MemoryEngine
from shoal.errors import Infeasible
from shoal.io.tables import Table
from shoal.methods.base import counts_of_runs
from shoal.methods.uniform import UniformGroups, fixed_groups
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.progress import Clock, Progress


class MappedEngine(MemoryEngine):
    """Gives every row the labels of a mapping, and checks whether they satisfy the constraints."""

    suppression_limit = "--suppression SHARE (suppression=SHARE)"
    otherwise = "make a new release of this table"

    def __init__(
        self,
        frame: Any,
        mapping: LabelMapping,
        suppress: bool,
        unlabelled: Mapping[str, Bools] | None = None,
    ) -> None:
        """suppress: whether rows of classes that do not satisfy the constraints are left out.

        unlabelled: per quasi-identifier (rows,) where the table has a value without a label; these
        rows are suppressed, and count as such.
        """
        super().__init__(frame)
        self._mapping, self._suppress = mapping, suppress
        self._unlabelled = unlabelled or {}

    def load(self, policy: Policy, clock: Clock) -> None:
        """Take the frame, without the values that no label is known for."""
        assert self._table is not None
        if self._unlabelled:
            self._table = _WithoutValues(self._table, self._unlabelled)
        super().load(policy, clock)

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
        if self._unlabelled:
            without: Bools = np.any(list(self._unlabelled.values()), axis=0)
            group[without[cells.rows]] = SUPPRESSED
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


class _WithoutValues:
    """A table of any kind in which some values are missing."""

    def __init__(self, table: Table, gone: Mapping[str, Bools]) -> None:
        """gone: per column (rows,) whether the value is to be missing."""
        self._table, self._gone = table, gone

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self._table.names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._table.n_rows

    def column(self, name: str) -> pa.Array:
        """One column in one piece."""
        column, gone = self._table.column(name), self._gone.get(name)
        if gone is None or not gone.any():
            return column
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()  # else the values stay in the dictionary
        return column.take(pa.array(np.arange(len(gone)), mask=gone))

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: Ints,
        keep_index: bool,
    ) -> Any:
        """A frame of the table's kind; quasi-identifiers have labels. See `Table.release`."""
        return self._table.release(columns, labels, rows, keep_index)
