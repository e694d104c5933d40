"""What the experiments on the rounded partition measure."""

from dataclasses import dataclass, field

OURS, WIDEST = "flexible", "flexible (widest)"
STRICT, RELAXED, BOTTOM_UP = "strict Mondrian", "relaxed Mondrian", "bottom-up"
OTHERS = (STRICT, RELAXED, BOTTOM_UP)
METHODS = (OURS, WIDEST, *OTHERS)


@dataclass(frozen=True)
class Of:
    """One method at one k."""

    groups: int
    largest: int
    """Rows of the largest group."""
    dm: float
    cm: float
    seconds: float


@dataclass
class Found:
    """All of it."""

    rows: int
    ks: tuple[int, ...]
    of: dict[tuple[str, int], Of] = field(default_factory=dict)
    """By method and k."""

    def line(self, name: str, what: str) -> list[float]:
        """One figure of a method against k."""
        return [float(getattr(self.of[name, k], what)) for k in self.ks]
