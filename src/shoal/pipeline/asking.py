"""Ask a release what it holds: a `Release`, a frame or a file, ours or anybody's."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engines.tables import wrap
from shoal.errors import InputError, PolicyError
from shoal.io.csv_dialect import CsvOptions
from shoal.io.frames import Table
from shoal.pipeline.clock import Clock
from shoal.pipeline.linked import linked_file_counter, linked_table_counter, sensitive_files
from shoal.pipeline.opening import LOCAL, elsewhere, is_spark, refuse_folder
from shoal.pipeline.verifying import file_counter, judge_files, judge_tables, table_counter
from shoal.policy import Policy
from shoal.policy.anatomy import group_name
from shoal.release import Release
from shoal.verification.check import Finding
from shoal.verification.strength import Strength, strengths

if TYPE_CHECKING:
    from shoal.pipeline.asking_large import Answer

DETECT = CsvOptions()


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
    from shoal.pipeline.asking_large import ask_elsewhere, ask_frame

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
