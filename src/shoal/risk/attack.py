"""Who may be behind a row: candidates of known people in a raw table and in a release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.cells import How
from shoal.errors import listed
from shoal.policy import Policy
from shoal.policy.rules import group_name
from shoal.publish import labels as escape
from shoal.publish.covering import Covering, Matches, distinct_texts
from shoal.publish.reading import read
from shoal.risk.anatomy_inference import Told
from shoal.risk.columns import contents_of
from shoal.risk.uniqueness import Packed

if TYPE_CHECKING:
    pass
from dataclasses import asdict, replace
from typing import Any

from shoal.errors import InputError, PolicyError
from shoal.pipeline.anatomy import require_files, sensitive_files
from shoal.release import Release
from shoal.risk.anatomy_inference import told_by_groups
from shoal.risk.assessment import table_of

STAR = "*"


@dataclass(frozen=True)
class Values:
    """A sensitive column of the attacked table, by class; missing and starred values are left out."""

    texts: list[str]
    """The different values, the most frequent first; equally frequent ones by text."""
    totals: Ints
    """(values,) rows with each."""
    starts: Ints
    """(classes + 1,) class i has the entries starts[i]..starts[i+1] of the next two arrays."""
    values: Codes
    counts: Ints


@dataclass(frozen=True)
class Linked:
    """Known people, and the classes of the attacked table that may hold them."""

    sizes: Ints
    """(classes,) rows of each."""
    of_row: Ints
    """(rows,) the class of each row of the attacked table."""
    person: Ints
    """(people,) which of the different known rows each person is."""
    matches: "Iterator[Matches]"
    """The classes over the different known rows."""
    n_known: int
    """Different known rows."""
    unread: dict[str, int]
    """Per column, labels that could not be read."""


def link_release(
    release: pa.Table, known: pa.Table, names: Sequence[str], how: Mapping[str, How], folder: Path
) -> Linked:
    """By containment: a class may hold a person whose values its labels cover."""
    heads, of_row, sizes = _classes(release, names)
    labels = {name: release.column(name).take(pa.array(heads)) for name in names}
    found = Covering(labels, {name: known.column(name) for name in names}, how, folder)
    return Linked(sizes, of_row, found.row_of, found.matches(), found.n_rows, found.unread)


def link_raw(
    raw: pa.Table, known: pa.Table, names: Sequence[str], how: Mapping[str, How]
) -> Linked:
    """By equality: of numbers and dates in ordered columns, elsewhere of texts; missing values are
    equal to each other."""
    together = [_alike(name, raw.column(name), known.column(name), how.get(name)) for name in names]
    packed = Packed.nothing(raw.num_rows + known.num_rows)
    for codes in together:
        packed = packed.beside([_Codes(codes, int(codes.max(initial=0)) + 1)])
    ours, theirs = np.split(packed.renumbered().numbers, [raw.num_rows])
    different, of_row, sizes = np.unique(ours, return_inverse=True, return_counts=True)
    people, person = np.unique(theirs, return_inverse=True)
    place = np.minimum(np.searchsorted(different, people), max(len(different) - 1, 0))
    there = different[place] == people if len(different) else np.zeros(len(people), np.bool_)
    starts = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
    part = Matches(slice(0, len(people)), starts, place[there].astype(np.int32))
    return Linked(sizes.astype(np.int64), of_row, person, iter([part]), len(people), {})


@dataclass(frozen=True)
class _Codes:
    codes: Ints
    size: int


def _alike(name: str, raw: pa.ChunkedArray, known: pa.ChunkedArray, how: How | None) -> Ints:
    """Codes of two columns, one after the other: equal where the values are the same one."""
    ours, theirs = distinct_texts(name, raw), distinct_texts(name, known)
    place = {text: i for i, text in enumerate(ours.texts)}
    same = [place.get(text, -1) for text in theirs.texts]
    # a raw value is published as a label for itself alone; reading it tells which values it equals
    flat = How(how.kind, how.order) if how and how.hierarchy is None else How("unordered")
    labels = escape.escape_alone(pa.array(ours.texts, pa.string())).to_pylist()
    found = read(name, labels, theirs.texts, flat)
    spans = found.high >= found.low
    if spans.any():
        first = {int(low): i for i, low in reversed(list(enumerate(found.low))) if spans[i]}
        merged = [first[int(found.low[i])] if spans[i] else i for i in range(len(labels))]
        same = [
            first.get(int(axis), one) if axis >= 0 else one
            for axis, one in zip(found.axis[:-1], same, strict=True)
        ]
    else:
        merged = list(range(len(labels)))
    missing, n = len(labels), len(labels) + 1
    fresh = [one if one >= 0 else n + i for i, one in enumerate(same)]
    left = np.array([*merged, missing], np.int64)[ours.codes]
    right = np.array([*fresh, missing], np.int64)[theirs.codes]
    return np.concatenate([left, right])


def _classes(table: pa.Table, names: Sequence[str]) -> tuple[npt.NDArray[np.intp], Ints, Ints]:
    """A row of each class, each row's class, and the classes' rows."""
    columns = [contents_of(name, table.column(name)) for name in names]
    numbers = Packed.nothing(table.num_rows).beside(columns).numbers
    _, heads, of_row, sizes = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    return heads, of_row, sizes.astype(np.int64)


def values_of(name: str, column: pa.ChunkedArray, of_row: Ints, n_classes: int) -> Values:
    """How often each sensitive value occurs in each class."""
    found = distinct_texts(name, column)
    rows = np.bincount(found.codes, minlength=len(found.texts) + 1)
    ranked = sorted(
        (i for i, text in enumerate(found.texts) if text != STAR),
        key=lambda i: (-rows[i], found.texts[i]),
    )
    rank = np.full(len(found.texts) + 1, -1, np.int64)
    rank[ranked] = np.arange(len(ranked))
    codes = rank[found.codes]
    width = max(1, len(ranked))
    entries, counts = np.unique((of_row * width + codes)[codes >= 0], return_counts=True)
    starts = np.searchsorted(entries, np.arange(n_classes + 1) * width).astype(np.int64)
    return Values(
        [found.texts[i] for i in ranked],
        rows[ranked].astype(np.int64),
        starts,
        (entries % width).astype(np.int32),
        counts.astype(np.int64),
    )


# What people linked to rows give away: who is pinned, and how good a guess is.


NOTHING: Mapping[str, Told] = MappingProxyType({})


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


def learnt(
    table: pa.Table,
    known: pa.Table,
    sensitive: Sequence[str],
    linked: Linked,
    told: Mapping[str, Told] = NOTHING,
) -> Linkage:
    """What the candidates of known people give away.

    told: of an Anatomy release, what the groups tell of each class, by sensitive column.
    """
    columns = [name for name in sensitive if name in table.column_names]
    values = {
        name: values_of(name, table.column(name), linked.of_row, len(linked.sizes))
        for name in columns
    }
    candidates = np.zeros(linked.n_known, np.int64)
    best = {name: np.full(linked.n_known, -1, np.int64) for name in (*columns, *told)}
    times = {name: np.zeros(linked.n_known) for name in (*columns, *told)}
    from shoal.kernels.linkage import guesses

    for part in linked.matches:
        sums = np.concatenate([[0], np.cumsum(linked.sizes[part.classes])])
        candidates[part.rows] = sums[part.starts[1:]] - sums[part.starts[:-1]]
        for name, of in values.items():
            found = guesses(
                part.starts, part.classes, of.starts, of.values, of.counts, len(of.texts)
            )
            best[name][part.rows], times[name][part.rows] = found[:2]
        alone = np.flatnonzero(np.diff(part.starts))  # by equality there is one class at most
        for name, by_class in told.items() if len(alone) else ():
            best[name][part.rows][alone] = by_class.best[part.classes]
            times[name][part.rows][alone] = by_class.rows[part.classes]
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
                of.totals,
                mine,
                best[name][linked.person],
                times[name][linked.person],
                table.num_rows,
                _truth(name, known, of.texts),
            )
            for name, of in (values | dict(told)).items()
        },
        unread={name: count for name, count in linked.unread.items() if count},
    )


def _truth(name: str, known: pa.Table, texts: Sequence[str]) -> tuple[Ints, Bools] | None:
    """Each person's real value among those of the table (-1 for another one), and whether it is
    known."""
    if name not in known.column_names:
        return None
    found = distinct_texts(name, known.column(name))
    place: Mapping[str, int] = {text: i for i, text in enumerate(texts)}
    codes = np.array([*(place.get(text, -1) for text in found.texts), -1], np.int64)
    return codes[found.codes], found.codes < len(found.texts)


def _guess(
    totals: Ints,
    candidates: Ints,
    best: Ints,
    times: Floats,
    rows: int,
    truth: tuple[Ints, Bools] | None,
) -> Guess:
    base = float(totals[0] / rows) if len(totals) else 0.0
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


# What may make an attack look weaker than it is, or its release odd.


SAME_WAY = "written the same way?"


def doubts(found: "Attack", tables: "Tables", policy: Policy) -> Iterator[str]:
    """The warnings of an attack, a sentence each; no value is in them."""
    allowed = set(policy.published(tables.held))
    if policy.publish == "anatomy":
        allowed = allowed - set(policy.sensitive) | {group_name(policy)}
        if not tables.sensitive:
            yield (
                "The sensitive values of an Anatomy release are in tables of their own, which are not "
                "here. Give the `Release` itself or the path of its file to see what they tell."
            )
    if extra := [name for name in tables.held if name not in allowed]:
        yield (
            f"The release holds {listed(map(repr, extra))}, which the policy does not let be "
            "published. Is this the release, and the policy it was made by?"
        )
    for name, count in found.release.unread.items():
        labels = f"{count:,} label{'' if count == 1 else 's'}"
        yield f"{labels} of {name} could not be read and cover{'s' if count == 1 else ''} nobody."
    if found.release.linked == 0:
        alone = [name for name in found.columns if not _links(tables, policy, name)]
        yield _nobody("the release", alone or found.columns)
    if tables.raw is not None and found.raw is not None and found.raw.linked == 0:
        yield _nobody("the raw table", found.columns)
    for name in policy.sensitive:
        held = tables.sensitive.get(name, tables.release)
        if name in tables.known.column_names and name in held.column_names:
            theirs = _texts(name, tables.known)
            if theirs and theirs.isdisjoint(_texts(name, held)):
                yield (
                    f"None of the values of {name} in {_called(tables)} occurs in the release: are "
                    f"they {SAME_WAY}"
                )


def _called(tables: "Tables") -> str:
    called = tables.known_called
    return called if called != type(tables).known_called else called.lower()


def _nobody(what: str, names: Sequence[str]) -> str:
    return f"Nobody links to {what}: are the values of {listed(names)} {SAME_WAY}"


def _links(tables: "Tables", policy: Policy, name: str) -> bool:
    """Whether anybody links by one column alone."""
    how = {name: policy.how(name)}
    linked: Linked
    if policy.publish == "anatomy":
        linked = link_raw(tables.release, tables.known, [name], how)
    else:
        linked = link_release(tables.release, tables.known, [name], how, policy.folder)
    return any(len(part.classes) for part in linked.matches)


def _texts(name: str, table: pa.Table) -> set[str]:
    return set(distinct_texts(name, table.column(name)).texts)


# A linkage attack: what somebody with another table about the same people learns.


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
