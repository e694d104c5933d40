"""What a release lost where columns differ in importance."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.encoding.domain import Domain
from shoal.metrics.base import AdditiveMetric, Node, ReleaseView, Sums, Totals
from shoal.metrics.ncp import column_losses, node_losses


@dataclass(frozen=True)
class MeanNcpByImportance(AdditiveMetric):
    """Mean NCP, every quasi-identifier counted as often as its `importance` says; 0 is best.

    Measured where some columns are more important than others: it is what methods then minimise.

    Source: as `mean-ncp`; weighted as in Xu et al., "Utility-based anonymization using local
    recoding", 2006.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True
    on_request: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """The loss of each column."""
        return column_losses(view)

    def figure(self, sums: Sums, totals: Totals) -> float:
        """The weighted mean over the quasi-identifiers."""
        losses = [sums.get(domain.name, 0.0) for domain in totals.domains]
        return _mean(totals.domains, losses, totals.n_rows)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return _mean(node.cells.domains, node_losses(node), node.cells.n_rows)


def _mean(domains: tuple[Domain, ...], losses: list[float], n_rows: int) -> float:
    shares = [domain.share for domain in domains]
    weighed = sum(share * loss for share, loss in zip(shares, losses, strict=True))
    return weighed / (n_rows * sum(shares))
