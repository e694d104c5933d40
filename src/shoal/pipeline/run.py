"""Where a report goes; what it holds is the release's own to tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import plugins
from shoal.arrays import Ints
from shoal.drawing.page import require_drawing
from shoal.engines.base import Session, part_of, passing
from shoal.engines.capabilities import check_large
from shoal.engines.encode import Coded, code, columns_to_read
from shoal.engines.memory import LocalEngine, wrap
from shoal.engines.publish import PUBLISHED, Outcome, publish
from shoal.engines.publish import check_method as check_large_method
from shoal.engines.queries import CODED, rows_of
from shoal.engines.release_table import READ_BACK, Asked, Held, examine
from shoal.engines.selection import (
    LOCAL,
    RELEASE,
    SPARK,
    called,
    check_engine,
    check_source,
    elsewhere,
    held_frame,
    is_spark,
    opened,
    read_source,
    refuse_folder,
    source_at,
)
from shoal.errors import InputError, PolicyError, VerificationFailed, listed, nearest
from shoal.evidence.collect import Facts
from shoal.io.arrow import kind_name
from shoal.io.commit import check_targets, replacing_all
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, format_of
from shoal.io.frames import Table
from shoal.io.output_names import is_page, report_files
from shoal.pipeline.anatomy import Verdict, sensitive_files
from shoal.pipeline.originals import NOTHING, Behind, behind, require_same
from shoal.pipeline.prepare import (
    Prepared,
    all_lost,
    check_method,
    limit_suppression,
    met_together,
    prepare,
)
from shoal.pipeline.summary import (
    anatomy_notes,
    report_columns,
    report_components,
    report_constraints,
    report_nodes,
)
from shoal.pipeline.verify import expect, judge_files, judge_tables, rows_found
from shoal.policy import Policy, policy_from_keywords
from shoal.policy.anatomy import count_name, group_name
from shoal.progress import Clock, Progress, ProgressCallback, ignore_event, no_progress
from shoal.publish.anatomy import Anatomy
from shoal.publish.assemble import Shape, shape
from shoal.release import ColumnReport, ComponentReport, Release
from shoal.verification.check import Finding, require
from shoal.verification.digest import digest_of


def check_report(path: str | Path | None, policy: Policy) -> list[Path]:
    """The files of a report, none where none is asked for; to be asked before any work."""
    if path is None:
        return []
    files = report_files(Path(path))
    for file in files:
        if file.exists() and Path(policy.read_from).exists() and file.samefile(policy.read_from):
            raise InputError(f"{file} is the policy itself. Write the report to another file.")
    if is_page(files[0]):
        require_drawing("A report as a page (a certificate alone, as a .json file, does not)")
    return files


def write_texts(paths: Sequence[Path], texts: Sequence[str]) -> None:
    """Write the files of a report; `paths` are where they wait for their places."""
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")


# The tables of a release in the user's kind of frame, one or several.


@dataclass(frozen=True)
class Made:
    """What is handed over."""

    table: Any
    origin: Ints
    """(published,) the input row behind each row of it."""
    sensitive: dict[str, Any]
    """Per sensitive column the table of its values; none unless the policy parts them."""

    @property
    def tables(self) -> list[Any]:
        """All of them, the table of people first."""
        return [self.table, *self.sensitive.values()]


def make(prepared: Prepared, policy: Policy, table: Table, decode: bool = True) -> Made:
    """Gather what is published; with `decode` labels are plain text."""
    if isinstance(prepared.published, Anatomy):
        return _parted(prepared.published, policy, table)
    made = _shape(prepared, policy, table)
    made = made.decoded() if decode else made
    native = table.release(made.columns, made.labels, made.rows, policy.order == "kept")
    return Made(native, made.rows, {})


def _parted(anatomy: Anatomy, policy: Policy, table: Table) -> Made:
    group, count = group_name(policy), count_name(policy)
    shown = [name for name in policy.published(table.names) if name not in policy.sensitive]
    people = table.release(
        [*shown, group], {group: pa.array(anatomy.group)}, anatomy.rows, keep_index=False
    )
    values = {}
    for name in policy.sensitive:
        counted = anatomy.sensitive[name]
        numbers = {group: pa.array(counted.group), count: pa.array(counted.count)}
        columns = [group, name, count]
        values[name] = table.release(columns, numbers, counted.rows, keep_index=False)
    return Made(people, anatomy.rows, values)


def _shape(prepared: Prepared, policy: Policy, table: Table) -> Shape:
    published = prepared.published
    assert not isinstance(published, Anatomy)
    starred = np.zeros(0, np.int64)
    if policy.suppressed == "starred":
        starred = np.setdiff1d(np.arange(prepared.rows), published.rows)
    return shape(
        published,
        policy.published(table.names),
        table.column,
        starred,
        keep_order=policy.order == "kept",
    )


# What a large run knows of the table before, and the release that it hands over after.


def facts_of(policy: Policy, coded: Coded, schema: pa.Schema, names: Sequence[str]) -> Facts:
    """What a report needs to know of the coded table; `names` are all columns of the input, `schema` has
    the types of those that were read."""
    read = dict(zip(columns_to_read(policy), schema.types, strict=True))
    kinds = {n: kind_name(read[n]) if n in read else None for n in names}
    return Facts(
        domains=coded.domains,
        rows_of_values=coded.rows_of_values,
        sensitive={
            name: (coded.sensitive_domains[name], coded.rows(name)) for name in policy.sensitive
        },
        n_rows=coded.n_rows,
        how={name: policy.columns[name].hierarchy for name in policy.quasi},
        schema=kinds,
    )


def published_rows(policy: Policy, coded: Coded, outcome: Outcome) -> int:
    """How many rows are to be published."""
    return coded.n_rows - (0 if policy.suppressed == "starred" else outcome.suppressed_rows)


def release_of(
    policy: Policy,
    coded: Coded,
    outcome: Outcome,
    findings: tuple[Finding, ...],
    clock: Clock,
    engine: str,
    table: Any = None,
    guessed: tuple[str, ...] = (),
) -> Release:
    """The release; `table` where its rows are at hand."""
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
        notes=(*met_together(policy, parts.groupings if parts else ()), *outcome.notes),
        column_loss=outcome.losses,
        constraints=report_constraints(policy, components, findings),
        components=components,
        columns=report_columns(parts)
        if parts
        else {name: ColumnReport(*told) for name, told in outcome.columns.items()},
        minimal_nodes=report_nodes(parts) if parts else (),
        evidence=outcome.evidence,
        engine=engine,
    )


def _whole_component(policy: Policy, outcome: Outcome) -> ComponentReport:
    every = range(sum(plugins.name_of(type(m)) == "k" for m in policy.constraints))
    return ComponentReport(
        columns=tuple(policy.quasi),
        constraints=tuple(every),
        precision=outcome.metrics.get("precision"),
        suppressed_rows=outcome.suppressed_rows,
    )


# From files or a Spark frame to a verified release, where no memory holds the table.


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
    from shoal.engines.spark.opening import open_frame

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
    held: Held, policy: Policy, wanted: int, progress: Progress = no_progress
) -> tuple[Finding, ...]:
    """The findings about a release; raise unless they are good, and about as many rows as they must."""
    found = examine(Asked(held.session, held.table, held.columns, held.schema, policy), progress)
    if found.rows != wanted:
        raise VerificationFailed(
            f"What was written has {found.rows:,} rows, but {wanted:,} were to be published."
        )
    require(found.findings)
    return found.findings


# Frames in and frames out, files in and files out; nothing leaves unverified.


AnyPolicy = Policy | Mapping[str, Any] | str | Path
SIMPLE = ("quasi", "sensitive", "identifiers", "plain", "k", "l", "hierarchies")
"""Keywords that stand in for a policy."""
KEYS = tuple(Policy.model_fields)
"""Keywords that stand for keys of a policy."""


def anonymize(
    data: Any,
    policy: AnyPolicy | None = None,
    *,
    progress: ProgressCallback | None = None,
    **keywords: Any,
) -> Release:
    """Make a table safe to publish.

    `data` is a pandas, polars or pyarrow table, a DuckDB relation, a Spark frame, or the path of a
    file; the release's `table` is of the same kind, and Spark's rows stay in Spark. `policy`
    is a policy, its file or its content. For the simple case give keywords instead, as in
    `anonymize(df, quasi=["age", "zip"], sensitive="disease", identifiers="name", k=5, l=3)`; beside
    a policy, keywords replace keys of it.
    """
    clock = Clock(progress or ignore_event)
    if is_spark(data):
        return anonymize_frame(data, _asked(policy, list(data.columns), keywords), clock)
    if isinstance(data, str | Path):
        with clock.step("read"):
            data = LocalEngine().read(Path(data))
            clock.rows = data.num_rows
    table = wrap(data)
    asked = _asked(policy, table.names, keywords)
    prepared = prepare(table, table.names, asked, clock)
    with clock.step("publish"):
        made = make(prepared, asked, table)
    with clock.step("verify"):
        sensitive = {name: wrap(native) for name, native in made.sensitive.items()}
        hidden = behind(table, asked, made.origin)
        verdict = judge_tables(wrap(made.table), sensitive, asked, hidden)
        require(verdict.findings)
    return _release(made, prepared, asked, verdict, clock)


def run(
    source: str | Path,
    policy: AnyPolicy,
    target: str | Path,
    *,
    options: CsvOptions = DETECT,
    force: bool = False,
    report: str | Path | None = None,
    progress: ProgressCallback | None = None,
    engine: str = LOCAL,
    memory: str | None = None,
) -> Release:
    """Anonymise a file into another; the new file is verified before it is in its place.

    For tables that do not fit into memory: `memory` (such as "2GB") works on disk under that limit,
    `engine` "spark" or "spark://host:port" in Spark. The release then has no `table`: its rows are in
    the file, or with Spark in a folder of files.

    A policy with `publish: anatomy` makes several files, which appear together. So does a `report`:
    a page as .html with its certificate beside it, or the certificate alone as .json.
    """
    clock = Clock(progress or ignore_event)
    source, target, asked = Path(source), Path(target), Policy.load(policy)
    if elsewhere(engine, memory):
        return run_elsewhere(
            engine,
            memory,
            source,
            asked,
            target,
            clock,
            options=options,
            force=force,
            report=report,
        )
    return _run(source, asked, target, clock, options, force, report)


def _run(
    source: Path,
    asked: Policy,
    target: Path,
    clock: Clock,
    options: CsvOptions,
    force: bool,
    report: str | Path | None,
) -> Release:
    """Anonymise a file in memory."""
    engine = LocalEngine()
    refuse_folder(source)
    kind, others = format_of(target), sensitive_files(target, asked)
    reports = check_report(report, asked)
    with replacing_all([target, *others.values(), *reports], force, source) as places:
        paths = places.paths[: 1 + len(others)]
        with clock.step("read"):
            options, guessed = engine.settle(source, options)
            names = engine.names(source, options)
            asked.check(names)
            check_method(asked)
            table = wrap(engine.read(source, options, asked.needed(names)))
            clock.rows = table.n_rows
        prepared = prepare(table, names, asked, clock)
        with clock.step("publish"):
            made = make(prepared, asked, table, decode=kind is not Format.CSV)
        hidden = behind(table, asked, made.origin)
        del table
        written = options.for_output(target)
        with clock.step("write"):
            for rows, path in zip(made.tables, paths, strict=True):
                engine.write(rows, path, options=written)
        with clock.step("verify"):
            verdict = _judge_written(made.tables, paths, asked, written, hidden)
        release = _release(made, prepared, asked, verdict, clock, guessed)
        if reports:
            with clock.step("report"):
                write_texts(places.paths[len(paths) :], release.report_texts(reports))
            release = replace(release, seconds=dict(clock.seconds))
        places.commit()
    return release


def write_release(
    release: Release, target: Path, force: bool = False, report: str | Path | None = None
) -> Path:
    """Write a release's rows to a file, verified before it is in its place; those of a Spark frame to
    a folder of files."""
    if release.table is None:
        raise InputError(
            "This release has no rows at hand: they are in the files that the run wrote. Copy these."
        )
    if is_spark(release.table):
        return write_frame(release, target, force, report)
    engine, policy = LocalEngine(), release.policy
    format_of(target)  # a name that tells no format is refused before any work
    targets = [target, *sensitive_files(target, policy).values()]
    reports = check_report(report, policy)
    with replacing_all([*targets, *reports], force) as places:
        paths = places.paths[: len(targets)]
        written = DETECT.for_output(target)
        tables = [_held(wrap(n)) for n in (release.table, *release.sensitive_tables.values())]
        for rows, path in zip(tables, paths, strict=True):
            engine.write(rows, path, options=written)
        if policy.preferences:  # the models were asked of the values behind these very rows
            require_same(tables[0], release.digest, "The release's table")
            read = engine.read(paths[0], written, tables[0].column_names)
            require_same(read, release.digest, "The written file")
        else:
            _judge_written(tables, paths, policy, written)
        if reports:
            write_texts(places.paths[len(paths) :], release.report_texts(reports))
        places.commit()
    return target


def _held(table: Table) -> pa.Table:
    return pa.table({name: table.column(name) for name in table.names})


def _judge_written(
    tables: Sequence[pa.Table],
    paths: Sequence[Path],
    policy: Policy,
    options: CsvOptions,
    hidden: Behind = NOTHING,
) -> Verdict:
    """Raise unless the written files hold every guarantee, and what was to be written, no more."""
    first, *others = paths
    sensitive = policy.sensitive if others else ()
    verdict = judge_files(first, dict(zip(sensitive, others, strict=True)), policy, options, hidden)
    require(verdict.findings)
    expect(first, options, tables[0], rows_found(policy, verdict.findings))
    for path, rows in zip(others, tables[1:], strict=True):
        expect(path, options, rows)
    return verdict


def _asked(policy: AnyPolicy | None, names: list[str], keywords: Mapping[str, Any]) -> Policy:
    if policy is None:
        _known(keywords, [*SIMPLE, *KEYS])
        if "quasi" not in keywords:
            raise PolicyError(
                "Give a policy, or say which columns are what: quasi=[...] and k=5, for instance; "
                "also sensitive, identifiers, plain, l, hierarchies and the keys of a policy."
            )
        return policy_from_keywords(names, **keywords)
    if mixed := [key for key in keywords if key in SIMPLE]:
        raise PolicyError(
            f"{listed(mixed)}: a policy was given too, which says this already. Give one of the two; "
            "beside a policy only its own keys can be given, such as method or seed."
        )
    _known(keywords, KEYS)
    return Policy.load(policy, **keywords)


def _known(keywords: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for key in keywords:
        if key not in allowed:
            raise PolicyError(
                f"{key}: unknown keyword; allowed: {listed(allowed, 30)}.{nearest(key, allowed)} "
                "Models other than k and l are asked for in a policy, under `constraints`."
            )


def _release(
    made: Made,
    prepared: Prepared,
    policy: Policy,
    verdict: Verdict,
    clock: Clock,
    guessed: tuple[str, ...] = (),
) -> Release:
    return Release(
        table=made.table,
        policy=policy,
        findings=verdict.findings,
        metrics=prepared.metrics,
        rows=prepared.rows,
        published_rows=len(made.origin),
        suppressed_rows=prepared.suppressed_rows,
        groups=prepared.groups,
        published_classes=prepared.published.classes,
        method=plugins.name_of(type(policy.method)),
        seed=policy.seed,
        seconds=dict(clock.seconds),
        warnings=(*guessed, *prepared.warnings),
        notes=(*prepared.notes, *anatomy_notes(policy, verdict)),
        column_loss=prepared.column_loss,
        constraints=report_constraints(policy, prepared.components, verdict.findings),
        components=prepared.components,
        columns=prepared.columns,
        minimal_nodes=prepared.minimal_nodes,
        sensitive_tables=made.sensitive,
        largest_share=verdict.largest_share,
        personal=prepared.personal,
        recognition={name: one.report(made.origin) for name, one in prepared.recognition.items()},
        evidence=prepared.evidence,
        digest=digest_of(_held(wrap(made.table))) if policy.preferences else "",
    )
