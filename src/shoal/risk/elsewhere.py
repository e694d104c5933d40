"""Inspect and assess tables that no memory holds: files on disk or in Spark, or a Spark frame."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.large.can import INSTEAD
from shoal.pipeline.clock import Clock
from shoal.pipeline.opening import (
    adopted,
    check_engine,
    check_source,
    is_spark,
    opened,
    read_source,
    source_at,
)
from shoal.risk.assessment import Assessment, require_columns
from shoal.risk.inspection import Inspection, require_single_names
from shoal.risk.large import assess_session, inspect_session

RAW = "raw"


def inspect_elsewhere(
    engine: str,
    memory: str | None,
    path: Path,
    options: CsvOptions,
    clock: Clock,
    fraction: float | None,
    msu: int | None,
) -> Inspection:
    """Inspect the table in a file or a folder of part files, with an engine that is named."""
    check_engine(engine, memory)
    refuse_msu(msu)
    source = source_at(path, options)
    require_single_names(source.names)
    check_source(engine, source, source.names)
    with opened(engine, memory, clock) as session:
        with clock.step("read") as progress:
            schema = read_source(session, RAW, source, source.names, clock, progress)
        found = inspect_session(session, RAW, source.names, schema, fraction, step=clock.step)
    return replace(found, warnings=source.guessed)


def assess_elsewhere(
    data: Any,
    quasi: Sequence[str],
    population: Any,
    msu: int | None,
    fraction: float | None,
    threshold: float,
    engine: str,
    memory: str | None,
) -> Assessment:
    """The risk figures of a Spark frame, or of the table in files with an engine that is named."""
    refuse_msu(msu)
    if population is not None:
        raise InputError(f"A population is not read on large engines. {INSTEAD}")
    if is_spark(data):
        require_columns(list(data.columns), quasi, "The table")
        with adopted(data, RAW, quasi) as (session, schema):
            return assess_session(session, RAW, quasi, schema, fraction, threshold)
    if not isinstance(data, str | Path):
        raise InputError(
            "An engine or a memory limit is for files, or folders of them, and not for a frame, which "
            "is in memory already."
        )
    check_engine(engine, memory)
    source = source_at(Path(data))
    require_columns(source.names, quasi, "The table")
    check_source(engine, source, quasi)
    with opened(engine, memory) as session:
        schema = session.read(RAW, source.files, quasi, source.options)
        return assess_session(session, RAW, quasi, schema, fraction, threshold)


def refuse_msu(msu: int | None) -> None:
    """Minimal sample uniques need every row beside every other."""
    if msu is not None:
        raise InputError(f"Minimal sample uniques are not looked for on large engines. {INSTEAD}")
