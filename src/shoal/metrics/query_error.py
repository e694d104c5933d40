"""Query error: how far range counts on the release are off."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.metrics._queries import draw, reader_of, true_count
from shoal.metrics.base import Additive, Parts, Sums, Whole
from shoal.threads import each

BOUND = 0.001
"""No error is taken relative to fewer rows than this share of the table: a query that finds hardly
anyone would outweigh all others."""


@dataclass(frozen=True)
class QueryError(Additive):
    """Query error: mean relative error of random range counts answered on the release; low is good.

    A query counts the rows inside a random range of some quasi-identifiers: neighbouring values, or
    leaves of a hierarchy, or any values of a column without an order. The reader of the release takes
    a group's rows to be spread evenly under its label. The error is |answer - truth| over the truth,
    or over 0.1 % of the rows where the truth is less (so also where it is 0). Missing values are
    never asked for; withheld rows are not found.

    Source: the queries of Xiao and Tao, "Anatomy: simple and effective privacy preservation", 2006,
    and LeFevre, DeWitt and Ramakrishnan, "Workload-aware anonymization", 2006; the lower bound of
    Xiao, Wang and Gehrke, "Differential privacy via wavelet transforms", 2010.
    """

    on_request: ClassVar[bool] = True
    high_is_good: ClassVar[bool] = False

    queries: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    """How many queries to draw."""
    columns: Annotated[int, Field(ge=1)] = 3
    """Quasi-identifiers that each query asks about; all where there are fewer."""
    selectivity: Annotated[float, Field(gt=0, le=1)] = 0.05
    """The share of all combinations of values that a query covers; each column's range covers its
    n-th root, for n columns."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Where drawing starts: the same seed asks the same queries."""

    def sums(self, parts: Parts) -> Sums:
        """Per query the rows that it asks for, and those that the reader expects."""
        cells, counts, reader = parts.cells, parts.cells.counts, reader_of(parts)
        codes = np.ascontiguousarray(cells.codes.T)

        def answers(number: int) -> tuple[int, float]:
            query = draw(cells.domains, self.columns, self.selectivity, self.seed, number)
            return true_count(codes, counts, query), reader.count(query)

        found: Sums = {}
        for number, (truth, answer) in enumerate(each(answers, range(self.queries))):
            found[f"truth:{number}"], found[f"answer:{number}"] = truth, answer
        return found

    def figure(self, sums: Sums, whole: Whole) -> float:
        """The mean over all queries."""
        least = max(1.0, BOUND * whole.n_rows)
        truth = np.array([sums[f"truth:{i}"] for i in range(self.queries)])
        answer = np.array([sums[f"answer:{i}"] for i in range(self.queries)])
        return float(np.mean(np.abs(answer - truth) / np.maximum(truth, least)))
