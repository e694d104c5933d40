"""What a release cost, from sums that its fragments give where their rows are."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.engines.base import Session, Step, passing
from shoal.engines.capabilities import IN_MEMORY
from shoal.engines.encode import Coded, stored_kind
from shoal.engines.fragments import TARGET, Finish, GroupFragment
from shoal.engines.full_domain import Publish, Secrets, bring_cells, label_cells
from shoal.engines.partition_tree import (
    FRAGMENTED,
    PartitionTree,
    cut_into_fragments,
    fragment_rows_for,
)
from shoal.engines.queries import CODED, class_sizes, people, rows_of, told_rows
from shoal.errors import PolicyError, listed
from shoal.evidence.collect import Counting, Facts, evidence_of
from shoal.evidence.evidence import Evidence, Histogram, histogram
from shoal.methods.base import BlockMethod
from shoal.methods.blocks import block_requirement
from shoal.methods.partition import WIDEST_ROUNDED
from shoal.metrics.base import Additive, Parts, Sums, Whole, chosen_metrics, together
from shoal.metrics.losses import column_losses
from shoal.metrics.precision import column_climbs
from shoal.metrics.recognition_rate import RecognitionRate
from shoal.models.requirement import Requirement
from shoal.plugins import name_of
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
            weights=policy.method.weights,
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


# Group and label the coded table of a session: the published rows stay there.


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
    if method.partition_rule() is not None or method.only_counts:
        return
    if not isinstance(method, BlockMethod):
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
    method = policy.method
    if method.only_counts:
        return _by_cells(session, coded, policy, requirement, step, facts)
    rule, asked = method.partition_rule(), requirement
    if rule is None:
        assert method.block_rows is not None, "see check_method"
        rule, asked = WIDEST_ROUNDED, block_requirement(requirement, method.block_rows)
    with step("group") as progress, passing(session, progress, 0, 1, None):
        tree = cut_into_fragments(session, coded, asked, rule, most, progress)
    group = GroupFragment(method, requirement, coded.n_rows, policy.seed)
    with step("publish") as progress, passing(session, progress, 0, 1, coded.n_rows):
        return _by_fragments(session, coded, policy, tree, group, facts)


def _by_fragments(
    session: Session,
    coded: Coded,
    policy: Policy,
    tree: PartitionTree,
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
        np.array([one.depth for one in tree.fragments], np.int64),
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
    schema, sizes = finish.schema(stored), [one.rows for one in tree.fragments]
    rows = tree.rows(session, finish.columns, stored)
    session.map_groups(PUBLISHED, rows, "node", finish, schema, sizes)
    session.drop(FRAGMENTED)
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
    with step("group") as progress, passing(session, progress, 0, 1, None):
        # what only a metric needs comes along where that metric was asked for
        asked = any(name_of(type(each)) == RECOGNITION for each in policy.metrics)
        cells = bring_cells(session, coded, coded.sensitive if asked else requirement.columns)
        groupings = policy.method.group(cells, requirement, policy.seed, progress)
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
    weights = policy.method.weights
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
