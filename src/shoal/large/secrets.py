"""Sensitive columns whose values stay with the rows, because no model asks for them: what a report and
a metric tell of them is counted there."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.cells import Cells
from shoal.engines.large.cells import squares
from shoal.engines.large.profiling import counted
from shoal.engines.large.session import Session
from shoal.evidence.generality import rows_of_levels
from shoal.evidence.sums import BARS, WORDS, Counting, told
from shoal.large.coding import Coded
from shoal.metrics.base import Parts, Sums, whole_of
from shoal.metrics.recognition_rate import RecognitionRate

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Secrets:
    """The sensitive columns that are not among the cells."""

    session: Session
    table: str
    """The published rows, with the codes of these columns and the group g of each row."""
    coded: Coded
    cells: Cells
    wanted: bool
    """Whether anybody asks about them; else they stay out of the published rows."""

    @cached_property
    def names(self) -> dict[str, str]:
        """Where each column has its codes."""
        every = enumerate(self.coded.sensitive if self.wanted else ())
        return {name: f"s{i}" for i, name in every if name not in self.cells.sensitive}

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns of codes."""
        return tuple(self.names.values())

    def counted(self, counting: Counting, parts: Parts) -> Sums:
        """What a report tells of these columns."""
        found: Sums = {}
        for name, code in self.names.items():
            answer = self._ask(counted(self.table, [code]), code, "n")
            rows = np.zeros(self.coded.sensitive_domains[name].size, np.int64)
            seen = answer[0] >= 0
            rows[answer[0][seen]] = answer[1][seen]
            found |= told(BARS, name, counting.sensitive[name].rows(rows))
            found |= told(WORDS, name, rows_of_levels(parts, name))
        return found

    def recognised(self, metric: RecognitionRate, parts: Parts) -> float | None:
        """The recognition rate, of all sensitive columns; None where these were not asked about."""
        if not self.wanted and set(self.coded.sensitive) - set(self.cells.sensitive):
            return None
        sums = metric.sums(parts)
        if sums:
            (spans,) = parts.spans
            for name, code in self.names.items():
                missing = self.coded.sensitive_domains[name].missing
                group, rows = self._ask(squares(self.table, code, missing), "g", "squares")
                sums[f"of:{name}"] = float((rows / spans.sizes[group].astype(float) ** 2).sum())
        return metric.figure(sums, replace(whole_of(parts), sensitive=self.coded.sensitive))

    def _ask(self, sql: str, *columns: str) -> tuple[Ints, ...]:
        found = self.session.ask(sql)
        return tuple(found.column(name).cast(pa.int64()).to_numpy() for name in columns)
