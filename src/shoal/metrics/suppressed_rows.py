"""Rows left out."""

from dataclasses import dataclass

from shoal.metrics.base import Parts


@dataclass(frozen=True)
class SuppressedRows:
    """Rows withheld from the release, or starred in every column."""

    def measure(self, parts: Parts) -> float:
        """The number."""
        return float(parts.suppressed.sum())
