"""From files or a Spark frame to a verified release, where no memory holds the table."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import plugins
from shoal.engines.large.questions import CODED
from shoal.engines.large.session import Session
from shoal.engines.large.sources import files_of
from shoal.engines.local import LocalEngine
from shoal.errors import InputError, VerificationFailed
from shoal.io.atomic import replacing
from shoal.io.csv_dialect import CsvOptions
from shoal.io.folders import replacing_folder
from shoal.io.formats import format_of
from shoal.large.can import check_large
from shoal.large.coding import Coded, code, columns_to_read
from shoal.large.publishing import PUBLISHED, Outcome, publish
from shoal.large.publishing import check_method as check_large_method
from shoal.large.verifying import examine
from shoal.pipeline.clock import Clock
from shoal.pipeline.prepare import all_lost, check_method, limit_suppression
from shoal.pipeline.reports import (
    report_columns,
    report_components,
    report_constraints,
    report_nodes,
)
from shoal.policy import Policy
from shoal.release import ColumnReport, ComponentReport, Release
from shoal.verification.check import Finding, require

RAW, RELEASE = "raw", "release"
LOCAL, SPARK = "local", "spark"
DETECT = CsvOptions()


@contextmanager
def opened(engine: str, memory: str | None = None) -> Iterator[Session]:
    """A session by its name: `spark`, `spark://host:port`, or `local` under a memory limit."""
    session: Session
    if engine == LOCAL:
        from shoal.engines.large.duck import DuckSession

        session = DuckSession(memory)
    elif engine == SPARK or engine.startswith("spark://"):
        from shoal.engines.large.spark.opening import open_spark

        session = open_spark(engine)
    else:
        raise InputError(
            f"'{engine}' is no engine; allowed: local, spark, and the address of a Spark master, "
            "such as spark://host:7077."
        )
    try:
        yield session
    finally:
        session.close()


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
    if memory is not None:
        _check_memory(engine, memory)
    format_of(target)
    check_large(policy)
    check_large_method(policy)
    with opened(engine, memory) as session:
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


def _check_memory(engine: str, memory: str) -> None:
    if engine != LOCAL:
        raise InputError(
            "--memory limits the local engine. Spark's memory is set where Spark is started "
            "(spark.executor.memory, spark.driver.memory)."
        )
    if not re.fullmatch(r"\d+(\.\d+)? ?([KMGT]i?B)", memory):
        raise InputError(f"--memory: found '{memory}'; it must be like 2GB, 512MB or 1.5GiB.")


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
    engine = LocalEngine()
    place = (
        replacing_folder(target, force, [source]) if folders else replacing(target, force, source)
    )
    with place as hidden:
        with clock.step("read"):
            files, _ = files_of([source])
            options, guessed = engine.settle(files[0], options)
            names = engine.names(files[0], options)
            check(policy, names)
            schema = session.read(
                RAW, [source] if folders else files, columns_to_read(policy), options
            )
        coded, outcome = _publish(session, policy, schema, clock, fragment_rows)
        shown, columns = _shown(policy, names, coded)
        written = options.for_output(target)
        with clock.step("write"):
            rows = outcome.rows(columns)
            session.write(
                rows, hidden.path, shown, columns, written, _wanted(coded, outcome, policy)
            )
            _forget(session)
        with clock.step("verify"):
            back = session.read(RELEASE, [hidden.path], shown, written)
            findings = _verified(session, _places(shown), back, coded, outcome, policy)
        hidden.commit()
    return _release(policy, coded, outcome, findings, clock, None, guessed)


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
    coded, outcome = _publish(session, policy, schema, clock)
    shown, columns = _shown(policy, names, coded)
    with clock.step("verify"):
        ordered = ", ".join(f"{column} AS p{i}" for i, column in enumerate(columns))
        session.keep(RELEASE, outcome.rows([ordered]))
        _forget(session)
        kinds = {f"p{i}": f.type for i, f in enumerate(outcome.types)}
        types = [kinds.get(column, pa.string()) for column in columns]
        back = pa.schema([(f"p{i}", kind) for i, kind in enumerate(types)])
        findings = _verified(session, _places(shown), back, coded, outcome, policy)
    made = session.frame(RELEASE, shown)
    return _release(policy, coded, outcome, findings, clock, made)


def _publish(
    session: Session,
    policy: Policy,
    schema: pa.Schema,
    clock: Clock,
    fragment_rows: int | None = None,
) -> tuple[Coded, Outcome]:
    with clock.step("encode"):
        coded = code(session, policy, schema, RAW)
        session.drop(RAW)
    with clock.step("group") as progress:
        outcome = publish(session, coded, policy, progress, fragment_rows)
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


def _wanted(coded: Coded, outcome: Outcome, policy: Policy) -> int:
    """How many rows are to be published."""
    return coded.n_rows - (0 if policy.suppressed == "starred" else outcome.suppressed_rows)


def _verified(
    session: Session,
    columns: dict[str, str],
    schema: pa.Schema,
    coded: Coded,
    outcome: Outcome,
    policy: Policy,
) -> tuple[Finding, ...]:
    """The findings about RELEASE; raise unless they are good, and about as many rows as they must."""
    found, wanted = (
        examine(session, RELEASE, columns, schema, policy),
        _wanted(coded, outcome, policy),
    )
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
        published_rows=_wanted(coded, outcome, policy),
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
