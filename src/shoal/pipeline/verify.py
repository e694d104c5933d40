"""Verify a release: a `Release`, a frame or a file, made by Shoal or by anything else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.engines.anatomy_release import AnatomyRelease
from shoal.engines.capabilities import check_capabilities
from shoal.engines.files import LocalFiles
from shoal.engines.memory import release_of_frames
from shoal.engines.originals import require_same
from shoal.engines.person_key import read_key
from shoal.engines.release_table import (
    MemoryRelease,
    ReleaseTable,
    Verdict,
    with_presets,
    with_starred,
)
from shoal.engines.selection import release_in_session
from shoal.engines.session_release import SessionRelease, release_with_key
from shoal.engines.sessions import (
    FOR_FILES,
    LOCAL,
    RELEASE,
    check_engine,
    check_source,
    is_out_of_core,
    is_spark,
    open_session,
    read_source,
)
from shoal.engines.sources import refuse_folder, source_at
from shoal.errors import InputError, PolicyError
from shoal.io.address import Place, as_place
from shoal.io.commit import require_whole
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.policy import Policy
from shoal.policy.released_columns import check_released_columns, columns_to_verify
from shoal.progress import Clock
from shoal.publish.label_faults import label_faults
from shoal.release import Release
from shoal.verification.verification import UnreadLabels


def policy_of(release: Any, policy: Any = None) -> Policy:
    """The policy to check; a `Release` has its own."""
    if policy is None and isinstance(release, Release):
        return release.policy
    if policy is None:
        raise PolicyError("Give the policy of the release: it says which guarantees to check.")
    return Policy.load(policy)


def examine(table: ReleaseTable, policy: Policy, clock: Clock) -> Verdict:
    """The step that verifies a release that is open."""
    with clock.step("verify") as progress:
        verdict = table.verify(policy, survey=True, progress=progress)
        verdict = with_starred(table, policy, with_presets(table, policy, verdict))
        clock.rows = max(finding.rows for finding in verdict.findings)
    return verdict


def unread_labels(table: ReleaseTable, policy: Policy) -> tuple[UnreadLabels, ...]:
    """Labels of a release that its policy cannot read; the exact values of Anatomy are no labels."""
    if policy.publish == "anatomy":
        return ()
    found = []
    for name in policy.quasi:
        labels = table.labels(name)
        faults = label_faults(name, labels.texts, policy.column_spec(name), policy.folder)
        for form in dict.fromkeys(fault for fault in faults if fault is not None):
            at = [i for i, fault in enumerate(faults) if fault == form]
            first = None if labels.first is None else int(labels.first[at].min()) + 1
            found.append(UnreadLabels(name, form, len(at), int(labels.rows[at].sum()), first))
    return tuple(found)


@contextmanager
def open_release(
    release: Any,
    policy: Policy,
    clock: Clock,
    *,
    options: CsvOptions = DETECT,
    engine: str = LOCAL,
    memory: str | None = None,
    every_column: bool = False,
    key: Any = None,
) -> Iterator[ReleaseTable]:
    """The published table of a `Release`, a frame or a file, on the engine that it needs.

    every_column: read all columns of a file, instead of those that the policy's models concern.
    key: the private key of the release, a path or a frame, so that people are counted; a `Release`
    has its own.
    """
    release = as_place(release)
    if isinstance(release, Path):
        require_whole(release)
    frame = release.table if isinstance(release, Release) else release
    if key is not None:
        _check_key(policy, is_spark(frame))
    if is_spark(frame):
        check_capabilities("large", policy, "verify")
        names = list(frame.columns)
        check_released_columns(policy, names)
        columns = names if every_column or policy.preset else columns_to_verify(policy, names)
        with release_in_session(frame, columns) as table:
            clock.rows = table.n_rows
            yield table
    elif not is_out_of_core(engine, memory):
        rows = _in_memory(release, policy, options, key)
        if isinstance(release, Path):
            # the classes of a CSV file are counted without reading it, but their values are kept
            whole = every_column or key is not None or bool(policy.preset)
            columns = rows.names if whole else columns_to_verify(policy, rows.names)
            LocalFiles().require_fits(release, options, columns)
        yield rows
    elif isinstance(release, Place):
        whole = every_column or key is not None  # a key has all columns of a release
        with _in_session(release, policy, clock, options, engine, memory, whole) as table:
            yield table if key is None else _with_key(table, key, options)
    else:
        raise InputError(FOR_FILES)


def _check_key(policy: Policy, is_spark_frame: bool) -> None:
    """Raise `InputError` where a key cannot be used."""
    if policy.person is None:
        raise InputError(
            "A key tells which rows are one person's, but no column of the policy has the role person, "
            "so rows are counted. Leave the key out."
        )
    if is_spark_frame:
        raise InputError(
            "A key is read with the file or folder of a release, not with a Spark frame. Give the path "
            "of the release."
        )


def _in_memory(release: Any, policy: Policy, options: CsvOptions, key: Any = None) -> ReleaseTable:
    table = _rows_in_memory(release, policy, options)
    own = release.key if isinstance(release, Release) else None
    if policy.person is None or (own is None and key is None):
        return table
    assert isinstance(table, MemoryRelease)
    check_released_columns(policy, table.names)
    known = own if key is None else read_key(key, table.names, options)
    assert known is not None
    return table.counting(known.people_of(table.read()))


def _rows_in_memory(release: Any, policy: Policy, options: CsvOptions) -> ReleaseTable:
    anatomy = policy.publish == "anatomy"
    if isinstance(release, Release):
        rows = release_of_frames(release.table, release.sensitive_tables)
        if policy.checks_hidden_weights and release.row_weights is not None:
            assert isinstance(rows, MemoryRelease)
            require_same(rows.read(), release.digest, "The release's table")
            return rows.weighing(release.row_weights)
        return rows
    if isinstance(release, Place):
        refuse_folder(release)
        if anatomy:
            return AnatomyRelease.of_files(release, policy, options)
        return MemoryRelease(release, options)
    if anatomy:
        raise PolicyError(
            "A release with `publish: anatomy` is more than one table. Give the `Release` itself, or "
            "the path of its file with the others beside it."
        )
    return release_of_frames(release, {})


def _with_key(table: SessionRelease, key: Any, options: CsvOptions) -> SessionRelease:
    if not isinstance(key, Place):
        raise InputError(
            "For tables larger than memory a key is a file or a folder. Give its path."
        )
    return release_with_key(table, source_at(key, replace(options, formulas=False)))


@contextmanager
def _in_session(
    path: Place,
    policy: Policy,
    clock: Clock,
    options: CsvOptions,
    engine: str,
    memory: str | None,
    every_column: bool,
) -> Iterator[SessionRelease]:
    check_engine(engine, memory)
    check_capabilities("large", policy, "verify")
    source = source_at(path, options)
    names = list(source.names)
    check_released_columns(policy, names)
    columns = names if every_column or policy.preset else columns_to_verify(policy, names)
    check_source(engine, source, columns)
    with open_session(engine, memory, clock) as session:
        with clock.step("read") as progress:
            schema = read_source(session, RELEASE, source, columns, clock, progress)
        yield SessionRelease(session, RELEASE, columns, schema)
