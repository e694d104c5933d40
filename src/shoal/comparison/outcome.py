"""The outcome of one method at one k."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np

from shoal.analysis.prediction import ModelScore

Status = Literal["done", "cannot", "infeasible", "over budget", "failed"]
"""`cannot`: the method does not support such a policy. `infeasible`: it found no release of this table
that satisfies the policy. `over budget`: it was stopped. `failed`: an error of Shoal, or its memory ran
out."""


@dataclass(frozen=True)
class Risk:
    """The chance of an attacker who looks for a person in the release.

    To pick the right row, knowing that the person is in the table (prosecutor risk). With
    `publish: anatomy`, to guess a sensitive value right.
    """

    highest: float
    """Of any row."""
    average: float
    """Over all rows."""


@dataclass(frozen=True)
class Figures:
    """The figures of a verified release, whose rows are discarded."""

    loss: float
    """The share of the information of quasi columns that is lost, in bits: relative non-uniform
    entropy. Mean NCP would reward large sets of a column with many values."""
    exact: float
    """The share of the cells in quasi columns that are exact."""
    ncp: float
    """Mean NCP."""
    risk: Risk
    groups: int
    """Groups the method formed."""
    classes: int
    """Combinations of labels a reader can tell apart."""
    suppressed_rows: int
    suppressed_share: float
    """Of all input rows."""
    seconds: float
    """From a table in memory to a verified release, kernels compiled."""
    memory: int
    """Bytes in use at the peak, beyond those in use before."""
    figure: float | None = None
    """The figure of the criterion, where it is neither loss nor risk."""
    models: ModelScore | None = None
    """What a model predicts, where runs are judged by models."""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Figures":
        """The figures from plain values."""
        models = data.get("models")
        found = {**data, "risk": Risk(**data["risk"])}
        return cls(**{**found, "models": None if models is None else ModelScore(**models)})


@dataclass(frozen=True)
class Outcome:
    """One method at one k."""

    method: str
    k: int | None
    """None where the policy's own constraints were used and do not share one k."""
    status: Status
    reason: str = ""
    """Why it is not done."""
    figures: Figures | None = None
    """Only of what is done."""

    @property
    def done_figures(self) -> Figures:
        """The figures of an outcome that is done."""
        assert self.figures is not None
        return self.figures

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, the figures beside the rest; null where there are none."""
        own = {"method": self.method, "k": self.k, "status": self.status, "reason": self.reason}
        none = {field.name: None for field in fields(Figures)}
        return own | (none if self.figures is None else asdict(self.figures))


def frontier(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Of each point whether no other is as low in both figures and lower in one.

    Source: Pareto's optimum, as used for releases in Duncan, Keller-McNulty and Stokes, "Disclosure
    risk vs. data utility: the R-U confidentiality map", 2001.
    """
    optimal = [False] * len(points)
    best = np.inf
    last: tuple[float, float] | None = None
    for at in sorted(range(len(points)), key=lambda i: points[i]):
        # sorted by the first figure: only a lower second one is not beaten, or the same point again
        if points[at][1] < best or points[at] == last:
            optimal[at], best, last = True, points[at][1], points[at]
    return optimal
