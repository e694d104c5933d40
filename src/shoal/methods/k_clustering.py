"""k-clustering: grow small clusters, each by the row that adds least loss."""

from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods._blocks import BlockRows, check_blocks, in_blocks
from shoal.methods.base import Progress, QuasiColumns
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class KClustering:
    """k-clustering: clusters grow by the row that adds least NCP, until the requirement holds.

    Once a cluster is large enough but does not hold yet, rows with sensitive values that it has not
    come first. Rows left at the end join the cluster to which they add least, among those that hold
    with them; a row that fits nowhere is suppressed. The order in which rows start clusters is
    random: it comes from the seed.

    Source: our own sibling of L-clustering, with NCP for its loss and no merging.
    """

    block_rows: BlockRows = None
    """Rows of a block, about: the method then runs inside blocks of neighbours, faster, for more loss.
    All rows are one block where it is left out."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:  # noqa: ARG002
        """Raise what this method cannot honour, before any work."""
        check_blocks("k-clustering", self.block_rows, requirement)

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by growing clusters."""
        from shoal.methods._k_clusters import cluster

        return (in_blocks(cells, requirement, self.block_rows, seed, progress, cluster),)
