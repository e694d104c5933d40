"""Experiments so small that they take no time."""

import pytest

from shoal.reproduction import classfly_plus, flexible_partition
from shoal.reproduction import further_questions as further_questions
from shoal.reproduction import l_clustering as l_clustering
from shoal.reproduction import personalised as personalised

CLASSFLY = classfly_plus.Sizes((256, 512), (256, 512), (256, 512), (2, 4, 8), 1, 1)
FLEXIBLE = flexible_partition.Sizes(307, (2, 3, 10), (2, 3, 10), 1)
L_CLUSTERING = l_clustering.Sizes(
    rows=200,
    quasi=(2, 3),
    every_quasi=(2, 3),
    some_l=(2, 3),
    every_l=(2, 3),
    repeats=2,
    repeated=(3, 3),
    growing=(100, 200, 100_000),
    growing_at=((8, 5),),
    times=1,
)
PERSONALISED = personalised.Sizes(
    rows=300, k=(4, 8), growing=(150, 300, 100_000), growing_k=4, repeats=2, range_repeats=1
)

FURTHER = further_questions.Sizes(
    rows=240,
    repeats=1,
    many_k=(5, 10),
    alphas=(1.0, 0.5),
    ells=(1, 3),
    shares=(0, 50),
    levels=(1, 4),
    sized_k=(5, 20),
    sized_l=(1, 2),
    sized_alpha=(1.0, 0.6),
    growth=(10, 50),
)


def made_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `quick` be quicker still."""
    monkeypatch.setattr(classfly_plus, "QUICK", CLASSFLY)
    monkeypatch.setattr(flexible_partition, "QUICK", FLEXIBLE)
    monkeypatch.setattr(l_clustering, "QUICK", L_CLUSTERING)
    monkeypatch.setattr(personalised, "QUICK", PERSONALISED)
    monkeypatch.setattr(further_questions, "QUICK", FURTHER)
