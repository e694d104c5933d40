"""Mean group size."""

from dataclasses import dataclass

from shoal.metrics.base import Parts


@dataclass(frozen=True)
class MeanGroup:
    """Rows of the average group formed; the closer to k the better."""

    def measure(self, parts: Parts) -> float:
        """The mean; 0 where every row is suppressed."""
        return float(parts.sizes.mean()) if len(parts.sizes) else 0.0
