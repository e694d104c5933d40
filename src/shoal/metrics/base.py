"""What a metric is and what it sees."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from shoal import plugins
from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain
from shoal.encoding.grouping import Grouping, Spans

Sums = dict[str, float]
"""What can be added up over parts of a release; of figures under MOST the largest counts."""
MOST = "most:"


@dataclass(frozen=True)
class Whole:
    """What a figure needs to know of the whole table and release beside the sums."""

    domains: tuple[Domain, ...]
    rows_of_values: tuple[Ints, ...]
    """Per quasi-identifier, rows of the table that hold each value."""
    n_rows: int
    groupings: int = 1
    """Sets of columns that were treated apart."""
    published_classes: int | None = None
    """Different combinations of quasi-identifiers a reader can tell apart; None where not known."""
    sensitive: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    """The sensitive columns in which people's wishes count."""
    has_target: bool = False
    weights: Mapping[str, float] | None = None
    """How much each quasi-identifier counts, where the method weighs them; 1 for those not named."""


@dataclass(frozen=True)
class Parts:
    """A release taken apart, or a part of one."""

    cells: Cells
    groupings: tuple[Grouping, ...]
    spans: tuple[Spans, ...]
    """One per grouping."""
    published_classes: int
    """Different combinations of quasi-identifiers a reader can tell apart."""
    suppressed: Bools
    """(n_rows,) canonical rows withheld or starred in every column."""
    target: Codes | None
    """(n_rows,) the class of each canonical row, where the policy names a target column."""
    weights: Mapping[str, float] | None = None
    """How much each quasi-identifier counts, where the method weighs them; 1 for those not named."""
    formed: Ints | None = None
    """(groups,) rows of the groups formed, where the quasi-identifiers are published as they are:
    `groupings` are then of rows that are equal, since that is what a reader sees."""
    raised: Mapping[str, npt.NDArray[np.integer]] = field(default_factory=dict)
    """Per sensitive column in which people's wishes count, (n_rows,) the level of its tree at which
    each canonical row is published, 0 being the value itself."""

    whole: Whole | None = None
    """Where these are some rows of a larger table: what is known of all of it."""

    @property
    def sizes(self) -> Ints:
        """Rows of every group formed, over all groupings."""
        if self.formed is not None:
            return self.formed
        return np.concatenate([span.sizes for span in self.spans])


def whole_of(parts: Parts) -> Whole:
    """The table that a release was made from."""
    return parts.whole or Whole(
        domains=parts.cells.domains,
        rows_of_values=parts.cells.rows_of_values,
        n_rows=parts.cells.n_rows,
        groupings=len(parts.groupings),
        published_classes=parts.published_classes,
        sensitive=tuple(parts.cells.sensitive),
        raised=tuple(parts.raised),
        has_target=parts.target is not None,
        weights=parts.weights,
    )


@dataclass(frozen=True)
class Node:
    """A release in which all rows climbed alike, counted class by class and not row by row."""

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


class Metric(Protocol):
    """What one file in `metrics/` offers.

    One whose figure can be made from sums over parts of a release is `Additive`: only such a metric
    is measured on tables that no memory holds.

    A metric that can be told from the classes alone also has `of_node(node) -> float | None`: the
    figure that `measure` gives for the same release, without a look at the rows. A search over many
    nodes is far faster with it; without it each node is taken apart and measured.

    It may also state `only_worsens: ClassVar[bool] = True` where that can be proved: of one table, a
    release with suppressed rows is never better than the same one with these rows, and a release
    whose classes are merged into larger ones, nothing being suppressed, is never better than the one
    before. A search then leaves out what lies above a release that is worse than one it knows.

    A metric that takes long says `on_request: ClassVar[bool] = True`: it is measured only where the
    policy names it.
    """

    high_is_good: ClassVar[bool]
    """Whether the larger of two figures is the better one: what a search for the best goes by."""

    def measure(self, parts: Parts) -> float | None:
        """The figure, or None where it does not apply."""


class Additive:
    """A metric made from sums over the parts of a release."""

    def sums(self, parts: Parts) -> Sums:
        """What is added up over the parts."""
        raise NotImplementedError

    def figure(self, sums: Sums, whole: Whole) -> float | None:
        """The figure, or None where it does not apply."""
        raise NotImplementedError

    def measure(self, parts: Parts) -> float | None:
        """The figure of a release in one part."""
        return self.figure(self.sums(parts), whole_of(parts))


def together(many: Iterable[Mapping[str, float]]) -> Sums:
    """The sums of several parts as those of all of them."""
    found: Sums = {}
    for sums in many:
        for name, amount in sums.items():
            before = found.get(name, 0)
            found[name] = max(before, amount) if name.startswith(MOST) else before + amount
    return found


def is_on_request(metric: Any) -> bool:
    """Whether a metric is measured only where it is asked for."""
    return bool(getattr(metric, "on_request", False))


def chosen_metrics(asked: Iterable[Metric]) -> dict[str, Metric]:
    """By name, the metrics that are asked for, and all that need not be asked for."""
    every = plugins.metrics().items()
    found: dict[str, Metric] = {n: metric() for n, metric in every if not is_on_request(metric)}
    found |= {plugins.name_of(type(metric)): metric for metric in asked}
    return dict(sorted(found.items()))
