"""Group and label the coded table of a session: the published rows stay there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.cells.cells import Cells
from shoal.cells.grouping import SUPPRESSED, Grouping
from shoal.engines.large.cells import people, told_rows
from shoal.engines.large.profiling import class_sizes, rows_of
from shoal.engines.large.questions import CODED
from shoal.engines.large.session import Session
from shoal.errors import PolicyError
from shoal.evidence.collect import Facts, evidence_of
from shoal.evidence.evidence import Evidence, Histogram
from shoal.evidence.sizes import histogram
from shoal.large.blocks import InBlocks
from shoal.large.can import IN_MEMORY
from shoal.large.coding import Coded
from shoal.large.fragments import TARGET, CutOn, Finish, GroupFragment
from shoal.large.full_domain import Publish, bring_cells, label_cells
from shoal.large.kinds import stored_kind
from shoal.large.measuring import measure_of, measured
from shoal.large.secrets import Secrets
from shoal.large.tops import PARTED, Tops, cut_tops, fragment_rows_for
from shoal.large.watching import Step, passing
from shoal.methods._blocks import block_requirement
from shoal.methods.flexible_partition import FlexiblePartition
from shoal.metrics._losses import column_losses
from shoal.metrics.base import Parts, chosen_metrics
from shoal.metrics.recognition_rate import RecognitionRate
from shoal.models.requirement import Requirement
from shoal.plugins import name_of
from shoal.policy import Policy

PUBLISHED = "published"
RECOGNITION = "recognition-rate"
"""The one metric that looks at sensitive values also where no model does."""


@dataclass(frozen=True)
class Outcome:
    """What was published, under the name PUBLISHED: q0.. labels, p0.. the other columns. What it is
    made from, CODED, may be needed until it was asked."""

    metrics: dict[str, float | None]
    losses: dict[str, float]
    """Mean NCP by column."""
    groups: int
    suppressed_rows: int
    classes: int
    """Different combinations of labels among the rows that are published."""
    types: pa.Schema
    """Of the published columns p0.. ; text where stars may stand."""
    columns: dict[str, tuple[float, dict[int, int]]] = field(default_factory=dict)
    """Per column with a hierarchy its precision, and published rows by level."""
    notes: tuple[str, ...] = ()
    parts: Parts | None = None
    """For methods that treat equal rows alike: the release taken apart."""
    evidence: Evidence = field(default_factory=Evidence)
    """What a report tells of the run; nothing where none was asked for."""

    def rows(self, columns: Sequence[str]) -> str:
        """SQL of the published rows."""
        return people(PUBLISHED, columns) if self.parts is None else rows_of(PUBLISHED, columns)


def check_method(policy: Policy) -> None:
    """Raise `PolicyError` where the method needs all rows in one place."""
    method, name = policy.method, name_of(type(policy.method))
    if hasattr(method, "cutting") or getattr(method, "from_cells", False):
        return
    if not hasattr(method, "block_rows"):
        raise PolicyError(
            f"method: {name} needs all rows in one place, so it cannot run on a large engine. Use "
            f"least-loss-partition, flexible-partition or mondrian, or {IN_MEMORY}."
        )
    if method.block_rows is None:
        raise PolicyError(
            f"method: {name} needs all rows in one place, unless it runs inside blocks. Give it "
            f"`block_rows`, as in `method: {{name: {name}, block_rows: 10000}}`; the release is then "
            "the same on every engine."
        )
    if policy.suppressed == "starred":
        raise PolicyError(
            f"method: {name} may suppress rows, and `suppressed: starred` is not written by large "
            f"engines for it. Choose `suppressed: withheld`, or {IN_MEMORY}."
        )


def publish(
    session: Session,
    coded: Coded,
    policy: Policy,
    step: Step,
    fragment_rows: int | None = None,
    facts: Facts | None = None,
) -> Outcome:
    """Make the published rows, in the steps `group` and `publish`; with `facts` of the table also the
    evidence for a report.

    fragment_rows: changes how the work is parted, not what comes out.
    """
    most = fragment_rows or fragment_rows_for(coded.n_rows)
    limit = None if policy.suppression is None else int(policy.suppression * coded.n_rows)
    requirement = Requirement(policy.constraints, limit)
    method: Any = policy.method
    if getattr(method, "from_cells", False):
        return _by_cells(session, coded, policy, requirement, step, facts)
    group: GroupFragment
    with step("group") as progress, passing(session, progress, 0, 1, None):
        if hasattr(method, "cutting"):
            tops = cut_tops(session, coded, requirement, method.cutting(), most, progress)
            group = CutOn(method, requirement, coded.n_rows)
        else:
            blocks = block_requirement(requirement, method.block_rows)
            widest = FlexiblePartition(dimension="widest").cutting()
            tops = cut_tops(session, coded, blocks, widest, most, progress)
            group = InBlocks(method, requirement, policy.seed)
    with step("publish") as progress, passing(session, progress, 0, 1, coded.n_rows):
        return _by_fragments(session, coded, policy, tops, group, facts)


def _by_fragments(
    session: Session,
    coded: Coded,
    policy: Policy,
    tops: Tops,
    group: GroupFragment,
    facts: Facts | None,
) -> Outcome:
    counting = None if facts is None else facts.counting()
    measure = measure_of(policy, coded, counting=counting)
    shown = tuple(f"p{i}" for i in range(len(coded.payload)))
    finish = Finish(
        coded.domains,
        coded.sensitive,
        coded.sensitive_domains,
        coded.totals,
        np.array([one.depth for one in tops.fragments], np.int64),
        shown,
        group,
        more=(TARGET,) if coded.has_target else (),
        measure=measure,
    )
    stored = pa.schema([(f.name, stored_kind(f.type)) for f in coded.schema])
    d = range(len(coded.domains))
    before: Histogram = ()
    if facts is not None:
        before = _sizes(session.ask(class_sizes(CODED, [f"c{j}" for j in d])))
    schema, sizes = finish.schema(stored), [one.rows for one in tops.fragments]
    rows = tops.rows(session, finish.columns, stored)
    session.map_groups(PUBLISHED, rows, "node", finish, schema, sizes)
    session.drop(PARTED)
    session.drop(CODED)
    answer = session.ask(told_rows(PUBLISHED, [f"q{j}" for j in d]))
    told = answer.column("told").drop_null().to_pylist()
    after = _sizes(answer.filter(answer.column("told").is_null()))
    classes = sum(times for _, times in after)
    found = measured(policy, measure, told, classes)
    evidence = Evidence()
    if facts is not None and counting is not None:
        both, sums = (before, after), found.evidence
        evidence = evidence_of(facts, counting, sums, found.column_loss, both)
    return Outcome(
        metrics=found.metrics,
        losses=found.column_loss,
        groups=int(found.metrics["groups"] or 0),
        suppressed_rows=int(found.metrics["suppressed-rows"] or 0),
        classes=classes,
        types=coded.schema,
        columns={name: (found.precision[name], found.levels[name]) for name in found.precision},
        notes=found.notes,
        evidence=evidence,
    )


def _sizes(answer: pa.Table) -> Histogram:
    size, times = (answer.column(name).cast(pa.int64()).to_pylist() for name in ("size", "times"))
    return tuple(sorted(zip(size, times, strict=True)))


def _by_cells(
    session: Session,
    coded: Coded,
    policy: Policy,
    requirement: Requirement,
    step: Step,
    facts: Facts | None,
) -> Outcome:
    method: Any = policy.method
    with step("group") as progress, passing(session, progress, 0, 1, None):
        # what only a metric needs comes along where that metric was asked for
        asked = any(name_of(type(each)) == RECOGNITION for each in policy.metrics)
        cells = bring_cells(session, coded, coded.sensitive if asked else requirement.columns)
        groupings = method.group(cells, requirement, policy.seed, progress)
    with step("publish") as progress, passing(session, progress, 0, 1, coded.n_rows):
        return _label(session, coded, policy, cells, groupings, facts)


def _label(
    session: Session,
    coded: Coded,
    policy: Policy,
    cells: Cells,
    groupings: tuple[Grouping, ...],
    facts: Facts | None,
) -> Outcome:
    labelled, spans = label_cells(cells, groupings, policy.suppressed == "starred")
    payload = tuple((f.name, f.type) for f in coded.schema)
    secrets = Secrets(session, PUBLISHED, coded, cells, wanted=facts is not None)
    make = Publish(labelled, payload, secrets.codes)
    codes = [f"c{j}" for j in range(len(coded.domains))]
    needed = [*codes, *(name for name, _ in payload), *secrets.codes]
    once = not secrets.codes
    session.map(PUBLISHED, rows_of(CODED, needed), make, make.schema, once=once)
    hidden = np.all([grouping.group == SUPPRESSED for grouping in groupings], axis=0)
    classes = len(labelled.sizes)
    weights = getattr(policy.method, "weights", None)
    parts = Parts(cells, groupings, spans, classes, hidden, cells.target, weights)
    losses = {name: loss / coded.n_rows for name, loss in column_losses(parts).items()}
    evidence = Evidence()
    if facts is not None:
        counting = facts.counting()
        sums = counting(parts) | secrets.counted(counting, parts)
        both = histogram(cells.counts), histogram(labelled.sizes)
        evidence = evidence_of(facts, counting, sums, losses, both)
    return Outcome(
        metrics={
            name: secrets.recognised(one, parts)
            if isinstance(one, RecognitionRate)
            else one.measure(parts)
            for name, one in chosen_metrics(policy.metrics).items()
        },
        losses=losses,
        groups=sum(grouping.n_groups for grouping in groupings),
        suppressed_rows=int(hidden.sum()),
        classes=classes,
        types=pa.schema([make.schema.field(name) for name, _ in payload])
        if labelled.has_stars
        else coded.schema,
        notes=tuple(note for grouping in groupings for note in grouping.notes),
        parts=parts,
        evidence=evidence,
    )
