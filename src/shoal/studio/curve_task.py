"""What a guarantee costs at each figure, on a sample; and which figures no release can reach."""

from dataclasses import dataclass

from shoal import api
from shoal.errors import ShoalError
from shoal.progress import ProgressCallback
from shoal.studio.constraints import ConstraintText, with_figure
from shoal.studio.policy_text import changed
from shoal.studio.tasks import PolicyText, sample_of
from shoal.studio.worker import Tables


@dataclass(frozen=True)
class CurvePoint:
    """The cost of one figure."""

    figure: float
    lost: float | None
    """The share of the information that is lost; None where there is no release."""
    reason: str = ""
    """Why there is none."""
    for_certain: bool = False
    """Whether that holds for the whole table, and not only for the sample."""


def cost_curve(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    one: ConstraintText,
    figures: tuple[float, ...],
) -> tuple[CurvePoint, ...]:
    """The cost of a constraint at several figures, everything else as in the policy."""
    return tuple(_point(tables, report, policy, one, figure) for figure in figures)


def _point(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    one: ConstraintText,
    figure: float,
) -> CurvePoint:
    text = changed(policy.text, with_figure(one, figure))
    try:
        wanted = api.read_policy(text, name=policy.name, folder=policy.folder)
        if reason := tables.opened().impossible(wanted):
            return CurvePoint(figure, None, reason, for_certain=True)
        release = sample_of(tables, wanted).release(wanted, report, read_back=False)
    except ShoalError as error:
        return CurvePoint(figure, None, str(error))
    return CurvePoint(figure, release.metrics.get("relative-non-uniform-entropy"))
