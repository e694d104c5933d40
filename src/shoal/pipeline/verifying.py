"""Verify what was published: a frame as it will be handed over, or a file as it was written."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from shoal.cells.counts import Counts
from shoal.engines.local import LocalEngine
from shoal.engines.tables import wrap
from shoal.errors import VerificationFailed, listed
from shoal.io.csv_dialect import CsvOptions
from shoal.io.frames import Table
from shoal.models.requirement import POPULATION
from shoal.pipeline.behind import NOTHING, Behind, with_originals
from shoal.pipeline.linked import (
    Verdict,
    judge_linked_files,
    judge_linked_tables,
)
from shoal.pipeline.people import count_people
from shoal.policy import Policy
from shoal.policy.exempt import check_columns, exempt, exempt_parts, needed
from shoal.verification.check import ClassCounter, Finding, check
from shoal.verification.meaning import with_meaning
from shoal.verification.personal import at_worst

DETECT = CsvOptions()


def judge_tables(
    published: Table, sensitive: Mapping[str, Table], policy: Policy, hidden: Behind = NOTHING
) -> Verdict:
    """Ask the policy's models of a release in frames; `sensitive` are the further tables it has."""
    if policy.publish == "anatomy":
        return judge_linked_tables(published, sensitive, policy)
    return Verdict(verify_table(published, policy, hidden))


def judge_files(
    path: Path,
    others: Mapping[str, Path],
    policy: Policy,
    options: CsvOptions = DETECT,
    hidden: Behind = NOTHING,
) -> Verdict:
    """Ask the policy's models of a release in files; `others` are the further files it has."""
    if policy.publish == "anatomy":
        return judge_linked_files(path, others, policy, options)
    if hidden.values:
        return Verdict(_verify_paired(path, policy, options, hidden))
    return Verdict(check(file_counter(path, policy, options), policy.quasi, policy.constraints))


def verify_table(published: Table, policy: Policy, hidden: Behind = NOTHING) -> tuple[Finding, ...]:
    """Ask the policy's models of a published frame."""
    return check(table_counter(published, policy, hidden), policy.quasi, policy.constraints)


def table_counter(published: Table, policy: Policy, hidden: Behind = NOTHING) -> ClassCounter:
    """Counts the classes of a published frame.

    Columns of which `hidden` knows the values are judged on these, once it is sure that what was
    published follows the personal rule; others of that sort at the worst.
    """
    check_columns(published.names, policy)
    rows = pa.table({name: published.column(name) for name in needed(published.names, policy)})
    rows = with_originals(rows, policy, hidden)

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        starred = exempt(policy, columns, published.names)
        own = [name for name in of if name != POPULATION]
        counts = LocalEngine().count_classes(rows, columns, own, starred=starred)
        found = _with_meaning(counts, policy, hidden.values)
        return found | {POPULATION: count_people(rows, policy)} if POPULATION in of else found

    return count


def _verify_paired(
    path: Path, policy: Policy, options: CsvOptions, hidden: Behind
) -> tuple[Finding, ...]:
    """Ask the models of a written file, read back row by row beside what is behind its rows."""
    engine = LocalEngine()
    names = engine.names(path, options)
    check_columns(names, policy)
    read = engine.read(path, options, needed(names, policy))
    if read.num_rows != hidden.rows:
        raise VerificationFailed(
            f"The written file has {read.num_rows:,} rows, but {hidden.rows:,} were to be published."
        )
    return verify_table(wrap(read), policy, hidden)


def file_counter(file: Path, policy: Policy, options: CsvOptions) -> ClassCounter:
    """Counts the classes of a published file."""
    engine = LocalEngine()
    settled, _ = engine.settle(file, options)
    names = engine.names(file, settled)
    check_columns(names, policy)

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        starred = exempt(policy, columns, names)
        own = [name for name in of if name != POPULATION]
        found = _with_meaning(engine.count_classes(file, columns, own, settled, starred), policy)
        if POPULATION not in of:
            return found
        return found | {POPULATION: count_people(engine.read(file, settled, policy.quasi), policy)}

    return count


def _with_meaning(
    counts: Mapping[str, Counts], policy: Policy, known: Iterable[str] = ()
) -> dict[str, Counts]:
    """known: columns that hold their own values and no wider ones."""
    found: dict[str, Counts] = {}
    for name, one in counts.items():
        if not name:
            found[name] = one
        elif name in policy.preferences and name not in known:
            found[name] = at_worst(one, policy.how(name), policy.folder)
        else:
            found[name] = with_meaning(one, policy.how(name), policy.folder)
    return found


def expect(
    path: Path,
    options: CsvOptions,
    rows: pa.Table,
    counted: int | None = None,
) -> None:
    """Raise unless a written file has the columns and rows it was to have, neither more nor fewer.

    counted: the rows that were found in it, where that is known.
    """
    engine = LocalEngine()
    found = engine.names(path, options)
    if found != rows.column_names:
        raise VerificationFailed(
            f"The written file has the columns {listed(found)}, "
            f"but {listed(rows.column_names)} were to be published."
        )
    if counted is None:
        counted = int(engine.count_classes(path, [], [], options)[""].sizes.sum())
    if counted != rows.num_rows:
        raise VerificationFailed(
            f"The written file has {counted:,} rows, but {rows.num_rows:,} were to be published."
        )


def rows_found(policy: Policy, findings: Sequence[Finding]) -> int | None:
    """The rows of a release, or None where some of them are exempt from the models."""
    return None if exempt_parts(policy) else findings[0].rows
