"""A linkage attack: what somebody with another table about the same people learns.

Every known person is linked to the rows that may be theirs, on the quasi-identifiers that both tables
have: in a raw table the rows with equal values, in a release the rows whose labels cover the values.
From these candidates follow who is pinned to one row, who is pinned to one sensitive value, and how
often the best guess (the value that most candidates have) is right, against always guessing the
table's most frequent value. Whoever has no candidate is guessed by the latter.

Only counts come out, never a value of a person.

Source: Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
Fuzziness and Knowledge-Based Systems 10, 2002, for the attack; Machanavajjhala et al.,
"l-diversity: privacy beyond k-anonymity", ACM TKDD 1, 2007, for what pins a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.errors import InputError, PolicyError, listed
from shoal.policy import Policy
from shoal.publish.covering import distinct_texts
from shoal.release import Release
from shoal.risk.assessment import how_of, table_of
from shoal.risk.linking import Linked, Values, link_raw, link_release, values_of

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Guess:
    """What is learnt about one sensitive column."""

    pinned: int
    """People all of whose candidates have one and the same value."""
    base_rate: float
    """The share of rows with the most frequent value: what guessing it always gets right."""
    best_guess: float
    """The share of people for whom the best guess is expected to be right."""
    gain: float
    """The best guess less the base rate."""
    measured_base_rate: float | None = None
    """The same three as they really are, where the known table has the column too."""
    measured_best_guess: float | None = None
    measured_gain: float | None = None


@dataclass(frozen=True)
class Linkage:
    """What an attack on one table gives."""

    rows: int
    linked: int
    """People with at least one candidate."""
    pinned: int
    """People with just one candidate row."""
    smallest: int | None
    """The fewest candidates of anybody who has some."""
    median: float | None
    """The median of the candidates, of those who have some."""
    sensitive: dict[str, Guess]
    """Per sensitive column."""
    unread: dict[str, int]
    """Labels that could not be read, by column, where there are some; they cover nobody."""


@dataclass(frozen=True)
class Attack:
    """An attack on a release, and on the raw table behind it."""

    people: int
    """Rows of the known table."""
    columns: tuple[str, ...]
    """The quasi-identifiers that are known."""
    release: Linkage
    raw: Linkage | None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return asdict(self)


def attack(release: Any, policy: Any = None, *, known: Any, raw: Any = None) -> Attack:
    """Link a table about known people to a release, and to the raw table if there is one.

    `release` is a `Release`, a frame or a file's path, the others are frames or paths. `policy` is
    the one the release was made by; a `Release` brings it along.
    """
    if isinstance(release, Release):
        policy, release = policy or release.policy, release.table
    if policy is None:
        raise PolicyError("Give the policy the release was made by: its labels are read by it.")
    asked = Policy.load(policy)
    published, people = table_of(release), table_of(known)
    names = _shared(asked, published, people)
    if not people.num_rows:
        raise InputError("The known table has column names but no rows: nobody is known.")
    if not published.num_rows:
        raise InputError("The release has column names but no rows: there is nothing to attack.")
    how = how_of(asked)
    after = _attacked(
        published, people, asked, link_release(published, people, names, how, asked.folder)
    )
    before = None
    if raw is not None:
        table = table_of(raw)
        if missing := [name for name in names if name not in table.column_names]:
            raise InputError(
                f"The raw table has no column {listed(map(repr, missing))}, which the release and "
                "the known table share. Is this the table the release was made from?"
            )
        if not table.num_rows:
            raise InputError("The raw table has column names but no rows.")
        before = _attacked(table, people, asked, link_raw(table, people, names, how))
    return Attack(people.num_rows, tuple(names), after, before)


def _shared(policy: Policy, release: pa.Table, known: pa.Table) -> list[str]:
    published = [name for name in policy.quasi if name in release.column_names]
    if not published:
        raise PolicyError(
            f"The release has none of the policy's quasi-identifiers ({listed(policy.quasi)}), but "
            f"{len(release.column_names)} other columns. Is this the policy it was made by, and has "
            "the file a line of column names?"
        )
    names = [name for name in published if name in known.column_names]
    if not names:
        raise InputError(
            f"The known table has none of the release's quasi-identifiers ({listed(published)}), "
            f"but {len(known.column_names)} other columns. Give the columns that both tables have "
            "the same names."
        )
    return names


def _attacked(table: pa.Table, known: pa.Table, policy: Policy, linked: Linked) -> Linkage:
    columns = [name for name in policy.sensitive if name in table.column_names]
    values = {
        name: values_of(name, table.column(name), linked.of_row, len(linked.sizes))
        for name in columns
    }
    candidates = np.zeros(linked.n_known, np.int64)
    best = {name: np.full(linked.n_known, -1, np.int64) for name in columns}
    times = {name: np.zeros(linked.n_known, np.int64) for name in columns}
    from shoal.kernels.covering import guesses

    for part in linked.matches:
        sums = np.concatenate([[0], np.cumsum(linked.sizes[part.classes])])
        candidates[part.rows] = sums[part.starts[1:]] - sums[part.starts[:-1]]
        for name, of in values.items():
            found = guesses(
                part.starts, part.classes, of.starts, of.values, of.counts, len(of.texts)
            )
            best[name][part.rows], times[name][part.rows] = found[:2]
    mine = candidates[linked.person]
    some = mine[mine > 0]
    return Linkage(
        rows=table.num_rows,
        linked=len(some),
        pinned=int((mine == 1).sum()),
        smallest=int(some.min()) if len(some) else None,
        median=float(np.median(some)) if len(some) else None,
        sensitive={
            name: _guess(
                values[name],
                mine,
                best[name][linked.person],
                times[name][linked.person],
                table.num_rows,
                _truth(name, known, values[name]),
            )
            for name in columns
        },
        unread={name: count for name, count in linked.unread.items() if count},
    )


def _truth(name: str, known: pa.Table, values: Values) -> tuple[Ints, npt.NDArray[np.bool_]] | None:
    """Each person's real value among those of the table (-1 for another one), and whether it is
    known."""
    if name not in known.column_names:
        return None
    found = distinct_texts(name, known.column(name))
    place: Mapping[str, int] = {text: i for i, text in enumerate(values.texts)}
    codes = np.array([*(place.get(text, -1) for text in found.texts), -1], np.int64)
    return codes[found.codes], found.codes < len(found.texts)


def _guess(
    values: Values,
    candidates: Ints,
    best: Ints,
    times: Ints,
    rows: int,
    truth: tuple[Ints, npt.NDArray[np.bool_]] | None,
) -> Guess:
    base = float(values.totals[0] / rows) if len(values.totals) else 0.0
    has = (candidates > 0) & (times > 0)
    expected = np.where(has, times / np.maximum(candidates, 1), base)
    guess = float(expected.mean())
    pinned = int(((times == candidates) & has).sum())
    measured: Sequence[float | None] = (None, None, None)
    if truth is not None and truth[1].any():
        real, told = truth[0][truth[1]], np.where(has, best, 0)[truth[1]]
        by_base, by_guess = float((real == 0).mean()), float((real == told).mean())
        measured = (by_base, by_guess, by_guess - by_base)
    return Guess(pinned, base, guess, guess - base, *measured)
