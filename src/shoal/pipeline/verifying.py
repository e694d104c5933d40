"""Verify what was published: a frame as it will be handed over, or a file as it was written."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from shoal.cells.counts import Counts
from shoal.engines.local import LocalEngine
from shoal.errors import PolicyError, VerificationFailed, listed
from shoal.io.csv_dialect import CsvOptions
from shoal.io.frames import Table
from shoal.policy import Policy
from shoal.verification.check import Finding, check

DETECT = CsvOptions()


def verify_table(published: Table, policy: Policy) -> tuple[Finding, ...]:
    """Ask the policy's models of a published frame."""
    starred = policy.suppressed == "starred"
    _check_columns(published.names, policy)
    rows = pa.table({name: published.column(name) for name in _needed(published.names, policy)})

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        return LocalEngine().count_classes(rows, columns, of, starred=starred)

    return check(count, policy.quasi, policy.constraints)


def verify_file(
    path: str | Path,
    policy: Policy | Mapping[str, object] | str | Path,
    options: CsvOptions = DETECT,
) -> tuple[Finding, ...]:
    """Ask a policy's models of a published file, ours or anybody's."""
    asked, engine, file = Policy.load(policy), LocalEngine(), Path(path)
    settled, _ = engine.settle(file, options)
    _check_columns(engine.names(file, settled), asked)
    starred = asked.suppressed == "starred"

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        return engine.count_classes(file, columns, of, settled, starred)

    return check(count, asked.quasi, asked.constraints)


def expect(
    engine: LocalEngine,
    path: Path,
    options: CsvOptions,
    rows: pa.Table,
    findings: Sequence[Finding],
) -> None:
    """Raise unless a written file has the columns and rows it was to have, neither more nor fewer."""
    found = engine.names(path, options)
    if found != rows.column_names:
        raise VerificationFailed(
            f"The written file has the columns {listed(found)}, "
            f"but {listed(rows.column_names)} were to be published."
        )
    counted = max(finding.rows for finding in findings)
    if counted != rows.num_rows:
        raise VerificationFailed(
            f"The written file has {counted:,} rows, but {rows.num_rows:,} were to be published."
        )


def _needed(names: Sequence[str], policy: Policy) -> list[str]:
    """Starred rows are told by all their cells, everything else by the columns asked about."""
    if policy.suppressed == "starred":
        return list(names)
    return [name for name in names if name in (*policy.quasi, *policy.sensitive)]


def _check_columns(names: Sequence[str], policy: Policy) -> None:
    wanted = [*policy.quasi, *policy.sensitive]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise PolicyError(
            f"The release has no column {listed(repr(name) for name in missing)}, which the policy "
            f"speaks of; it has {listed(names)}. Is this the policy it was made by?"
        )
    hidden = [name for name in names if name not in policy.published(names)]
    if hidden:
        raise VerificationFailed(
            f"The release holds {listed(repr(name) for name in hidden)}, which the policy does not "
            "let be published."
        )
