"""Apply the labels of an earlier release to another table, and verify what comes of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools
from shoal.engines.capabilities import refuse_task
from shoal.engines.changes import ChangedTable, changes_of
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.label_mapping import LabelMapping
from shoal.engines.mapped import MappedEngine
from shoal.engines.release_table import MemoryRelease
from shoal.engines.sessions import is_spark
from shoal.engines.sources import refuse_folder, source_at
from shoal.errors import Infeasible, InputError, PolicyError, counted, data_rows, listed
from shoal.hierarchy.text import text_of
from shoal.io.address import Place, as_place
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.tables import Table
from shoal.pipeline.run import hand_over
from shoal.policy import Policy
from shoal.progress import Clock
from shoal.release import Release
from shoal.seeds import choose
from shoal.verification.check import require

ROWS = 5
"""So many rows without a label are named."""


def apply_mapping(
    mapping: LabelMapping,
    data: Any,
    clock: Clock,
    *,
    suppress: bool = False,
    suppression: float | None = None,
    earlier: Any = None,
    options: CsvOptions = DETECT,
) -> Release[Any]:
    """The release of a table with the labels of a mapping.

    suppress: leave out rows with values that have no label, and rows of classes that do not satisfy the
    constraints. suppression: the largest share of them, in place of the policy's. earlier: a release by
    the same mapping, with which the new one is verified together.
    """
    mapping.require_whole()
    if suppression is not None:
        mapping = replace(mapping, policy=mapping.policy.replace_keys(suppression=suppression))
        suppress = True
    policy = mapping.policy
    if earlier is not None and policy.person is not None:
        raise PolicyError(
            f"Releases cannot be verified together where the people of '{policy.person}' are counted: "
            "whose rows are whose is not in a release. Verify each by itself."
        )
    data = as_place(data)
    if isinstance(data, Place):
        refuse_folder(data)
        source = source_at(data, options)
        _check_columns(mapping, source.names)
        with clock.step("read"):
            data = LocalFiles().read(source.files[0], source.options)
    elif is_spark(data):
        refuse_task("large", "mapping")
    table = wrap(data)
    _check_columns(mapping, table.names)
    policy.check(table.names)
    unlabelled, warnings = _unlabelled(mapping, table, suppress)
    seed = choose(None)
    engine = MappedEngine(data, mapping, suppress, unlabelled)
    engine.seed = seed.value
    engine.load(policy, clock)
    release = hand_over(engine, policy, seed, clock)
    notes: tuple[str, ...] = ("Labels are those of a mapping; no method was run.",)
    if earlier is not None:
        with clock.step("verify"):
            notes = (*notes, _together(mapping, release, earlier))
    run = replace(
        release.run,
        method="mapping",
        notes=(*notes, *release.run.notes),
        warnings=(*warnings, *release.run.warnings),
    )
    return replace(release, run=run)


def _check_columns(mapping: LabelMapping, names: Any) -> None:
    """Raise where a table lacks columns of the mapping."""
    missing = [name for name in mapping.columns if name not in names]
    if missing:
        raise InputError(
            f"The mapping is for other columns: the table has no {listed(map(repr, missing))}. It has "
            f"{listed(list(names), 30)}."
        )


def _unlabelled(
    mapping: LabelMapping, table: Table, suppress: bool
) -> tuple[dict[str, Bools], tuple[str, ...]]:
    """Per column (rows,) which values have no label, where some have none; and a warning about them.

    Raises `InputError` where there are any and their rows are not to be left out; no value is named.
    """
    policy, changed = mapping.policy, table
    if changes := changes_of(policy):
        changed = ChangedTable(table, changes)
    unknown = {
        name: mapping.unknown(name, one_chunk(changed.column(name))) for name in policy.quasi
    }
    unknown = {name: flags for name, flags in unknown.items() if flags.any()}
    if not unknown:
        return {}, ()
    without, rows = int(np.any(list(unknown.values()), axis=0).sum()), table.n_rows
    each = "; ".join(
        f"{name}: {counted(int(flags.sum()), 'row')} ({_places(flags)})"
        for name, flags in unknown.items()
    )
    if not suppress:
        raise InputError(
            f"The mapping has no label for a value in {counted(without, 'row')} of {rows:,}, which no "
            f"hierarchy or interval knows: {each}. Leave these rows out with --suppress "
            "(suppress=True), or make a new release of this table."
        )
    limit = policy.suppression
    if without == rows or (limit is not None and without > limit * rows):
        allowed = "" if limit is None else f" ({limit:.1%})"
        raise Infeasible(
            f"{without:,} of {rows:,} rows ({without / rows:.1%}) have a value without a label, more "
            f"than may be suppressed{allowed}. Make a new release of this table."
        )
    warning = (
        f"Rows suppressed because the mapping has no label for a value: {without:,} of {rows:,}. By "
        f"column: {each}."
    )
    return unknown, (warning,)


def _places(flags: Bools) -> str:
    where = np.flatnonzero(flags)
    return data_rows(where[:ROWS].tolist(), len(where))


def _together(mapping: LabelMapping, release: Release[Any], earlier: Any) -> str:
    """Verify a release and an earlier one as one table; returns what was found, in words."""
    policy = mapping.policy
    old, new = _texts(earlier, policy), _texts(release, policy)
    if set(old.column_names) != set(new.column_names):
        raise InputError(
            f"The earlier release has the columns {listed(old.column_names)}, the new one "
            f"{listed(new.column_names)}: they are not of the same policy."
        )
    for name, column in mapping.columns.items():
        if column.level is not None:
            continue
        known = {one.label for one in column.labels} | {"*"}
        foreign = set(old[name].unique().to_pylist()) - known
        if foreign:
            raise InputError(
                f"The earlier release was not made by this mapping: {counted(len(foreign), 'label')} of "
                f"column '{name}' {'is' if len(foreign) == 1 else 'are'} not in it."
            )
    both = pa.concat_tables([old.select(new.column_names), new])
    findings = MemoryRelease(wrap(both)).verify(policy).findings
    require(findings)
    held = ", ".join(
        f"{one.model} = {one.reached:g}" + (f" of {one.of}" if one.of else "") for one in findings
    )
    return f"Verified together with the earlier release, {both.num_rows:,} rows: {held}."


def _texts(release: Any, policy: Policy) -> pa.Table:
    """The published rows, as texts."""
    release = as_place(release.table if isinstance(release, Release) else release)
    if isinstance(release, Path):
        files = LocalFiles()
        options = policy.release_options(DETECT)
        table = wrap(files.read(release, files.settle(release, options)[0]))
    else:
        table = wrap(release)
    return pa.table({name: text_of(table.column(name)).cast(pa.string()) for name in table.names})
