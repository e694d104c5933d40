"""Engines: where the rows of a run are, and the steps of the run that touch them.

The pipeline is written once, against `Engine`. `MemoryEngine` keeps the table in this process;
`RelationalEngine` keeps it in a `Session`, which is DuckDB on disk or Spark.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.engines.formats.base import format_to_write
from shoal.engines.measured import Measured
from shoal.engines.release_table import ReleaseTable
from shoal.engines.sources import Source
from shoal.io.csv_dialect import CsvOptions
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.progress import Clock, Progress


@dataclass(frozen=True)
class Expected:
    """What a table of the release must have once it is written."""

    names: tuple[str, ...]
    rows: int


class Engine(ABC):
    """One run's table and the steps that touch its rows.

    The pipeline calls `load` or `read`, then `encode`, `group`, `publish` and `measure` in this
    order, and then takes the release with `frames` or `write`. An engine serves one run.
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

    def opened(self, clock: Clock) -> AbstractContextManager[object]:  # noqa: ARG002
        """Open what the engine needs, and close it at the end; starting it may be a step."""
        return nullcontext()

    def check_target(self, target: Path) -> None:
        """Raise `InputError` for a target that the engine cannot write."""
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

    @abstractmethod
    def group(self, requirement: Requirement, progress: Progress) -> int | None:
        """Put the rows into groups; returns how many are suppressed, where that is known already."""

    @abstractmethod
    def publish(self, evidence: bool, progress: Progress) -> None:
        """Label the groups. `evidence`: whether to count what a report needs."""

    @abstractmethod
    def measure(self, progress: Progress) -> Measured:
        """What the release cost."""

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
    def write(self, paths: Sequence[Path], options: CsvOptions, progress: Progress) -> None:
        """Write the tables of the release."""

    @abstractmethod
    def read_back(
        self, paths: Sequence[Path], options: CsvOptions, progress: Progress
    ) -> ReleaseTable:
        """The release as it was written."""

    @abstractmethod
    def require_truth(self, released: ReleaseTable, progress: Progress) -> None:
        """Raise `VerificationFailed` unless every published cell is true of its row in the input.

        released: the release as it was written, or as it is handed over. Called once, last.
        """

    @property
    def digest(self) -> str:
        """Of a release that was checked on original values: the digest of the rows."""
        return ""
