"""What one step would buy and cost."""

from dataclasses import dataclass
from statistics import fmean

from shoal import api
from shoal.errors import Infeasible, ShoalError
from shoal.progress import ProgressCallback
from shoal.studio.compare_task import WHOLE_ROWS
from shoal.studio.tasks import PolicyText, sample_of
from shoal.studio.worker import Tables


@dataclass(frozen=True)
class Price:
    """The release of a policy in three figures."""

    lost: float
    """The detail lost, averaged over the columns of the policy as it is now."""
    highest: float
    """The highest chance that somebody is found."""
    average: float
    """The chance that a row is found, averaged over all."""
    left_out: int
    sampled: int | None
    """How many rows it was counted on, where that is a sample."""


@dataclass(frozen=True)
class NoPrice:
    """Why there is no release."""

    reason: str
    impossible: bool
    """Whether the policy cannot be met; otherwise it is not a policy at all."""


def price(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    text: str,
    columns: tuple[str, ...],
) -> Price | NoPrice:
    """The price of a policy; of `columns`, those that it does not publish have lost everything."""
    try:
        wanted = api.read_policy(text, name=policy.name, folder=policy.folder)
        whole = tables.opened()
        rows = whole.table(wanted.read.file).num_rows
        table = whole if rows <= WHOLE_ROWS else sample_of(tables, wanted)
        release = table.release(wanted, report, read_back=False)
    except ShoalError as error:
        return NoPrice(str(error), isinstance(error, Infeasible))
    now = api.risk_change(release).now
    return Price(
        fmean(release.column_loss.get(name, 1.0) for name in columns),
        now.prosecutor.highest,
        now.marketer,
        release.suppressed_rows,
        None if table is whole else release.rows,
    )
