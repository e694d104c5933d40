"""The linked tables of an Anatomy release: people with their group, and each group's values."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.counts import Counts
from shoal.engines.release_table import LabelCounts, MemoryRelease, ReleaseTable, Verdict
from shoal.errors import InputError, PolicyError, VerificationFailed, listed, percent
from shoal.evidence.evidence import Histogram
from shoal.io.address import Place
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.output_names import sensitive_places
from shoal.io.tables import Table
from shoal.policy import Policy
from shoal.policy.anatomy import COUNT, GROUP, count_name, group_name
from shoal.presets.base import ValueCheck
from shoal.progress import Progress, no_progress
from shoal.verification.anatomy import (
    PEOPLE,
    Values,
    group_counts,
    largest_share,
    require_order,
    whole,
)
from shoal.verification.check import check, strengths
from shoal.verification.digest import Fingerprint
from shoal.verification.meaning import require_declared, with_meaning


def sensitive_files(path: Place, policy: Policy) -> dict[str, Place]:
    """Per sensitive column the file or table of its values beside a release; none where they are in
    it."""
    return dict(sensitive_places(path, policy.sensitive)) if policy.publish == "anatomy" else {}


def require_files(files: Mapping[str, Place]) -> None:
    """Raise `InputError` unless the files of sensitive values exist."""
    for name, file in files.items():
        if isinstance(file, Path) and not file.exists():
            raise InputError(
                f"`publish: anatomy` needs {file.name}, with the values of {name}, beside the "
                f"release, but {file} does not exist. Put it there under this name."
            )


class AnatomyRelease(ReleaseTable):
    """A table of people, and per sensitive column a table of the values of each group."""

    def __init__(self, people: MemoryRelease, sensitive: Mapping[str, MemoryRelease]) -> None:
        self._people, self._sensitive = people, sensitive

    @classmethod
    def of_files(
        cls, path: Place, policy: Policy, options: CsvOptions = DETECT
    ) -> "AnatomyRelease":
        """The release in a file, and in those beside it."""
        people = MemoryRelease(path, options)
        _check_people(people.names, policy)  # first: this may not be such a release at all
        files = sensitive_files(path, policy)
        require_files(files)
        return cls(people, {name: MemoryRelease(file, options) for name, file in files.items()})

    @property
    def names(self) -> list[str]:
        """The columns of the table of people."""
        return self._people.names

    @property
    def n_rows(self) -> int:
        """Rows of the table of people."""
        return self._people.n_rows

    @property
    def sensitive_tables(self) -> Mapping[str, MemoryRelease]:
        """Per sensitive column the table of its values."""
        return self._sensitive

    @property
    def people(self) -> MemoryRelease:
        """The table of people."""
        return self._people

    def counted(self, name: str, policy: Policy) -> tuple[Ints, pa.Array, Ints]:
        """The groups, values and counts of the table of a sensitive column."""
        table, group, count = self._sensitive[name], group_name(policy), count_name(policy)
        groups = whole(table.column(group), f"The group ids of the table of {name}")
        counts = whole(table.column(count), f"The counts of the table of {name}")
        return groups, table.column(name), counts

    @property
    def fingerprint(self) -> Fingerprint:
        """The digest of the table of people."""
        return self._people.fingerprint

    @property
    def content(self) -> str:
        """What shows that the rows of some table were changed since."""
        tables = (self._people, *self._sensitive.values())
        return " ".join(table.content for table in tables)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Some columns of the table of people, or all."""
        return self._people.read(columns)

    def labels(self, name: str) -> LabelCounts:
        """The different labels of a column of the table of people."""
        return self._people.labels(name)

    def broken_rows(self, checks: Sequence[ValueCheck]) -> dict[ValueCheck, int]:
        """For each check of a published column, the rows whose text breaks it; a sensitive column is
        in a table of its own."""
        found: dict[ValueCheck, int] = {}
        for name in dict.fromkeys(one.column for one in checks):
            table = self._sensitive.get(name, self._people)
            found |= table.broken_rows([one for one in checks if one.column == name])
        return found

    def linked_through(self, first: Sequence[str], second: Sequence[str]) -> float:
        """The share of people with some columns that are linked to themselves with others."""
        return self._people.linked_through(first, second)

    def class_sizes(self, columns: Sequence[str]) -> Histogram:
        """How many classes of people have each size."""
        return self._people.class_sizes(columns)

    def verify(
        self,
        policy: Policy,
        *,
        survey: bool = False,
        progress: Progress = no_progress,  # noqa: ARG002
    ) -> Verdict:
        """Check the models on the groups; only those of a sensitive column are surveyed, since the
        quasi-identifiers are exact."""
        _check_people(self.names, policy)
        self._people.check_rules(policy)
        for table in self._sensitive.values():
            table.check_rules(policy)
        group = group_name(policy)
        plain = sorted(name for name in policy.plain if name in self.names)
        people = self._people.read([group, *policy.quasi, *plain])
        counts = _counts(people.column(0), self._read_sensitive(), policy)
        require_order(whole(people.column(0), PEOPLE), people.columns[1:])
        meant = {
            name: with_meaning(one, policy.column_spec(name), policy.folder) if name else one
            for name, one in counts.items()
        }

        if survey:
            for name in self._sensitive:
                require_declared(meant[name], policy.column_spec(name))

        def by_group(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:  # noqa: ARG001
            return meant

        findings = check(by_group, [group], policy.constraints)
        surveyed = strengths(by_group, [group], policy.sensitive) if survey else ()
        return Verdict(
            findings,
            findings[0].rows,
            tuple(one for one in surveyed if one.of is not None),
            {name: largest_share(meant[name]) for name in self._sensitive},
        )

    def _read_sensitive(self) -> "dict[str, tuple[list[str], Read]]":
        return {name: (table.names, table.read) for name, table in self._sensitive.items()}


Read = Callable[[Sequence[str]], pa.Table]
"""Reads some columns of a table."""


def counts_by_group(
    groups: pa.Array, sensitive: Mapping[str, Table], policy: Policy
) -> dict[str, Counts]:
    """Per sensitive column the values of each group; `groups` has the group of each person."""
    tables = {name: MemoryRelease(table) for name, table in sensitive.items()}
    return _counts(groups, {name: (one.names, one.read) for name, one in tables.items()}, policy)


def _counts(
    groups: pa.Array, sensitive: Mapping[str, tuple[list[str], Read]], policy: Policy
) -> dict[str, Counts]:
    tables = {}
    for name, (names, read) in sensitive.items():
        columns = [group_name(policy), name, count_name(policy)]
        _check_values(name, names, columns)
        tables[name] = Values(*read(columns).columns)
    return group_counts(groups, tables)


def _check_people(names: Sequence[str], policy: Policy) -> None:
    required = [*policy.quasi, group_name(policy)]
    missing = [repr(name) for name in required if name not in names]
    if missing:
        raise PolicyError(
            f"The release has no column {listed(missing)}, which an Anatomy release by this policy "
            f"has; it has {listed(names)}. Is this the policy it was made by?"
        )
    extra = [repr(name) for name in names if name not in (*required, *policy.plain)]
    if extra:
        raise VerificationFailed(
            f"The table of people has {listed(extra)}, which the policy does not allow there."
        )


def _check_values(column: str, names: Sequence[str], required: list[str]) -> None:
    if list(names) == required:
        return
    if set(required) <= set(names):
        raise VerificationFailed(
            f"The table of {column} has the columns {listed(names)}, but only {listed(required)} are "
            "allowed there, in this order."
        )
    raise PolicyError(
        f"The table of {column} must have the columns {listed(required)}; it has {listed(names)}. "
        "Is this the policy it was made by?"
    )


def anatomy_notes(policy: Policy, largest: Mapping[str, float]) -> list[str]:
    """What an Anatomy release does and does not protect, with the share that l leaves open."""
    if policy.publish != "anatomy":
        return []
    shares = ", ".join(f"{percent(share)} for {name}" for name, share in largest.items())
    added = [group_name(policy), count_name(policy)]
    renamed = "" if added == [GROUP, COUNT] else f" The added columns are called {listed(added)}."
    return [
        "Anatomy hides only whose sensitive value is whose (Xiao and Tao, 2006). That a person is in "
        "the table, and their exact quasi-identifiers and plain columns, can be read by everyone."
        f"{renamed}",
        f"Who finds a person's group guesses their value right with a chance of up to {shares}: l "
        "different values do not bound this by 1/l. Who knows the values of others in the group can "
        "rule these out.",
    ]
