"""What became of each k constraint, of the columns treated together, and of each column."""

from collections.abc import Sequence

import numpy as np

from shoal.cells.grouping import SUPPRESSED
from shoal.constraints.sets import Constraint, implies, without_implied
from shoal.errors import listed, percent
from shoal.metrics.base import Parts
from shoal.metrics.precision import column_precision
from shoal.models.k import K
from shoal.pipeline.linked import Verdict
from shoal.policy import Policy
from shoal.policy.anatomy import COUNT, GROUP, count_name, group_name
from shoal.release import ColumnReport, ComponentReport, ConstraintReport
from shoal.verification.check import Finding


def report_columns(parts: Parts) -> dict[str, ColumnReport]:
    """Precision and levels of the columns with a hierarchy, in the policy's order."""
    levels = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            rows = np.bincount(spans.levels[:, j], spans.sizes).astype(np.int64)
            name = parts.cells.domains[column].name
            levels[name] = {level: int(n) for level, n in enumerate(rows) if n}
    precision = column_precision(parts)
    names = [domain.name for domain in parts.cells.domains if domain.name in precision]
    return {name: ColumnReport(precision[name], levels[name]) for name in names}


def report_nodes(parts: Parts) -> tuple[dict[str, int], ...]:
    """The minimal nodes that the method found: the level of each column."""
    return tuple(
        {
            parts.cells.domains[column].name: level
            for column, level in zip(grouping.columns, levels, strict=True)
        }
        for grouping in parts.groupings
        for levels in grouping.minimal
    )


def report_components(policy: Policy, parts: Parts) -> tuple[ComponentReport, ...]:
    """The sets of columns that the method treated apart."""
    precision = column_precision(parts)
    asked = _constraints(policy)
    found = []
    for grouping in parts.groupings:
        names = tuple(parts.cells.domains[column].name for column in grouping.columns)
        known = [precision[name] for name in names if name in precision]
        own = {j for j, name in enumerate(policy.quasi) if name in names}
        found.append(
            ComponentReport(
                columns=names,
                constraints=tuple(i for i, one in enumerate(asked) if set(one.columns) <= own),
                precision=sum(known) / len(known) if len(known) == len(names) else None,
                suppressed_rows=int((grouping.group == SUPPRESSED).sum()),
            )
        )
    return tuple(found)


def report_constraints(
    policy: Policy, components: Sequence[ComponentReport], findings: Sequence[Finding]
) -> tuple[ConstraintReport, ...]:
    """The k constraints, in the policy's order; `findings` are those of all its models."""
    asked = _constraints(policy)
    kept, _ = without_implied(asked)
    seen = [f for f, m in zip(findings, policy.constraints, strict=True) if isinstance(m, K)]
    found = []
    for i, (one, finding) in enumerate(zip(asked, seen, strict=True)):
        stronger = [asked.index(other) for other in kept if implies(other, one)]
        hidden = [c.suppressed_rows for c in components if i in c.constraints]
        found.append(
            ConstraintReport(
                columns=finding.columns,
                k=one.k,
                smallest=int(finding.reached) if finding.classes else None,
                suppressed_rows=max(hidden, default=0),
                implied_by=None if one in kept else stronger[0],
            )
        )
    return tuple(found)


def _constraints(policy: Policy) -> list[Constraint]:
    place = {name: j for j, name in enumerate(policy.quasi)}
    return [
        Constraint(tuple(sorted(place[name] for name in model.on or policy.quasi)), model.k)
        for model in policy.constraints
        if isinstance(model, K)
    ]


def anatomy_notes(policy: Policy, verdict: Verdict) -> list[str]:
    """What an Anatomy release does and does not protect, with the figure that l leaves open."""
    if policy.publish != "anatomy":
        return []
    shares = ", ".join(
        f"{percent(share)} for {name}" for name, share in verdict.largest_share.items()
    )
    called = [group_name(policy), count_name(policy)]
    renamed = "" if called == [GROUP, COUNT] else f" The added columns are called {listed(called)}."
    return [
        "Anatomy hides only whose sensitive value is whose (Xiao and Tao, 2006). That a person is in "
        "the table, and their exact quasi-identifiers and plain columns, can be read by everyone."
        f"{renamed}",
        f"Who finds a person's group guesses their value right with a chance of up to {shares}: l "
        "different values do not bound this by 1/l. Who knows the values of others in the group can "
        "rule these out.",
    ]
