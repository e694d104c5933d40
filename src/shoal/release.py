"""The release: a published table, what it guarantees and what that cost."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol

from typing_extensions import TypeVar

from shoal.engines.measured import (
    ColumnReport,
    ComponentReport,
    ConstraintReport,
    Measured,
    PersonalReport,
    RecognitionReport,
)
from shoal.errors import InputError, percent, warn
from shoal.evidence.detail import Detail
from shoal.evidence.disclosure import Disclosure
from shoal.evidence.evidence import Evidence
from shoal.evidence.levels import ChosenLevel
from shoal.evidence.weighted import Weighted
from shoal.io.address import Place, place_of, shown_name
from shoal.results import Record, Result
from shoal.seeds import Seed

if TYPE_CHECKING:
    from shoal.arrays import Ints
    from shoal.engines.label_mapping import LabelMapping
    from shoal.engines.person_key import PersonKey
    from shoal.engines.release_table import ReleaseTable
    from shoal.policy import Policy
    from shoal.verification.check import Finding
    from shoal.verification.presets import PresetOutcome


class Frame(Protocol):
    """A table of pandas, polars, pyarrow, DuckDB or Spark, as type checkers recognise it."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""


FrameT = TypeVar("FrameT", bound=Frame, default=Any)
"""The kind of frame that came in, and goes out."""


@dataclass(frozen=True)
class RunSummary:
    """How a release was made."""

    method: str
    private_seed: Seed
    """The seed with the salt of its commitment; `repr` shows neither."""
    engine: str = "local"
    """`local`, `local --memory 2GB` or `spark`."""
    published_rows: int = 0
    """Rows of the release."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each step took."""
    warnings: tuple[str, ...] = ()
    """What the publisher should think about."""
    notes: tuple[str, ...] = ()
    """What the method did that is good to know."""
    digest: str = ""
    """With preferences, or weights that are not published: the digest of the verified rows, so that no
    others are written."""
    content: str = ""
    """Where the frame of the release can be changed in place: what shows that it was."""
    input_name: str | None = None
    """What the input is called, without its folders or its server; None for a frame."""
    output: Place | None = None
    """The file, folder or table that was written; None where none was written."""
    sensitive_outputs: dict[str, Place] = field(default_factory=dict)
    """With `publish: anatomy`, per sensitive column the file of its values."""
    reports: tuple[Path, ...] = ()
    """The files of the report that was written with the release."""
    key_output: Path | None = None
    """The private key that was written with the release: whose row is whose."""

    @property
    def seed(self) -> int:
        """The seed of the run; private."""
        return self.private_seed.value


@dataclass(frozen=True, eq=False, repr=False)
class Release(Result, Generic[FrameT]):
    """A published table, what it guarantees and what that cost.

    Releases compare by identity.
    """

    table: FrameT
    """The published rows, in the kind of frame that came in; None where they are only in files."""
    policy: "Policy"
    findings: "tuple[Finding, ...]"
    """Every guarantee, as found in the published rows themselves."""
    measured: Measured
    """Counts, losses and what became of every column, constraint and preference."""
    run: RunSummary
    """How it was made: method, engine, times, warnings."""
    constraints: tuple[ConstraintReport, ...] = ()
    """The k constraints, in the policy's order."""
    sensitive_tables: dict[str, FrameT] = field(default_factory=dict)
    """With `publish: anatomy`, per sensitive column how often each value occurs in each group, in
    the kind of frame that came in; `table` then holds people with the id of their group."""
    largest_share: dict[str, float] = field(default_factory=dict)
    """With `publish: anatomy`, per sensitive column the largest share that one value has of the rows
    of a group: how likely the best guess is."""
    presets: "tuple[PresetOutcome, ...]" = ()
    """The policy's presets, as found in the published rows, with what a person must still judge."""
    key: "PersonKey | None" = None
    """Private. Where people were counted, which rows are one person's, by random numbers; None where
    they are only in the key that the run wrote."""
    row_weights: "Ints | None" = None
    """Private. The weights of the rows in millionths, where a constraint is estimated from weights that
    are not published."""

    found_mapping: "LabelMapping | None" = None
    """Which label stands for which values, where columns have uniform labels; see `mapping`."""

    @property
    def mapping(self) -> "LabelMapping":
        """Which label stands for which values, in the columns with uniform labels.

        Raises
        ------
        InputError
            If no column has: all were generalised group by group.
        """
        if self.found_mapping is None:
            from shoal.engines.label_mapping import NONE

            raise InputError(NONE)
        return self.found_mapping

    @property
    def rows(self) -> int:
        """Rows of the input."""
        return self.measured.rows

    @property
    def published_rows(self) -> int:
        """Rows of the release."""
        return self.run.published_rows

    @property
    def suppressed_rows(self) -> int:
        """Rows withheld, or starred in every column."""
        return self.measured.suppressed_rows

    @property
    def people(self) -> int | None:
        """People of the input; None where the policy names no person column."""
        return self.measured.people

    @property
    def suppressed_people(self) -> int | None:
        """People without any row left in the release."""
        return self.measured.suppressed_people

    @property
    def published_people(self) -> int | None:
        """People with a row in the release."""
        if self.people is None or self.suppressed_people is None:
            return None
        return self.people - self.suppressed_people

    @property
    def counted(self) -> Literal["rows", "people"]:
        """What the guarantees count."""
        return "rows" if self.people is None else "people"

    @property
    def groups(self) -> int:
        """Groups that the method formed."""
        return self.measured.groups

    @property
    def published_classes(self) -> int:
        """Equivalence classes of the release; groups with the same label are one class."""
        return self.measured.classes

    @property
    def metrics(self) -> dict[str, float | None]:
        """What was measured, by metric name; None where a metric does not apply."""
        return self.measured.metrics

    @property
    def column_loss(self) -> dict[str, float]:
        """Mean NCP of each quasi-identifier."""
        return self.measured.column_loss

    @property
    def column_information(self) -> dict[str, float]:
        """The share of the information of each quasi-identifier that is lost, in bits.

        The metric `relative-non-uniform-entropy` is their mean, weighed by the bits of each column.
        """
        return self.measured.column_information

    @property
    def columns(self) -> dict[str, ColumnReport]:
        """Precision and levels of each quasi-identifier with a hierarchy."""
        return self.measured.columns

    @property
    def detail(self) -> Detail:
        """What an analyst finds in the quasi columns: exact values, ranges and sets by size."""
        return self.measured.detail

    @property
    def levels(self) -> dict[str, ChosenLevel]:
        """For full-domain methods: the level of each column, with what a value became."""
        return self.measured.levels

    @property
    def components(self) -> tuple[ComponentReport, ...]:
        """The sets of columns that were generalised apart from one another."""
        return self.measured.components

    @property
    def minimal_nodes(self) -> tuple[dict[str, int], ...]:
        """For methods that search the whole lattice: every minimal node, as levels by column."""
        return self.measured.minimal_nodes

    @property
    def personal(self) -> dict[str, PersonalReport]:
        """Per sensitive column with preferences, what became of it."""
        return self.measured.personal

    @property
    def recognition(self) -> dict[str, RecognitionReport]:
        """Per sensitive column, where the policy asks for `recognition-rate` per group or row."""
        return self.measured.recognition

    @property
    def evidence(self) -> Evidence:
        """What is kept of the run for a report: shares and counts, never a row."""
        return self.measured.evidence

    @property
    def disclosure(self) -> Disclosure:
        """Who is alone on quasi and plain columns, and the plain columns that make them so."""
        return self.measured.disclosure

    @property
    def weighted(self) -> Weighted | None:
        """The population behind the release and its risk, estimated from sampling weights; None where
        the policy has none."""
        return self.measured.weighted

    @property
    def method(self) -> str:
        """The method's name."""
        return self.run.method

    @property
    def seed(self) -> int:
        """The seed of the run: with it the same table and policy give the same release.

        Keep it private. It is in no output of the release: neither in `to_dict`, nor in a report.
        """
        return self.run.seed

    @property
    def seed_commitment(self) -> str:
        """The commitment to the seed that the certificate carries."""
        return self.run.private_seed.commitment

    @property
    def policy_commitment(self) -> str:
        """The commitment to the policy that the external certificate carries."""
        return self.run.private_seed.committed(self.policy.fingerprint())

    @property
    def engine(self) -> str:
        """Where it was made: `local`, `local --memory 2GB` or `spark`."""
        return self.run.engine

    @property
    def seconds(self) -> dict[str, float]:
        """How long each step took."""
        return self.run.seconds

    @property
    def warnings(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the publisher should think about."""
        return self.run.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """What the method did that is good to know."""
        return self.run.notes

    @property
    def digest(self) -> str:
        """With preferences, or weights that are not published: the digest of the verified rows."""
        return self.run.digest

    @property
    def output(self) -> Place | None:
        """The file, folder or table that the run wrote; None where none was written."""
        return self.run.output

    @property
    def input_name(self) -> str | None:
        """What the input is called, without its folders or its server; None for a frame."""
        return self.run.input_name

    @property
    def output_name(self) -> str | None:
        """What the release is called, in the same way; None where none was written."""
        return None if self.output is None else shown_name(self.output)

    @property
    def sensitive_outputs(self) -> dict[str, Place]:
        """With `publish: anatomy`, per sensitive column the file or table of its values."""
        return self.run.sensitive_outputs

    @property
    def key_output(self) -> Path | None:
        """The private key that the run wrote; None where it wrote none."""
        return self.run.key_output

    @property
    def reports(self) -> tuple[Path, ...]:
        """The files of the report that was written with the release."""
        return self.run.reports

    def write(
        self,
        path: str | Path,
        force: bool = False,
        report: str | Path | None = None,
        key: str | Path | None = None,
        external_report: str | Path | None = None,
    ) -> Place:
        """Write the published rows to a CSV, Parquet or Arrow file, or to a table of a database.

        It is verified before it appears under its name.

        Parameters
        ----------
        path
            The file to write; its extension decides the format. Or the address of a table, such as
            `postgresql://host/db?table=release`. With `publish: anatomy` the tables
            of sensitive values are written beside it. A Spark frame becomes a folder of files.
        force
            Replace a file that exists.
        report
            Also write a report: a page as .html with its certificate beside it, or the certificate
            alone as .json.
        key
            Also write the private key, where the policy has a person column: a file that only its
            owner may read, with the published rows and a random number for the person of each.
        external_report
            Also write the report for those who get the release, which says nothing of the table.

        Returns
        -------
        Path or Address
            What was written.

        Raises
        ------
        VerificationFailed
            If the written file does not hold every guarantee; nothing is left behind then.
        """
        from shoal.pipeline.run import write_release

        return write_release(
            self,
            place_of(path),
            force,
            report,
            None if key is None else Path(key),
            external_report,
        )

    def decode(
        self,
        *,
        numbers: str = "midpoint",
        categories: str = "label",
        forms: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> FrameT:
        """Turn the labels into values to compute with: `shoal.decode` with this release and its policy.

        Parameters
        ----------
        numbers
            `midpoint`, `bounds`, `interval`, `expected`, `sample` or `label`.
        categories
            `label`, `list`, `indicators`, `shares` or `sample`.
        forms
            The forms of single columns, such as `{"age": "bounds"}`.
        seed
            The seed of samples, whose columns have names that end in `_sampled`.

        Returns
        -------
        frame
            Of the kind of `table`; a pyarrow table where the rows are only in files.
        """
        from shoal.decoding.decoder import Choice
        from shoal.decoding.frames import decode_release

        rows = self.output if self.table is None else self.table
        choice = Choice(numbers, categories, tuple((forms or {}).items()), seed)
        decoded, notes = decode_release(rows, self.policy, choice)
        warn(notes)
        frame: FrameT = decoded
        return frame

    def write_key(self, path: str | Path, force: bool = False) -> Path:
        """Write the private key: the published rows, and a random number for the person of each.

        Only its owner may read the file. `shoal.verify(..., key=path)` counts people with it.
        """
        from shoal.pipeline.run import write_key

        return write_key(self, Path(path), force)

    def report(self, path: str | Path, force: bool = False, external: bool = False) -> Path:
        """Write a report: a page as .html with its certificate beside it, or that alone as .json.

        Parameters
        ----------
        path
            The page or the certificate to write.
        force
            Replace files that exist.
        external
            Write the report for those who get the release. It says nothing of the table behind it.
        """
        from shoal.report.files import write_report

        return write_report(self, Path(path), force, external)

    def report_texts(
        self,
        targets: Sequence[Path],
        table: "ReleaseTable | None" = None,
        external: bool = False,
    ) -> list[str]:
        """The contents of a report's files, each in the format of its extension.

        `table`: the rows of the release, where an engine holds them. `external`: the report for those
        who get the release.
        """
        from shoal.report.files import texts

        return texts(self, targets, table, external)

    @property
    def to_judge(self) -> tuple[str, ...]:
        """What the policy's presets leave to a person, a sentence each."""
        return tuple(dict.fromkeys(text for one in self.presets for text in one.to_judge))

    @property
    def verified(self) -> bool:
        """Whether every guarantee was found in what was published; a release that fails is never
        handed out."""
        held = all(finding.holds for finding in self.findings)
        return held and all(outcome.holds for outcome in self.presets)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, as plain values for JSON."""
        return {
            "publish": self.policy.publish,
            "rows": self.rows,
            "published_rows": self.published_rows,
            "suppressed_rows": self.suppressed_rows,
            "counted": self.counted,
            "people": self.people,
            "published_people": self.published_people,
            "suppressed_people": self.suppressed_people,
            "group_people": None
            if (found := self.measured.group_people) is None
            else asdict(found),
            "groups": self.groups,
            "published_classes": self.published_classes,
            "method": self.method,
            "verified": self.verified,
            "guarantees": [finding.to_dict() for finding in self.findings],
            "presets": [outcome.to_dict() for outcome in self.presets],
            "metrics": self.metrics,
            "detail": self.detail.to_dict(),
            "levels": {name: asdict(one) for name, one in self.levels.items()},
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
            "disclosure": self.disclosure.to_dict(),
            "weighted": None if (w := self.measured.weighted) is None else w.to_dict(),
            "group_recognition": {name: list(one.groups) for name, one in self.recognition.items()},
            "seconds": {step: round(taken, 4) for step, taken in self.seconds.items()},
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def _records(self) -> list[Record]:
        """One record: several releases then make the table of a parameter sweep."""
        found = {
            finding.model + (f" of {finding.of}" if finding.of else ""): finding.reached
            for finding in self.findings
        }
        counts = ("rows", "published_rows", "suppressed_rows", "groups", "published_classes")
        return [
            {"method": self.method}
            | found
            | {name: getattr(self, name) for name in counts}
            | {name: value for name, value in self.metrics.items() if name not in counts}
            | {"seconds": sum(self.seconds.values())}
        ]

    def _headline(self) -> str:
        found = ", ".join(
            f"{f.model}={f.reached:g}" + (f" of {f.of}" if f.of else "") for f in self.findings
        )
        rows = f"{self.published_rows:,} of {self.rows:,} rows"
        if self.people is not None:
            rows += f" ({self.published_people:,} of {self.people:,} people)"
        if self.policy.publish == "anatomy":
            groups = f"{self.groups:,} group{'' if self.groups == 1 else 's'}"
            return f"{rows} in {groups}, publish: anatomy; found {found}; by {self.method}"
        n = self.published_classes
        classes = f"{n:,} class{'' if n == 1 else 'es'}"
        exact = percent(self.detail.exact)
        return f"{rows} in {classes}; found {found}; {exact} of cells exact; by {self.method}"

    def _repr_html_(self) -> str | None:
        """The notebook display, or nothing (so that `repr` is shown) where it fails."""
        try:
            from shoal.report.notebook import notebook

            return notebook(self)
        except Exception:  # displaying a result must never lose it
            return None
