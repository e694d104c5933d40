"""What a policy's models require together, and which of them are applied to spellings as well."""

from dataclasses import replace

import pytest

from shoal.encoding.domain import Domain, Kind
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.estimated_k_map import EstimatedKMap
from shoal.models.k import K
from shoal.models.l import EntropyL, L, RecursiveL
from shoal.models.population import KMap
from shoal.models.requirement import Requirement, in_both_spellings, reads_spellings
from shoal.models.t import T
from shoal.testing import histograms


def domain(kind: Kind, name: str = "ill", spelled_of: str | None = None) -> Domain:
    found = histograms([[0]]).domain
    assert found is not None
    return replace(found, name=name, kind=kind, spelled_of=spelled_of)


@pytest.mark.parametrize(
    ("model", "kinds"),
    [
        (L(2, "ill"), ""),
        (EntropyL(2, "ill"), ""),
        (RecursiveL(2, "ill", 2), ""),
        (Alpha(0.5, "ill"), ""),
        (T(0.2, "ill"), "RANGE SET TREE"),
        (T(0.2, "ill", "ordered"), "RANGE"),
        (T(0.2, "ill", "hierarchical"), "TREE"),
        (Beta(1, "ill"), "RANGE SET TREE"),
        (Delta(1, "ill"), "RANGE SET TREE"),
    ],
    ids=str,
)
def test_models_that_spellings_can_weaken(model: Model, kinds: str) -> None:
    """A distance needs an order or a tree, which spellings of numbers do not have."""
    found = [kind.name for kind in Kind if reads_spellings(model, domain(kind))]
    assert " ".join(found) == kinds


def test_models_that_are_applied_twice() -> None:
    models = (K(2), L(2, "ill"), T(0.2, "ill"), T(0.2, "ill", "ordered"), Beta(1, "pay"))
    plain, other = domain(Kind.RANGE), domain(Kind.RANGE, "pay")
    spelled = domain(Kind.SET, "ill as spelled", spelled_of="ill")
    assert in_both_spellings(models, {}) == models
    assert in_both_spellings(models, {"ill": plain, "pay": other}) == models
    domains = {"ill": plain, "pay": other, "ill as spelled": spelled}
    assert in_both_spellings(models, domains) == (*models, T(0.2, "ill as spelled"))


def test_the_strictest_model_of_each_column_counts() -> None:
    found = Requirement((K(9), L(2, "ill"), L(5, "ill"), Alpha(0.5, "pay"), Alpha(0.3, "pay")))
    assert found.min_values == {"ill": 5, "pay": 4}
    assert found.max_shares == {"ill": 1, "pay": 0.3}
    assert found.min_rows == 9


@pytest.mark.parametrize(
    ("models", "facts"),
    [
        ((K(3),), "only_values only_size holds_when_merged holds_when_joined"),
        ((K(3), L(2, "ill")), "only_values holds_when_merged holds_when_joined"),
        ((K(3), Alpha(0.5, "ill")), "holds_when_merged"),
        ((AverageRisk(0.2),), "only_size holds_when_merged holds_when_joined"),
        ((K(3), KMap(2)), "needs_population holds_when_merged holds_when_joined"),
        ((K(3), EstimatedKMap(2)), "needs_weights holds_when_merged holds_when_joined"),
    ],
)
def test_what_a_requirement_declares(models: tuple[Model, ...], facts: str) -> None:
    names = (
        "only_values", "only_size", "needs_population", "needs_weights", "holds_when_merged",
        "holds_when_joined",
    )  # fmt: skip
    found = Requirement(models)
    assert " ".join(name for name in names if getattr(found, name)) == facts


def test_where_people_are_counted_only_some_models_merge() -> None:
    for models, merges in (((K(3),), True), ((K(3), L(2, "ill")), False), ((L(2, "ill"),), False)):
        found = Requirement(models, counts_people=True)
        assert found.holds_when_merged == found.holds_when_joined == merges
        assert not found.only_values
        assert not found.only_size


class Loose(L):
    """Holds where every value is missing, too."""

    holds_without_values = True


def test_whether_nothing_but_rows_and_values_counts() -> None:
    assert Requirement((K(3), L(2, "ill"))).only_counts_values
    assert not Requirement((K(3),)).only_counts_values, "without a sensitive column"
    assert not Requirement((L(2, "ill"), Alpha(0.5, "ill"))).only_counts_values
    assert not Requirement((L(2, "ill"), Loose(2, "ill"))).only_counts_values
    assert not Requirement((L(2, "ill"),), counts_people=True).only_counts_values
