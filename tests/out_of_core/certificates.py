"""Comparing the certificates of two engines."""

import json
from pathlib import Path
from typing import Any

import pytest

OWN = ("made", "seed_commitment", "seconds", "environment", "reproduce", "seal")
"""What differs between runs."""


def certificate_in(path: Path) -> dict[str, Any]:
    """The certificate, without what differs between runs."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key not in OWN}


def require_same(one: Any, other: Any, where: str = "certificate") -> None:
    """All values, floats but for their last digits: sums of fragments are rounded differently."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert list(one) == list(other), where
        for key in one:
            require_same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for i, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            require_same(mine, theirs, f"{where}[{i}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), where
    else:
        assert one == other, where
