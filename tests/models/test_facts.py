"""What models declare, worked out by hand; `shoal.testing` checks it on random groups."""

import math
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from shoal import plugins
from shoal.encoding.counts import Counts
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.l import EntropyL, RecursiveL
from shoal.models.population import DeltaPresence, KMap
from shoal.models.requirement import Requirement
from shoal.models.t import T
from shoal.testing import histograms
from tests.models.every import EVERY


@pytest.mark.parametrize(
    "model",
    [
        Alpha(0.5, "ill"),
        EntropyL(2, "ill"),
        RecursiveL(2, "ill", 2),
        T(0.25, "ill"),
        T(0.25, "ill", "ordered"),
        T(0.25, "ill", "hierarchical"),
        Beta(0.5, "ill"),
        Beta(0.5, "ill", enhanced=True),
        Delta(0.5, "ill"),
    ],
    ids=str,
)
def test_joining_breaks_the_models_that_say_so(model: Model) -> None:
    """Half of all are 0 and half are 6: a group of both holds, joined by six of one it does not."""
    both, many, rest = [0, 6], [0] * 6, [6] * 6
    assert model.holds(histograms([both, many], rest)).tolist() == [True, False]
    assert not model.holds(histograms([[*both, *many]], rest)).any()
    assert not model.holds_when_joined


def people(sizes: list[int], population: list[int]) -> Counts:
    counts = histograms([[0] * size for size in sizes])
    return replace(counts, population=np.array(population, np.int64))


def test_presence_declares_nothing_of_merging() -> None:
    """Two of four people and two of four, but the label over both covers ten: 4 / 10 is too few for
    0.5 to 1. Two of ten hold 0.5; joined by nine that nobody of the population is like, 11 / 10."""
    model = DeltaPresence(1, least=0.5)
    assert model.holds(people([2, 2], [4, 4])).all()
    assert not model.holds(people([4], [10])).any()
    assert not model.holds_when_merged
    assert DeltaPresence(0.5).holds(people([2, 9], [10, 0])).tolist() == [True, False]
    assert not DeltaPresence(0.5).holds(people([11], [10])).any()
    assert not model.holds_when_joined


def test_every_model_is_here_and_keeps_the_protocol() -> None:
    assert {model.name for model in EVERY} == set(plugins.models())
    assert all(isinstance(model, Model) for model in EVERY)


def test_a_group_without_any_value_holds_nothing() -> None:
    """But models that say otherwise, as alpha does, which bounds the shares of known values."""
    counts = histograms([[None, None, None], [1, 2, 3]])
    for model in EVERY:
        if model.column and not model.holds_without_values:
            assert not model.holds(counts)[0], model


def test_where_everything_is_missing_the_advice_says_so() -> None:
    everyone = histograms([[None, None]])
    for model in EVERY:
        if model.column and not model.holds_without_values:
            assert "Every value of ill is missing" in model.advice(everyone), model


def test_what_was_promised_cannot_be_changed() -> None:
    for model in (*EVERY, Requirement(tuple(EVERY))):
        name = fields(model)[0].name
        with pytest.raises(FrozenInstanceError):
            setattr(model, name, getattr(model, name))


def test_a_requirement_declares_what_all_its_models_do() -> None:
    every = Requirement(tuple(EVERY))
    assert not every.holds_when_merged
    assert Requirement((EVERY[0],)).holds_when_merged
    assert not every.holds_when_joined


@pytest.mark.parametrize(
    ("make", "bad"),
    [
        (lambda x: EntropyL(x, "ill"), [0.9, math.inf, math.nan]),
        (lambda x: RecursiveL(x, "ill", 1), [0, 1.5]),
        (lambda x: RecursiveL(2, "ill", x), [0, -1, math.inf]),
        (lambda x: T(x, "ill"), [-0.1, 1.1, math.nan]),
        (lambda x: T(0.2, "ill", x), ["far"]),
        (lambda x: Beta(x, "ill"), [-1, math.inf]),
        (lambda x: Delta(x, "ill"), [0, -1, math.inf]),
        (lambda x: Alpha(x, "ill"), [0, 1.1]),
        (AverageRisk, [0, 1.1]),
        (KMap, [0]),
        (DeltaPresence, [0, 1.1]),
        (lambda x: DeltaPresence(1, least=x), [-0.1, 1.1]),
    ],
)
def test_figures_out_of_range_are_refused(make: object, bad: list[object]) -> None:
    from pydantic import ValidationError

    for figure in bad:
        with pytest.raises(ValidationError):
            make(figure)  # type: ignore[operator]


FACTS = (
    "high_is_strong", "holds_when_merged", "holds_when_joined", "merges_with_people",
    "compares_with_table", "needs_population", "needs_weights", "stricter_when_folded",
    "accepts_wider_values", "holds_without_values", "holds_with_values", "release_wide",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("alpha", "holds_when_merged stricter_when_folded accepts_wider_values holds_without_values"),
        ("average-risk", "holds_when_merged holds_when_joined merges_with_people release_wide"),
        ("beta", "holds_when_merged compares_with_table"),
        ("delta", "holds_when_merged compares_with_table"),
        ("delta-presence", "needs_population"),
        ("entropy-l", "high_is_strong holds_when_merged stricter_when_folded"),
        ("estimated-k-map", "high_is_strong holds_when_merged holds_when_joined merges_with_people"
                            " needs_weights"),
        ("k", "high_is_strong holds_when_merged holds_when_joined merges_with_people holds_with_values"),
        ("k-map", "high_is_strong holds_when_merged holds_when_joined merges_with_people"
                  " needs_population"),
        ("l", "high_is_strong holds_when_merged holds_when_joined stricter_when_folded"
              " accepts_wider_values holds_with_values"),
        ("recursive-l", "high_is_strong holds_when_merged stricter_when_folded"),
        ("t", "holds_when_merged compares_with_table"),
    ],
)  # fmt: skip
def test_what_each_model_declares(name: str, facts: str) -> None:
    """Searches skip what a fact makes superfluous: one too many is wrong, one too few is slow."""
    model = plugins.models()[name]
    assert " ".join(fact for fact in FACTS if getattr(model, fact)) == facts
