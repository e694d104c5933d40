"""One candidate of the frontier: the policy with another method and another k."""

from dataclasses import dataclass, replace

from shoal import api
from shoal.errors import ShoalError
from shoal.progress import ProgressCallback
from shoal.studio.figures import Figures, figures_of
from shoal.studio.tasks import PolicyText, sample_of
from shoal.studio.worker import Tables

WHOLE_ROWS = 20_000
"""Tables up to so many rows are compared whole; larger ones by a sample."""


@dataclass(frozen=True)
class Candidate:
    """A method at a k, and what it gives."""

    method: str
    k: int
    figures: Figures | None
    reason: str = ""
    """Why there is no release."""

    @property
    def name(self) -> str:
        """`mondrian, k 5`."""
        return f"{self.method}, k {self.k}"


def try_candidate(
    tables: Tables, report: ProgressCallback, policy: PolicyText, text: str, method: str, k: int
) -> Candidate:
    """Make a release of the table, or of a sample of it, as the candidate's policy says."""
    try:
        wanted = api.read_policy(text, name=policy.name, folder=policy.folder)
        whole = tables.opened()
        rows = whole.table(wanted.read.file).num_rows
        table = whole if rows <= WHOLE_ROWS else sample_of(tables, wanted)
        release = table.release(wanted, report, read_back=False)
    except ShoalError as error:
        return Candidate(method, k, None, str(error))
    sampled = None if table is whole else release.rows
    found = figures_of(release, sampled=sampled, read_back=False, encodings=table.encodings)
    return Candidate(method, k, replace(found, warnings=(), notes=()))
