"""Verify what was published: a frame as it will be handed over, or a file as it was written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.counts import Counts
from shoal.constraints.sets import Constraint, components, union
from shoal.engines.local import LocalEngine
from shoal.engines.tables import wrap
from shoal.errors import PolicyError, VerificationFailed, listed
from shoal.hierarchy.text import text_of
from shoal.io.csv_dialect import CsvOptions
from shoal.io.frames import Table
from shoal.models.requirement import POPULATION
from shoal.pipeline.people import count_people
from shoal.policy import Policy
from shoal.verification.check import ClassCounter, Finding, check
from shoal.verification.meaning import with_meaning
from shoal.verification.personal import STAR, at_worst, require_rule, tree_of
from shoal.verification.strength import Strength, strengths

DETECT = CsvOptions()


@dataclass(frozen=True)
class Behind:
    """What stands behind a release in which people's wishes count, row by row of it."""

    values: Mapping[str, pa.Array]
    """Per sensitive column in which they do, the original values."""
    wishes: Mapping[str, pa.Array]
    """And the level of protection that each person asked for."""


NOTHING = Behind({}, {})


def behind(table: Table, policy: Policy, rows: npt.NDArray[np.int64]) -> Behind:
    """The values and wishes behind the published rows; `rows` are their places in the table."""
    at = pa.array(rows)
    wishes = policy.preferences
    return Behind(
        {name: text_of(table.column(name)).take(at) for name in wishes},
        {name: text_of(table.column(wish)).take(at) for name, wish in wishes.items()},
    )


def verify_table(published: Table, policy: Policy, hidden: Behind = NOTHING) -> tuple[Finding, ...]:
    """Ask the policy's models of a published frame.

    Columns of which `hidden` knows the values are judged on these, once it is sure that what was
    published follows the personal rule; others of that sort at the worst.
    """
    _check_columns(published.names, policy)
    rows = pa.table({name: published.column(name) for name in _needed(published.names, policy)})
    rows = _with_originals(rows, policy, hidden)

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        starred = _exempt(policy, columns, published.names)
        own = [name for name in of if name != POPULATION]
        counts = LocalEngine().count_classes(rows, columns, own, starred=starred)
        found = _with_meaning(counts, policy, hidden.values)
        return found | {POPULATION: count_people(rows, policy)} if POPULATION in of else found

    return check(count, policy.quasi, policy.constraints)


def verify_paired(
    path: Path, policy: Policy, options: CsvOptions, hidden: Behind
) -> tuple[Finding, ...]:
    """Ask the models of a written file, read back row by row beside what is behind its rows."""
    if not policy.preferences:
        return verify_file(path, policy, options)
    engine = LocalEngine()
    names = engine.names(path, options)
    _check_columns(names, policy)
    read = engine.read(path, options, _needed(names, policy))
    expected = len(next(iter(hidden.values.values())))
    if read.num_rows != expected:
        raise VerificationFailed(
            f"The written file has {read.num_rows:,} rows, but {expected:,} were to be published."
        )
    return verify_table(wrap(read), policy, hidden)


def verify_copy(path: Path, options: CsvOptions, rows: pa.Table) -> None:
    """Raise unless a written file reads back as the very rows that were verified."""
    read = LocalEngine().read(path, options, rows.column_names)
    same = read.num_rows == rows.num_rows and all(
        _read_text(read.column(name)).equals(_read_text(rows.column(name)))
        for name in rows.column_names
    )
    if not same:
        raise VerificationFailed("The written file does not read back as what was verified.")


def _read_text(column: pa.ChunkedArray) -> pa.Array:
    """As a CSV file tells it, in which an empty text is a missing one."""
    texts = text_of(column).cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _with_originals(rows: pa.Table, policy: Policy, hidden: Behind) -> pa.Table:
    for name, values in hidden.values.items():
        shown = text_of(rows.column(name)).cast(pa.string())
        domain = tree_of(policy.how(name), name, policy.folder)
        require_rule(domain, values, hidden.wishes[name], _read_text(shown))
        starred = pc.fill_null(pc.equal(shown, STAR), False)
        paired = pc.if_else(starred, STAR, values.cast(pa.string()))
        rows = rows.set_column(rows.column_names.index(name), name, paired)
    return rows


def verify_file(
    path: str | Path,
    policy: Policy | Mapping[str, object] | str | Path,
    options: CsvOptions = DETECT,
) -> tuple[Finding, ...]:
    """Ask a policy's models of a published file, ours or anybody's."""
    asked = Policy.load(policy)
    return check(_counter(Path(path), asked, options), asked.quasi, asked.constraints)


def survey_file(
    path: str | Path,
    policy: Policy | Mapping[str, object] | str | Path,
    options: CsvOptions = DETECT,
) -> tuple[Strength, ...]:
    """What a published file really holds by the models that a policy need not ask for."""
    asked = Policy.load(policy)
    return strengths(_counter(Path(path), asked, options), asked.quasi, asked.sensitive)


def _counter(file: Path, policy: Policy, options: CsvOptions) -> ClassCounter:
    engine = LocalEngine()
    settled, _ = engine.settle(file, options)
    names = engine.names(file, settled)
    _check_columns(names, policy)

    def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        starred = _exempt(policy, columns, names)
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


def _exempt(policy: Policy, columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns in which an exempt row reads `*`; none where there can be no such rows.

    Exempt are rows suppressed in the part of the constraints that `columns` belong to, with their
    sensitive and plain cells hidden too. Nothing else is ever left out.
    """
    for part in _parts(policy):
        if columns[0] in part:
            return [*part, *_others(policy, names)]
    return []


def _parts(policy: Policy) -> list[list[str]]:
    """The sets of columns in which a row may be suppressed; none where it would be withheld."""
    place = {name: j for j, name in enumerate(policy.quasi)}
    asked = [
        Constraint(tuple(place[name] for name in getattr(model, "on", None) or policy.quasi), 1)
        for model in policy.constraints
    ]
    parts = [[policy.quasi[j] for j in union(part).columns] for part in components(asked)]
    return parts if len(parts) > 1 or policy.suppressed == "starred" else []


def _others(policy: Policy, names: Sequence[str]) -> list[str]:
    """The published columns beside the quasi-identifiers."""
    return [name for name in names if name in policy.columns and name not in policy.quasi]


def expect(
    path: Path,
    options: CsvOptions,
    rows: pa.Table,
    policy: Policy,
    findings: Sequence[Finding],
) -> None:
    """Raise unless a written file has the columns and rows it was to have, neither more nor fewer."""
    engine = LocalEngine()
    found = engine.names(path, options)
    if found != rows.column_names:
        raise VerificationFailed(
            f"The written file has the columns {listed(found)}, "
            f"but {listed(rows.column_names)} were to be published."
        )
    counted = findings[0].rows
    if _parts(policy):  # rows that are exempt from the models are rows all the same
        counted = int(engine.count_classes(path, [], [], options)[""].sizes.sum())
    if counted != rows.num_rows:
        raise VerificationFailed(
            f"The written file has {counted:,} rows, but {rows.num_rows:,} were to be published."
        )


def _needed(names: Sequence[str], policy: Policy) -> list[str]:
    """The columns that any model or exemption speaks of."""
    others = _others(policy, names) if _parts(policy) else policy.sensitive
    speaks = {*policy.quasi, *others}
    return [name for name in names if name in speaks]


def _check_columns(names: Sequence[str], policy: Policy) -> None:
    wanted = [*policy.quasi, *policy.sensitive]
    missing = [name for name in wanted if name not in names]
    if len(missing) == len(wanted):
        raise PolicyError(
            f"The release has none of the columns the policy speaks of ({listed(wanted)}), but "
            f"{len(names)} others. Is this the policy it was made by, and has the file a line of "
            "column names?"
        )
    if missing:
        raise PolicyError(
            f"The release has no column {listed(repr(name) for name in missing)}, which the policy "
            f"speaks of; it has {listed(names)}. Is this the policy it was made by?"
        )
    hidden = [name for name in names if name not in policy.published(names)]
    if hidden:
        raise VerificationFailed(
            f"The release holds {listed(repr(name) for name in hidden)}, which the policy does not "
            "let be published."
        )
