"""What a large run knows of the table before, and the release that it hands over after."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from shoal import plugins
from shoal.evidence.collect import Facts
from shoal.io.arrow import kind_name
from shoal.large.coding import Coded, columns_to_read
from shoal.large.publishing import Outcome
from shoal.pipeline.clock import Clock
from shoal.pipeline.prepare import all_lost, limit_suppression, met_together
from shoal.pipeline.reports import (
    report_columns,
    report_components,
    report_constraints,
    report_nodes,
)
from shoal.policy import Policy
from shoal.release import ColumnReport, ComponentReport, Release
from shoal.verification.check import Finding


def facts_of(policy: Policy, coded: Coded, schema: pa.Schema, names: Sequence[str]) -> Facts:
    """What a report needs to know of the coded table; `names` are all columns of the input, `schema` has
    the types of those that were read."""
    read = dict(zip(columns_to_read(policy), schema.types, strict=True))
    kinds = {n: kind_name(read[n]) if n in read else None for n in names}
    return Facts(
        domains=coded.domains,
        rows_of_values=coded.rows_of_values,
        sensitive={
            name: (coded.sensitive_domains[name], coded.rows(name)) for name in policy.sensitive
        },
        n_rows=coded.n_rows,
        how={name: policy.columns[name].hierarchy for name in policy.quasi},
        schema=kinds,
    )


def published_rows(policy: Policy, coded: Coded, outcome: Outcome) -> int:
    """How many rows are to be published."""
    return coded.n_rows - (0 if policy.suppressed == "starred" else outcome.suppressed_rows)


def release_of(
    policy: Policy,
    coded: Coded,
    outcome: Outcome,
    findings: tuple[Finding, ...],
    clock: Clock,
    engine: str,
    table: Any = None,
    guessed: tuple[str, ...] = (),
) -> Release:
    """The release; `table` where its rows are at hand."""
    suppressed = outcome.suppressed_rows
    parts = outcome.parts
    components = (
        (_whole_component(policy, outcome),) if parts is None else report_components(policy, parts)
    )
    warnings = [*policy.warnings(), *limit_suppression(policy, suppressed, coded.n_rows)]
    return Release(
        table=table,
        policy=policy,
        findings=findings,
        metrics=outcome.metrics,
        rows=coded.n_rows,
        published_rows=published_rows(policy, coded, outcome),
        suppressed_rows=suppressed,
        groups=outcome.groups,
        published_classes=outcome.classes,
        method=plugins.name_of(type(policy.method)),
        seed=policy.seed,
        seconds=dict(clock.seconds),
        warnings=(*guessed, *warnings, *all_lost(outcome.metrics["mean-ncp"])),
        notes=(*met_together(policy, parts.groupings if parts else ()), *outcome.notes),
        column_loss=outcome.losses,
        constraints=report_constraints(policy, components, findings),
        components=components,
        columns=report_columns(parts)
        if parts
        else {name: ColumnReport(*told) for name, told in outcome.columns.items()},
        minimal_nodes=report_nodes(parts) if parts else (),
        evidence=outcome.evidence,
        engine=engine,
    )


def _whole_component(policy: Policy, outcome: Outcome) -> ComponentReport:
    every = range(sum(plugins.name_of(type(m)) == "k" for m in policy.constraints))
    return ComponentReport(
        columns=tuple(policy.quasi),
        constraints=tuple(every),
        precision=outcome.metrics.get("precision"),
        suppressed_rows=outcome.suppressed_rows,
    )
