"""All the models of a policy, asked as one."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from shoal import plugins
from shoal.arrays import Bools
from shoal.encoding.counts import Counts

SIZES_ONLY = ""
"""Where a model speaks of no sensitive column, it is asked under this name."""


POPULATION = "\0population"
"""Where a model compares groups with a population, it is asked under this name."""


@runtime_checkable
class Model(Protocol):
    """What one file in `models/` offers.

    A model is a frozen pydantic dataclass whose first field is named as its file. One that speaks
    of a sensitive column has a field `of`.

    A model that compares groups with the policy's population has `needs_population` as true.

    A model that is judged over the whole release and not group by group also has
    `holds_over(counts) -> bool`; its `holds` is then a rule for single groups that is enough for it.
    `over(classes, rows) -> (bool, float)` tells from the number of classes and rows alone whether it
    holds, and what is reached.

    `high_is_strong: ClassVar[bool]` tells whether the larger of two figures is the stronger promise.
    Without it, or with `holds_over` and no `over`, a model cannot be asked of tables that no memory
    holds: their classes are judged in pieces.
    """

    holds_when_merged: ClassVar[bool]
    """Whether two groups that hold, merged, give one that holds. A search may stop at a node that
    holds: everything above it holds too."""
    holds_when_joined: ClassVar[bool]
    """Whether a group that holds still does when merged with one that does not."""

    @property
    def min_rows(self) -> int:
        """A size below which no group can hold."""

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""

    def reached(self, counts: Counts) -> float:
        """The strongest figure that every group holds, on the scale of the model's own field."""

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""


def name_of(model: Model) -> str:
    """The model's name in a policy: that of its file."""
    return plugins.name_of(type(model))


def figure_of(model: Model) -> float:
    """The figure the policy asks for: the model's first field."""
    first = next(iter(fields(model)))  # type: ignore[arg-type]
    figure: float = getattr(model, first.name)
    return figure


def column_of(model: Model) -> str:
    """The sensitive column a model speaks of, or SIZES_ONLY."""
    return getattr(model, "of", SIZES_ONLY)


def needs_population(model: Model) -> bool:
    """Whether a model compares groups with the policy's population."""
    return getattr(model, "needs_population", False)


def asked_under(model: Model) -> str:
    """The name of the counts that a model is asked about."""
    return POPULATION if needs_population(model) else column_of(model)


def options_of(model: Model) -> dict[str, Any]:
    """What else the policy says of a model: its other fields, but columns and defaults."""
    others = fields(model)[1:]  # type: ignore[arg-type]
    given = {f.name: (getattr(model, f.name), f.default) for f in others}
    return {
        name: value
        for name, (value, default) in given.items()
        if name not in ("of", "on") and value != default
    }


@dataclass(frozen=True)
class Requirement:
    """What every group must hold. Methods ask this and know nothing of single models."""

    models: tuple[Model, ...]
    may_suppress: int | None = None
    """The most rows that may be suppressed; None where the policy sets no limit."""

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return max((model.min_rows for model in self.models), default=1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns whose counts are needed; none when only sizes matter."""
        return tuple(dict.fromkeys(c for m in self.models if (c := column_of(m)) != SIZES_ONLY))

    @property
    def only_size(self) -> bool:
        """Whether a group of `min_rows` rows always holds."""
        return not self.columns and not self.needs_population

    @property
    def needs_population(self) -> bool:
        """Whether some model compares groups with the policy's population."""
        return any(map(needs_population, self.models))

    @property
    def holds_when_merged(self) -> bool:
        """Whether two groups that hold, merged, always give one that holds."""
        return all(model.holds_when_merged for model in self.models)

    @property
    def holds_when_joined(self) -> bool:
        """Whether a group that holds still does when merged with any other."""
        return all(model.holds_when_joined for model in self.models)

    def holds(self, counts: Mapping[str, Counts]) -> Bools:
        """(g,) whether each group holds every model; `counts` by column, SIZES_ONLY always there."""
        held = np.ones(counts[SIZES_ONLY].n_groups, dtype=np.bool_)
        for model in self.models:
            held &= model.holds(counts[asked_under(model)])
        return held
