"""What `anonymize` gives back."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.evidence.evidence import Evidence

if TYPE_CHECKING:
    from shoal.engines.session_release import Held
    from shoal.policy import Policy
    from shoal.verification.check import Finding


@dataclass(frozen=True)
class ConstraintReport:
    """One k constraint of the policy, and what became of it."""

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
    """A wider value that was published in place of others, as people asked."""

    label: str
    level: int
    """The level of protection asked for: 1 would be a value itself, the highest is the root."""
    rows: int
    leaves: int
    """Values under it."""
    effective_leaves: int
    """Those it can mean to a reader who knows the rule: of a level below its own."""


@dataclass(frozen=True)
class PersonalReport:
    """What became of a sensitive column in which people's own wishes count."""

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
class Release:
    """A published table, what it guarantees and what that cost."""

    table: Any
    """The published rows, in the kind of frame that came in; None where they are only in files."""
    policy: "Policy"
    findings: "tuple[Finding, ...]"
    """Every guarantee, as found in the published rows themselves."""
    metrics: dict[str, float | None]
    """What was measured, by metric name; None where a metric does not apply."""
    rows: int
    """Rows that came in."""
    published_rows: int
    """Rows that went out."""
    suppressed_rows: int
    """Rows withheld, or starred in every column."""
    groups: int
    """Groups the method formed."""
    published_classes: int
    """Combinations of quasi-identifiers a reader can tell apart; groups with one label are one."""
    method: str
    seed: int
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each step took."""
    warnings: tuple[str, ...] = ()
    """What the publisher should think about."""
    notes: tuple[str, ...] = ()
    """What the method did that is good to know."""
    column_loss: dict[str, float] = field(default_factory=dict)
    """Mean NCP of each quasi-identifier."""
    constraints: tuple[ConstraintReport, ...] = ()
    """The k constraints, in the policy's order."""
    components: tuple[ComponentReport, ...] = ()
    columns: dict[str, ColumnReport] = field(default_factory=dict)
    """Per quasi-identifier with a hierarchy."""
    minimal_nodes: tuple[dict[str, int], ...] = ()
    """For methods that search the whole lattice: every node, as the level of each column, that holds
    while none below it does."""
    sensitive_tables: dict[str, Any] = field(default_factory=dict)
    """With `publish: anatomy`, per sensitive column how often each value occurs in each group, in
    the kind of frame that came in; `table` then holds people with the id of their group."""
    largest_share: dict[str, float] = field(default_factory=dict)
    """With `publish: anatomy`, per sensitive column the largest share that one value has of the rows
    of a group: how likely the best guess is."""
    personal: dict[str, PersonalReport] = field(default_factory=dict)
    """Per sensitive column in which people's own wishes count."""
    recognition: dict[str, RecognitionReport] = field(default_factory=dict)
    """Per sensitive column, where the policy asks for `recognition-rate` per group or row."""
    evidence: Evidence = field(default_factory=Evidence)
    """What is kept of the run for a report: shares and counts, never a row."""
    digest: str = ""
    """Where wishes count: a hash of the rows that were verified, so that no others are written."""
    engine: str = "local"
    """Where it was made: `local`, `local --memory 2GB` or `spark`."""

    def write(
        self, path: str | Path, force: bool = False, report: str | Path | None = None
    ) -> Path:
        """Write the published rows to a CSV, Parquet or Arrow file, verified before it is in place.

        With `publish: anatomy` the sensitive tables are written beside it. `report` is written too:
        a page as .html with its certificate beside it, or the certificate alone as .json.
        """
        from shoal.pipeline.run import write_release

        return write_release(self, Path(path), force, report)

    def report(self, path: str | Path, force: bool = False) -> Path:
        """Write a report: a page as .html with its certificate beside it, or that alone as .json."""
        from shoal.report.page import write_report

        return write_report(self, Path(path), force)

    def report_texts(self, targets: Sequence[Path], held: "Held | None" = None) -> list[str]:
        """What the files of a report hold, each by the end of its name.

        held: the rows of the release, where they are in a session.
        """
        from shoal.report.page import texts

        return texts(self, targets, held)

    @property
    def verified(self) -> bool:
        """Whether every guarantee was found in what was published; a release that fails is never
        handed out."""
        return all(finding.holds for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, as plain values for JSON."""
        return {
            "publish": self.policy.publish,
            "rows": self.rows,
            "published_rows": self.published_rows,
            "suppressed_rows": self.suppressed_rows,
            "groups": self.groups,
            "published_classes": self.published_classes,
            "method": self.method,
            "seed": self.seed,
            "verified": self.verified,
            "guarantees": [finding.to_dict() for finding in self.findings],
            "metrics": self.metrics,
            "column_loss": self.column_loss,
            "largest_share": self.largest_share,
            "constraints": [asdict(one) for one in self.constraints],
            "components": [asdict(one) for one in self.components],
            "columns": {
                name: {
                    "precision": one.precision,
                    "levels": {str(level): rows for level, rows in one.levels.items()},
                }
                for name, one in self.columns.items()
            },
            "minimal_nodes": list(self.minimal_nodes),
            "personal": {
                name: asdict(one)
                | {"levels": {str(level): rows for level, rows in one.levels.items()}}
                for name, one in self.personal.items()
            },
            "group_recognition": {name: list(one.groups) for name, one in self.recognition.items()},
            "seconds": {step: round(taken, 4) for step, taken in self.seconds.items()},
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        held = ", ".join(
            f"{f.model}={f.reached:g}" + (f" of {f.of}" if f.of else "") for f in self.findings
        )
        loss = self.metrics.get("mean-ncp")
        rows = f"<Release: {self.published_rows:,} of {self.rows:,} rows"
        if self.policy.publish == "anatomy":
            groups = f"{self.groups:,} group{'' if self.groups == 1 else 's'}"
            return f"{rows} in {groups}, publish: anatomy; found {held}; by {self.method}>"
        n = self.published_classes
        classes = f"{n:,} class{'' if n == 1 else 'es'}"
        return f"{rows} in {classes}; found {held}; loss {loss:.1%} by {self.method}>"

    def _repr_html_(self) -> str | None:
        """As a notebook shows it; nothing, and so `repr`, where that cannot be made."""
        try:
            from shoal.report.notebook import notebook

            return notebook(self)
        except Exception:  # showing a result must never lose it
            return None
