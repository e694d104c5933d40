"""Runs in a session that a test has opened itself."""

from pathlib import Path
from typing import Any

from shoal.engines.relational import RelationalEngine
from shoal.engines.selection import DuckDBEngine, SparkEngine
from shoal.engines.sources import source_at
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.pipeline.run import run_with
from shoal.policy import Policy
from shoal.progress import Clock
from shoal.release import Release


def run_in(
    session: Any,
    source: Path,
    policy: Policy,
    target: Path,
    clock: Clock | None = None,
    *,
    folders: bool,
    options: CsvOptions = DETECT,
    force: bool = False,
    fragment_rows: int | None = None,
    report: Path | None = None,
) -> Release[Any]:
    engine: RelationalEngine = SparkEngine() if folders else DuckDBEngine("2GB")
    engine.session, engine.fragment_rows = session, fragment_rows
    found = source_at(source, options)
    return run_with(engine, found, policy, target, clock or Clock(), force=force, report=report)
