"""What a release cost, from sums that its fragments give where their rows are."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from shoal.errors import listed
from shoal.evidence.sums import Counting
from shoal.large.coding import Coded
from shoal.metrics._losses import column_losses
from shoal.metrics.base import Additive, Parts, Sums, Whole, chosen_metrics, together
from shoal.metrics.precision import column_climbs
from shoal.policy import Policy

LOSSES, CLIMBS, LEVELS, EVIDENCE = "\0losses", "\0climbs", "\0levels", "\0evidence"
"""Beside the metrics by name: what the report tells of each column."""


@dataclass(frozen=True)
class Measure:
    """The sums of a fragment; it can travel to another process."""

    metrics: dict[str, Additive]
    whole: Whole
    """Of the table; the published classes are not known yet."""
    counting: Counting | None = None
    """What is counted for a report, if there is to be one."""

    def __call__(self, parts: Parts) -> str:
        """The sums of one fragment, as text to be handed on."""
        own = replace(parts, whole=self.whole)
        found = {name: metric.sums(own) for name, metric in self.metrics.items()}
        found |= {LOSSES: column_losses(own), CLIMBS: column_climbs(own), LEVELS: _levels(own)}
        if self.counting is not None:
            found[EVIDENCE] = self.counting(own)
        return json.dumps(found)


@dataclass(frozen=True)
class Measured:
    """The figures of a whole release."""

    metrics: dict[str, float | None]
    column_loss: dict[str, float]
    """Per quasi-identifier, the mean loss of a cell."""
    precision: dict[str, float]
    """Per column with a hierarchy."""
    levels: dict[str, dict[int, int]]
    """Per column, published rows by the level of their label."""
    notes: tuple[str, ...]
    evidence: Sums
    """What was counted for a report."""


def measure_of(
    policy: Policy, coded: Coded, groupings: int = 1, counting: Counting | None = None
) -> Measure:
    """What measures the fragments of a coded table."""
    chosen = chosen_metrics(policy.metrics)
    return Measure(
        {name: metric for name, metric in chosen.items() if isinstance(metric, Additive)},
        Whole(
            domains=coded.domains,
            rows_of_values=coded.rows_of_values,
            n_rows=coded.n_rows,
            groupings=groupings,
            sensitive=coded.sensitive,
            has_target=coded.has_target,
            weights=getattr(policy.method, "weights", None),
        ),
        counting,
    )


def measured(
    policy: Policy, measure: Measure, told: Iterable[str], published_classes: int | None
) -> Measured:
    """The figures, from what all fragments told."""
    by_name: dict[str, list[Sums]] = {}
    for text in told:
        for name, sums in json.loads(text).items():
            by_name.setdefault(name, []).append(sums)
    found = {name: together(sums) for name, sums in by_name.items()}
    whole = replace(measure.whole, published_classes=published_classes)
    metrics: dict[str, float | None] = dict.fromkeys(chosen_metrics(policy.metrics))
    left_out = [name for name in metrics if name not in measure.metrics]
    for name, metric in measure.metrics.items():
        metrics[name] = metric.figure(found[name], whole)
    levels: dict[str, dict[int, int]] = {}
    for key, rows in found[LEVELS].items():
        level, _, name = key.partition(":")
        levels.setdefault(name, {})[int(level)] = int(rows)
    return Measured(
        metrics=metrics,
        column_loss={name: loss / whole.n_rows for name, loss in found[LOSSES].items()},
        precision={name: 1 - climbed / whole.n_rows for name, climbed in found[CLIMBS].items()},
        levels={name: dict(sorted(by_level.items())) for name, by_level in levels.items()},
        notes=_notes(left_out),
        evidence=found.get(EVIDENCE, {}),
    )


def _levels(parts: Parts) -> Sums:
    """Published rows by `level:column`."""
    found: Sums = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            rows = np.bincount(spans.levels[:, j], spans.sizes).astype(np.int64).tolist()
            name = parts.cells.domains[column].name
            found |= {f"{level}:{name}": n for level, n in enumerate(rows) if n}
    return found


def _notes(left_out: list[str]) -> tuple[str, ...]:
    if not left_out:
        return ()
    return (
        f"Not measured on a large table: {listed(left_out)}. A metric that can be has `sums` and "
        "`figure`.",
    )
