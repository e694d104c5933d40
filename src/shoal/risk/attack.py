"""A linkage attack: what somebody with another table about the same people learns.

Every known person is linked to the rows that may be theirs, on the quasi-identifiers that both tables
have: in a raw table the rows with equal values, in a release the rows whose labels cover the values.
From these candidates follow who is pinned to one row, who is pinned to one sensitive value, and how
often the best guess (the value that most candidates have) is right, against always guessing the
table's most frequent value. Whoever has no candidate is guessed by the latter.
In an Anatomy release rows with equal values are candidates, and their groups tell the values.

Only counts come out, never a value of a person.

Source: Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
Fuzziness and Knowledge-Based Systems 10, 2002, for the attack; Machanavajjhala et al.,
"l-diversity: privacy beyond k-anonymity", ACM TKDD 1, 2007, for what pins a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError, PolicyError, listed
from shoal.pipeline.linked import require_files, sensitive_files
from shoal.policy import Policy
from shoal.release import Release
from shoal.risk.assessment import table_of
from shoal.risk.doubts import doubts
from shoal.risk.linkage import Linkage, learnt
from shoal.risk.linking import link_raw, link_release
from shoal.risk.told import told_by_groups


@dataclass(frozen=True)
class Attack:
    """An attack on a release, and on the raw table behind it."""

    people: int
    """Rows of the known table."""
    columns: tuple[str, ...]
    """The quasi-identifiers that are known."""
    release: Linkage
    raw: Linkage | None
    warnings: tuple[str, ...] = ()
    """What may make the figures mean less than they seem to."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Tables:
    """What is attacked, and with what."""

    release: pa.Table
    sensitive: Mapping[str, pa.Table]
    """The further tables of an Anatomy release, by sensitive column."""
    known: pa.Table
    raw: pa.Table | None
    held: Sequence[str]
    """All columns of the release."""
    known_called: str = "The known table"


def attack(release: Any, policy: Any = None, *, known: Any, raw: Any = None) -> Attack:
    """Link a table about known people to a release, and to the raw table if there is one.

    `release` is a `Release`, a frame or a file's path, the others are frames or paths. `policy` is
    the one the release was made by; a `Release` brings it along. The further files of an Anatomy
    release are found beside its file.
    """
    sensitive: Mapping[str, Any] = {}
    if isinstance(release, Release):
        policy, sensitive = policy or release.policy, release.sensitive_tables
        release = release.table
    if policy is None:
        raise PolicyError("Give the policy the release was made by: its labels are read by it.")
    asked = Policy.load(policy)
    if isinstance(release, str | Path):
        sensitive = sensitive_files(Path(release), asked)
        require_files(sensitive)
    published = table_of(release)
    tables = Tables(
        published,
        {name: table_of(table) for name, table in sensitive.items()},
        table_of(known),
        None if raw is None else table_of(raw),
        published.column_names,
        str(known) if isinstance(known, str | Path) else Tables.known_called,
    )
    return attack_tables(tables, asked)


def attack_tables(tables: Tables, policy: Policy) -> Attack:
    """See `attack`."""
    published, people = tables.release, tables.known
    names = _shared(policy, tables)
    if not people.num_rows:
        raise InputError("The known table has column names but no rows: nobody is known.")
    if not published.num_rows:
        raise InputError("The release has column names but no rows: there is nothing to attack.")
    how = {name: policy.how(name) for name in policy.quasi}
    if policy.publish == "anatomy":
        linked = link_raw(published, people, names, how)
        told = told_by_groups(published, tables.sensitive, policy, linked.of_row, len(linked.sizes))
    else:
        linked, told = link_release(published, people, names, how, policy.folder), {}
    after = learnt(published, people, policy.sensitive, linked, told)
    before = None
    if tables.raw is not None:
        if missing := [name for name in names if name not in tables.raw.column_names]:
            raise InputError(
                f"The raw table has no column {listed(map(repr, missing))}, which the release and "
                "the known table share. Is this the table the release was made from?"
            )
        if not tables.raw.num_rows:
            raise InputError("The raw table has column names but no rows.")
        raw = link_raw(tables.raw, people, names, how)
        before = learnt(tables.raw, people, policy.sensitive, raw)
    found = Attack(people.num_rows, tuple(names), after, before)
    return replace(found, warnings=tuple(doubts(found, tables, policy)))


def _shared(policy: Policy, tables: Tables) -> list[str]:
    published = [name for name in policy.quasi if name in tables.held]
    if not published:
        raise PolicyError(
            f"The release has none of the policy's quasi-identifiers ({listed(policy.quasi)}) among "
            f"its {_columns(tables.held)}. Is this the policy it was made by, and has the file a line "
            "of column names?"
        )
    theirs = tables.known.column_names
    names = [name for name in published if name in theirs]
    if not names:
        raise InputError(
            f"{tables.known_called} has none of the release's quasi-identifiers "
            f"({listed(published)}) among its {_columns(theirs)}. Give the columns that both tables "
            "have the same names, and see that the file begins with a line of column names."
        )
    return names


def _columns(names: Sequence[str]) -> str:
    return f"{len(names)} column{'' if len(names) == 1 else 's'}"
