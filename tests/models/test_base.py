"""What models have in common, by hand: stated figures, advice, and what follows from strengths."""

import math
from dataclasses import FrozenInstanceError, fields
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal import plugins
from shoal.arrays import Floats, Ints
from shoal.encoding.counts import Counts
from shoal.models.base import POPULATION, SIZES_ONLY, WEIGHTS, Model, rounded_down, rounded_up
from shoal.models.estimated_k_map import EstimatedKMap
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.population import KMap
from shoal.models.t import T
from shoal.testing import histograms

THREE = histograms([[0, 0], [0, 1, 2], [None]])


@dataclass(frozen=True)
class Most(Model):
    """No group has more rows than this: a whole number, and low is strong."""

    most: Annotated[int, Field(gt=0, lt=6)]
    of: str | None = None
    hard: bool = False
    high_is_strong: ClassVar[bool] = False

    def strengths(self, counts: Counts) -> Ints | Floats:
        return counts.sizes


@dataclass(frozen=True)
class Given(Model):
    """Every group has the strength that was set."""

    given: float
    strength: float = 0.0
    high_is_strong: ClassVar[bool] = True

    def strengths(self, counts: Counts) -> Ints | Floats:
        return np.full(counts.n_groups, self.strength)


@dataclass(frozen=True)
class Low(Model):
    """The same, where low is strong."""

    low: Annotated[float, Field(ge=0.1, le=3)]
    strength: float = 0.0
    high_is_strong: ClassVar[bool] = False

    def strengths(self, counts: Counts) -> Ints | Floats:
        return np.full(counts.n_groups, self.strength)


@pytest.mark.parametrize(
    ("figure", "down", "up"),
    [
        (0.12341, 0.1234, 0.1235),
        (0.3, 0.3, 0.3),
        (2 / 3, 0.6666, 0.6667),
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 1.0),
        (99.12341, 99.1234, 99.1235),  # four decimals of six digits
        (100.12341, 100.123, 100.124),
        (12345.67, 12345.6, 12345.7),
        (123456.7, 123456, 123457),
        (1234567.8, 1234567, 1234568),
        (math.inf, math.inf, math.inf),
    ],
)
def test_figures_are_rounded_to_the_safe_side(figure: float, down: float, up: float) -> None:
    assert rounded_down(figure) == down
    assert rounded_up(figure) == up


def test_zero_has_no_sign() -> None:
    assert math.copysign(1, rounded_down(0.0)) == 1


def test_a_figure_above_another() -> None:
    assert rounded_up(0.3, above=True) == 0.3001
    assert rounded_up(0.30001, above=True) == 0.3001
    assert rounded_up(123456.0, above=True) == 123457


def test_what_follows_from_strengths() -> None:
    """Groups of 2, 3 and 1 rows."""
    assert Most(2).holds(THREE).tolist() == [True, False, True]
    assert K(2).holds(THREE).tolist() == [True, True, False]
    assert Most(3).holds_over(THREE)
    assert not Most(2).holds_over(THREE)
    assert (Most(2).reached(THREE), K(2).reached(THREE)) == (3, 1)
    assert Given(1, 0.99999).reached(THREE) == 0.9999
    assert Low(1, 0.99991).reached(THREE) == 1


def test_no_groups() -> None:
    none = histograms([])
    assert Most(2).reached(none) == 0
    assert Low(1, 0.5).reached(none) == 0
    assert Given(1, 0.5).reached(none) == math.inf
    assert K(2).reached(none) == 2**63 - 1
    assert Most(2).holds_over(none)


def test_what_is_not_said() -> None:
    model = Most(2)
    assert (model.min_rows, model.min_values, model.max_share) == (1, 0, 1.0)
    assert model.column == SIZES_ONLY == ""
    assert model.promises_nothing is False
    assert model.quasi is model.column_kind is None
    assert model.least_suppressed(THREE) is model.over(3, 9) is None
    flags = (
        "holds_when_merged",
        "holds_when_joined",
        "merges_with_people",
        "compares_with_table",
        "needs_population",
        "needs_weights",
        "stricter_when_folded",
        "accepts_wider_values",
        "holds_without_values",
        "holds_with_values",
        "release_wide",
    )
    assert not any(getattr(model, flag) for flag in flags), "what is assumed is the safe side"


def test_columns() -> None:
    assert K(2).quasi_of(["age", "zip"]) == ("age", "zip")
    assert K(2, ("zip",)).quasi_of(["age", "zip"]) == ("zip",)
    assert L(2, "ill").counts_key == "ill"
    assert KMap(2).counts_key == POPULATION
    assert EstimatedKMap(2).counts_key == WEIGHTS
    assert K(2).counts_key == SIZES_ONLY


def test_options_are_what_differs() -> None:
    assert Most(2).options == {}
    assert Most(2, of="ill").options == {}
    assert Most(2, hard=True).options == {"hard": True}
    assert Given(5, 3.0).options == {"strength": 3.0}
    assert K(2, ("zip",)).options == {}
    assert T(0.2, "ill", "ordered").options == {"distance": "ordered"}


def test_figures() -> None:
    assert Most(4).figure == 4
    assert Most(4, hard=True).with_figure(3) == Most(3, hard=True)
    assert [model.most for model in Most.examples()] == [1, 2, 3]
    assert [model.of for model in L.examples("ill")] == ["ill"] * 4
    assert [model.l for model in L.examples()] == [1, 2, 3, 6]
    assert [model.low for model in Low.examples()] == [0.1, 0.25, 0.5, 1, 2, 3]


@pytest.mark.parametrize(
    ("model", "end"),
    [
        (Given(5, 3.0), "the largest that the whole table allows is 3: lower given or add rows."),
        (Given(5, 0.0), "no given holds for the whole table."),
        (Given(5, 0.5), "the largest that the whole table allows is 0.5: lower given or add rows."),
        (Given(5, math.inf), "no given holds for the whole table."),
        (
            Low(0.1, 0.25),
            "the smallest that the whole table allows is 0.25: raise low or add rows.",
        ),
        (Low(0.1, 0.0), "the smallest that the whole table allows is 0: raise low or add rows."),
        (Low(0.1, math.inf), "no low holds for the whole table."),
    ],
)
def test_advice(model: Model, end: str) -> None:
    words = f"{model.name} = {model.figure:g}"
    given = "".join(f" with {name} = {value}" for name, value in model.options.items())
    assert model.advice(THREE) == f"{words}{given} was required, but {end}"


def test_advice_of_a_sensitive_column() -> None:
    assert T(0.1, "ill", "equal").advice(histograms([[0, 1]])) == (
        "t = 0.1 of ill was required, but the smallest that the whole table allows is 0: raise t or "
        "add rows."
    )
    assert T(0.1, "ill").advice(histograms([[None, None]])) == (
        "Every value of ill is missing: t cannot hold. Leave the constraint out."
    )


@pytest.mark.parametrize("kind", plugins.models().values())
def test_models_cannot_be_changed(kind: Any) -> None:
    model = next(iter(kind.examples()))
    with pytest.raises(FrozenInstanceError):
        setattr(model, fields(kind)[0].name, 1)
    assert hash(model) == hash(next(iter(kind.examples())))
