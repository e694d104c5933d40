"""Engines: where the rows of a run are, and the steps of the run that touch them.

The pipeline is written once, against `Engine`. `MemoryEngine` keeps the table in this process;
`RelationalEngine` keeps it in a `Session`, which is DuckDB on disk or Spark.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.arrays import Ints
from shoal.encoding.domain import Domain
from shoal.engines.capabilities import refuse_task
from shoal.engines.formats.base import format_to_write
from shoal.engines.measured import Measured
from shoal.engines.person_key import PersonKey
from shoal.engines.release_table import ReleaseTable
from shoal.engines.sources import Source
from shoal.engines.targets import Target
from shoal.errors import VerificationFailed
from shoal.evidence.detail import FormCounts
from shoal.evidence.disclosure import Disclosure
from shoal.evidence.label_forms import LabelReader
from shoal.io.address import Place
from shoal.io.csv_dialect import CsvOptions
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.progress import Clock, Progress

if TYPE_CHECKING:  # importing them would load the compiler
    from shoal.engines.label_mapping import LabelMapping
    from shoal.methods.auto import Choice

LabelForms = dict[str, list[FormCounts]]
"""Per column, its labels by form and size."""


@dataclass(frozen=True)
class Expected:
    """What a table of the release must have once it is written."""

    names: tuple[str, ...]
    rows: int


class Engine(ABC):
    """One run's table and the steps that touch its rows.

    The pipeline calls `load` or `read`, then `encode`, `group`, `refine`, `publish` and `measure` in
    this order, and then takes the release with `frames` or `write`. An engine serves one run.
    """

    seed: int
    """Where the randomness of the run starts; set before `load` or `read`."""
    label: str
    """The name of the engine in a release and its certificate."""
    capability: ClassVar[str]
    """Its column in the table of capabilities: "memory" or "large"."""
    writes_folders: bool = False
    """Whether a release is a folder of part files."""
    free_evidence: bool = False
    """Whether the evidence for a report comes at no extra cost, so it is always collected."""

    suppression_limit: ClassVar[str] = "`suppression`"
    """What sets how many rows may be suppressed, for messages."""
    otherwise: ClassVar[str] = "loosen the constraints"
    """What else helps where too many would have to be."""

    notes: tuple[str, ...] = ()
    """Why this engine was chosen, where the user chose another one."""
    choice: "Choice | None" = None
    """The method that `auto` chose for the table; None where the policy names another one."""
    _policy: Policy
    """What the run does; with `auto`, by the method that it chose."""

    def choose_method(self, policy: Policy, requirement: Requirement, rows: int) -> Policy:
        """The policy with the method that is used, once the table is encoded."""
        from shoal.methods.auto import Auto, Facts

        if isinstance(policy.method, Auto):
            facts = Facts(
                self.domains[: len(policy.quasi)],
                rows,
                requirement,
                anatomy=policy.publish == "anatomy",
                starred=policy.suppressed == "starred",
                refine=policy.refine,
            )
            self.choice = policy.method.choose(facts)
            policy = policy.replace_keys(method=self.choice.method, refine=self.choice.refine)
            self._policy = policy
        return policy

    def opened(self, clock: Clock) -> AbstractContextManager[object]:  # noqa: ARG002
        """Open what the engine needs, and close it at the end; starting it may be a step."""
        return nullcontext()

    def check_target(self, target: Place) -> None:
        """Raise `InputError` for a target that the engine cannot write."""
        if isinstance(target, Path):
            format_to_write(target)

    def check_source(self, source: Source, policy: Policy) -> None:  # noqa: B027 - most read all
        """Raise `InputError` for files that the engine cannot read; called before it is opened."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns of the table."""

    @abstractmethod
    def load(self, policy: Policy, clock: Clock) -> None:
        """Take the frame that the engine was made for."""

    @abstractmethod
    def read(self, source: Source, policy: Policy, clock: Clock, progress: Progress) -> None:
        """Read the columns that the policy needs."""

    @abstractmethod
    def encode(self, progress: Progress) -> int:
        """Replace values by codes; returns the number of rows."""

    @property
    @abstractmethod
    def sensitive_domains(self) -> Mapping[str, Domain]:
        """What the codes of the sensitive columns mean, once they are encoded."""

    @abstractmethod
    def group(self, requirement: Requirement, progress: Progress) -> int | None:
        """Put the rows into groups; returns how many are suppressed, where that is known already."""

    @abstractmethod
    def refine(self, requirement: Requirement, progress: Progress) -> None:
        """Rearrange the rows of the groups so that they lose less, where the policy has `refine`."""

    @abstractmethod
    def publish(self, evidence: bool, progress: Progress) -> None:
        """Label the groups. `evidence`: whether to count what a report needs."""

    @abstractmethod
    def measure(self, progress: Progress) -> Measured:
        """What the release cost."""

    @property
    @abstractmethod
    def domains(self) -> Sequence[Domain]:
        """What the codes of the quasi-identifiers and the sensitive columns mean."""

    @property
    @abstractmethod
    def expected(self) -> Sequence[Expected]:
        """The tables of the release."""

    @abstractmethod
    def frames(self) -> tuple[Any, dict[str, Any]]:
        """The release in the user's kind of frame, and its tables of sensitive values (Anatomy)."""

    @abstractmethod
    def published(self) -> ReleaseTable:
        """The rows of the release, as they are handed over."""

    @abstractmethod
    def write(self, paths: Sequence[Target], options: CsvOptions, progress: Progress) -> None:
        """Write the tables of the release."""

    @abstractmethod
    def read_back(
        self, paths: Sequence[Target], options: CsvOptions, progress: Progress
    ) -> ReleaseTable:
        """The release as it was written."""

    @abstractmethod
    def require_truth(self, released: ReleaseTable, progress: Progress) -> None:
        """Raise `VerificationFailed` unless every published cell is true of its row in the input.

        released: the release as it was written, or as it is handed over. Called once, last.
        """

    @abstractmethod
    def disclosure(self, table: ReleaseTable) -> Disclosure:
        """What others can do with all published columns; `table` is the release as it was verified."""

    @abstractmethod
    def label_forms(self, table: ReleaseTable, readers: Mapping[str, LabelReader]) -> LabelForms:
        """The forms of the published labels of some columns; `table` is the release as it was
        verified."""

    @property
    def key(self) -> PersonKey | None:
        """Where people were counted and their numbers are in this process: whose row is whose."""
        return None

    @property
    def weights(self) -> Ints | None:
        """Where a constraint is estimated from weights that are not published: those of the rows."""
        return None

    @property
    def mapping(self) -> "LabelMapping | None":
        """Where columns have uniform labels: which label stands for which values."""
        return None

    key_asked: bool = False
    """Whether a key is to be written: whose rows are whose is then kept until it is."""

    keeps_types: bool = False
    """Whether what is to be written comes back in the types in which it is published."""

    def check_key(self, path: Path) -> None:  # noqa: ARG002
        """Raise `InputError` for a key that the engine cannot write."""
        refuse_task(self.capability, "key")

    @abstractmethod
    def write_key(self, path: Path, options: CsvOptions) -> None:
        """Write the private key of the release to a file that exists."""

    @abstractmethod
    def read_key_back(self, path: Path, options: CsvOptions, table: ReleaseTable) -> ReleaseTable:
        """The written release, whose rows belong to whom the written key says."""

    def require_written(self, written: ReleaseTable) -> None:
        """Raise `VerificationFailed` unless a written file has the rows that the engine holds."""
        require_same_rows(self.published(), written)

    @property
    def digest(self) -> str:
        """Of a release that was checked on original values, or on people that stay behind: the digest of
        the rows."""
        return ""

    @property
    def content(self) -> str:
        """Of a release whose frames can be changed in place: what shows that they were."""
        return ""


def require_same_rows(published: ReleaseTable, written: ReleaseTable) -> None:
    """Raise `VerificationFailed` unless a file has the rows that were verified: by their digest."""
    pairs = [(published, written)]
    pairs += [
        (table, written.sensitive_tables[n]) for n, table in published.sensitive_tables.items()
    ]
    for mine, theirs in pairs:
        if mine is not theirs and mine.fingerprint.digest != theirs.fingerprint.digest:
            raise VerificationFailed(
                "The written file does not hold the rows that were to be published: their digests "
                "differ."
            )
