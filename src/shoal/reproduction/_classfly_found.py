"""What the experiments on Classfly+ measure."""

from dataclasses import dataclass, field

Point = tuple[int, int]
"""Rows, and how many of the constraints."""

FAMILY = ("naive", "complete", "partial")
METHODS = ("datafly", *FAMILY)


@dataclass
class Found:
    """Precision and seconds, by point and method."""

    rows: tuple[int, ...]
    """Where precision was compared, with 2 and with 4 constraints."""
    fewer_rows: tuple[int, ...]
    """Where all else was measured, with each number of constraints."""
    constraints: tuple[int, ...]
    tables: int
    precision: dict[Point, dict[str, float]] = field(default_factory=dict)
    seconds: dict[Point, dict[str, float]] = field(default_factory=dict)
    compared: int = 0
    """Tables on which complete and partial were compared, cell for cell."""
    different: int = 0

    def precisions(self, size: int, name: str) -> list[float]:
        """Against rows."""
        return [self.precision[rows, size][name] for rows in self.rows]

    def times(self, size: int, name: str) -> list[float]:
        """Seconds against rows."""
        return [self.seconds[rows, size][name] for rows in self.fewer_rows]

    def times_by_constraints(self, name: str) -> list[float]:
        """Seconds against constraints, with the most rows."""
        return [self.seconds[self.fewer_rows[-1], size][name] for size in self.constraints]
