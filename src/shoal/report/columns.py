"""What the release cost, column by column."""

from dataclasses import dataclass, field
from typing import Any

from shoal.report.charts import generality, losses, pairs
from shoal.report.figures import percent
from shoal.report.labels import shown

MOST_DRAWN = 20
"""Values of a column in a chart, and columns in the chart of losses with the most to lose first; the
table below has all."""
BUDGET = 500_000
"""Letters that the charts of single columns may take; from there on tables tell the rest, so that the
page stays one that opens at once."""
MOST_COLUMNS = 120
"""Columns on the page, those with the most to lose first; the certificate has all."""
MANY = 10
"""With more columns than this, only those that lost most are open."""
OPEN = 4
KINDS = {
    "ordered": "published as ranges",
    "unordered": "published as sets of values",
    "hierarchy": "published as steps of a hierarchy",
    "sensitive": "sensitive, guarded by the guarantees",
}
APART = {"sensitive": "sensitive, published in a table apart"}


@dataclass(frozen=True)
class ColumnView:
    """One column: its charts and their figures."""

    place: int
    name: str
    kind: str
    loss: float | None
    is_open: bool
    lumped: int
    distribution: list[dict[str, Any]] = field(default_factory=list)
    generality: list[dict[str, Any]] = field(default_factory=list)
    before_after: str = ""
    """The chart of its distribution, or nothing."""
    levels: str = ""
    """The chart of its levels of generality, or nothing."""

    @property
    def is_drawn(self) -> bool:
        """Whether charts tell what the tables tell."""
        return bool(self.before_after or self.levels)


@dataclass(frozen=True)
class LossView:
    """The chart of all losses, and its figures."""

    chart: str
    rows: list[tuple[str, float]]
    left_out: int
    """Columns that only the table has."""

    @property
    def is_any(self) -> bool:
        """Whether any column lost anything."""
        return any(share for _, share in self.rows)


def loss_view(certificate: dict[str, Any]) -> LossView | None:
    """The loss of each column; None where none is known."""
    columns = certificate["cost"]["columns"]
    loss = {name: one["loss"] for name, one in columns.items() if one["loss"] is not None}
    if not loss:
        return None
    worst = sorted(loss, key=lambda name: -loss[name])[: 2 * MOST_DRAWN]
    drawn = {name: loss[name] for name in loss if name in set(worst)}
    mean = certificate["cost"]["mean_ncp"]
    chart = losses("loss", drawn, mean, "Detail lost per column")
    return LossView(chart, list(loss.items()), len(loss) - len(drawn))


def column_views(certificate: dict[str, Any]) -> list[ColumnView]:
    """What became of each column, in the policy's order."""
    columns = certificate["cost"]["columns"]
    worst = sorted(columns, key=lambda name: -(columns[name]["loss"] or 0))[:MOST_COLUMNS]
    opened = set(columns) if len(columns) <= MANY else set(worst[:OPEN])
    kinds = KINDS if certificate["anatomy"] is None else APART
    told = {name: one for name, one in columns.items() if name in set(worst)}
    left, views = BUDGET, []
    for place, (name, one) in enumerate(told.items(), 1):
        first, second = _charts(place, name, one) if left > 0 else ("", "")
        left -= len(first) + len(second)
        views.append(
            ColumnView(
                place=place,
                name=shown(name),
                kind=kinds.get(one["kind"], "published as it is"),
                loss=one["loss"],
                is_open=name in opened and one["loss"] != 0,
                lumped=one["lumped"],
                distribution=one["distribution"],
                generality=one["generality"],
                before_after=first,
                levels=second,
            )
        )
    return views


def _charts(place: int, name: str, one: dict[str, Any]) -> tuple[str, str]:
    called, first, second = shown(name, 60), "", ""
    bars = [(bar["label"], bar["before"], bar["after"]) for bar in one["distribution"]]
    if bars:
        most = max(bars, key=lambda bar: bar[1])
        more = f" The first {MOST_DRAWN} of {len(bars)}." if len(bars) > MOST_DRAWN else ""
        told = (
            f"One pair of bars per value. The most common is {most[0]}, {percent(most[1])}.{more}"
        )
        title = f"Values of {called}, before and after"
        first = pairs(f"values-{place}", bars[:MOST_DRAWN], title, told)
    levels = [(level["label"], level["share"]) for level in one["generality"]]
    if levels:
        second = generality(f"levels-{place}", levels, f"How general the values of {called} became")
    return first, second
