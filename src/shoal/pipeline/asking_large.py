"""Ask a release that no memory holds what it holds: files on disk or in Spark, or a Spark frame."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.io.csv_dialect import CsvOptions
from shoal.large.asked import Asked
from shoal.large.can import check_verifiable
from shoal.large.verifying import verify_and_survey
from shoal.pipeline.clock import Clock
from shoal.pipeline.opening import (
    adopted,
    check_engine,
    check_source,
    opened,
    read_source,
    source_at,
)
from shoal.policy import Policy
from shoal.policy.exempt import check_columns, needed
from shoal.verification.check import Finding
from shoal.verification.strength import Strength

RELEASE = "release"
DETECT = CsvOptions()


@dataclass(frozen=True)
class Answer:
    """What a release was found to hold."""

    findings: tuple[Finding, ...]
    strengths: tuple[Strength, ...]


@contextmanager
def release_in(
    engine: str,
    memory: str | None,
    path: Path,
    policy: Policy,
    options: CsvOptions,
    clock: Clock,
    every: bool = False,
) -> Iterator[Asked]:
    """A release in a file or a folder of part files, in a session with an engine that is named.

    every: whether all its columns are read, instead of those that the policy's models speak of.
    """
    check_engine(engine, memory)
    check_verifiable(policy)
    source = source_at(path, options)
    check_columns(source.names, policy)
    read = list(source.names) if every else needed(source.names, policy)
    check_source(engine, source, read)
    with opened(engine, memory, clock) as session:
        with clock.step("read") as progress:
            schema = read_source(session, RELEASE, source, read, clock, progress)
        yield Asked(session, RELEASE, _places(read), schema, policy)


def ask_elsewhere(
    engine: str,
    memory: str | None,
    path: Path,
    policy: Policy,
    options: CsvOptions,
    clock: Clock,
) -> Answer:
    """Verify and survey a release in files."""
    with release_in(engine, memory, path, policy, options, clock) as asked:
        return answer(asked, clock)


def ask_frame(frame: Any, policy: Policy, clock: Clock) -> Answer:
    """Verify and survey a Spark frame."""
    check_verifiable(policy)
    names = list(frame.columns)
    check_columns(names, policy)
    read = needed(names, policy)
    with adopted(frame, RELEASE, read) as (session, schema):
        clock.rows = session.rows(RELEASE)
        return answer(Asked(session, RELEASE, _places(read), schema, policy), clock)


def answer(asked: Asked, clock: Clock) -> Answer:
    """What a release in a session holds."""
    with clock.step("verify") as progress:
        return Answer(*verify_and_survey(asked, progress))


def _places(names: list[str]) -> dict[str, str]:
    return {name: f"p{i}" for i, name in enumerate(names)}
