"""What a privacy model is: the base classes, and figures that may be stated."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self, get_type_hints

import numpy as np

from shoal import plugins
from shoal.arrays import Bools, Floats, Ints
from shoal.encoding.counts import Counts

SIZES_ONLY = ""
"""The key of the counts for models that concern no sensitive column."""
POPULATION = "\0population"
"""The key of the counts for models that compare groups with a population."""
WEIGHTS = "\0weights"
"""The key of the counts for models that add up sampling weights."""
DIGITS, DECIMALS = 6, 4
"""Figures are stated with so many digits at most, and so many decimals."""
EXAMPLE_FIGURES = (0, 0.1, 0.25, 0.5, 1, 2, 3, 6)
"""Where `Model.examples` looks for figures that a model accepts."""


class Model(plugins.Plugin, ABC):
    """The base class of privacy models.

    A model is a frozen pydantic dataclass. Its first field is its figure and is named as the model:
    `{k: 5}` in a policy is `K(k=5)`. All that a model sees of groups are their histograms, so it
    serves methods and the verification of the published table alike.

    `strengths` is enough for most models; `holds` and `reached` follow from it.
    """

    kind: ClassVar[plugins.Kind] = "models"

    high_is_strong: ClassVar[bool]
    """Whether the larger of two figures is the stronger promise. Every model states it."""
    holds_when_merged: ClassVar[bool] = False
    """Whether two groups that hold, merged, always give one that holds. A search may then stop at a
    node of the lattice that holds: everything above it holds too."""
    holds_when_joined: ClassVar[bool] = False
    """Whether a group that holds always does so when merged with one that does not."""
    merges_with_people: ClassVar[bool] = False
    """Whether `holds_when_merged` and `holds_when_joined` are also true where people are counted and
    a person may have rows in both groups: only of models that count people alone."""
    compares_with_table: ClassVar[bool] = False
    """Whether groups are compared with the whole table, so that a suppressed row changes what holds
    for all groups."""
    needs_population: ClassVar[bool] = False
    """Whether groups are compared with the policy's population table."""
    needs_weights: ClassVar[bool] = False
    """Whether the population of groups is estimated from the policy's column of weights."""
    stricter_when_folded: ClassVar[bool] = False
    """Whether a group that holds where spellings of one value count as one always holds where every
    spelling is a value. All other models must hold in both readings."""
    accepts_wider_values: ClassVar[bool] = False
    """Whether it can be verified where some sensitive values are published as wider ones."""
    holds_without_values: ClassVar[bool] = False
    """Whether a group in which every value of the sensitive column is missing can hold: true of models
    that only bound how likely a guess at a known value is."""
    holds_with_values: ClassVar[bool] = False
    """Whether every group of `min_rows` rows and `min_values` different values holds, unless people are
    counted."""
    release_wide: ClassVar[bool] = False
    """Whether a release is judged as a whole, by `holds_over`. `holds` is then a rule for single
    groups that is sufficient for it."""

    @property
    def figure(self) -> float:
        """The figure that the policy requires: the first field."""
        return getattr(self, fields(self)[0].name)

    @property
    def options(self) -> dict[str, Any]:
        """The other fields that differ from their defaults, without columns."""
        given = {f.name: (getattr(self, f.name), f.default) for f in fields(self)[1:]}
        return {
            name: value
            for name, (value, default) in given.items()
            if name not in ("of", "on") and value != default
        }

    @property
    def column(self) -> str:
        """The sensitive column that it concerns, or SIZES_ONLY."""
        return SIZES_ONLY

    @property
    def quasi(self) -> tuple[str, ...] | None:
        """The quasi-identifiers that it is restricted to; None where it concerns all of them."""
        return None

    @property
    def column_kind(self) -> str | None:
        """What the sensitive column must have: `ordered`, `hierarchical`, or None for nothing."""
        return None

    @property
    def counts_key(self) -> str:
        """The key of the counts that it is applied to."""
        if self.needs_weights:
            return WEIGHTS
        return POPULATION if self.needs_population else self.column

    @property
    def min_rows(self) -> int:
        """A size below which no group can hold."""
        return 1

    @property
    def min_values(self) -> int:
        """A number of different values of its column below which no group can hold, unless all values
        are missing. Methods that grow groups look for so many."""
        return 0

    @property
    def max_share(self) -> float:
        """A share of its rows above which no value of its column may be in a group."""
        return 1.0

    @property
    def promises_nothing(self) -> bool:
        """Whether every group holds that has a value at all, however small or uniform: nobody is
        protected by such a figure."""
        return False

    def quasi_of(self, every: Sequence[str]) -> tuple[str, ...]:
        """Return the quasi-identifiers that make its classes, given those of the policy."""
        return tuple(self.quasi or every)

    @abstractmethod
    def strengths(self, counts: Counts) -> Ints | Floats:
        """(g,) the strongest figure that each group holds; infinite or 0 where none does."""

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        found = self.strengths(counts)
        return np.asarray(found >= self.figure if self.high_is_strong else found <= self.figure)

    def reached(self, counts: Counts) -> float:
        """Return the strongest figure that every group holds, rounded so that it still holds."""
        found = self.strengths(counts)
        if np.issubdtype(found.dtype, np.integer):
            least = np.iinfo(np.int64).max
            return int(found.min(initial=least) if self.high_is_strong else found.max(initial=0))
        if self.high_is_strong:
            return rounded_down(float(found.min(initial=np.inf)))
        return rounded_up(float(found.max(initial=0.0)))

    def holds_over(self, counts: Counts) -> bool:
        """Return whether a release of these classes holds."""
        return bool(self.holds(counts).all())

    def over(self, classes: int, rows: int) -> tuple[bool, float] | None:  # noqa: ARG002
        """Judge a release from its numbers of classes and rows: whether it holds, and what is reached.

        None where that is not enough. A model with `release_wide` needs it for tables larger than
        memory, whose classes are judged in pieces.
        """
        return None

    def least_suppressed(self, everyone: Counts) -> int | None:  # noqa: ARG002
        """Return the fewest rows without which all others, as one group, hold; None where unknown."""
        return None

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the nearest figure that can."""
        nearest = self.reached(everyone)
        of = f" of {self.column}" if self.column else ""
        given = "".join(f" with {name} = {value}" for name, value in self.options.items())
        words = f"{self.name} = {self.figure:g}{of}{given} was required, but"
        if not math.isfinite(nearest) or (self.high_is_strong and nearest <= 0):
            return f"{words} no {self.name} holds for the whole table."
        bound, change = ("largest", "lower") if self.high_is_strong else ("smallest", "raise")
        return (
            f"{words} the {bound} that the whole table allows is {nearest:g}: "
            f"{change} {self.name} or add {everyone.units}."
        )

    @classmethod
    def examples(cls, column: str = "ill") -> Iterator[Self]:
        """Yield a few instances for tests, by default with figures that the first field accepts.

        A model with further required fields overrides this.
        """
        own, *others = (f.name for f in fields(cls))
        bounds = plugins.bounds_of(get_type_hints(cls, include_extras=True)[own])
        whole = get_type_hints(cls)[own] is int
        options = {"of": column} if "of" in others else {}
        for figure in EXAMPLE_FIGURES:
            if _within(figure, bounds) and not (whole and figure % 1):
                yield cls(**{own: figure}, **options)

    def with_figure(self, figure: float) -> Self:
        """Return the same model with another figure."""
        return replace(self, **{fields(self)[0].name: figure})


class SensitiveModel(Model):
    """The base class of models that concern one sensitive column, named by the field `of`."""

    of: str

    @property
    def column(self) -> str:
        """The sensitive column that it concerns."""
        return self.of

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the nearest figure that can."""
        if not everyone.counts.any():
            return (
                f"Every value of {self.of} is missing: {self.name} cannot hold. Leave the constraint "
                "out."
            )
        return super().advice(everyone)


def rounded_up(figure: float, above: bool = False) -> float:
    """Return the nearest figure to state that is not below this one; `above`: nor equal to it."""
    if not math.isfinite(figure):
        return figure
    decimals = _decimals(figure)
    step = math.ceil(figure * 10**decimals) - 1
    while (stated := step / 10**decimals) < figure or (above and stated == figure):
        step += 1
    return stated


def rounded_down(figure: float) -> float:
    """Return the nearest figure to state that is not above this one."""
    return -rounded_up(-figure) + 0.0  # never -0


def _decimals(figure: float) -> int:
    return max(0, min(DECIMALS, DIGITS - len(str(int(abs(figure))))))


def _within(figure: float, bounds: dict[str, Any]) -> bool:
    return bounds.get("ge", -math.inf) <= figure <= bounds.get("le", math.inf) and bounds.get(
        "gt", -math.inf
    ) < figure < bounds.get("lt", math.inf)
