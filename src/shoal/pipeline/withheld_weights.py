"""What a run states about weights that it does not publish: nothing from which one of them follows.

A class of one row stands for as many people as the weight of this row says, and a single suppressed row
for the share of the population that is lost with it. Where the policy withholds the weights, bounds and
rounded sums therefore take the place of such figures, in the release object, in the terminal and in
every file alike. `shoal.assess` and `shoal inspect` give the exact ones to whoever has the table.
"""

from collections.abc import Sequence
from dataclasses import replace

from shoal import plugins
from shoal.encoding.values import COMMON
from shoal.engines.measured import Measured
from shoal.evidence.estimated_risk import at_least, at_most_one
from shoal.metrics.weighted import WeightedMeanNcp, WeightedSuppression
from shoal.policy import Policy
from shoal.verification.check import Finding


def stated_findings(findings: Sequence[Finding], policy: Policy) -> tuple[Finding, ...]:
    """The findings; an estimate from withheld weights is a bound from below, but not below what was
    asked."""
    return tuple(_stated(finding, policy) for finding in findings)


def without_estimates(finding: Finding, policy: Policy) -> Finding:
    """For those who get the release: what was asked, where a finding is an estimate from withheld
    weights."""
    return replace(finding, reached=finding.asked) if _hidden(finding, policy) else finding


def _stated(finding: Finding, policy: Policy) -> Finding:
    if not _hidden(finding, policy):
        return finding
    return replace(finding, reached=max(finding.asked, int(at_least(finding.reached))))


def _hidden(finding: Finding, policy: Policy) -> bool:
    """Whether what was reached is a sum of weights that are not published."""
    estimated = any(
        model.needs_weights and model.name == finding.model for model in policy.constraints
    )
    return estimated and policy.withholds_weight and finding.holds


def stated_measures(measured: Measured, policy: Policy) -> Measured:
    """What was measured, with the population rounded; losses in its terms are bounds from above where
    they are those of a few suppressed rows."""
    if measured.weighted is None or not policy.withholds_weight:
        return measured
    few = 0 < measured.suppressed_rows < COMMON
    metrics = dict(measured.metrics)
    for name in map(plugins.name_of, (WeightedMeanNcp, WeightedSuppression)):
        if few and (loss := metrics.get(name)) is not None:
            metrics[name] = at_most_one(loss)
    return replace(measured, metrics=metrics, weighted=measured.weighted.without_weights(few))
