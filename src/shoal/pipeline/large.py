"""From files or a Spark frame to a verified release, where no memory holds the table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import plugins
from shoal.engines.large.questions import CODED
from shoal.engines.large.session import Session
from shoal.errors import InputError, VerificationFailed
from shoal.io.atomic import check_target, replacing
from shoal.io.csv_dialect import CsvOptions
from shoal.io.folders import check_folder, replacing_folder
from shoal.io.formats import Format, format_of
from shoal.large.can import check_large
from shoal.large.coding import Coded, code, columns_to_read
from shoal.large.publishing import PUBLISHED, Outcome, publish
from shoal.large.publishing import check_method as check_large_method
from shoal.large.verifying import READ_BACK, Asked, examine
from shoal.large.watching import part_of, passing
from shoal.pipeline.clock import Clock
from shoal.pipeline.opening import LOCAL, check_engine, check_source, opened, read_source, source_at
from shoal.pipeline.prepare import all_lost, check_method, limit_suppression
from shoal.pipeline.reports import (
    report_columns,
    report_components,
    report_constraints,
    report_nodes,
)
from shoal.policy import Policy
from shoal.progress import Progress
from shoal.release import ColumnReport, ComponentReport, Release
from shoal.verification.check import Finding, require

RAW, RELEASE = "raw", "release"
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
) -> Release:
    """Anonymise files with an engine that is named."""
    check_engine(engine, memory)
    # what can be told without Spark is told before it is started
    if format_of(target) is Format.ARROW and engine != LOCAL:
        raise InputError(
            f"{target}: Spark writes folders of Parquet or CSV files. Name one '.parquet' or '.csv'."
        )
    if engine == LOCAL:
        check_target(target, force, source)
    else:
        check_folder(target, force, [source])
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
) -> Release:
    """Anonymise a file, or a folder of them, into another; verified before it is in its place.

    folders: whether the session writes folders of files.
    """
    format_of(target)
    place = (
        replacing_folder(target, force, [source]) if folders else replacing(target, force, source)
    )
    with place as hidden:
        with clock.step("read") as progress:
            found = source_at(source, options)
            names = found.names
            check(policy, names)
            schema = read_source(session, RAW, found, columns_to_read(policy), clock, progress)
        coded, outcome = _publish(session, policy, schema, clock, fragment_rows)
        shown, columns = _shown(policy, names, coded)
        written = found.options.for_output(target)
        n = published_rows(policy, coded, outcome)
        with clock.step("write") as progress, passing(session, progress, 0, 1, n):
            session.write(outcome.rows(columns), hidden.path, shown, columns, written, n)
            _forget(session)
        with clock.step("verify") as progress:
            with passing(session, progress, 0, READ_BACK, n):
                back = session.read(RELEASE, [hidden.path], shown, written)
            asked = Asked(session, RELEASE, _places(shown), back, policy)
            findings = _verified(asked, n, part_of(progress, READ_BACK, 1))
        hidden.commit()
    return _release(policy, coded, outcome, findings, clock, None, found.guessed)


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
    coded, outcome = _publish(session, policy, schema, clock)
    shown, columns = _shown(policy, names, coded)
    with clock.step("verify") as progress:
        ordered = ", ".join(f"{column} AS p{i}" for i, column in enumerate(columns))
        session.keep(RELEASE, outcome.rows([ordered]))
        _forget(session)
        kinds = {f"p{i}": f.type for i, f in enumerate(outcome.types)}
        types = [kinds.get(column, pa.string()) for column in columns]
        back = pa.schema([(f"p{i}", kind) for i, kind in enumerate(types)])
        asked = Asked(session, RELEASE, _places(shown), back, policy)
        findings = _verified(asked, published_rows(policy, coded, outcome), progress)
    made = session.frame(RELEASE, shown)
    return _release(policy, coded, outcome, findings, clock, made)


def _publish(
    session: Session,
    policy: Policy,
    schema: pa.Schema,
    clock: Clock,
    fragment_rows: int | None = None,
) -> tuple[Coded, Outcome]:
    with clock.step("encode") as progress:
        coded = code(session, policy, schema, RAW, progress=progress)
        session.drop(RAW)
        clock.rows = coded.n_rows
    outcome = publish(session, coded, policy, clock.step, fragment_rows)
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


def _places(names: Sequence[str]) -> dict[str, str]:
    """Where the columns of a release stand that was read back."""
    return {name: f"p{i}" for i, name in enumerate(names)}


def published_rows(policy: Policy, coded: Coded, outcome: Outcome) -> int:
    """How many rows are to be published."""
    return coded.n_rows - (0 if policy.suppressed == "starred" else outcome.suppressed_rows)


def _verified(asked: Asked, wanted: int, progress: Progress) -> tuple[Finding, ...]:
    """The findings about RELEASE; raise unless they are good, and about as many rows as they must."""
    found = examine(asked, progress)
    if found.rows != wanted:
        raise VerificationFailed(
            f"What was written has {found.rows:,} rows, but {wanted:,} were to be published."
        )
    require(found.findings)
    return found.findings


def _release(
    policy: Policy,
    coded: Coded,
    outcome: Outcome,
    findings: tuple[Finding, ...],
    clock: Clock,
    table: Any,
    guessed: tuple[str, ...] = (),
) -> Release:
    suppressed = outcome.suppressed_rows
    parts = outcome.parts
    components = (
        (_whole_component(policy, outcome),) if parts is None else report_components(policy, parts)
    )
    warnings = [*policy.warnings(), *limit_suppression(policy, suppressed, coded.n_rows)]
    return Release(
        table=table,
        policy=policy,
        findings=findings,
        metrics=outcome.metrics,
        rows=coded.n_rows,
        published_rows=published_rows(policy, coded, outcome),
        suppressed_rows=suppressed,
        groups=outcome.groups,
        published_classes=outcome.classes,
        method=plugins.name_of(type(policy.method)),
        seed=policy.seed,
        seconds=dict(clock.seconds),
        warnings=(*guessed, *warnings, *all_lost(outcome.metrics["mean-ncp"])),
        notes=outcome.notes,
        column_loss=outcome.losses,
        constraints=report_constraints(policy, components, findings),
        components=components,
        columns=report_columns(parts)
        if parts
        else {name: ColumnReport(*told) for name, told in outcome.columns.items()},
        minimal_nodes=report_nodes(parts) if parts else (),
    )


def _whole_component(policy: Policy, outcome: Outcome) -> ComponentReport:
    every = range(sum(plugins.name_of(type(m)) == "k" for m in policy.constraints))
    return ComponentReport(
        columns=tuple(policy.quasi),
        constraints=tuple(every),
        precision=outcome.metrics.get("precision"),
        suppressed_rows=outcome.suppressed_rows,
    )
