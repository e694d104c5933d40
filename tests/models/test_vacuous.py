"""Figures that promise nothing: a class of one row or of one value holds; of other figures it fails."""

import numpy as np
import pytest

from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.estimated_k_map import EstimatedKMap
from shoal.models.k import K
from shoal.models.l import EntropyL, L, RecursiveL
from shoal.models.population import DeltaPresence, KMap
from shoal.models.t import T
from shoal.testing import histograms

VACUOUS = [K(1), L(1, "x"), EntropyL(1, "x"), RecursiveL(1, "x", c=1.5), Alpha(1, "x"), T(1, "x")]
MEANT = [
    K(2),
    L(2, "x"),
    EntropyL(1.01, "x"),
    RecursiveL(1, "x", c=1),
    RecursiveL(2, "x", c=9),
    Alpha(0.99, "x"),
]
ALONE = histograms([[0], [1, 1, 1, 1]])


@pytest.mark.parametrize("model", VACUOUS, ids=str)
def test_everything_holds(model: Model) -> None:
    assert model.promises_nothing
    assert np.asarray(model.holds(ALONE)).all()


@pytest.mark.parametrize("model", MEANT, ids=str)
def test_somebody_alone_or_a_single_value_fails(model: Model) -> None:
    assert not model.promises_nothing
    assert not np.asarray(model.holds(ALONE)).all()


@pytest.mark.parametrize(
    ("model", "nothing"),
    [
        (AverageRisk(1), True),
        (AverageRisk(0.99), False),
        (KMap(1), True),
        (KMap(2), False),
        (EstimatedKMap(1), True),
        (EstimatedKMap(2), False),
        (DeltaPresence(1), True),
        (DeltaPresence(0.99), False),
        (DeltaPresence(1, least=0.01), False),
        (T(0.99, "x"), False),
        (RecursiveL(2, "x", c=1.5), False),
        (Beta(0, "x"), False),
        (Delta(9, "x"), False),
    ],
    ids=str,
)
def test_what_a_figure_promises(model: Model, nothing: bool) -> None:
    assert model.promises_nothing is nothing
