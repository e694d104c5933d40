"""Frames in and frames out, files in and files out; nothing leaves unverified."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import plugins
from shoal.engines.local import LocalEngine
from shoal.engines.tables import wrap
from shoal.errors import InputError, PolicyError, listed, nearest
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, format_of
from shoal.io.frames import Table
from shoal.io.together import replacing_all
from shoal.pipeline.behind import NOTHING, Behind, behind, require_same
from shoal.pipeline.clock import Clock, nobody
from shoal.pipeline.linked import Verdict, sensitive_files
from shoal.pipeline.made import Made, make
from shoal.pipeline.opening import LOCAL, elsewhere, is_spark, refuse_folder
from shoal.pipeline.prepare import Prepared, check_method, prepare
from shoal.pipeline.reporting import check_report, write_texts
from shoal.pipeline.reports import anatomy_notes, report_constraints
from shoal.pipeline.verifying import expect, judge_files, judge_tables, rows_found
from shoal.policy import Policy, simple
from shoal.progress import Watcher
from shoal.release import Release
from shoal.verification.check import require
from shoal.verification.digest import digest_of

AnyPolicy = Policy | Mapping[str, Any] | str | Path
DETECT = CsvOptions()
SIMPLE = ("quasi", "sensitive", "identifiers", "plain", "k", "l", "hierarchies")
"""Keywords that stand in for a policy."""
KEYS = tuple(Policy.model_fields)
"""Keywords that stand for keys of a policy."""


def anonymize(
    data: Any,
    policy: AnyPolicy | None = None,
    *,
    progress: Watcher | None = None,
    **keywords: Any,
) -> Release:
    """Make a table safe to publish.

    `data` is a pandas, polars or pyarrow table, a DuckDB relation, a Spark frame, or the path of a
    file; the release's `table` is of the same kind, and Spark's rows stay in Spark. `policy`
    is a policy, its file or its content. For the simple case give keywords instead, as in
    `anonymize(df, quasi=["age", "zip"], sensitive="disease", identifiers="name", k=5, l=3)`; beside
    a policy, keywords replace keys of it.
    """
    clock = Clock(progress or nobody)
    if is_spark(data):
        from shoal.pipeline.large import anonymize_frame

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
    progress: Watcher | None = None,
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
    clock = Clock(progress or nobody)
    source, target, asked = Path(source), Path(target), Policy.load(policy)
    if elsewhere(engine, memory):
        from shoal.pipeline.large import run_elsewhere

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
        from shoal.pipeline.large import write_frame

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
        return simple(names, **keywords)
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
