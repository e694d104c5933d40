"""The figures of the live panel: what a release holds, how risky it is and what it cost.

They are plain values without any row, so that they travel from the worker to the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from shoal import api

UNPROTECTED = "No constraint protects the sensitive column"
"""How a warning begins that is told in other words here."""
MOST_LABELS = 6
"""Labels of a column that are kept."""
SHARED = 10
"""Labels that fewer rows share are not shown."""
SIZES = (2, 3, 5, 11)
"""Rows in classes below these sizes are counted."""


@dataclass(frozen=True)
class Guarantee:
    """What was asked and found of one guarantee."""

    model: str
    of: str | None
    asked: float
    found: float | None
    """None where no figure describes it."""
    holds: bool
    failing: int
    """Classes that fall short."""


@dataclass(frozen=True)
class PresetFigures:
    """What was found of the rules of an authority."""

    title: str
    holds: bool
    """Whether all that could be checked holds."""
    checked: bool
    """Whether anything could be checked."""
    to_judge: tuple[str, ...]
    """What no program can check, a sentence each."""


@dataclass(frozen=True)
class Risks:
    """The chances of the three attackers, from 0 to 1."""

    prosecutor: float
    journalist: float
    marketer: float
    alone: int
    """Rows (or people) that share their values with nobody."""


@dataclass(frozen=True)
class ColumnFigures:
    """What became of one quasi-identifier."""

    loss: float
    """The share of its information that is lost, in bits."""
    exact: float
    """The share of rows that keep their exact value."""
    hidden: float
    """The share of rows that say nothing: `*`."""
    typical: str
    """What the other cells, neither exact nor hidden, typically say."""
    common: tuple[tuple[str, int], ...] = ()
    """The most common labels that are published, with their rows; none that fewer than ten share."""


@dataclass(frozen=True)
class Figures:
    """The figures of one release."""

    sampled: int | None
    """How many rows they were counted on, where that is a sample."""
    verified: bool
    """Whether what would be written was read back and holds every guarantee."""
    rows: int
    published_rows: int
    suppressed_rows: int
    people: int | None
    counted: str
    """`rows` or `people`."""
    classes: int
    method: str
    lost: float | None
    """The share of the information of all quasi columns that is lost, in bits, as the command line
    reports it."""
    lost_with_rules: float | None
    """The same with what rules of the policy take away first; None where there are none."""
    exact: float
    """The share of quasi cells that are exact."""
    guarantees: tuple[Guarantee, ...]
    presets: tuple["PresetFigures", ...]
    raw: Risks
    now: Risks
    below: dict[int, tuple[int, int]]
    """Per size: rows (or people) in smaller classes, raw and now."""
    columns: dict[str, ColumnFigures]
    disclosure: "api.Disclosure"
    """Who is alone once columns are known too that no guarantee covers."""
    certain: dict[str, int]
    """Per column that must not be learnt and that no guarantee protects: the published rows in groups
    that have one value of it alone."""
    warnings: tuple[str, ...]
    """What the publisher should think about, beyond `disclosure` and columns without a guarantee."""
    notes: tuple[str, ...]
    seconds: float
    encodings: int
    """How often the table was encoded so far."""


def figures_of(
    release: "api.Release[Any]",
    *,
    sampled: int | None,
    read_back: bool,
    encodings: int,
    kept: Mapping[str, float],
    lost_with_rules: float | None = None,
) -> Figures:
    """The figures of a release.

    kept: of columns that a rule of the policy changes first, the share of information that it leaves.
    """
    change = api.risk_change(release)
    lost, detail = release.column_information, release.detail.columns
    return Figures(
        sampled=sampled,
        verified=read_back and sampled is None and release.verified,
        rows=release.rows,
        published_rows=release.published_rows,
        suppressed_rows=release.suppressed_rows,
        people=release.people,
        counted=release.counted,
        classes=release.published_classes,
        method=release.method,
        lost=release.metrics.get("relative-non-uniform-entropy"),
        lost_with_rules=lost_with_rules,
        exact=release.detail.exact,
        guarantees=tuple(
            Guarantee(
                one.model,
                one.of,
                one.asked,
                one.reached if isfinite(one.reached) else None,
                one.holds,
                one.failing,
            )
            for one in release.findings
        ),
        presets=tuple(
            PresetFigures(
                one.title,
                one.holds,
                any(check.holds is not None for check in one.checks),
                one.to_judge,
            )
            for one in release.presets
        ),
        raw=_risks(change.raw),
        now=_risks(change.now),
        below={size: change.below(size) for size in SIZES},
        columns={
            name: ColumnFigures(
                1 - kept.get(name, 1.0) * (1 - lost.get(name, 0.0)),
                detail[name].exact,
                detail[name].share("hidden"),
                detail[name].typical.removesuffix("*").removesuffix(", "),
                common_labels(release, name),
            )
            for name in release.policy.quasi
        },
        disclosure=release.disclosure,
        certain={} if sampled is not None else certain_of(release),
        warnings=tuple(
            one
            for one in release.warnings
            if one not in release.disclosure.warnings and not one.startswith(UNPROTECTED)
        ),
        notes=release.notes,
        seconds=sum(release.seconds.values()),
        encodings=encodings,
    )


def common_labels(release: "api.Release[Any]", name: str) -> tuple[tuple[str, int], ...]:
    """The most common labels of a column in a release, with their rows."""
    if name not in release.table.column_names:
        return ()
    counted = release.table.column(name).cast("string").drop_null().value_counts()
    pairs = zip(
        counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True
    )
    shared = [(label, rows) for label, rows in pairs if rows >= SHARED]
    return tuple(sorted(shared, key=lambda pair: (-pair[1], pair[0]))[:MOST_LABELS])


def certain_of(release: "api.Release[Any]") -> dict[str, int]:
    """Of columns that no guarantee protects, the published rows whose group has one value alone."""
    from pyarrow.compute import CountOptions

    policy, table, every = release.policy, release.table, CountOptions(mode="all")
    protected = {model.column for model in policy.constraints if not model.promises_nothing}
    found = {}
    for name in policy.sensitive:
        if name in protected or name not in table.column_names:
            continue
        quasi = [column for column in policy.quasi if column in table.column_names]
        if not quasi:
            continue
        groups = table.select(quasi).append_column("value", table.column(name))
        counted = groups.group_by(quasi).aggregate(
            [("value", "count_distinct", every), ("value", "count"), ("value", "count", every)]
        )
        columns = counted.columns[-3:]
        found[name] = sum(
            rows
            for values, told, rows in zip(*(one.to_pylist() for one in columns), strict=True)
            if values == 1 and told
        )
    return found


def _risks(found: "api.Reidentification") -> Risks:
    alone = found.unique_rows if found.unique_people is None else found.unique_people
    return Risks(found.prosecutor.highest, found.journalist.highest, found.marketer, alone)
