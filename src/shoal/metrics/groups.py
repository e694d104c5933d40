"""Number of groups."""

from dataclasses import dataclass

from shoal.metrics.base import Parts


@dataclass(frozen=True)
class Groups:
    """Groups formed; more and smaller groups keep more detail."""

    def measure(self, parts: Parts) -> float:
        """The number, over all groupings."""
        return float(len(parts.sizes))
