"""What a run measures of its release: losses, and reports on constraints, columns, preferences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group
from shoal.encoding.values import COMMON
from shoal.errors import listed
from shoal.evidence.detail import Detail
from shoal.evidence.disclosure import Disclosure
from shoal.evidence.evidence import Evidence
from shoal.evidence.levels import ChosenLevel, chosen_levels
from shoal.evidence.weighted import Weighted
from shoal.methods.constraints import Constraint, implies, without_implied
from shoal.metrics.base import Metric, ReleaseView, chosen_metrics
from shoal.metrics.entropy import information_of_columns
from shoal.metrics.importance import MeanNcpByImportance
from shoal.metrics.ncp import column_losses
from shoal.metrics.precision import column_precision
from shoal.metrics.recognition_rate import RecognitionRate, group_rates, row_rates
from shoal.metrics.weighted import WeightedMeanNcp, WeightedSuppression
from shoal.models.k import K
from shoal.policy import Policy
from shoal.verification.check import Finding
from shoal.verification.preferences import at_worst, effective, tree_of, under


@dataclass(frozen=True)
class ConstraintReport:
    """One k constraint of the policy, and the smallest class that it has in the release."""

    columns: tuple[str, ...]
    k: int
    smallest: int | None
    """Rows of the smallest class found in what was published; None where there is no class."""
    suppressed_rows: int
    """Rows suppressed in its component."""
    implied_by: int | None
    """The place, in the list of k constraints, of one that implies it."""


@dataclass(frozen=True)
class ComponentReport:
    """Columns that were generalised together, apart from all others."""

    columns: tuple[str, ...]
    constraints: tuple[int, ...]
    """The places, in the list of k constraints, of those on these columns."""
    precision: float | None
    """The mean over its columns; None where one has no hierarchy."""
    suppressed_rows: int
    """Rows starred in all of its columns, or withheld."""


@dataclass(frozen=True)
class ColumnReport:
    """How far a column with a hierarchy had to climb."""

    precision: float
    levels: dict[int, int]
    """Rows published at each level, 0 being raw; suppressed rows are at none."""


@dataclass(frozen=True)
class RaisedLabel:
    """A more general value that was published in place of others, because of preferences."""

    label: str
    level: int
    """The preferred level of protection: 1 is a value itself, the highest is the root."""
    rows: int
    leaves: int
    """Values under it."""
    effective_leaves: int
    """Those it can mean to a reader who knows the rule: of a level below its own."""


@dataclass(frozen=True)
class PersonalReport:
    """A sensitive column with preferences, and how its values were raised."""

    raised_rows: int
    """Published rows with a wider value than their own."""
    levels: dict[int, int]
    """Rows raised to each level of protection."""
    labels: tuple[RaisedLabel, ...]
    diversity_before: int | None
    """The fewest different values in a group; None where columns are treated apart."""
    diversity_after: int | None
    """The fewest that a reader can be sure of, once values were raised."""
    recognition_rate: float | None
    """Of this column, counting all values under a raised label."""
    effective_recognition_rate: float | None
    """The same, counting only those it can mean."""


@dataclass(frozen=True)
class RecognitionReport:
    """How well a reader can name the value of one sensitive column, group by group and row by row.

    For whoever publishes: of a raised value the rate tells what its label hides.
    """

    groups: tuple[float, ...]
    """The rate of each group, in the order in which groups first appear in the published table."""
    rows: tuple[float, ...] | None
    """The rate of each published row; None unless asked for."""
    group_of_row: tuple[int, ...] | None
    """The place in `groups` of each row's group, -1 for a starred row; None unless asked for."""


@dataclass(frozen=True)
class GroupPeople:
    """How many people the groups of a release have."""

    smallest: int
    mean: float
    largest: int


@dataclass(frozen=True)
class Measured:
    """Everything that a run measured of its release, on any engine."""

    rows: int
    """Rows of the input."""
    suppressed_rows: int
    """Rows withheld, or starred in every column."""
    groups: int
    """Groups that the method formed."""
    classes: int
    """Equivalence classes of the release; groups with the same label are one class."""
    metrics: dict[str, float | None]
    """By name; None where a metric does not apply."""
    column_loss: dict[str, float]
    """Mean NCP of each quasi-identifier."""
    columns: dict[str, ColumnReport]
    """Per quasi-identifier with a hierarchy."""
    components: tuple[ComponentReport, ...]
    minimal_nodes: tuple[dict[str, int], ...] = ()
    """For methods that search the whole lattice: every node, as the level of each column, that holds
    while none below it does."""
    notes: tuple[str, ...] = ()
    personal: dict[str, PersonalReport] = field(default_factory=dict)
    """Per sensitive column with preferences."""
    recognition: dict[str, RecognitionReport] = field(default_factory=dict)
    """Per sensitive column, where the policy asks for `recognition-rate` per group or row."""
    evidence: Evidence = field(default_factory=Evidence)
    """What is kept for a report: shares and counts, never a row."""
    disclosure: Disclosure = field(default_factory=Disclosure)
    """What others can do with all published columns; counted once the release is verified."""
    people: int | None = None
    """People of the input, where the policy names a person column."""
    suppressed_people: int | None = None
    """Those of them without any row in the release."""
    group_people: GroupPeople | None = None
    """Where people are counted: how many the groups have."""
    detail: Detail = field(default_factory=Detail)
    """What an analyst finds in the quasi columns; counted once the release is verified."""
    levels: dict[str, ChosenLevel] = field(default_factory=dict)
    """For full-domain methods: the level of each column, in the policy's order."""
    merged_ids: int = 0
    """Ids of people that were read as another spelling of one."""
    column_information: dict[str, float] = field(default_factory=dict)
    """The share of the information of each quasi-identifier that is lost."""
    weighted: Weighted | None = None
    """The population behind the release, where the policy has sampling weights."""


def metrics_of(policy: Policy) -> dict[str, Metric]:
    """The metrics that a release of the policy is measured by, by name."""
    further: list[Metric] = []
    if policy.weight is not None:
        further += [WeightedMeanNcp(), WeightedSuppression()]
    if policy.has_importance or policy.predict is not None:
        further.append(MeanNcpByImportance())
    return chosen_metrics((*further, *policy.metrics))


def column_loss_of(parts: ReleaseView, rows: int) -> dict[str, float]:
    """Mean NCP of each quasi-identifier; `rows` are those of the input."""
    return {name: loss / rows for name, loss in column_losses(parts).items()}


def measure_release(
    policy: Policy,
    parts: ReleaseView,
    metrics: Mapping[str, float | None],
    *,
    groupings: Sequence[Grouping] | None = None,
    personal: Mapping[str, PersonalReport] | None = None,
    recognition: Mapping[str, RecognitionReport] | None = None,
    evidence: Evidence | None = None,
) -> Measured:
    """What was measured of a release whose groups are known cell by cell.

    `groupings` are those that the method formed, where the release shows others (Anatomy).
    """
    formed = parts.groupings if groupings is None else groupings
    return Measured(
        rows=parts.cells.n_rows,
        suppressed_rows=int(parts.suppressed.sum()),
        groups=sum(grouping.n_groups for grouping in formed),
        classes=parts.published_classes,
        metrics=dict(metrics),
        column_loss=column_loss_of(parts, parts.cells.n_rows),
        column_information=information_of_columns(parts),
        columns=report_columns(parts),
        components=report_components(policy, parts),
        minimal_nodes=report_nodes(parts),
        levels=report_levels(policy, parts),
        notes=(
            *note_on_shared_groups(policy, formed),
            *(note for grouping in formed for note in grouping.notes),
        ),
        personal=dict(personal or {}),
        recognition=dict(recognition or {}),
        evidence=evidence or Evidence(),
        people=None if parts.cells.people is None else parts.cells.people.count,
        suppressed_people=suppressed_people(parts),
        group_people=count_group_people(parts, formed),
        merged_ids=0 if parts.cells.people is None else parts.cells.people.merged,
    )


def suppressed_people(parts: ReleaseView) -> int | None:
    """People without any row in the release, where people are counted."""
    people = parts.cells.people
    if people is None:
        return None
    return people.count - len(np.unique(people.number[~parts.suppressed]))


def count_group_people(parts: ReleaseView, groupings: Sequence[Grouping]) -> GroupPeople | None:
    """How many people the groups have; None where rows are counted, or there is no group."""
    from shoal.kernels.equivalence_classes import count_people

    people = parts.cells.people
    if people is None or not any(grouping.n_groups for grouping in groupings):
        return None
    sizes = []
    for grouping in groupings:
        rows, starts = rows_by_group(grouping.group, grouping.n_groups)
        sizes.append(count_people(people.number[rows], starts, people.count))
    each = np.concatenate(sizes)
    return GroupPeople(int(each.min()), float(each.mean()), int(each.max()))


def people_warnings(policy: Policy, measured: Measured) -> Iterator[str]:
    """Ids that were taken for one person although they are spelled differently."""
    if some := measured.merged_ids:
        yield (
            f"{some:,} id{'' if some == 1 else 's'} of {policy.person} differ from another only in "
            "case, blanks, Unicode form or the form of a whole number (17.0, 1.7e+01) and were read as "
            "the same person. Correct them where they are of different people."
        )


def note_on_shared_groups(policy: Policy, groupings: Sequence[Grouping] = ()) -> list[str]:
    """A note where one grouping over all columns meets constraints on some of them by the strictest.

    `groupings` is empty for methods that cut or cluster tables larger than memory.
    """
    partial = [model for model in policy.constraints if model.quasi]
    apart = len(groupings) > 1 or any(one.levels is not None for one in groupings)
    if not partial or apart:
        return []
    largest = max(model.min_rows for model in policy.constraints)
    return [
        f"Constraints on some columns are met together: every group over all {len(policy.quasi)} "
        f"quasi-identifiers has at least {largest} rows."
    ]


def report_columns(parts: ReleaseView) -> dict[str, ColumnReport]:
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


def report_nodes(parts: ReleaseView) -> tuple[dict[str, int], ...]:
    """The minimal nodes that the method found: the level of each column."""
    return tuple(
        {
            parts.cells.domains[column].name: level
            for column, level in zip(grouping.columns, levels, strict=True)
        }
        for grouping in parts.groupings
        for levels in grouping.minimal
    )


def report_levels(policy: Policy, parts: ReleaseView) -> dict[str, ChosenLevel]:
    """The level of each column that a full-domain method chose; none with Anatomy."""
    if parts.formed is not None:
        return {}
    how = {name: policy.columns[name].hierarchy for name in policy.quasi}
    k = max((model.k for model in policy.constraints if isinstance(model, K)), default=1)
    return chosen_levels(parts, how, max(COMMON, k))


def report_components(policy: Policy, parts: ReleaseView) -> tuple[ComponentReport, ...]:
    """The sets of columns that the method treated apart."""
    precision = column_precision(parts)
    constraints = _constraints(policy)
    found = []
    for grouping in parts.groupings:
        names = tuple(parts.cells.domains[column].name for column in grouping.columns)
        known = [precision[name] for name in names if name in precision]
        own = {j for j, name in enumerate(policy.quasi) if name in names}
        found.append(
            ComponentReport(
                columns=names,
                constraints=tuple(
                    i for i, one in enumerate(constraints) if set(one.columns) <= own
                ),
                precision=sum(known) / len(known) if len(known) == len(names) else None,
                suppressed_rows=int((grouping.group == SUPPRESSED).sum()),
            )
        )
    return tuple(found)


def report_constraints(
    policy: Policy, components: Sequence[ComponentReport], findings: Sequence[Finding]
) -> tuple[ConstraintReport, ...]:
    """The k constraints, in the policy's order; `findings` are those of all its models."""
    constraints = _constraints(policy)
    kept, _ = without_implied(constraints)
    of_k = [f for f, m in zip(findings, policy.constraints, strict=True) if isinstance(m, K)]
    found = []
    for i, (one, finding) in enumerate(zip(constraints, of_k, strict=True)):
        stronger = [constraints.index(other) for other in kept if implies(other, one)]
        suppressed = [c.suppressed_rows for c in components if i in c.constraints]
        found.append(
            ConstraintReport(
                columns=finding.columns,
                k=one.k,
                smallest=int(finding.reached) if finding.classes else None,
                suppressed_rows=max(suppressed, default=0),
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


def report_personal(
    policy: Policy, parts: ReleaseView, published: Mapping[str, pa.DictionaryArray]
) -> dict[str, PersonalReport]:
    """Per sensitive column with preferences. `published`: (n_rows,) what is published of it."""
    return {name: _personal_report(policy, parts, name, published[name]) for name in parts.raised}


def personal_warnings(reports: Mapping[str, PersonalReport]) -> Iterator[str]:
    """Raised labels that hide nothing from a reader who knows the rule."""
    for name, report in reports.items():
        bare = [label for label in report.labels if label.effective_leaves == 1]
        if bare:
            rows = sum(label.rows for label in bare)
            # such a label may read as the value does
            named = [repr(label.label) for label in bare if label.rows >= COMMON]
            others = len(bare) - len(named)
            if others:
                named.append(
                    f"{others} label{'s' if others > 1 else ''} that fewer than {COMMON} rows have"
                )
            yield (
                f"{rows:,} value{'s' if rows > 1 else ''} of {name} raised to a label that, to a "
                f"reader who knows the rule and the tree, can only mean one value: "
                f"{listed(named)}. More values of a lower level under "
                "such a label would hide them."
            )


def _personal_report(
    policy: Policy, parts: ReleaseView, name: str, published: pa.DictionaryArray
) -> PersonalReport:
    levels = np.where(parts.suppressed, 0, parts.raised[name])
    domain = tree_of(policy.column_spec(name), name, policy.folder)
    labels, leaves = _labels(parts, name, domain, levels)
    whole = len(parts.groupings) == 1 and parts.groupings[0].n_groups > 0
    before = after = None
    if whole:
        before = int(_counts(parts, parts.cells.sensitive[name], name).distinct().min())
        counts = _published_counts(parts, published, name)
        after = int(at_worst(counts, policy.column_spec(name), policy.folder).distinct().min())
    rows = np.bincount(levels, minlength=1)
    return PersonalReport(
        raised_rows=int((levels > 0).sum()),
        levels={int(level) + 1: int(rows[level]) for level in np.flatnonzero(rows) if level},
        labels=labels,
        diversity_before=before,
        diversity_after=after,
        recognition_rate=float(group_rates(parts, name).mean()) if whole else None,
        effective_recognition_rate=(
            float(group_rates(parts, name, leaves).mean()) if whole else None
        ),
    )


def _labels(
    parts: ReleaseView, name: str, domain: Domain, levels: npt.NDArray[np.integer]
) -> tuple[tuple[RaisedLabel, ...], Ints]:
    """The labels values were raised to, and (n_rows,) the values that each row may have."""
    tree = domain.hierarchy
    assert tree is not None
    codes, may_be = parts.cells.sensitive[name], np.ones(parts.cells.n_rows, np.int64)
    found = []
    for level in np.unique(levels[levels > 0]).tolist():
        at = levels == level
        nodes = tree.nodes[level, codes[at]]
        may_be[at] = 0
        for node in np.unique(nodes).tolist():
            left = len(effective(domain, (level, node)))
            here = np.flatnonzero(at)[nodes == node]
            may_be[here] = left
            found.append(
                RaisedLabel(
                    label=tree.labels[level][node],
                    level=level + 1,
                    rows=len(here),
                    leaves=len(under(tree, (level, node))),
                    effective_leaves=left,
                )
            )
    return tuple(found), may_be


def _published_counts(parts: ReleaseView, published: pa.DictionaryArray, name: str) -> Counts:
    codes = np.where(
        published.indices.is_null().to_numpy(zero_copy_only=False),
        len(published.dictionary),
        published.indices.fill_null(0).to_numpy(zero_copy_only=False),
    ).astype(np.int32)
    texts = Domain(name, Kind.SET, published.dictionary, missing=len(published.dictionary))
    return _counts(parts, codes, name, texts)


def _counts(parts: ReleaseView, codes: Codes, name: str, domain: Domain | None = None) -> Counts:
    from shoal.kernels.equivalence_classes import count_runs

    (grouping,) = parts.groupings
    meaning = domain or parts.cells.sensitive_domains[name]
    rows, starts = rows_by_group(grouping.group, grouping.n_groups)
    found = count_runs(codes[rows], starts, meaning.size + 1, meaning.missing)
    return Counts(np.diff(starts), *found, meaning)


T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class RecognitionRates:
    """The rates of one sensitive column, by input row."""

    group: Codes
    """(n_rows,) negative where a row is suppressed."""
    groups: Floats
    rows: Floats | None

    def report(self, origin: Ints) -> RecognitionReport:
        """As the published table has its rows; `origin` are the input rows behind these."""
        group = self.group[origin]
        seen, first = np.unique(group[group >= 0], return_index=True)
        seen = seen[np.argsort(first)]
        place = np.full(len(self.groups) + 1, -1, np.int64)  # the last one stands for suppressed
        place[seen] = np.arange(len(seen))
        if self.rows is None:
            return RecognitionReport(tuple(self.groups[seen].tolist()), None, None)
        return RecognitionReport(
            tuple(self.groups[seen].tolist()),
            tuple(self.rows[origin].tolist()),
            tuple(place[group].tolist()),
        )


def recognition_rates(policy: Policy, parts: ReleaseView) -> dict[str, RecognitionRates]:
    """Per sensitive column; none unless the policy asks, or where columns are treated apart."""
    metrics = [metric for metric in policy.metrics if isinstance(metric, RecognitionRate)]
    if not metrics or metrics[0].per == "table" or len(parts.groupings) != 1:
        return {}
    group = by_row(parts, parts.groupings[0].group)
    return {
        name: RecognitionRates(
            group,
            group_rates(parts, name),
            by_row(parts, row_rates(parts, name)) if metrics[0].per == "row" else None,
        )
        for name in policy.sensitive
    }


def by_row(parts: ReleaseView, values: npt.NDArray[T]) -> npt.NDArray[T]:
    """From canonical rows to input rows."""
    found = np.empty_like(values)
    found[parts.cells.rows] = values
    return found
