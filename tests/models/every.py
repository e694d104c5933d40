"""Every model at several strengths: what the tests that ask all of them go through."""

from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.k import K
from shoal.models.l import EntropyL, L, RecursiveL
from shoal.models.population import DeltaPresence, KMap
from shoal.models.t import T

EVERY: list[Model] = [
    *(K(k) for k in (1, 3, 6)),
    *(L(n, "ill") for n in (1, 2, 4)),
    *(Alpha(share, "ill") for share in (0.3, 0.5, 1)),
    *(EntropyL(n, "ill") for n in (1, 1.5, 2, 3)),
    *(RecursiveL(n, "ill", c) for n in (1, 2, 3) for c in (0.5, 1, 2)),
    *(T(t, "ill") for t in (0, 0.2, 0.4, 0.6)),
    *(T(t, "ill", "ordered") for t in (0, 0.1, 0.2, 0.4)),
    *(T(t, "ill", "hierarchical") for t in (0, 0.15, 0.3, 0.5)),
    *(Beta(b, "ill", enhanced) for b in (0, 0.5, 1, 3) for enhanced in (False, True)),
    *(Delta(d, "ill") for d in (0.1, 0.5, 1, 2)),
    *(KMap(k) for k in (1, 3, 6)),
    *(DeltaPresence(share) for share in (0.3, 0.5, 1)),
    *(AverageRisk(share) for share in (0.1, 0.25, 1)),
]
