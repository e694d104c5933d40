"""Verify what was published: a frame as it will be handed over, or a file as it was written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.encoding.counts import Counts
from shoal.engines.capabilities import check_verifiable
from shoal.engines.memory import LocalEngine, wrap
from shoal.engines.release_table import Asked, verify_and_survey
from shoal.engines.selection import (
    LOCAL,
    adopted,
    check_engine,
    check_source,
    elsewhere,
    is_spark,
    opened,
    read_source,
    refuse_folder,
    source_at,
)
from shoal.errors import InputError, PolicyError, VerificationFailed, listed
from shoal.io.csv_dialect import CsvOptions
from shoal.io.frames import Table
from shoal.models.base import POPULATION
from shoal.pipeline.anatomy import (
    Verdict,
    judge_linked_files,
    judge_linked_tables,
    linked_file_counter,
    linked_table_counter,
    sensitive_files,
)
from shoal.pipeline.originals import NOTHING, Behind, with_originals
from shoal.pipeline.population import count_people
from shoal.policy import Policy
from shoal.policy.anatomy import group_name
from shoal.policy.released_columns import (
    check_released_columns,
    columns_to_verify,
    exempt_columns,
    suppressible_components,
)
from shoal.progress import Clock
from shoal.release import Release
from shoal.verification.check import ClassCounter, Finding, Strength, check, strengths
from shoal.verification.meaning import with_meaning
from shoal.verification.preferences import at_worst

if TYPE_CHECKING:
    pass


DETECT = CsvOptions()


def judge_tables(
    published: Table, sensitive: Mapping[str, Table], policy: Policy, hidden: Behind = NOTHING
) -> Verdict:
    """Ask the policy's models of a release in frames; `sensitive` are the further tables it has."""
    if policy.publish == "anatomy":
        return judge_linked_tables(published, sensitive, policy)
    return Verdict(verify_table(published, policy, hidden))


def judge_files(
    path: Path,
    others: Mapping[str, Path],
    policy: Policy,
    options: CsvOptions = DETECT,
    hidden: Behind = NOTHING,
) -> Verdict:
    """Ask the policy's models of a release in files; `others` are the further files it has."""
    if policy.publish == "anatomy":
        return judge_linked_files(path, others, policy, options)
    if hidden.values:
        return Verdict(_verify_paired(path, policy, options, hidden))
    return Verdict(check(file_counter(path, policy, options), policy.quasi, policy.constraints))


def verify_table(published: Table, policy: Policy, hidden: Behind = NOTHING) -> tuple[Finding, ...]:
    """Ask the policy's models of a published frame."""
    return check(table_counter(published, policy, hidden), policy.quasi, policy.constraints)


def table_counter(published: Table, policy: Policy, hidden: Behind = NOTHING) -> ClassCounter:
    """Counts the classes of a published frame.

    Columns of which `hidden` knows the values are judged on these, once it is sure that what was
    published follows the personal rule; others of that sort at the worst.
    """
    check_released_columns(policy, published.names)
    rows = pa.table(
        {name: published.column(name) for name in columns_to_verify(policy, published.names)}
    )
    rows = with_originals(rows, policy, hidden)

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        starred = exempt_columns(policy, columns, published.names)
        own = [name for name in of if name != POPULATION]
        counts = LocalEngine().count_classes(rows, columns, own, starred=starred)
        found = _with_meaning(counts, policy, hidden.values)
        return found | {POPULATION: count_people(rows, policy)} if POPULATION in of else found

    return count


def _verify_paired(
    path: Path, policy: Policy, options: CsvOptions, hidden: Behind
) -> tuple[Finding, ...]:
    """Ask the models of a written file, read back row by row beside what is behind its rows."""
    engine = LocalEngine()
    names = engine.names(path, options)
    check_released_columns(policy, names)
    read = engine.read(path, options, columns_to_verify(policy, names))
    if read.num_rows != hidden.rows:
        raise VerificationFailed(
            f"The written file has {read.num_rows:,} rows, but {hidden.rows:,} were to be published."
        )
    return verify_table(wrap(read), policy, hidden)


def file_counter(file: Path, policy: Policy, options: CsvOptions) -> ClassCounter:
    """Counts the classes of a published file."""
    engine = LocalEngine()
    settled, _ = engine.settle(file, options)
    names = engine.names(file, settled)
    check_released_columns(policy, names)

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        starred = exempt_columns(policy, columns, names)
        own = [name for name in of if name != POPULATION]
        found = _with_meaning(engine.count_classes(file, columns, own, settled, starred), policy)
        if POPULATION not in of:
            return found
        return found | {POPULATION: count_people(engine.read(file, settled, policy.quasi), policy)}

    return count


def _with_meaning(
    counts: Mapping[str, Counts], policy: Policy, known: Iterable[str] = ()
) -> dict[str, Counts]:
    """known: columns that hold their own values and no wider ones."""
    found: dict[str, Counts] = {}
    for name, one in counts.items():
        if not name:
            found[name] = one
        elif name in policy.preferences and name not in known:
            found[name] = at_worst(one, policy.how(name), policy.folder)
        else:
            found[name] = with_meaning(one, policy.how(name), policy.folder)
    return found


def expect(
    path: Path,
    options: CsvOptions,
    rows: pa.Table,
    counted: int | None = None,
) -> None:
    """Raise unless a written file has the columns and rows it was to have, neither more nor fewer.

    counted: the rows that were found in it, where that is known.
    """
    engine = LocalEngine()
    found = engine.names(path, options)
    if found != rows.column_names:
        raise VerificationFailed(
            f"The written file has the columns {listed(found)}, "
            f"but {listed(rows.column_names)} were to be published."
        )
    if counted is None:
        counted = int(engine.count_classes(path, [], [], options)[""].sizes.sum())
    if counted != rows.num_rows:
        raise VerificationFailed(
            f"The written file has {counted:,} rows, but {rows.num_rows:,} were to be published."
        )


def rows_found(policy: Policy, findings: Sequence[Finding]) -> int | None:
    """The rows of a release, or None where some of them are exempt from the models."""
    return None if suppressible_components(policy) else findings[0].rows


# Ask a release that no memory holds what it holds: files on disk or in Spark, or a Spark frame.


RELEASE = "release"


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
    check_released_columns(policy, source.names)
    read = list(source.names) if every else columns_to_verify(policy, source.names)
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
    check_released_columns(policy, names)
    read = columns_to_verify(policy, names)
    with adopted(frame, RELEASE, read) as (session, schema):
        clock.rows = session.rows(RELEASE)
        return answer(Asked(session, RELEASE, _places(read), schema, policy), clock)


def answer(asked: Asked, clock: Clock) -> Answer:
    """What a release in a session holds."""
    with clock.step("verify") as progress:
        return Answer(*verify_and_survey(asked, progress))


def _places(names: list[str]) -> dict[str, str]:
    return {name: f"p{i}" for i, name in enumerate(names)}


# Ask a release what it holds: a `Release`, a frame or a file, ours or anybody's.


def verify(
    release: Any,
    policy: Any = None,
    options: CsvOptions = DETECT,
    *,
    engine: str = LOCAL,
    memory: str | None = None,
) -> tuple[Finding, ...]:
    """Ask a policy's models of a release: a `Release`, a frame or a file's path.

    A `Release` brings its policy along. Files that belong to a file, as an Anatomy release has
    them, are found beside it.

    A Spark frame is asked in Spark. So are files, or folders of them, with `engine` "spark" or
    "spark://host:port"; with `memory`, such as "2GB", they are read on disk under that limit.
    """
    asked = _policy_of(release, policy)
    if (found := _asked_elsewhere(release, asked, options, engine, memory)) is not None:
        return found.findings
    if isinstance(release, str | Path):
        file = Path(release)
        refuse_folder(file)
        return judge_files(file, sensitive_files(file, asked), asked, options).findings
    frames = _frames_of(release, asked)
    return judge_tables(frames.published, frames.sensitive, asked).findings


def survey(
    release: Any,
    policy: Any = None,
    options: CsvOptions = DETECT,
    *,
    engine: str = LOCAL,
    memory: str | None = None,
) -> tuple[Strength, ...]:
    """What a release really holds by the models that a policy need not ask for.

    Takes what `verify` takes. Of an Anatomy release only models of a sensitive column are told: its
    groups have sizes, but its quasi-identifiers are exact.
    """
    asked = _policy_of(release, policy)
    if (found := _asked_elsewhere(release, asked, options, engine, memory)) is not None:
        return found.strengths
    linked = asked.publish == "anatomy"
    if isinstance(release, str | Path):
        file = Path(release)
        refuse_folder(file)
        others = sensitive_files(file, asked)
        if linked:
            counter = linked_file_counter(file, others, asked, options)
        else:
            counter = file_counter(file, asked, options)
    else:
        frames = _frames_of(release, asked)
        if linked:
            counter = linked_table_counter(frames.published, frames.sensitive, asked)
        else:
            counter = table_counter(frames.published, asked)
    if not linked:
        return strengths(counter, asked.quasi, asked.sensitive)
    every = strengths(counter, [group_name(asked)], asked.sensitive)
    return tuple(one for one in every if one.of is not None)


def _asked_elsewhere(
    release: Any, policy: Policy, options: CsvOptions, engine: str, memory: str | None
) -> "Answer | None":
    """The answer of a session, where the release is in Spark or a session is asked for."""
    frame = release.table if isinstance(release, Release) else release
    if not is_spark(frame) and not elsewhere(engine, memory):
        return None

    if is_spark(frame):
        return ask_frame(frame, policy, Clock())
    if not isinstance(release, str | Path):
        raise InputError(
            "An engine or a memory limit is for files, or folders of them, and not for a frame, which "
            "is in memory already."
        )
    return ask_elsewhere(engine, memory, Path(release), policy, options, Clock())


@dataclass(frozen=True)
class _Frames:
    published: Table
    sensitive: Mapping[str, Table]


def _policy_of(release: Any, policy: Any) -> Policy:
    if policy is None and isinstance(release, Release):
        return release.policy
    if policy is None:
        raise PolicyError("Give the policy the release was made by: it says what must hold.")
    return Policy.load(policy)


def _frames_of(release: Any, policy: Policy) -> _Frames:
    if isinstance(release, Release):
        others = {name: wrap(table) for name, table in release.sensitive_tables.items()}
        return _Frames(wrap(release.table), others)
    if policy.publish == "anatomy":
        raise PolicyError(
            "A release with `publish: anatomy` is more than one table. Give the `Release` itself, or "
            "the path of its file with the others beside it."
        )
    return _Frames(wrap(release), {})
