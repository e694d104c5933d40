"""Disclosure: what others can do with all published columns, beyond what the guarantees speak of.

The guarantees of a policy are about its quasi-identifiers. Plain columns are published as they are, so
whoever knows some of them may find a person whom the quasi-identifiers hide. Four things are counted:

- who is alone on quasi and plain columns together: the labels of the quasi-identifiers and the values of
  the plain columns. Sensitive columns are left out: they are what an attacker wants to learn. Who is
  alone where these are known too is counted beside it. Values are compared by their exact text;
- the smallest sets of plain columns that single most people out: for one, two and three columns the
  set on which most are alone, up to the first size at which that is more than half of all. Where three
  do not suffice, columns are added one by one, each time the one that singles out most. Where there
  are too many sets for the rows, those with the most information are tried (by collision entropy,
  which follows from whole numbers, so the choice is the same on every engine);
- plain columns in which most values belong to one person alone, and whether a person has one value in
  all rows, which links these rows again;
- plain columns that give away a column which is published more coarsely, or not at all: each value
  goes with one value of the other and vice versa, or both ascend together, or one descends as the
  other ascends. The latter is looked at where the plain column has at most `MOST_VALUES` values.

Where the policy names the column of a person, people are counted in place of rows: a person is alone who
has a row that nobody else has.

An engine counts (`PublishedCounts`); what is counted, and what follows from it, is decided here.

Source: Elliot, Manning and Ford, "A computational algorithm for handling the special uniques problem",
2002, for small sets of columns that single people out; Renyi, "On measures of entropy and information",
1961, for the entropy.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import comb, log2, prod
from typing import Any, Literal

from shoal.errors import listed, percent
from shoal.evidence.repeated_ids import RepeatedId
from shoal.results import Record, Result

ALARMING = 0.05
"""From this share of people who are alone on, a run warns, and sets of columns are searched."""
MOST = 0.5
"""A set that singles out more than this share ends the search: larger ones add little."""
NEARLY_UNIQUE = 0.5
"""From this share of values that belong to one person alone on, a plain column is a fingerprint."""
LARGEST_SET = 3
"""The most columns of which all sets are tried."""
LARGEST_GROWN = 12
"""The most columns of a set that is grown column by column."""
MOST_SETS = 4_000
FEWEST_SETS = 10
"""Sets of a size that are tried, however few or many rows there are."""
MOST_WORK = 10_000_000
"""Sets times rows that are tried, for each size."""
CERTAIN = 40
"""Bits of evidence from which on that each value goes with one other is taken for no coincidence."""
CONFIRMED = 10
"""A mapping between two columns is taken for one from so many rows on that repeat it."""
FEWEST_STEPS = 5
"""Two columns that ascend together are taken to be related from so many different values on."""
MOST_VALUES = 1_000_000
"""Different values of a plain column that are compared in order."""
MOST_NAMES = 8
"""Columns that a warning names."""

Unit = Literal["row", "person"]
How = Literal["one-to-one", "ascending", "descending", "function"]
Fate = Literal["coarsened", "dropped"]


@dataclass(frozen=True)
class PinningSet:
    """Plain columns on which people are alone."""

    columns: tuple[str, ...]
    alone: int
    """People (rows, where the policy names no person) whom nobody equals in all these columns."""
    share: float
    """Of all published."""


@dataclass(frozen=True)
class NearlyUnique:
    """A plain column in which most values belong to one person."""

    column: str
    alone: int
    """People who have a value that nobody else has."""
    share: float
    """Of those who have a value at all."""
    links: bool = False
    """Whether every person has one value in all rows, so that it tells which rows are one person's."""


@dataclass(frozen=True)
class Determined:
    """A plain column from which another follows that is published more coarsely, or not at all."""

    plain: str
    column: str
    """The column that is given away."""
    how: How
    fate: Fate
    """What becomes of the column in the release."""


@dataclass(frozen=True, repr=False)
class Disclosure(Result):
    """Who is alone on quasi and plain columns together, and which plain columns make them so."""

    unit: Unit = "row"
    """What is counted: rows, or people where the policy names the column of a person."""
    published: int = 0
    """Published rows or people, without rows that read `*` throughout."""
    alone: int = 0
    """Those whom nobody equals in the labels of all quasi-identifiers and in all plain columns."""
    alone_with_sensitive: int = 0
    """The same where the values of all sensitive columns are known too; with Anatomy they are apart."""
    alone_by_sensitive: Mapping[str, int] = field(default_factory=dict)
    """Where several columns are sensitive, for each of them: those whom nobody equals in the labels of
    all quasi-identifiers and in this column, so that whoever knows it learns the others."""
    plain_alone: int = 0
    """Those whom nobody equals in all plain columns."""
    plain: tuple[str, ...] = ()
    """The plain columns."""
    sets: tuple[PinningSet, ...] = ()
    """For one, two and three plain columns, the set on which most are alone, where these are enough
    to be alarming; where that is not more than half, also a larger set."""
    tried: int = 0
    """Sets of plain columns that were tried or could be ruled out."""
    possible: int = 0
    """All such sets up to the size at which the search ended."""
    nearly_unique: tuple[NearlyUnique, ...] = ()
    determined: tuple[Determined, ...] = ()
    repeated: tuple[RepeatedId, ...] = ()
    """Dropped identifiers by which several rows are one person's, where people are not counted."""
    exact: bool = False
    """Whether quasi-identifiers are published as they are, with sensitive values apart (Anatomy): people
    are alone on them by intent then."""

    @property
    def share(self) -> float:
        """The share of those who are alone on quasi and plain columns."""
        return self.alone / self.published if self.published else 0.0

    @property
    def share_with_sensitive(self) -> float:
        """The share of those who are alone where sensitive columns are known too."""
        return self.alone_with_sensitive / self.published if self.published else 0.0

    @property
    def telling(self) -> tuple[str, int, tuple[str, ...]] | None:
        """The sensitive column that singles out most people on the quasi labels, how many, and the
        columns that are learnt of them; None where none does."""
        worst = max(self.alone_by_sensitive, key=self.alone_by_sensitive.__getitem__, default=None)
        if worst is None or not self.alone_by_sensitive[worst]:
            return None
        others = tuple(name for name in self.alone_by_sensitive if name != worst)
        return worst, self.alone_by_sensitive[worst], others

    @property
    def listed_by_sensitive(self) -> list[dict[str, Any]]:
        """`alone_by_sensitive` as a certificate has it."""
        return [{"column": name, "alone": n} for name, n in self.alone_by_sensitive.items()]

    @property
    def bounded(self) -> bool:
        """Whether some sets of columns were not tried, so that a smaller or worse one may exist."""
        return self.tried < self.possible

    @property
    def is_alarming(self) -> bool:
        """Whether plain columns single out people whom the guarantees are meant to hide."""
        return bool(self.plain) and not self.exact and 0 < self.alone >= ALARMING * self.published

    @property
    def units(self) -> str:
        """`rows` or `people`."""
        return "people" if self.unit == "person" else "rows"

    @property
    def warnings(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the publisher should think about."""
        return (
            *(one.warning for one in self.repeated),
            *self._alarm(),
            *self._fingerprints(),
            *self._copies(),
        )

    def _alarm(self) -> Iterator[str]:
        if not self.is_alarming:
            return
        n, them = len(self.plain), "it" if len(self.plain) == 1 else "them"
        few = f"plain columns {listed(self.plain)}"
        plain = f"plain column {self.plain[0]}" if n == 1 else few
        plain = plain if n <= MOST_NAMES else f"{n} plain columns"
        pinning = ""
        if self.sets:
            worst = self.sets[-1]
            pinning = (
                f" {_joined(worst.columns)} alone single{'s' if len(worst.columns) == 1 else ''} out "
                f"{worst.alone:,} ({percent(worst.share)})."
            )
        yield (
            f"{self.alone:,} of {self.published:,} published {self.units} ({percent(self.share)}) are "
            f"alone on quasi and plain columns together: no guarantee speaks of the {plain}, and "
            f"whoever knows {them} finds the person.{pinning} Give what others may know the role "
            "quasi, or leave it out."
        )

    def _fingerprints(self) -> Iterator[str]:
        whose = "person" if self.unit == "person" else "row"
        for one in self.nearly_unique:
            yield (
                f"{one.column} is plain and published as it is, but {percent(one.share)} of its values "
                f"belong to one {whose} alone: to know the value is to know the {whose}."
                + (" It also tells which rows are one person's." if one.links else "")
                + " Consider the role identifier or quasi."
            )

    def _copies(self) -> Iterator[str]:
        for one in self.determined:
            fate = "published more coarsely" if one.fate == "coarsened" else "not published"
            how = {
                "one-to-one": "each of its values stands for one value of",
                "ascending": "it ascends with",
                "descending": "it descends as a function of",
                "function": "each of its values goes with one value of",
            }[one.how]
            yield (
                f"{one.plain} is plain and published as it is, but {how} {one.column}, which is {fate}: "
                f"{one.plain} gives {one.column} away. Give it the same role, or leave it out."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        more = {"share": self.share, "bounded": self.bounded, "alarming": self.is_alarming}
        found = asdict(self) | more
        found["alone_by_sensitive"] = self.listed_by_sensitive
        found["plain"] = list(self.plain)
        for key in ("sets", "nearly_unique", "determined", "repeated"):
            found[key] = list(found[key])
        for one in found["sets"]:
            one["columns"] = list(one["columns"])
        return found

    def _records(self) -> Sequence[Record]:
        every = {"columns": "quasi and plain columns", "alone": self.alone, "share": self.share}
        sensitive = {
            "columns": "quasi, plain and sensitive columns",
            "alone": self.alone_with_sensitive,
            "share": self.share_with_sensitive,
        }
        return [
            every,
            *([sensitive] if self.alone_with_sensitive > self.alone else []),
            *(
                {"columns": ", ".join(one.columns), "alone": one.alone, "share": one.share}
                for one in self.sets
            ),
        ]

    def _headline(self) -> str:
        return (
            f"{self.alone:,} of {self.published:,} {self.units} ({percent(self.share)}) are alone on "
            "quasi and plain columns"
        )


@dataclass(frozen=True)
class ValueCounts:
    """The values of one plain column."""

    distinct: int
    """Different values; a missing one is a value here."""
    squares: int
    """The sum over all values of their rows, squared."""
    rows: int

    @property
    def information(self) -> float:
        """The collision entropy in bits."""
        return 2 * log2(self.rows) - log2(self.squares) if self.squares else 0.0


class PublishedCounts(ABC):
    """Counts of a release, where its rows are; rows that read `*` throughout are left out."""

    unit: Unit
    published: int
    """Rows or people."""
    rows: int
    plain: tuple[str, ...]
    """The plain columns, by name."""
    sensitive: tuple[str, ...]
    """The sensitive columns of the same table, by name."""

    @abstractmethod
    def alone(self, sets: Sequence[Sequence[str]], labels: bool = False) -> list[int]:
        """For each set of plain and sensitive columns, those whom nobody equals in all of them.

        labels: nor in the labels of all quasi-identifiers.
        """

    @abstractmethod
    def known(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, rows or people with a value."""

    @abstractmethod
    def alone_with_value(self, columns: Sequence[str]) -> list[int]:
        """For each plain column, those with a value that nobody else has."""

    @abstractmethod
    def link_rows(self, columns: Sequence[str]) -> list[bool]:
        """For each plain column, whether some people have several rows and all have one value in them;
        false where rows are counted."""

    @abstractmethod
    def values(self, columns: Sequence[str]) -> list[ValueCounts]:
        """The values of some plain columns."""


def disclosure_of(
    counts: PublishedCounts, determined: Sequence[Determined] = (), exact: bool = False
) -> Disclosure:
    """What others can do with all published columns of a release.

    determined: the columns that plain ones give away, which an engine finds in the input. exact:
    quasi-identifiers are published as they are.
    """
    plain, published = counts.plain, counts.published
    (alone,) = counts.alone([plain], labels=True)
    with_sensitive, by_sensitive = alone, {}
    several = counts.sensitive if len(counts.sensitive) > 1 else ()
    if counts.sensitive and (several or alone < published):
        every = [(*plain, *counts.sensitive), *((name,) for name in several)]
        with_sensitive, *of_each = counts.alone(every, labels=True)
        by_sensitive = dict(zip(several, of_each, strict=True))
    (plain_alone,) = counts.alone([plain]) if plain else (0,)
    sets, tried, possible = _search(counts, plain_alone)
    return Disclosure(
        unit=counts.unit,
        published=published,
        alone=alone,
        alone_with_sensitive=with_sensitive,
        alone_by_sensitive=by_sensitive,
        plain_alone=plain_alone,
        plain=plain,
        sets=sets,
        tried=tried,
        possible=possible,
        nearly_unique=_nearly_unique(counts, plain_alone),
        determined=tuple(determined),
        exact=exact,
    )


def coarsened(found: Sequence[Determined], losses: Mapping[str, float]) -> list[Determined]:
    """Without the columns that are published as they are; `losses`: of each quasi-identifier."""
    return [one for one in found if one.fate == "dropped" or losses[one.column] > 0]


def _nearly_unique(counts: PublishedCounts, plain_alone: int) -> tuple[NearlyUnique, ...]:
    if not counts.plain:
        return ()
    known = dict(zip(counts.plain, counts.known(counts.plain), strict=True))
    # who is alone on one column is alone on all, so most columns need no counting
    possible = [n for n in counts.plain if 0 < NEARLY_UNIQUE * known[n] <= plain_alone]
    alone = dict(zip(possible, counts.alone_with_value(possible), strict=True))
    found = [name for name in possible if alone[name] >= NEARLY_UNIQUE * known[name]]
    return tuple(
        NearlyUnique(name, alone[name], alone[name] / known[name], links)
        for name, links in zip(found, counts.link_rows(found), strict=True)
    )


def _search(counts: PublishedCounts, plain_alone: int) -> tuple[tuple[PinningSet, ...], int, int]:
    """The worst set of each size, up to the first that singles most people out; how many sets were
    tried, and how many there are."""
    enough = ALARMING * counts.published
    if not plain_alone or plain_alone < enough:
        return (), 0, 0
    values = dict(zip(counts.plain, counts.values(counts.plain), strict=True))
    place = {name: i for i, name in enumerate(counts.plain)}
    most = max(FEWEST_SETS, min(MOST_SETS, MOST_WORK // max(1, counts.rows)))
    found: list[PinningSet] = []
    best: tuple[str, ...] = ()
    tried = possible = 0
    for size in range(1, min(LARGEST_SET, len(counts.plain)) + 1):
        every = comb(len(counts.plain), size)
        chosen, left_out = _candidates(counts.plain, values, size, enough, most)
        alone = counts.alone(chosen)
        tried, possible = tried + every - left_out, possible + every
        ranked = sorted(
            zip(alone, chosen, strict=True), key=lambda one: (-one[0], [place[n] for n in one[1]])
        )
        worst, best = ranked[0] if ranked else (0, _most_informative(counts.plain, values)[:size])
        if worst and worst >= enough:
            found.append(PinningSet(best, worst, worst / counts.published))
            if worst > MOST * counts.published:
                return tuple(found), tried, possible
    grown, more = _grown(counts, best, values, max(1, most // LARGEST_GROWN))
    if grown.alone and grown.alone >= enough and len(grown.columns) > LARGEST_SET:
        found.append(grown)
    largest = range(LARGEST_SET + 1, len(grown.columns) + 1)
    return tuple(found), tried + more, possible + sum(comb(len(counts.plain), n) for n in largest)


def _grown(
    counts: PublishedCounts, columns: tuple[str, ...], values: Mapping[str, ValueCounts], most: int
) -> tuple[PinningSet, int]:
    """A set grown column by column until it singles out most people, and the sets that were tried.

    most: columns that are tried in each step, those with the most information.
    """
    place = {name: i for i, name in enumerate(counts.plain)}
    alone = tried = 0
    while len(columns) < LARGEST_GROWN and alone <= MOST * counts.published:
        left = [name for name in _most_informative(counts.plain, values) if name not in columns]
        if not left:
            break
        sets = [tuple(sorted((*columns, one), key=place.__getitem__)) for one in left[:most]]
        tried += len(sets)
        # of several that single out as many, the one with the most information
        nth, alone = max(enumerate(counts.alone(sets)), key=lambda one: (one[1], -one[0]))
        columns = sets[nth]
    return PinningSet(columns, alone, alone / max(1, counts.published)), tried


def _joined(names: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _most_informative(plain: Sequence[str], values: Mapping[str, ValueCounts]) -> tuple[str, ...]:
    return tuple(sorted(plain, key=lambda name: (-values[name].information, name)))


def _candidates(
    plain: Sequence[str], values: Mapping[str, ValueCounts], size: int, enough: float, most: int
) -> tuple[list[tuple[str, ...]], int]:
    """The sets of a size to try, those with the most information first, and how many are left out
    although they could single enough people out.

    A set cannot single out more people than it has combinations of values.
    """
    by_information = _most_informative(plain, values)
    width = len(plain)
    while comb(width, size) > 4 * MOST_SETS:  # so many sets need not even be listed
        width -= 1
    sets = [
        chosen
        for chosen in combinations(by_information[:width], size)
        if prod(values[name].distinct for name in chosen) >= enough
    ]
    sets.sort(key=lambda chosen: -sum(values[name].information for name in chosen))
    left_out = max(0, len(sets) - most) + comb(len(plain), size) - comb(width, size)
    order = {name: i for i, name in enumerate(plain)}
    return [tuple(sorted(chosen, key=order.__getitem__)) for chosen in sets[:most]], left_out
