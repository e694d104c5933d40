"""Verify the linked tables of an Anatomy release, in frames or in files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from shoal.encoding.counts import Counts
from shoal.engines.memory import LocalEngine
from shoal.errors import InputError, PolicyError, VerificationFailed, listed
from shoal.io.csv_dialect import CsvOptions
from shoal.io.frames import Table
from shoal.io.output_names import beside
from shoal.policy import Policy
from shoal.policy.anatomy import count_name, group_name
from shoal.verification.anatomy import PEOPLE, Values, group_counts, largest_share, whole
from shoal.verification.check import ClassCounter, Finding, check
from shoal.verification.meaning import with_meaning
from shoal.verification.preferences import require_order

Read = Callable[[Sequence[str]], pa.Table]
"""Some columns of a table."""


@dataclass(frozen=True)
class Verdict:
    """What was found in a release."""

    findings: tuple[Finding, ...]
    largest_share: dict[str, float] = field(default_factory=dict)
    """Anatomy: per sensitive column the largest share that one value has of a group's rows."""


def sensitive_files(path: Path, policy: Policy) -> dict[str, Path]:
    """Per sensitive column the file of its values beside a release; none where they are in it."""
    return beside(path, policy.sensitive) if policy.publish == "anatomy" else {}


def judge_linked_tables(people: Table, sensitive: Mapping[str, Table], policy: Policy) -> Verdict:
    """Ask the policy's models of frames."""
    found = {name: (table.names, _reading(table)) for name, table in sensitive.items()}
    return _judge(people.names, _reading(people), found, policy)


def judge_linked_files(
    path: Path, others: Mapping[str, Path], policy: Policy, options: CsvOptions
) -> Verdict:
    """Ask the policy's models of files."""
    return _judge(*_opened(path, others, policy, options), policy)


def linked_file_counter(
    path: Path, others: Mapping[str, Path], policy: Policy, options: CsvOptions
) -> ClassCounter:
    """The counts of the groups, from files."""
    counts, _ = _counts(*_opened(path, others, policy, options), policy)
    return lambda columns, of: counts  # noqa: ARG005


def linked_table_counter(
    people: Table, sensitive: Mapping[str, Table], policy: Policy
) -> ClassCounter:
    """The counts of the groups, from frames."""
    found = {name: (table.names, _reading(table)) for name, table in sensitive.items()}
    counts, _ = _counts(people.names, _reading(people), found, policy)
    return lambda columns, of: counts  # noqa: ARG005


def require_files(others: Mapping[str, Path]) -> None:
    """Raise unless the files of sensitive values are there."""
    for name, file in others.items():
        if not file.exists():
            raise InputError(
                f"`publish: anatomy` needs {file.name}, with the values of {name}, beside the release, "
                f"but {file} is not there. Put it there under this name."
            )


def _opened(
    path: Path, others: Mapping[str, Path], policy: Policy, options: CsvOptions
) -> tuple[Sequence[str], Read, Mapping[str, tuple[Sequence[str], Read]]]:
    engine = LocalEngine()

    def opened(file: Path) -> tuple[list[str], Read]:
        settled, _ = engine.settle(file, options)
        names = engine.names(file, settled)
        return names, lambda columns: engine.read(file, settled, columns)

    people = opened(path)
    _check_people(people[0], policy)  # before the other files: this may be no such release at all
    require_files(others)
    return (*people, {name: opened(file) for name, file in others.items()})


def _reading(table: Table) -> Read:
    return lambda columns: pa.table({name: table.column(name) for name in columns})


def _judge(
    names: Sequence[str],
    people: Read,
    sensitive: Mapping[str, tuple[Sequence[str], Read]],
    policy: Policy,
) -> Verdict:
    counts, shares = _counts(names, people, sensitive, policy)

    def by_group(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:  # noqa: ARG001
        return counts

    return Verdict(check(by_group, [group_name(policy)], policy.constraints), shares)


def _counts(
    names: Sequence[str],
    people: Read,
    sensitive: Mapping[str, tuple[Sequence[str], Read]],
    policy: Policy,
) -> tuple[Mapping[str, Counts], dict[str, float]]:
    _check_people(names, policy)
    group, plain = group_name(policy), sorted(name for name in policy.plain if name in names)
    shown = people([group, *policy.quasi, *plain])
    seen = _seen(shown.column(0), sensitive, policy)
    require_order(whole(shown.column(0), PEOPLE), shown.columns[1:])
    meant = {
        name: with_meaning(counts, policy.how(name), policy.folder) if name else counts
        for name, counts in seen.items()
    }
    return meant, {name: largest_share(seen[name]) for name in sensitive}


def counts_by_group(
    groups: pa.Array, sensitive: Mapping[str, Table], policy: Policy
) -> dict[str, Counts]:
    """What each group holds, as its texts say, per sensitive column.

    groups: the group of each row of the table of people.
    """
    found = {name: (table.names, _reading(table)) for name, table in sensitive.items()}
    return _seen(groups, found, policy)


def _seen(
    groups: pa.Array, sensitive: Mapping[str, tuple[Sequence[str], Read]], policy: Policy
) -> dict[str, Counts]:
    tables = {}
    for name, (found, read) in sensitive.items():
        wanted = [group_name(policy), name, count_name(policy)]
        _check_values(name, found, wanted)
        tables[name] = Values(*read(wanted).columns)
    return group_counts(groups, tables)


def _check_people(names: Sequence[str], policy: Policy) -> None:
    wanted = [*policy.quasi, group_name(policy)]
    missing = [repr(name) for name in wanted if name not in names]
    if missing:
        raise PolicyError(
            f"The release has no column {listed(missing)}, which an Anatomy release by this policy "
            f"has; it has {listed(names)}. Is this the policy it was made by?"
        )
    hidden = [repr(name) for name in names if name not in (*wanted, *policy.plain)]
    if hidden:
        raise VerificationFailed(
            f"The table of people holds {listed(hidden)}, which the policy does not let stand there."
        )


def _check_values(column: str, found: Sequence[str], wanted: list[str]) -> None:
    if list(found) == wanted:
        return
    if set(wanted) <= set(found):
        raise VerificationFailed(
            f"The table of {column} has the columns {listed(found)}, but only {listed(wanted)} may "
            "stand there, in this order."
        )
    raise PolicyError(
        f"The table of {column} must have the columns {listed(wanted)}; it has {listed(found)}. "
        "Is this the policy it was made by?"
    )
