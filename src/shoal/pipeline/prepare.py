"""Encode, group, label and measure: everything before the published table takes its shape."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.encoding.cells import Cells, codes_in_order, encode
from shoal.encoding.grouping import SUPPRESSED, Grouping, Spans, as_they_are, spans_of
from shoal.encoding.population import with_population
from shoal.encoding.preferences import read_wishes
from shoal.errors import Infeasible, InputError, PolicyError
from shoal.evidence.collect import collect
from shoal.evidence.evidence import Evidence
from shoal.io.arrow import kind_name
from shoal.io.frames import Table
from shoal.methods.blocks import group_rows
from shoal.metrics.base import Parts, chosen_metrics
from shoal.metrics.losses import column_losses
from shoal.models.delta_presence import DeltaPresence
from shoal.models.requirement import Requirement
from shoal.pipeline.population import people_of
from shoal.pipeline.summary import (
    Recognised,
    recognised,
    report_columns,
    report_components,
    report_nodes,
    report_personal,
)
from shoal.pipeline.summary import warnings as personal_warnings
from shoal.policy import Policy
from shoal.progress import Clock
from shoal.publish import personal
from shoal.publish.anatomy import Anatomy, part
from shoal.publish.assemble import Published, assemble
from shoal.release import ColumnReport, ComponentReport, PersonalReport

MANY_SUPPRESSED = 0.05
"""Above this share of suppressed rows a run without a limit warns."""

NEARLY_ALL = 0.9
"""Above this mean NCP a run warns that hardly any detail is left."""


@dataclass(frozen=True)
class Prepared:
    """What is to be published, and what it costs."""

    published: Published | Anatomy
    metrics: dict[str, float | None]
    column_loss: dict[str, float]
    rows: int
    groups: int
    suppressed_rows: int
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    components: tuple[ComponentReport, ...]
    columns: dict[str, ColumnReport]
    minimal_nodes: tuple[dict[str, int], ...]
    personal: dict[str, PersonalReport]
    recognition: dict[str, Recognised]
    evidence: Evidence


def prepare(table: Table, names: list[str], policy: Policy, clock: Clock) -> Prepared:
    """Group the rows of a table as a policy asks, label the groups and measure the loss.

    `names` are all columns of the input; `table` need only hold those to be published.
    """
    policy.check(names)
    if table.n_rows == 0:
        raise InputError("The table has column names but no rows: there is nothing to publish.")
    check_method(policy)
    clock.rows = table.n_rows
    with clock.step("encode"):
        cells = _cells(table, policy)
        if policy.population is not None:
            how = {name: policy.how(name) for name in policy.quasi}
            cells = with_population(cells, people_of(policy), how)
        wishes = {
            name: read_wishes(cells, name, wish, table.column(wish))
            for name, wish in policy.preferences.items()
        }
    limit = None if policy.suppression is None else int(policy.suppression * cells.n_rows)
    requirement = Requirement(policy.constraints, limit)
    with clock.step("group") as progress:
        groupings = group_rows(policy.method, cells, requirement, policy.seed, progress)
    hidden = np.all([grouping.group == SUPPRESSED for grouping in groupings], axis=0)
    suppressed = int(hidden.sum())
    warnings = [*policy.warnings(), *limit_suppression(policy, suppressed, cells.n_rows)]
    formed = None
    with clock.step("publish"):
        seen = groupings
        if policy.publish == "anatomy":
            seen, formed = as_they_are(cells, groupings)
        spans = tuple(spans_of(cells, grouping) for grouping in seen)
        shown = personal.apply(cells, wishes)
        published = _publish(table, policy, cells, groupings, spans, shown)
    with clock.step("measure"):
        # of a sensitive target nobody can tell which row has which class, once it is apart
        apart = formed is not None and policy.target in policy.sensitive
        parts = Parts(
            cells,
            seen,
            spans,
            published.classes,
            hidden,
            None if apart else cells.target,
            weights=policy.method.weights,
            formed=formed,
            raised=wishes,
        )
        chosen = chosen_metrics(policy.metrics)
        metrics = {name: metric.measure(parts) for name, metric in chosen.items()}
        losses = {name: loss / cells.n_rows for name, loss in column_losses(parts).items()}
        raised = report_personal(policy, parts, shown)
        evidence = collect(
            parts,
            published.sizes,
            losses,
            {name: policy.columns[name].hierarchy for name in policy.quasi},
            policy.sensitive,
            _schema(table, names, policy),
        )
    return Prepared(
        published=published,
        metrics=metrics,
        column_loss=losses,
        rows=cells.n_rows,
        groups=sum(grouping.n_groups for grouping in groupings),
        suppressed_rows=suppressed,
        warnings=(*warnings, *all_lost(metrics["mean-ncp"]), *personal_warnings(raised)),
        notes=(*met_together(policy, groupings), *(n for g in groupings for n in g.notes)),
        components=report_components(policy, parts),
        columns=report_columns(parts),
        minimal_nodes=report_nodes(parts),
        personal=raised,
        recognition=recognised(policy, parts),
        evidence=evidence,
    )


def _publish(
    table: Table,
    policy: Policy,
    cells: Cells,
    groupings: tuple[Grouping, ...],
    spans: tuple[Spans, ...],
    shown: Mapping[str, pa.DictionaryArray],
) -> Published | Anatomy:
    if policy.publish == "anatomy":
        # in the order of names: where a column stands is not published content
        plain, sensitive = sorted(policy.plain), sorted(policy.sensitive)
        return part(cells, groupings[0], table.column, policy.quasi, plain, sensitive)
    hashes = None
    if shown:  # the order of rows is made from what is published of them
        same = sorted(name for name in (*policy.plain, *policy.sensitive) if name not in shown)
        hashes = personal.hashes(cells, shown, [table.column(n) for n in same], policy.seed)
    return assemble(cells, groupings, spans, policy.order == "kept", shown, hashes)


def check_method(policy: Policy) -> None:
    """Raise `PolicyError` where the method cannot honour the policy; to be asked before any work."""
    for model in policy.constraints:
        if isinstance(model, DeltaPresence) and model.least > 0:
            raise PolicyError(
                f"No method promises delta-presence with a `least` of {model.least:g}: a label may "
                "cover more people than were counted. Leave `least` out; `shoal verify` can ask for "
                "it afterwards."
            )
    trees = {name: policy.columns[name].hierarchy is not None for name in policy.quasi}
    policy.method.check(Requirement(policy.constraints), trees)


def _cells(table: Table, policy: Policy) -> Cells:
    quasi = {name: policy.how(name) for name in policy.quasi}
    sensitive = {name: policy.how(name) for name in sorted(policy.sensitive)}
    # a column's own order in the table is not published content; its name is
    # wishes decide what is published of a row too: equal rows are equal in them as well
    plain = [*sorted(policy.plain), *sorted(set(policy.preferences.values()))]
    cells = encode(table.column, quasi, sensitive, plain, policy.seed, policy.folder)
    if policy.target is None:
        return cells
    return replace(cells, target=codes_in_order(cells, table.column(policy.target)))


def _schema(table: Table, names: list[str], policy: Policy) -> dict[str, str | None]:
    """Every column of the input, with the type of those that a run reads."""
    read = set(policy.needed(names))
    return {name: kind_name(table.column(name).type) if name in read else None for name in names}


def limit_suppression(policy: Policy, suppressed: int, rows: int) -> list[str]:
    """Warnings about suppressed rows; raises `Infeasible` where the policy does not allow so many."""
    share = suppressed / rows
    if suppressed == rows:
        raise Infeasible(
            f"All {rows:,} rows would have to be suppressed: nothing would be left to publish. "
            "Loosen the constraints."
        )
    if policy.suppression is not None and suppressed > policy.suppression * rows:
        raise Infeasible(
            f"{suppressed:,} of {rows:,} rows ({share:.1%}) would have to be suppressed, but the "
            f"policy allows {policy.suppression:.1%}. Raise `suppression` to at least "
            f"{np.ceil(share * 1000) / 1000:g}, or loosen the constraints."
        )
    if policy.suppression is None and share > MANY_SUPPRESSED:
        return [
            f"{suppressed:,} of {rows:,} rows ({share:.1%}) are suppressed; "
            "set `suppression` to limit them."
        ]
    return []


def all_lost(mean: float | None) -> list[str]:
    """A warning where hardly any detail is left."""
    if mean is None or mean <= NEARLY_ALL:
        return []
    return [
        f"Nearly all detail of the quasi columns is lost ({mean:.1%} by mean NCP). Loosen the "
        "constraints, allow more `suppression`, list fewer quasi columns, or try another method."
    ]


def met_together(policy: Policy, groupings: tuple[Grouping, ...] = ()) -> list[str]:
    """A note where one grouping over all columns meets constraints on some of them by the strictest.

    groupings: none where there is one, and no levels, as of methods that cut or cluster.
    """
    partial = [model for model in policy.constraints if getattr(model, "on", None)]
    apart = len(groupings) > 1 or any(one.levels is not None for one in groupings)
    if not partial or apart:
        return []
    largest = max(model.min_rows for model in policy.constraints)
    return [
        f"Constraints on some columns are met together: every group over all {len(policy.quasi)} "
        f"quasi-identifiers has at least {largest} rows."
    ]
