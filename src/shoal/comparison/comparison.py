"""Methods side by side: what `compare` found, and how it shows itself."""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.comparison.outcome import Outcome, frontier
from shoal.comparison.plan import own_k
from shoal.comparison.ranking import Recommendation, recommend
from shoal.errors import percent
from shoal.plugins import name_of
from shoal.policy import Policy
from shoal.version import __version__

VERSION = 1
"""Of the form of the JSON."""


@dataclass(frozen=True)
class Comparison:
    """What became of each method at each k."""

    policy: Policy
    """As it was given."""
    rows: int
    """Rows of the table."""
    ks: tuple[int | None, ...]
    """The k that were compared; None for a policy whose own constraints do not share one."""
    replaced: bool
    """Whether these k stood in for those of the policy."""
    budget: float | None
    """Seconds that each run had."""
    outcomes: tuple[Outcome, ...]
    """In the order of k, then of the methods' names."""
    name: str = ""
    """Of the table's file."""
    warnings: tuple[str, ...] = ()
    """What was guessed about the file."""

    @property
    def method(self) -> str:
        """The policy's own method."""
        return name_of(type(self.policy.method))

    @property
    def done(self) -> list[Outcome]:
        """What finished and was verified."""
        return [one for one in self.outcomes if one.status == "done"]

    @property
    def by_risk(self) -> bool:
        """Whether methods are judged by risk: Anatomy loses no detail, whatever the method."""
        return self.policy.publish == "anatomy"

    @cached_property
    def recommended(self) -> Recommendation | None:
        """The method to take, with the reason; None where none finished."""
        return recommend(self.outcomes, self.method, own_k(self.policy), self.by_risk)

    @property
    def chosen(self) -> Outcome | None:
        """The run behind the recommendation."""
        wanted = self.recommended
        if wanted is None:
            return None
        return next(o for o in self.done if (o.method, o.k) == (wanted.method, wanted.k))

    @cached_property
    def frontier(self) -> list[Outcome]:
        """The runs that no other beats in both loss and average risk."""
        figures = [one.figures for one in self.done]
        held = frontier([(f.risk.average, f.loss) for f in figures if f is not None])
        return [one for one, best in zip(self.done, held, strict=True) if best]

    @property
    def none_can(self) -> bool:
        """Whether every method said that no release can be made; more time would not help."""
        return all(one.status in ("cannot", "infeasible") for one in self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        recommended = self.recommended
        best = {id(one) for one in self.frontier}
        return {
            "comparison": VERSION,
            "shoal": __version__,
            "name": self.name,
            "rows": self.rows,
            "policy": self.policy.fingerprint(),
            "method": self.method,
            "publish": self.policy.publish,
            "seed": self.policy.seed,
            "ks": list(self.ks),
            "replaced": self.replaced,
            "budget": self.budget,
            "recommended": None if recommended is None else asdict(recommended),
            "outcomes": [one.to_dict() | {"frontier": id(one) in best} for one in self.outcomes],
            "warnings": list(self.warnings),
        }

    def write(self, path: str | Path, force: bool = False) -> list[Path]:
        """Write a page (`.html`) and the JSON beside it, or the JSON alone (`.json`)."""
        from shoal.comparison.page import write_comparison

        return write_comparison(self, Path(path), force)

    def __repr__(self) -> str:
        found = f"<Comparison: {len(self.done)} of {len(self.outcomes)} runs finished"
        if self.chosen is None or self.chosen.figures is None:
            return f"{found}>"
        return f"{found}; take {self.chosen.method}: loss {percent(self.chosen.figures.loss)}>"

    def _repr_html_(self) -> str | None:
        """How a notebook shows it; in plain text where charts cannot be drawn."""
        from shoal.drawing.page import can_draw

        if not can_draw():
            return None
        from shoal.comparison.page import notebook

        return notebook(self)
