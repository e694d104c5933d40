"""Encode, group, label and measure: everything before the published table takes its shape."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal import plugins
from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.cells.people import with_population
from shoal.cells.spans import spans_of
from shoal.cells.table import codes_in_order, encode
from shoal.cells.wishes import read_wishes
from shoal.errors import Infeasible, InputError, PolicyError
from shoal.io.frames import Table
from shoal.metrics._losses import column_losses
from shoal.metrics.base import Parts
from shoal.models.delta_presence import DeltaPresence
from shoal.models.requirement import Requirement
from shoal.pipeline.clock import Clock
from shoal.pipeline.people import people_of
from shoal.pipeline.personal import report_personal
from shoal.pipeline.personal import warnings as personal_warnings
from shoal.pipeline.reports import report_columns, report_components
from shoal.policy import Policy
from shoal.publish import personal
from shoal.publish.assemble import Published, assemble
from shoal.release import ColumnReport, ComponentReport, PersonalReport

MANY_SUPPRESSED = 0.05
"""Above this share of suppressed rows a run without a limit warns."""


@dataclass(frozen=True)
class Prepared:
    """What is to be published, and what it costs."""

    published: Published
    metrics: dict[str, float | None]
    column_loss: dict[str, float]
    rows: int
    groups: int
    suppressed_rows: int
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    components: tuple[ComponentReport, ...]
    columns: dict[str, ColumnReport]
    personal: dict[str, PersonalReport]


def prepare(table: Table, names: list[str], policy: Policy, clock: Clock) -> Prepared:
    """Group the rows of a table as a policy asks, label the groups and measure the loss.

    `names` are all columns of the input; `table` need only hold those to be published.
    """
    policy.check(names)
    if table.n_rows == 0:
        raise InputError("The table has column names but no rows: there is nothing to publish.")
    check_method(policy)
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
        groupings = policy.method.group(cells, requirement, policy.seed, progress)
    with clock.step("publish"):
        spans = tuple(spans_of(cells, grouping) for grouping in groupings)
        shown = personal.apply(cells, wishes)
        published = assemble(
            cells,
            groupings,
            spans,
            keep_order=policy.order == "kept",
            personal=shown,
            hashes=_hashes(table, policy, cells, shown) if shown else None,
        )
    suppressed = int(published.suppressed.sum())
    warnings = [*policy.warnings(), *_limit_suppression(policy, suppressed, cells.n_rows)]
    with clock.step("measure"):
        target = codes_in_order(cells, table.column(policy.target)) if policy.target else None
        parts = Parts(
            cells, groupings, spans, published.classes, published.suppressed, target, wishes
        )
        metrics = {name: metric().measure(parts) for name, metric in plugins.metrics().items()}
        losses = {name: loss / cells.n_rows for name, loss in column_losses(parts).items()}
        raised = report_personal(policy, parts, shown)
    return Prepared(
        published=published,
        metrics=metrics,
        column_loss=losses,
        rows=cells.n_rows,
        groups=sum(grouping.n_groups for grouping in groupings),
        suppressed_rows=suppressed,
        warnings=(*warnings, *personal_warnings(raised)),
        notes=(*_notes(policy, groupings), *(n for g in groupings for n in g.notes)),
        components=report_components(policy, parts),
        columns=report_columns(parts),
        personal=raised,
    )


def check_method(policy: Policy) -> None:
    """Raise `PolicyError` where the method cannot honour the policy; to be asked before any work."""
    for model in policy.constraints:
        if isinstance(model, DeltaPresence) and model.least > 0:
            raise PolicyError(
                f"No method promises delta-presence with a `least` of {model.least:g}: a label may "
                "cover more people than were counted. Leave `least` out; `shoal verify` can ask for "
                "it afterwards."
            )
    check = getattr(policy.method, "check", None)
    if check is not None:
        trees = {name: policy.columns[name].hierarchy is not None for name in policy.quasi}
        check(Requirement(policy.constraints), trees)


def _cells(table: Table, policy: Policy) -> Cells:
    quasi = {name: policy.how(name) for name in policy.quasi}
    sensitive = {name: policy.how(name) for name in sorted(policy.sensitive)}
    # a column's own order in the table is not published content; its name is
    # wishes decide what is published of a row too: equal rows are equal in them as well
    plain = [*sorted(policy.plain), *sorted(set(policy.preferences.values()))]
    return encode(table.column, quasi, sensitive, plain, policy.seed, policy.folder)


def _hashes(
    table: Table, policy: Policy, cells: Cells, shown: Mapping[str, pa.DictionaryArray]
) -> npt.NDArray[np.uint64]:
    same = sorted(name for name in (*policy.plain, *policy.sensitive) if name not in shown)
    return personal.hashes(cells, shown, [table.column(name) for name in same], policy.seed)


def _limit_suppression(policy: Policy, suppressed: int, rows: int) -> list[str]:
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


def _notes(policy: Policy, groupings: tuple[Grouping, ...]) -> list[str]:
    """One grouping over all columns meets constraints on some of them by the strictest."""
    partial = [model for model in policy.constraints if getattr(model, "on", None)]
    if not partial or len(groupings) > 1 or groupings[0].levels is not None:
        return []
    largest = max(model.min_rows for model in policy.constraints)
    return [
        f"Constraints on some columns are met together: every group over all {len(policy.quasi)} "
        f"quasi-identifiers has at least {largest} rows."
    ]
