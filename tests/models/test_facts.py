"""What models declare of merging is true of them, and what they reach they hold."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import plugins
from shoal.encoding.counts import Counts
from shoal.models.alpha import Alpha
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.l import EntropyL, RecursiveL
from shoal.models.population import DeltaPresence
from shoal.models.requirement import Requirement
from shoal.models.t import T
from tests.examples import examples
from tests.models.every import EVERY
from tests.models.histograms import Values, counted, groups_of_values

group = st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=12)


@examples(50)
@given(group, group, group)
def test_merging_keeps_what_is_declared(one: Values, two: Values, rest: Values) -> None:
    before = counted([one, two], rest)
    after = counted([[*one, *two]], rest)
    for model in EVERY:
        held, merged = model.holds(before), model.holds(after)[0]
        if model.holds_when_merged and held.all():
            assert merged, f"{model}: two that hold, merged"
        if model.holds_when_joined and held.any():
            assert merged, f"{model}: one that holds, joined"


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
    assert model.holds(counted([both, many], rest)).tolist() == [True, False]
    assert not model.holds(counted([[*both, *many]], rest)).any()
    assert not model.holds_when_joined


def people(sizes: list[int], population: list[int]) -> Counts:
    counts = counted([[0] * size for size in sizes])
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


@examples(25)
@given(groups_of_values, group)
def test_what_is_reached_is_held(groups: list[Values], rest: Values) -> None:
    counts = counted(groups, rest)
    for model in EVERY:
        figure, reached = fields(model)[0].name, model.reached(counts)
        held = model.holds(counts)
        assert held.dtype == np.bool_
        least = model.min_rows
        large = (counts.sizes >= least) | (counts.distinct() == 0)
        assert not (held & ~large).any(), model
        if (reached == 0 and figure not in ("t", "beta")) or math.isinf(reached):
            continue  # no figure will do
        stated = model.with_figure(float(f"{reached:g}"))
        assert stated.holds_over(counts), (model, reached)


@examples(25)
@given(groups_of_values, group)
def test_a_stronger_figure_is_not_reached(groups: list[Values], rest: Values) -> None:
    """One step beyond what is said to be reached, some group falls short."""
    counts = counted(groups, rest)
    for model in EVERY:
        figure, reached = fields(model)[0].name, model.reached(counts)  # type: ignore[arg-type]
        larger = {"k": 1, "l": 1, "recursive_l": 1, "k_map": 1, "entropy_l": 1.1e-4}.get(figure)
        beyond = reached + larger if larger else reached - 1.1e-4
        if math.isinf(reached) or (not larger and beyond <= 0) or (larger and beyond < 1):
            continue
        stated = model.with_figure(beyond)
        assert not stated.holds_over(counts), (model, reached)


def test_a_group_without_any_value_holds_nothing() -> None:
    """But alpha, which bounds shares of all rows."""
    counts = counted([[None, None, None], [1, 2, 3]])
    for model in EVERY:
        if model.column and model.name != "alpha":
            assert not model.holds(counts)[0], model


def test_where_everything_is_missing_the_advice_says_so() -> None:
    everyone = counted([[None, None]])
    for model in EVERY:
        if model.column and model.name != "alpha":
            assert "Every value of ill is missing" in model.advice(everyone), model


def test_no_group_at_all_breaks_nothing() -> None:
    none = counted([], [1, 2])
    for model in EVERY:
        assert model.holds(none).tolist() == []
        model.reached(none)


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
    ],
)
def test_figures_out_of_range_are_refused(make: object, bad: list[object]) -> None:
    from pydantic import ValidationError

    for figure in bad:
        with pytest.raises(ValidationError):
            make(figure)  # type: ignore[operator]
