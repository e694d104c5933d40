"""What a metric is, and the view of a release that it measures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from shoal import plugins
from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain
from shoal.encoding.grouping import Grouping, Spans

Sums = dict[str, float]
"""Amounts that are added up over parts of a release; of amounts named `most:…` the largest counts."""
MOST = "most:"


@dataclass(frozen=True)
class Totals:
    """What a figure needs to know of the whole table and release besides the sums."""

    domains: tuple[Domain, ...]
    rows_of_values: tuple[Ints, ...]
    """Per quasi-identifier, rows of the table that hold each value."""
    n_rows: int
    groupings: int = 1
    """Sets of columns that were grouped separately."""
    published_classes: int | None = None
    """Distinct published combinations of quasi-identifiers; None where not known."""
    sensitive: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    """The sensitive columns with personal preferences."""
    has_target: bool = False
    weights: Mapping[str, float] | None = None
    """The weight of each quasi-identifier, where the method has weights; 1 for those not named."""


@dataclass(frozen=True)
class AlikeRows:
    """The rows of one group, those that are alike in all that is measured counted as one.

    Of a group that is too large to be looked at row by row: it has no suppressed rows.
    """

    times: Ints
    """(kinds,) rows of each kind."""
    sensitive: Mapping[str, Codes]
    """Per sensitive column, (kinds,) the code of each."""
    target: Codes | None = None
    """(kinds,) the class of each, where the policy names a target column."""

    def with_value(self, name: str, size: int) -> Ints:
        """(size,) the rows with each code of a sensitive column."""
        return _counted(self.sensitive[name], self.times, size)

    def with_class(self) -> Ints:
        """(classes,) the rows with each class of the target."""
        assert self.target is not None
        return _counted(self.target, self.times, 0)


def _counted(codes: Codes, times: Ints, size: int) -> Ints:
    # whole numbers below 2**53, so sums of floats are exact
    return np.bincount(codes, times, size).astype(np.int64)


@dataclass(frozen=True)
class ReleaseView:
    """A release, or a part of one, as metrics see it."""

    cells: Cells
    groupings: tuple[Grouping, ...]
    spans: tuple[Spans, ...]
    """One per grouping."""
    published_classes: int
    """Distinct published combinations of quasi-identifiers."""
    suppressed: Bools
    """(n_rows,) canonical rows withheld or starred in every column."""
    target: Codes | None
    """(n_rows,) the class of each canonical row, where the policy names a target column."""
    weights: Mapping[str, float] | None = None
    """The weight of each quasi-identifier, where the method has weights; 1 for those not named."""
    formed: Ints | None = None
    """(groups,) rows of the groups formed, where the quasi-identifiers are published as they are:
    `groupings` then group equal rows, since that is what a reader sees."""
    raised: Mapping[str, npt.NDArray[np.integer]] = field(default_factory=dict)
    """Per sensitive column with personal preferences, (n_rows,) the level of its tree at which
    each canonical row is published, 0 being the value itself."""

    whole: Totals | None = None
    """For some rows of a larger table: the totals of all of it."""
    alike: AlikeRows | None = None
    """Of one large group: its rows by kind. What there is for each row is then made when it is asked
    for, and takes memory for every row."""

    @property
    def sizes(self) -> Ints:
        """Rows of every group formed, over all groupings."""
        if self.formed is not None:
            return self.formed
        return np.concatenate([span.sizes for span in self.spans])

    @property
    def totals(self) -> Totals:
        """The totals of the whole table and release."""
        return self.whole or Totals(
            domains=self.cells.domains,
            rows_of_values=self.cells.rows_of_values,
            n_rows=self.cells.n_rows,
            groupings=len(self.groupings),
            published_classes=self.published_classes,
            sensitive=self.cells.sensitive_columns,
            raised=tuple(self.raised),
            has_target=self.target is not None,
            weights=self.weights,
        )


@dataclass(frozen=True)
class Node:
    """A full-domain release, counted class by class and not row by row."""

    cells: Cells
    levels: tuple[int, ...]
    """(columns,) the level at which each column is published."""
    sizes: Ints
    """(classes,) rows of each published class."""
    rows_at: Callable[[int], Ints]
    """Given a column: (nodes of its level,) published rows under each node."""

    @property
    def suppressed_rows(self) -> int:
        """Rows that are not published."""
        return self.cells.n_rows - int(self.sizes.sum())


class Metric(plugins.Plugin, ABC):
    """The base class of metrics.

    Derive from `AdditiveMetric` where the figure follows from sums over parts of a release: only
    such metrics are measured on tables larger than memory.
    """

    kind: ClassVar[plugins.Kind] = "metrics"

    high_is_good: ClassVar[bool]
    """Whether the larger of two figures is the better one. Every metric states it."""
    only_worsens: ClassVar[bool] = False
    """Whether it can be proved that suppressing rows of a release never improves the figure, and that
    merging its classes, nothing being suppressed, never does. A search then skips what lies above a
    release that is worse than the best known."""

    @abstractmethod
    def measure(self, view: ReleaseView) -> float | None:
        """Return the figure, or None where it does not apply."""

    def of_node(self, node: Node) -> float | None:
        """Return the figure of a full-domain release from its classes alone, as `measure` gives it.

        Overriding this is optional; a search over many nodes is far faster with it.
        """
        raise NotImplementedError

    @property
    def measures_nodes(self) -> bool:
        """Whether it has an `of_node`."""
        return type(self).of_node is not Metric.of_node


class AdditiveMetric(Metric):
    """A metric whose figure follows from sums over the parts of a release."""

    @abstractmethod
    def sums(self, view: ReleaseView) -> Sums:
        """Return what is added up over the parts."""

    @abstractmethod
    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """Return the figure, or None where it does not apply."""

    def measure(self, view: ReleaseView) -> float | None:
        """Return the figure of a release in one part."""
        return self.figure(self.sums(view), view.totals)


def add_sums(parts: Iterable[Mapping[str, float]]) -> Sums:
    """Return the sums of several parts as those of all of them."""
    found: Sums = {}
    for sums in parts:
        for name, amount in sums.items():
            before = found.get(name, 0)
            found[name] = max(before, amount) if name.startswith(MOST) else before + amount
    return found


def chosen_metrics(requested: Iterable[Metric]) -> dict[str, Metric]:
    """Return by name the metrics that the policy names, and all that are always measured."""
    every: dict[str, type[Metric]] = plugins.metrics()
    found = {name: metric() for name, metric in every.items() if not metric.on_request}
    return dict(sorted((found | {metric.name: metric for metric in requested}).items()))
