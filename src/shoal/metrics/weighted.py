"""What a release lost in terms of the population: every row counts as many times as its weight."""

from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats, Ints
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.encoding.weights import SCALE
from shoal.metrics.base import AdditiveMetric, ReleaseView, Sums, Totals
from shoal.metrics.labels import leaves_under
from shoal.metrics.ncp import label_losses

PEOPLE = "people"
"""The sum of all weights."""


@dataclass(frozen=True)
class WeightedMeanNcp(AdditiveMetric):
    """Mean NCP of the population: every row counts as often as its sampling weight says; 0 is best.

    Measured where a column has the role `weight`.

    Source: as `mean-ncp`; weighted as survey estimates are.
    """

    high_is_good: ClassVar[bool] = False
    on_request: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """The loss of each column, and the people that all rows stand for."""
        weights = view.cells.weights
        if weights is None:
            return {}
        found: Sums = {PEOPLE: people(weights)}
        for grouping, spans in zip(view.groupings, view.spans, strict=True):
            of_groups, starred = _by_group(grouping, weights)
            for j, column in enumerate(grouping.columns):
                domain = view.cells.domains[column]
                loss = label_losses(domain, spans, j)
                found[f"loss:{domain.name}"] = float((loss * of_groups).sum()) + starred
        for name in view.raised:
            found[f"loss:{name}"] = _raised_loss(view, name, weights / SCALE)
        return found

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """The loss over people times the columns that it counts; None without weights."""
        if not sums.get(PEOPLE):
            return None
        losses = sum(amount for name, amount in sums.items() if name != PEOPLE)
        return losses / (sums[PEOPLE] * (len(totals.domains) + len(totals.raised)))


@dataclass(frozen=True)
class WeightedSuppression(AdditiveMetric):
    """Share of the population whose rows are suppressed, by their sampling weights; low is good.

    Measured where a column has the role `weight`. Suppression that takes the rare people of a survey
    takes more, or less, of the population than of the rows.

    Source: as `suppressed-rows`; weighted as survey estimates are.
    """

    high_is_good: ClassVar[bool] = False
    on_request: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """People behind the suppressed rows, and behind all rows."""
        weights = view.cells.weights
        if weights is None:
            return {}
        return {PEOPLE: people(weights), "suppressed": people(weights[view.suppressed])}

    def figure(self, sums: Sums, totals: Totals) -> float | None:  # noqa: ARG002
        """The share; None without weights."""
        return sums["suppressed"] / sums[PEOPLE] if sums.get(PEOPLE) else None


def people(weights: Ints) -> float:
    """The people that weights in millionths stand for."""
    return int(weights.sum()) / SCALE


def _by_group(grouping: Grouping, weights: Ints) -> tuple[Floats, float]:
    """(g,) the people behind each group, and those behind suppressed rows."""
    kept = grouping.group != SUPPRESSED
    found = np.zeros(grouping.n_groups, np.int64)
    np.add.at(found, grouping.group[kept], weights[kept])
    return found / SCALE, people(weights[~kept])


def _raised_loss(view: ReleaseView, name: str, weights: Floats) -> float:
    """The loss of a sensitive column with personal preferences."""
    kept = ~view.suppressed
    domain = view.cells.sensitive_domains[name]
    known = max(domain.size - (domain.missing >= 0), 1)
    share = np.where(view.raised[name] > 0, leaves_under(view, name), 0) / known
    return float((share * weights)[kept].sum() + weights[~kept].sum())
