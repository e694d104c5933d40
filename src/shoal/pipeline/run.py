"""Frames in and frames out, files in and files out; nothing leaves unverified."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import plugins
from shoal.cells.counts import Counts
from shoal.engines.local import LocalEngine
from shoal.errors import VerificationFailed
from shoal.io.atomic import replacing
from shoal.io.csv_dialect import CsvOptions
from shoal.io.frames import Table, wrap
from shoal.pipeline.clock import Clock, Watcher, nobody
from shoal.pipeline.prepare import Prepared, prepare
from shoal.policy import Policy, simple
from shoal.publish.shape import Shape, shape
from shoal.release import Release
from shoal.verify.check import Finding, check, require

AnyPolicy = Policy | Mapping[str, Any] | str | Path


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
            data = LocalEngine().read(Path(data), CsvOptions())
    table = wrap(data)
    asked = _asked(policy, table, keywords)
    prepared = prepare(table, asked, clock)
    with clock.step("publish"):
        made = _shape(prepared, asked, table)
        native = table.release(made.columns, made.labels, made.rows, asked.order == "kept")
    with clock.step("verify"):
        findings = verify_table(wrap(native), asked)
        require(findings)
    return _release(native, len(made.rows), prepared, asked, findings, clock)


def run(
    source: str | Path,
    policy: AnyPolicy,
    target: str | Path,
    *,
    options: CsvOptions = CsvOptions(),  # noqa: B008 - frozen
    force: bool = False,
    progress: Watcher | None = None,
) -> Release:
    """Anonymise a file into another; the new file is verified before it is in its place."""
    clock, engine = Clock(progress or nobody), LocalEngine()
    asked = Policy.load(policy)
    with replacing(Path(target), force, source=Path(source)) as place:
        with clock.step("read"):
            names = engine.names(Path(source), options)
            asked.check(names)
            wanted = [*asked.published(names), *_unpublished_target(asked)]
            table = wrap(engine.read(Path(source), options, columns=wanted))
        prepared = prepare(table, asked, clock, names)
        with clock.step("publish"):
            made = _shape(prepared, asked, table)
            native = table.release(made.columns, made.labels, made.rows, False)
        del table
        with clock.step("write"):
            engine.write(native, place.path, Path(target).suffix, options)
        with clock.step("verify"):
            findings = verify_file(place.path, asked, options)
            require(findings)
        place.commit()
    return _release(native, len(made.rows), prepared, asked, findings, clock)
