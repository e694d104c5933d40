"""The criterion of a comparison: the one figure by which its runs are ranked.

By default this is the loss, in bits. It may be any metric, or what a model that is trained on the
release predicts right. With Anatomy, which loses nothing whatever the method, risk takes its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import pyarrow as pa
import pyarrow.compute as pc

from shoal import plugins
from shoal.analysis.prediction import PredictionTask, check_target
from shoal.comparison.outcome import Outcome
from shoal.errors import InputError, PolicyError, listed, nearest, percent
from shoal.metrics.base import Metric
from shoal.policy import Policy

LOSS = "relative-non-uniform-entropy"
RISK = "risk"
ACCURACY = "accuracy"
NEAR = 0.02
"""Within this share of the best figure speed decides: so little is not worth waiting for."""
FAR = 0.1
"""From this share of the best figure on, the policy's own method is called behind."""
SHORT = 12
"""Letters of a name that still heads a column of figures."""
OTHER_FIGURES = ("loss", "groups")
"""Headings of other figures that are also names of metrics."""
SCORES = {"accuracy": "accuracy", "r2": "R²"}


@dataclass(frozen=True)
class Criterion:
    """What is to be low, or high."""

    name: str = LOSS
    """A metric, `accuracy`, or `risk`."""
    high_is_good: bool = False
    target: str | None = None
    """The column that models predict, for `accuracy`."""

    @property
    def is_loss(self) -> bool:
        """Whether it is the default."""
        return self.name == LOSS

    @property
    def is_risk(self) -> bool:
        """Whether runs are judged by risk."""
        return self.name == RISK

    @property
    def is_accuracy(self) -> bool:
        """Whether runs are judged by models."""
        return self.name == ACCURACY

    @property
    def is_metric(self) -> bool:
        """Whether it has a figure of its own beside loss and risk, which a metric gives."""
        return not (self.is_loss or self.is_risk or self.is_accuracy)

    def figure(self, outcome: Outcome) -> float:
        """The figure of a finished run."""
        figures = outcome.done_figures
        if self.is_loss:
            return figures.loss
        if self.is_risk:
            return figures.risk.average
        assert figures.figure is not None
        return figures.figure

    def cost(self, outcome: Outcome) -> float:
        """The same as a figure that is to be low; of models what they do not predict."""
        figure = self.figure(outcome)
        if self.is_accuracy:
            return 1 - figure
        return -figure if self.high_is_good else figure

    def point(self, outcome: Outcome) -> tuple[float, float]:
        """Average risk and the cost: two figures that are to be low; loss where risk is the cost."""
        figures = outcome.done_figures
        return figures.risk.average, figures.loss if self.is_risk else self.cost(outcome)

    def rank(self, outcome: Outcome) -> tuple[float, float, str]:
        """The sort key of a ranking: the criterion, the other figure, and the name."""
        risk, other = self.point(outcome)
        return (risk, other, outcome.method) if self.is_risk else (other, risk, outcome.method)

    def is_near(self, one: Outcome, best: Outcome) -> bool:
        """Whether the cost of a run is hardly more than the least one; of models, but for noise."""
        cost, least = self.cost(one), self.cost(best)
        if self.is_accuracy:
            return cost <= least + self.noise(best)
        return cost <= least + NEAR * abs(least)

    def noise(self, outcome: Outcome) -> float:
        """By how much the score of a model may differ by the choice of the rows that it is tested on:
        two standard errors of a share, or of R² (Cohen et al., "Applied Multiple Regression", 2003)."""
        models = outcome.done_figures.models
        assert models is not None
        score, rows = min(max(models.value, 0.0), 1.0), max(1, models.tested)
        if models.score == "accuracy":
            return 2 * sqrt(score * (1 - score) / rows)
        return 2 * sqrt(4 * score * (1 - score) ** 2 / rows)

    def beats_guessing(self, outcome: Outcome) -> bool:
        """Whether a model is better than one that always guesses the same, by more than noise."""
        models = outcome.done_figures.models
        assert models is not None
        return models.value > models.baseline + self.noise(outcome)

    def guessing(self, outcome: Outcome) -> str:
        """`always guessing the most frequent value (0.778)`; empty unless runs are judged by models."""
        models = outcome.done_figures.models
        if not self.is_accuracy or models is None:
            return ""
        what = "the most frequent value" if models.score == "accuracy" else "the mean"
        return f"always guessing {what} ({models.baseline:.3f})"

    def is_far(self, cost: float, least: float) -> bool:
        """Whether a cost is clearly more than the least one."""
        return cost > least and cost >= least + FAR * abs(least)

    def shown(self, outcome: Outcome) -> str:
        """The figure of a finished run as people read it."""
        figure = self.figure(outcome)
        if self.is_loss or self.is_risk:
            return percent(figure)
        return f"{figure:.3f}" if self.is_accuracy else number(figure)

    def verdict(self, outcome: Outcome, would: bool = False) -> str:
        """`loses 7.4 % of the information`, or in short `would lose 7.4 %`."""
        shown = self.shown(outcome)
        if self.is_loss:
            return f"would lose {shown}" if would else f"loses {shown} of the information"
        if self.is_risk:
            return f"{'would leave' if would else 'leaves'} a best guess right in {shown} of cases"
        if self.is_accuracy:
            return (
                f"would give {shown}"
                if would
                else f"gives models with {self._score(outcome)} {shown}"
            )
        return f"would have {shown}" if would else f"has a {self.name} of {shown}"

    def _score(self, outcome: Outcome) -> str:
        models = outcome.done_figures.models
        assert models is not None
        return f"an {SCORES[models.score]} of"

    @property
    def praise(self) -> str:
        """What the best method does."""
        if self.is_loss:
            return "keeps the most information"
        if self.is_risk:
            return "leaves the least to be guessed"
        if self.is_accuracy:
            return f"keeps '{self.target}' the most predictable"
        return f"is best in {self.name}"

    @property
    def hardly_worse(self) -> str:
        """How the faster of two that are near compares."""
        return "hardly more than" if self.is_loss or self.is_risk else "hardly worse than"

    @property
    def nearly(self) -> str:
        """How a policy's own method that is near compares."""
        return "nearly as little" if self.is_loss or self.is_risk else "nearly as good"

    @property
    def no_worse(self) -> str:
        """How a run that dominates another compares in this criterion."""
        return "with no more loss" if self.is_loss or self.is_risk else f"no worse in {self.name}"

    @property
    def noun(self) -> str:
        """`loss`, `risk`, or the name."""
        return "loss" if self.is_loss else self.name

    @property
    def heading(self) -> str:
        """The name above a column of figures."""
        is_other = self.is_metric and self.name in OTHER_FIGURES
        return "figure" if is_other or len(self.noun) > SHORT else self.noun

    @property
    def words(self) -> str:
        """The criterion in words, with its direction."""
        if self.is_loss:
            return f"the information lost, in bits ({LOSS}; low is good)"
        if self.is_risk:
            return "risk (low is good)"
        if self.is_accuracy:
            return (
                f"what models predict of '{self.target}' (accuracy, or R² of numbers; high is good)"
            )
        return f"the metric {self.name} ({'high' if self.high_is_good else 'low'} is good)"

    def to_dict(self) -> dict[str, str | bool | None]:
        """As plain values for JSON."""
        return {"name": self.name, "high_is_good": self.high_is_good, "target": self.target}


def read_criterion(
    name: str | None, target: str | None, policy: Policy, names: Sequence[str]
) -> Criterion:
    """The criterion that was asked for; raises unless the policy allows it.

    names: all columns of the table.
    """
    known: dict[str, type[Metric]] = plugins.metrics()
    chosen = LOSS if name is None else str(name).strip()
    allowed = [LOSS, ACCURACY, *sorted(set(known) - {LOSS})]
    if chosen not in allowed:
        raise InputError(
            f"by: there is no criterion '{chosen}'; allowed: {listed(allowed, 40)}."
            f"{nearest(chosen, allowed)}"
        )
    if chosen == ACCURACY:
        return Criterion(ACCURACY, True, _target(target, policy, names))
    if target is not None:
        raise InputError(
            f"target: only {ACCURACY} has a target, and the criterion is {chosen}. Leave it out, or "
            f"compare by {ACCURACY}."
        )
    missing = _missing(chosen, policy)
    if missing:
        raise PolicyError(
            f"by: {chosen} {missing}. Choose another criterion, or change the policy."
        )
    return Criterion(chosen, known[chosen].high_is_good)


def metrics_for(criterion: Criterion, policy: Policy) -> tuple[Metric, ...]:
    """The metrics to measure: that of the criterion, with the policy's options where it has some."""
    if not criterion.is_metric:
        return ()
    known: dict[str, type[Metric]] = plugins.metrics()
    own = [metric for metric in policy.metrics if metric.name == criterion.name]
    return (own[0] if own else known[criterion.name](),)


def check_rows(criterion: Criterion, table: pa.Table, policy: Policy) -> None:
    """Raise `InputError` unless models can be trained on some rows and tested on the others."""
    if criterion.target is None:
        return
    PredictionTask(policy, criterion.target, 0).split(table.num_rows)
    if len(pc.unique(table.column(criterion.target)).drop_null()) < 2:
        raise InputError(
            f"The target '{criterion.target}' has fewer than two values: there is nothing to predict."
        )


def number(figure: float) -> str:
    """`0.1234`, `1,234`, `4.5e+08`."""
    return f"{figure:,.0f}" if 1000 <= abs(figure) < 1_000_000 else f"{figure:.4g}"


def _target(target: str | None, policy: Policy, names: Sequence[str]) -> str:
    published = policy.published(names)
    allowed = [name for name in published if policy.columns[name].role in ("quasi", "plain")]
    if target is None:
        raise InputError(
            f"by: {ACCURACY} is that of models, which need a target, the column to predict: name it "
            f"with --target (target=). Allowed: {listed(allowed)}."
        )
    if policy.publish == "anatomy":
        raise PolicyError(
            f"by: {ACCURACY} needs releases with labels, but the policy has `publish: anatomy`. "
            "Choose another criterion, such as query-error."
        )
    if target in policy.sensitive:
        raise InputError(
            f"target: '{target}' is sensitive, and the method must not be chosen by how well sensitive "
            f"values can be predicted; allowed: {listed(allowed)}."
        )
    if target not in published:
        raise InputError(
            f"target: '{target}' is not a column that the release publishes; allowed: {listed(allowed)}."
            f"{nearest(target, allowed)}"
        )
    if target not in allowed:
        raise InputError(
            f"target: '{target}' has the role {policy.columns[target].role}, and only quasi and plain "
            f"columns can be predicted; allowed: {listed(allowed)}."
        )
    check_target(policy, target, published)
    if len(published) < 2:
        raise InputError("The release has the target alone: there is nothing to predict it from.")
    return target


def _missing(name: str, policy: Policy) -> str:
    """What the policy lacks for a metric; empty where nothing."""
    if name == "cm" and policy.target is None:
        return "needs a `target`, which the policy has not"
    if name.startswith("weighted-") and policy.weight is None:
        return "needs a column with the role weight, which the policy has not"
    if name == "recognition-rate" and not policy.sensitive:
        return "needs a sensitive column, which the policy has not"
    return ""
