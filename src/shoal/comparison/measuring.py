"""One release made, verified, measured and thrown away."""

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.comparison.memory import Peak
from shoal.comparison.outcome import Figures, Risk
from shoal.models.requirement import Requirement
from shoal.pipeline.clock import nobody
from shoal.pipeline.run import anonymize
from shoal.policy import Policy
from shoal.policy.anatomy import count_name, group_name
from shoal.progress import Watcher
from shoal.release import Release
from shoal.risk.assessment import assess

FEW = 200
"""Rows of a warm-up, where so few will do."""
STAR = "*"


def warm_up(table: pa.Table, policy: Policy) -> None:
    """Make a release of a few rows, so that what is compiled on first use is compiled.

    On some tables a few rows cannot hold the policy; then some of it is compiled in the run itself.
    """
    wanted = max(FEW, min(4 * Requirement(policy.constraints).min_rows, table.num_rows // 4))
    rows = np.unique(np.linspace(0, table.num_rows - 1, min(wanted, table.num_rows)).astype(int))
    try:
        figures_of(anonymize(table.take(pa.array(rows)), policy), 0.0, 0)
    except Exception:
        return  # the run itself will tell


def measure(table: pa.Table, policy: Policy, progress: Watcher = nobody) -> Figures:
    """Make a release of the table; it is verified as every release is, or raises."""
    peak, began = Peak(), time.perf_counter()
    release = anonymize(table, policy, progress=progress)
    return figures_of(release, time.perf_counter() - began, peak.bytes())


def figures_of(release: Release, seconds: float, memory: int) -> Figures:
    """A release in figures."""
    loss = release.metrics.get("mean-ncp")
    return Figures(
        loss=0.0 if loss is None else loss,
        risk=_risk(release),
        groups=release.groups,
        classes=release.published_classes,
        suppressed_rows=release.suppressed_rows,
        suppressed_share=release.suppressed_rows / release.rows,
        seconds=seconds,
        memory=memory,
    )


def _risk(release: Release) -> Risk:
    if release.policy.publish == "anatomy":
        return _best_guess(release)
    rows = _without_stars(release.table, release.policy)
    found = assess(rows, release.policy.quasi).reidentification.prosecutor
    return Risk(found.highest, found.average)


def _without_stars(table: pa.Table, policy: Policy) -> pa.Table:
    """The rows that are published with something in them."""
    if policy.suppressed != "starred":
        return table
    hidden = pa.array(np.ones(table.num_rows, np.bool_))
    for column in table.columns:
        same = pc.fill_null(pc.equal(column.cast(pa.string()), STAR), False)
        hidden = pc.and_(hidden, same)
    return table.filter(pc.invert(hidden))


def _best_guess(release: Release) -> Risk:
    """Who knows a person's group guesses its most frequent value; the worst sensitive column counts."""
    group, count = group_name(release.policy), count_name(release.policy)
    averages = []
    for table in release.sensitive_tables.values():
        most: Any = table.group_by(group).aggregate([(count, "max")])[f"{count}_max"]
        averages.append(pc.sum(most).as_py() / release.published_rows)
    return Risk(max(release.largest_share.values()), max(averages))
