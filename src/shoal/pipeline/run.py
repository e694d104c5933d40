"""Frames in and frames out, files in and files out; nothing leaves unverified."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import plugins
from shoal.engines.local import LocalEngine
from shoal.engines.tables import wrap
from shoal.errors import PolicyError, listed
from shoal.io.atomic import replacing
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, format_of
from shoal.io.frames import Table
from shoal.pipeline.clock import Clock, Watcher, nobody
from shoal.pipeline.prepare import Prepared, check_method, prepare
from shoal.pipeline.reports import report_constraints
from shoal.pipeline.verifying import (
    behind,
    expect,
    verify_copy,
    verify_file,
    verify_paired,
    verify_table,
)
from shoal.policy import Policy, simple
from shoal.publish.shape import Shape, shape
from shoal.release import Release
from shoal.verification.check import Finding, require

AnyPolicy = Policy | Mapping[str, Any] | str | Path
DETECT = CsvOptions()
SIMPLE = ("quasi", "sensitive", "identifiers", "plain", "k", "l", "hierarchies")
"""Keywords that stand in for a policy."""


def anonymize(
    data: Any,
    policy: AnyPolicy | None = None,
    *,
    progress: Watcher | None = None,
    **keywords: Any,
) -> Release:
    """Make a table safe to publish.

    `data` is a pandas, polars or pyarrow table, a DuckDB relation, or the path of a file. `policy`
    is a policy, its file or its content. For the simple case give keywords instead, as in
    `anonymize(df, quasi=["age", "zip"], sensitive="disease", identifiers="name", k=5, l=3)`; beside
    a policy, keywords replace keys of it.
    """
    clock = Clock(progress or nobody)
    if isinstance(data, str | Path):
        with clock.step("read"):
            data = LocalEngine().read(Path(data))
    table = wrap(data)
    asked = _asked(policy, table.names, keywords)
    prepared = prepare(table, table.names, asked, clock)
    with clock.step("publish"):
        made = _shape(prepared, asked, table).decoded()
        native = table.release(made.columns, made.labels, made.rows, asked.order == "kept")
    with clock.step("verify"):
        findings = verify_table(wrap(native), asked, behind(table, asked, made.rows))
        require(findings)
    return _release(native, len(made.rows), prepared, asked, findings, clock)


def run(
    source: str | Path,
    policy: AnyPolicy,
    target: str | Path,
    *,
    options: CsvOptions = DETECT,
    force: bool = False,
    progress: Watcher | None = None,
) -> Release:
    """Anonymise a file into another; the new file is verified before it is in its place."""
    clock, engine = Clock(progress or nobody), LocalEngine()
    source, target, asked = Path(source), Path(target), Policy.load(policy)
    kind = format_of(target)
    with replacing(target, force, source) as place:
        with clock.step("read"):
            options, guessed = engine.settle(source, options)
            names = engine.names(source, options)
            asked.check(names)
            check_method(asked)
            table = wrap(engine.read(source, options, asked.needed(names)))
        prepared = prepare(table, names, asked, clock)
        with clock.step("publish"):
            made = _shape(prepared, asked, table)
            if kind is not Format.CSV:
                made = made.decoded()
            native: pa.Table = table.release(made.columns, made.labels, made.rows, False)
        hidden = behind(table, asked, made.rows)
        del table
        with clock.step("write"):
            written = options.for_output(target)
            engine.write(native, place.path, options=written)
        with clock.step("verify"):
            findings = verify_paired(place.path, asked, written, hidden)
            require(findings)
            expect(place.path, written, native, asked, findings)
        place.commit()
    return _release(native, len(made.rows), prepared, asked, findings, clock, guessed)


def write_release(release: Release, target: Path, force: bool = False) -> Path:
    """Write a release's rows to a file, verified before it is in its place."""
    engine, table = LocalEngine(), wrap(release.table)
    format_of(target)  # a name that tells no format is refused before any work
    with replacing(target, force) as place:
        written = DETECT.for_output(target)
        rows = pa.table({name: table.column(name) for name in table.names})
        engine.write(rows, place.path, options=written)
        if release.policy.preferences:  # the models were asked of the values behind these rows
            findings = release.findings
            verify_copy(place.path, written, rows)
        else:
            findings = verify_file(place.path, release.policy, written)
        require(findings)
        expect(place.path, written, rows, release.policy, findings)
        place.commit()
    return target


def _asked(policy: AnyPolicy | None, names: list[str], keywords: Mapping[str, Any]) -> Policy:
    if policy is None:
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
    asked = Policy.load(policy)
    return asked.changed(**keywords) if keywords else asked


def _shape(prepared: Prepared, policy: Policy, table: Table) -> Shape:
    starred = np.zeros(0, np.int64)
    if policy.suppressed == "starred":
        starred = np.setdiff1d(np.arange(prepared.rows), prepared.published.rows)
    return shape(
        prepared.published,
        policy.published(table.names),
        table.column,
        starred,
        keep_order=policy.order == "kept",
    )


def _release(
    native: Any,
    published_rows: int,
    prepared: Prepared,
    policy: Policy,
    findings: tuple[Finding, ...],
    clock: Clock,
    guessed: tuple[str, ...] = (),
) -> Release:
    return Release(
        table=native,
        policy=policy,
        findings=findings,
        metrics=prepared.metrics,
        rows=prepared.rows,
        published_rows=published_rows,
        suppressed_rows=prepared.suppressed_rows,
        groups=prepared.groups,
        published_classes=prepared.published.classes,
        method=plugins.name_of(type(policy.method)),
        seed=policy.seed,
        seconds=dict(clock.seconds),
        warnings=(*guessed, *prepared.warnings),
        notes=prepared.notes,
        column_loss=prepared.column_loss,
        constraints=report_constraints(policy, prepared.components, findings),
        components=prepared.components,
        columns=prepared.columns,
        personal=prepared.personal,
    )
