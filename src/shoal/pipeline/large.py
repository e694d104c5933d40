"""From files or a Spark frame to a verified release, where no memory holds the table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.large.profiling import rows_of
from shoal.engines.large.questions import CODED
from shoal.engines.large.session import Session
from shoal.errors import InputError, VerificationFailed
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, format_of
from shoal.io.together import check_targets, replacing_all
from shoal.large.asked import Asked
from shoal.large.can import check_large
from shoal.large.coding import Coded, code, columns_to_read
from shoal.large.held import Held
from shoal.large.publishing import PUBLISHED, Outcome, publish
from shoal.large.publishing import check_method as check_large_method
from shoal.large.verifying import READ_BACK, examine
from shoal.large.watching import part_of, passing
from shoal.pipeline.clock import Clock
from shoal.pipeline.large_release import facts_of, published_rows, release_of
from shoal.pipeline.opening import (
    LOCAL,
    RELEASE,
    SPARK,
    called,
    check_engine,
    check_source,
    held_frame,
    opened,
    read_source,
    source_at,
)
from shoal.pipeline.prepare import check_method, limit_suppression
from shoal.pipeline.reporting import check_report, write_texts
from shoal.policy import Policy
from shoal.progress import Progress, not_told
from shoal.release import Release
from shoal.verification.check import Finding, require

RAW, WRITTEN = "raw", "written"
DETECT = CsvOptions()


def run_elsewhere(
    engine: str,
    memory: str | None,
    source: Path,
    policy: Policy,
    target: Path,
    clock: Clock,
    *,
    options: CsvOptions = DETECT,
    force: bool = False,
    report: str | Path | None = None,
) -> Release:
    """Anonymise files with an engine that is named."""
    check_engine(engine, memory)
    # what can be told without Spark is told before it is started
    _check_format(engine, target)
    targets = [target, *check_report(report, policy)]
    check_targets(targets, force, source, folder=engine != LOCAL)
    check_large(policy)
    found = source_at(source, options)
    check(policy, found.names)
    check_source(engine, found, columns_to_read(policy))
    with opened(engine, memory, clock) as session:
        return run_large(
            session,
            source,
            policy,
            target,
            clock,
            folders=engine != LOCAL,
            options=options,
            force=force,
            report=report,
            engine=called(engine, memory),
        )


def _check_format(engine: str, target: Path) -> None:
    if format_of(target) is Format.ARROW and engine != LOCAL:
        raise InputError(
            f"{target}: Spark writes folders of Parquet or CSV files. Name one '.parquet' or '.csv'."
        )


def check(policy: Policy, names: Sequence[str]) -> None:
    """Raise whatever is wrong with a policy for a large run; to be asked before any work."""
    policy.check(names)
    check_large(policy)
    check_method(policy)
    check_large_method(policy)


def run_large(
    session: Session,
    source: Path,
    policy: Policy,
    target: Path,
    clock: Clock,
    *,
    folders: bool,
    options: CsvOptions = DETECT,
    force: bool = False,
    fragment_rows: int | None = None,
    report: str | Path | None = None,
    engine: str = SPARK,
) -> Release:
    """Anonymise a file, or a folder of them, into another; verified before it is in its place.

    folders: whether the session writes folders of files. report: appears with the release, or not at
    all. engine: as the release tells it.
    """
    format_of(target)
    reports = check_report(report, policy)
    with replacing_all([target, *reports], force, source, folder=folders) as places:
        path = places.paths[0]
        with clock.step("read") as progress:
            found = source_at(source, options)
            names = found.names
            check(policy, names)
            schema = read_source(session, RAW, found, columns_to_read(policy), clock, progress)
        told = names if reports else None
        coded, outcome = _publish(session, policy, schema, clock, fragment_rows, told)
        shown, columns = _shown(policy, names, coded)
        written = found.options.for_output(target)
        n = published_rows(policy, coded, outcome)
        with clock.step("write") as progress, passing(session, progress, 0, 1, n):
            session.write(outcome.rows(columns), path, shown, columns, written, n)
            _forget(session)
        with clock.step("verify") as progress:
            with passing(session, progress, 0, READ_BACK, n):
                back = session.read(RELEASE, [path], shown, written)
            held = Held(session, RELEASE, tuple(shown), back)
            findings = _verified(held, policy, n, part_of(progress, READ_BACK, 1))
        release = release_of(policy, coded, outcome, findings, clock, engine, guessed=found.guessed)
        if reports:
            with clock.step("report") as progress, passing(session, progress, 0, 1, None):
                write_texts(places.paths[1:], release.report_texts(reports, held))
            release = replace(release, seconds=dict(clock.seconds))
        places.commit()
    return release


def anonymize_frame(frame: Any, policy: Policy, clock: Clock) -> Release:
    """Anonymise a Spark frame into another of the same Spark session."""
    from shoal.engines.large.spark.opening import open_frame

    check(policy, list(frame.columns))
    session = open_frame(frame)
    try:
        return _anonymize(session, frame, policy, clock)
    finally:
        session.close()


def _anonymize(session: Any, frame: Any, policy: Policy, clock: Clock) -> Release:
    names = list(frame.columns)
    with clock.step("read"):
        schema = session.adopt(RAW, frame, columns_to_read(policy))
        clock.rows = session.rows(RAW)
    coded, outcome = _publish(session, policy, schema, clock, names=names)
    shown, columns = _shown(policy, names, coded)
    with clock.step("verify") as progress:
        ordered = ", ".join(f"{column} AS p{i}" for i, column in enumerate(columns))
        # what is verified is what is handed over, also when an executor is lost later
        session.pin(RELEASE, outcome.rows([ordered]))
        _forget(session)
        kinds = {f"p{i}": f.type for i, f in enumerate(outcome.types)}
        types = [kinds.get(column, pa.string()) for column in columns]
        back = pa.schema([(f"p{i}", kind) for i, kind in enumerate(types)])
        held = Held(session, RELEASE, tuple(shown), back)
        n = published_rows(policy, coded, outcome)
        findings = _verified(held, policy, n, progress)
    made = session.frame(RELEASE, shown)
    return release_of(policy, coded, outcome, findings, clock, SPARK, made)


def write_frame(
    release: Release, target: Path, force: bool = False, report: str | Path | None = None
) -> Path:
    """Write the rows of a Spark frame to a folder, verified before it is in its place."""
    policy, rows = release.policy, release.published_rows
    _check_format(SPARK, target)
    reports = check_report(report, policy)
    with (
        replacing_all([target, *reports], force, folder=True) as places,
        held_frame(release.table) as held,
    ):
        path, columns = places.paths[0], list(held.columns.values())
        written, session = DETECT.for_output(target), held.session
        session.write(rows_of(RELEASE, columns), path, held.names, columns, written, rows)
        back = session.read(WRITTEN, [path], held.names, written)
        there = Held(session, WRITTEN, held.names, back)
        _verified(there, policy, rows)
        if reports:
            write_texts(places.paths[1:], release.report_texts(reports, there))
        places.commit()
    return target


def _publish(
    session: Session,
    policy: Policy,
    schema: pa.Schema,
    clock: Clock,
    fragment_rows: int | None = None,
    names: Sequence[str] | None = None,
) -> tuple[Coded, Outcome]:
    """names: the columns of the input, where evidence for a report is to be gathered."""
    with clock.step("encode") as progress:
        coded = code(session, policy, schema, RAW, progress=progress)
        session.drop(RAW)
        clock.rows = coded.n_rows
    facts = None if names is None else facts_of(policy, coded, schema, names)
    outcome = publish(session, coded, policy, clock.step, fragment_rows, facts)
    limit_suppression(policy, outcome.suppressed_rows, coded.n_rows)
    return coded, outcome


def _forget(session: Session) -> None:
    """Forget what the release was made from."""
    for name in (PUBLISHED, CODED):
        session.drop(name)


def _shown(policy: Policy, names: Sequence[str], coded: Coded) -> tuple[list[str], list[str]]:
    """The published columns in the input's order, and where each stands in the session."""
    shown = list(policy.published(names))
    place = {name: f"q{j}" for j, name in enumerate(coded.quasi)}
    place |= {name: f"p{i}" for i, name in enumerate(coded.payload)}
    return shown, [place[name] for name in shown]


def _verified(
    held: Held, policy: Policy, wanted: int, progress: Progress = not_told
) -> tuple[Finding, ...]:
    """The findings about a release; raise unless they are good, and about as many rows as they must."""
    found = examine(Asked(held.session, held.table, held.columns, held.schema, policy), progress)
    if found.rows != wanted:
        raise VerificationFailed(
            f"What was written has {found.rows:,} rows, but {wanted:,} were to be published."
        )
    require(found.findings)
    return found.findings
