"""Experiments so small that they take no time."""

import pytest

from shoal.reproduction import (
    _l_clustering_runs,
    _personalised_runs,
    classfly_plus,
    flexible_partition,
)
from tests.reproduction.test_l_clustering import TINY as L_CLUSTERING
from tests.reproduction.test_personalised import TINY as PERSONALISED

CLASSFLY = classfly_plus.Sizes((256, 512, 768), (256, 768), (2, 4, 8), 2, 1)
FLEXIBLE = flexible_partition.Sizes(307, (2, 3, 10), 1)


def made_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `quick` be quicker still."""
    monkeypatch.setattr(classfly_plus, "QUICK", CLASSFLY)
    monkeypatch.setattr(flexible_partition, "QUICK", FLEXIBLE)
    monkeypatch.setattr(_l_clustering_runs, "QUICK", L_CLUSTERING)
    monkeypatch.setattr(_personalised_runs, "QUICK", PERSONALISED)
