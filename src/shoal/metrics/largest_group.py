"""Size of the largest group."""

from dataclasses import dataclass

from shoal.metrics.base import Parts


@dataclass(frozen=True)
class LargestGroup:
    """Rows of the largest group formed."""

    def measure(self, parts: Parts) -> float:
        """The size; 0 where every row is suppressed."""
        return float(parts.sizes.max(initial=0))
