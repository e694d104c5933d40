"""Sizes of groups, discernibility, and how many rows were suppressed."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.metrics.base import MOST, AdditiveMetric, Node, ReleaseView, Sums, Totals


@dataclass(frozen=True)
class Groups(AdditiveMetric):
    """Groups formed; more and smaller groups keep more detail."""

    high_is_good: ClassVar[bool] = True
    only_worsens: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """Groups, over all groupings."""
        return {"groups": len(view.sizes)}

    def figure(self, sums: Sums, totals: Totals) -> float:  # noqa: ARG002
        """The number."""
        return float(sums["groups"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(len(node.sizes))


@dataclass(frozen=True)
class LargestGroup(AdditiveMetric):
    """Rows of the largest group formed; low is good."""

    high_is_good: ClassVar[bool] = False

    def sums(self, view: ReleaseView) -> Sums:
        """The largest size."""
        return {f"{MOST}rows": int(view.sizes.max(initial=0))}

    def figure(self, sums: Sums, totals: Totals) -> float:  # noqa: ARG002
        """The size; 0 where every row is suppressed."""
        return float(sums[f"{MOST}rows"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.sizes.max(initial=0))


@dataclass(frozen=True)
class MeanGroup(AdditiveMetric):
    """Rows of the average group formed; the closer to k the better."""

    high_is_good: ClassVar[bool] = False

    def sums(self, view: ReleaseView) -> Sums:
        """Groups and their rows."""
        return {"groups": len(view.sizes), "rows": int(view.sizes.sum())}

    def figure(self, sums: Sums, totals: Totals) -> float:  # noqa: ARG002
        """The mean; 0 where every row is suppressed."""
        return sums["rows"] / sums["groups"] if sums["groups"] else 0.0

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.sizes.mean()) if len(node.sizes) else 0.0


@dataclass(frozen=True)
class SuppressedRows(AdditiveMetric):
    """Rows withheld from the release, or starred in every column; low is good."""

    high_is_good: ClassVar[bool] = False

    def sums(self, view: ReleaseView) -> Sums:
        """Suppressed rows."""
        return {"suppressed": int(view.suppressed.sum())}

    def figure(self, sums: Sums, totals: Totals) -> float | None:  # noqa: ARG002
        """The number."""
        return float(sums["suppressed"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.suppressed_rows)


@dataclass(frozen=True)
class AverageClassSize(SuppressedRows):
    """AECS: rows per published class; low is good, but not below k.

    N / (published classes + 1 if anything was suppressed): the suppressed rows are a class too.
    Groups that got the same labels are one class; `mean-group` counts them separately.

    Source: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006, there
    divided by k; with the suppressed rows as in the ARX tool.
    """

    only_worsens: ClassVar[bool] = True

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """The mean over all rows of the table; None where the classes were not counted."""
        if totals.published_classes is None:
            return None
        return totals.n_rows / (totals.published_classes + bool(sums["suppressed"]))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return node.cells.n_rows / (len(node.sizes) + bool(node.suppressed_rows))


@dataclass(frozen=True)
class DmKept(AdditiveMetric):
    """DM of the kept rows alone: each costs the size of its group, suppressed ones nothing; low is good.

    Read it together with `suppressed-rows`: suppressing everything would make it 0.

    Source: Bayardo and Agrawal, "Data privacy through optimal k-anonymization", 2005, without the
    penalty for suppressed rows (called C_DM* in later work).
    """

    high_is_good: ClassVar[bool] = False

    def sums(self, view: ReleaseView) -> Sums:
        """Squared group sizes, over all groupings."""
        return {"squares": sum(int((span.sizes**2).sum()) for span in view.spans)}

    def figure(self, sums: Sums, totals: Totals) -> float:  # noqa: ARG002
        """The sum of squared group sizes."""
        return float(sums["squares"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float((node.sizes**2).sum())


@dataclass(frozen=True)
class Dm(DmKept):
    """DM: each row costs the size of its group, a suppressed row the size of the table; low is good.

    Source: Bayardo and Agrawal, "Data privacy through optimal k-anonymization", 2005.
    """

    only_worsens: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """Squared group sizes and suppressed rows, over all groupings."""
        kept = sum(int(span.sizes.sum()) for span in view.spans)
        suppressed = view.cells.n_rows * len(view.spans) - kept
        return {**super().sums(view), "suppressed": suppressed}

    def figure(self, sums: Sums, totals: Totals) -> float:
        """The sum of squared group sizes, and n per suppressed row."""
        return float(sums["squares"] + sums["suppressed"] * totals.n_rows)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return super().of_node(node) + node.suppressed_rows * node.cells.n_rows
