"""Experiments so small that they take no time."""

import pytest

from shoal.reproduction import classfly_plus, flexible_partition

CLASSFLY = classfly_plus.Sizes((256, 512, 768), (256, 768), (2, 4, 8), 2, 1)
FLEXIBLE = flexible_partition.Sizes(307, (2, 3, 10), 1)


def made_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `quick` be quicker still."""
    monkeypatch.setattr(classfly_plus, "QUICK", CLASSFLY)
    monkeypatch.setattr(flexible_partition, "QUICK", FLEXIBLE)
