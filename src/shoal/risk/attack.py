"""A linkage attack: what somebody with another table about the same people learns from a release.

Every known person is linked to the rows that may be theirs, on the quasi-identifiers that both tables
have: in a raw table the rows with equal values, in a release the rows whose labels cover the values.
From these candidates follow who is pinned to one row, who is pinned to one sensitive value, and how
often the best guess (the value that most candidates have) is right, against always guessing the table's
most frequent value. A person without candidates is guessed by the latter. In an Anatomy release rows
with equal values are candidates, and their groups give the values.

Only counts are reported, never a value of a person.

Source: Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
Fuzziness and Knowledge-Based Systems 10, 2002, for the attack; Machanavajjhala et al.,
"l-diversity: privacy beyond k-anonymity", ACM TKDD 1, 2007, for what pins a value.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.columns import BY_VALUES, ColumnSpec, as_published
from shoal.encoding.rules import ColumnRule
from shoal.engines.anatomy_release import require_files, sensitive_files
from shoal.errors import InputError, PolicyError, counted, listed
from shoal.io.address import Place, as_place
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from shoal.policy.anatomy import group_name
from shoal.policy.reading import AS_WRITTEN, Reading
from shoal.progress import ProgressCallback, ProgressEvent, ignore_event
from shoal.publish import labels as escape
from shoal.publish.covering import Covering, Matches, distinct_texts
from shoal.publish.label_parser import parse_labels
from shoal.release import Release
from shoal.results import Record, Result
from shoal.risk.anatomy_inference import LikeliestValues, likeliest_values
from shoal.risk.table import TableInMemory, read_table
from shoal.risk.uniqueness import RowKeys

STAR = "*"
KNOWN_TABLE = "The known table"
SPELLING = "written the same way?"
NO_VALUES: Mapping[str, LikeliestValues] = MappingProxyType({})
NO_RULES: Mapping[str, ColumnRule] = MappingProxyType({})


@dataclass(frozen=True)
class Guess:
    """What is learnt about one sensitive column."""

    pinned: int
    """People all of whose candidates have one and the same value."""
    base_rate: float
    """The share of rows with the most frequent value: how often guessing it is right."""
    best_guess: float
    """The share of people for whom the best guess is expected to be right."""
    gain: float
    """The best guess less the base rate."""
    measured_base_rate: float | None = None
    """The same three, measured where the known table has the column too."""
    measured_best_guess: float | None = None
    measured_gain: float | None = None


@dataclass(frozen=True)
class Linkage:
    """The outcome of an attack on one table."""

    rows: int
    linked: int
    """People with at least one candidate."""
    pinned: int
    """People with just one candidate row."""
    smallest: int | None
    """The fewest candidates of a person who has some."""
    median: float | None
    """The median number of candidates, of people who have some."""
    sensitive: dict[str, Guess]
    """Per sensitive column."""
    unread: dict[str, int]
    """Labels that could not be read, by column, where there are some; they cover nobody."""


@dataclass(frozen=True, repr=False)
class Attack(Result):
    """An attack on a release, and on the raw table it was made from."""

    people: int
    """Rows of the known table."""
    columns: tuple[str, ...]
    """The quasi-identifiers that are known."""
    release: Linkage
    raw: Linkage | None
    warnings: tuple[str, ...] = ()
    """What may make the figures mean less than they seem to."""

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        return asdict(self)

    def _records(self) -> Sequence[Record]:
        return [
            {
                "table": name,
                "linked": found.linked,
                "pinned": found.pinned,
                "sensitive": column,
                "pinned_values": None if guess is None else guess.pinned,
                "base_rate": None if guess is None else guess.base_rate,
                "best_guess": None if guess is None else guess.best_guess,
            }
            for name, found in (("raw", self.raw), ("release", self.release))
            if found is not None
            for column, guess in (found.sensitive.items() or [(None, None)])
        ]

    def _headline(self) -> str:
        raw = "" if self.raw is None else f", {self.raw.pinned:,} in the raw table"
        people = counted(self.people, "known person", "known people")
        return f"{self.release.pinned:,} of {people} pinned to one row of the release{raw}"


@dataclass(frozen=True)
class Tables:
    """The tables of an attack."""

    release: pa.Table
    sensitive: Mapping[str, pa.Table]
    """The further tables of an Anatomy release, by sensitive column."""
    known: pa.Table
    raw: pa.Table | None
    published: Sequence[str]
    """All columns of the release."""
    known_name: str = KNOWN_TABLE


def attack(
    release: Any,
    policy: Any = None,
    *,
    known: Any,
    raw: Any = None,
    read: Reading = AS_WRITTEN,
    progress: ProgressCallback = ignore_event,
) -> Attack:
    """Link a table about known people to a release, and to the raw table if it is given.

    Parameters
    ----------
    release
        A `Release`, a frame, or the path of a published file. The further files of an Anatomy release
        are found beside its file.
    policy
        The policy that the release was made by; a `Release` brings its own.
    known
        What the attacker knows: a frame or a file with a row per person.
    raw
        The table that the release was made from, attacked too for comparison.
    read
        How the known and the raw table are written; detected when left out, but for the raw table,
        which is read as the policy says.
    progress
        Called with a `ProgressEvent` at each step.

    Returns
    -------
    Attack

    Raises
    ------
    InputError, PolicyError
        If the tables share no quasi-identifier, or the policy is not that of the release.
    """
    sensitive: Mapping[str, Any] = {}
    if isinstance(release, Release):
        policy, sensitive = policy or release.policy, release.sensitive_tables
        release = release.table
    if policy is None:
        raise PolicyError("Give the policy the release was made by: its labels are read by it.")
    rules = Policy.load(policy).reading(**read.values)
    # a release has a header of its own, whatever the other tables have
    dialect = CsvOptions(read.separator, read.quote, read.encoding)
    progress(ProgressEvent("read", 0.0))
    release, known = as_place(release), as_place(known)
    if isinstance(release, Place):
        sensitive = sensitive_files(release, rules)
    useful = {*rules.quasi, *rules.sensitive} | ({group_name(rules)} if sensitive else set())

    def load(data: Any, options: CsvOptions) -> tuple[pa.Table, list[str]]:
        """The columns of a table that the attack uses; all where it uses none, for the message."""
        return read_table(data, useful, options, missing_ok=True)[:2]

    published, names = load(release, dialect)
    if isinstance(release, Place):
        require_files(sensitive)
    tables = Tables(
        published,
        {name: read_table(table, options=dialect)[0] for name, table in sensitive.items()},
        load(known, read.file)[0],
        None if raw is None else load(raw, rules.reading(**read.given()).read.file)[0],
        names,
        str(known) if isinstance(known, Place) else KNOWN_TABLE,
    )
    progress(ProgressEvent("link", 0.0))
    return attack_tables(tables, rules)


def attack_tables(tables: Tables, policy: Policy) -> Attack:
    """See `attack`."""
    published, people = tables.release, tables.known
    names = _shared_columns(policy, tables)
    if not people.num_rows:
        raise InputError("The known table has column names but no rows: nobody is known.")
    if not published.num_rows:
        raise InputError("The release has column names but no rows: there is nothing to attack.")
    how = {name: policy.column_spec(name) for name in policy.quasi}
    values = NO_VALUES
    linked = _link(tables, policy, names)
    if policy.publish == "anatomy":
        n_classes = len(linked.sizes)
        values = likeliest_values(published, tables.sensitive, policy, linked.of_row, n_classes)
    rules = policy.column_rules
    after = linkage_of(published, people, policy.sensitive, linked, values, rules)
    before = None
    if tables.raw is not None:
        if missing := [name for name in names if name not in tables.raw.column_names]:
            raise InputError(
                f"The raw table has no column {listed(map(repr, missing))}, which the release and "
                "the known table share. Is this the table the release was made from?"
            )
        if not tables.raw.num_rows:
            raise InputError("The raw table has column names but no rows.")
        raw = link_by_equality(tables.raw, people, names, how)
        before = linkage_of(tables.raw, people, policy.sensitive, raw)
    found = Attack(people.num_rows, tuple(names), after, before)
    return replace(found, warnings=tuple(_warnings(found, tables, policy)))


def _shared_columns(policy: Policy, tables: Tables) -> list[str]:
    """The quasi-identifiers that the release and the known table share."""
    published = [name for name in policy.quasi if name in tables.published]
    if not published:
        raise PolicyError(
            f"The release has none of the policy's quasi-identifiers ({listed(policy.quasi)}) among "
            f"its {counted(len(tables.published), 'column')}. Is this the policy it was made by, and "
            "has the file a line of column names?"
        )
    theirs = tables.known.column_names
    names = [name for name in published if name in theirs]
    if not names:
        raise InputError(
            f"{tables.known_name} has none of the release's quasi-identifiers "
            f"({listed(published)}) among its {counted(len(theirs), 'column')}. Give the columns that "
            "both tables have the same names, and see that the file begins with a line of column "
            "names."
        )
    return names


@dataclass(frozen=True)
class Links:
    """Known people, and the classes of the attacked table that may hold them."""

    sizes: Ints
    """(classes,) rows of each."""
    of_row: Ints
    """(rows,) the class of each row of the attacked table."""
    person: Ints
    """(people,) which of the distinct known rows each person is."""
    matches: Iterator[Matches]
    """The classes of the distinct known rows."""
    n_known: int
    """Distinct known rows."""
    unread: dict[str, int]
    """Per column, labels that could not be read."""


def _link(tables: Tables, policy: Policy, names: Sequence[str]) -> Links:
    """Link known people to the release; Anatomy publishes quasi-identifiers as they are."""
    how = {name: policy.column_spec(name) for name in policy.quasi}
    if policy.publish == "anatomy":
        return link_by_equality(tables.release, tables.known, names, how)
    return link_by_labels(tables.release, tables.known, names, how, policy.folder)


def link_by_labels(
    release: pa.Table,
    known: pa.Table,
    names: Sequence[str],
    how: Mapping[str, ColumnSpec],
    folder: Path,
) -> Links:
    """By containment: a class may hold a person whose values its labels cover."""
    first, of_row, sizes = TableInMemory(release).classes(names)
    labels = {name: release.column(name).take(pa.array(first)) for name in names}
    found = Covering(labels, {name: known.column(name) for name in names}, how, folder)
    return Links(sizes, of_row, found.row_of, found.matches(), found.n_rows, found.unread)


def link_by_equality(
    raw: pa.Table, known: pa.Table, names: Sequence[str], how: Mapping[str, ColumnSpec]
) -> Links:
    """By equality: of numbers and dates in ordered columns, elsewhere of texts; missing values are
    equal to each other."""
    columns = [_CodedPair.of(n, raw.column(n), known.column(n), how.get(n)) for n in names]
    keys = RowKeys.of(raw.num_rows + known.num_rows, columns).renumbered().numbers
    ours, theirs = np.split(keys, [raw.num_rows])
    distinct, of_row, sizes = np.unique(ours, return_inverse=True, return_counts=True)
    people, person = np.unique(theirs, return_inverse=True)
    place = np.minimum(np.searchsorted(distinct, people), max(len(distinct) - 1, 0))
    there = distinct[place] == people if len(distinct) else np.zeros(len(people), np.bool_)
    starts = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
    part = Matches(slice(0, len(people)), starts, place[there].astype(np.int32))
    return Links(sizes.astype(np.int64), of_row, person, iter([part]), len(people), {})


@dataclass(frozen=True)
class _CodedPair:
    """A column of two tables, one after the other, with equal codes for equal values."""

    codes: Ints
    size: int

    @classmethod
    def of(
        cls, name: str, raw: pa.ChunkedArray, known: pa.ChunkedArray, how: ColumnSpec | None
    ) -> "_CodedPair":
        spec = how or BY_VALUES
        ours, theirs = (
            distinct_texts(name, as_published(name, one_chunk(each), spec)) for each in (raw, known)
        )
        place = {text: i for i, text in enumerate(ours.texts)}
        same = [place.get(text, -1) for text in theirs.texts]
        # a raw value is published as a label for itself alone; reading it gives the values it equals
        flat = (
            ColumnSpec(how.kind, how.order)
            if how and how.hierarchy is None
            else ColumnSpec("unordered")
        )
        labels = escape.escape_alone(pa.array(ours.texts, pa.string())).to_pylist()
        found = parse_labels(name, labels, theirs.texts, flat)
        spans = found.high >= found.low
        merged = list(range(len(labels)))
        if spans.any():
            first = {int(low): i for i, low in reversed(list(enumerate(found.low))) if spans[i]}
            merged = [first[int(found.low[i])] if spans[i] else i for i in merged]
            same = [
                first.get(int(axis), one) if axis >= 0 else one
                for axis, one in zip(found.axis[:-1], same, strict=True)
            ]
        missing, n = len(labels), len(labels) + 1
        fresh = [one if one >= 0 else n + i for i, one in enumerate(same)]
        left = np.array([*merged, missing], np.int64)[ours.codes]
        right = np.array([*fresh, missing], np.int64)[theirs.codes]
        codes = np.concatenate([left, right])
        return cls(codes, int(codes.max(initial=0)) + 1)


@dataclass(frozen=True)
class ClassValues:
    """A sensitive column of the attacked table, by class; missing and starred values are left out."""

    texts: list[str]
    """The distinct values, the most frequent first; equally frequent ones by text."""
    totals: Ints
    """(values,) rows with each."""
    starts: Ints
    """(classes + 1,) class i has the entries starts[i]..starts[i+1] of the next two arrays."""
    values: Codes
    counts: Ints


def class_values(name: str, column: pa.ChunkedArray, of_row: Ints, n_classes: int) -> ClassValues:
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
    return ClassValues(
        [found.texts[i] for i in ranked],
        rows[ranked].astype(np.int64),
        starts,
        (entries % width).astype(np.int32),
        counts.astype(np.int64),
    )


def linkage_of(
    table: pa.Table,
    known: pa.Table,
    sensitive: Sequence[str],
    links: Links,
    inferred: Mapping[str, LikeliestValues] = NO_VALUES,
    rules: Mapping[str, ColumnRule] = NO_RULES,
) -> Linkage:
    """What the candidates of known people give away.

    inferred: of an Anatomy release, the likeliest value of each class, by sensitive column. rules: what
    was done to sensitive columns before they were published.
    """
    from shoal.kernels.linkage import guesses

    columns = [name for name in sensitive if name in table.column_names]
    values = {
        name: class_values(name, table.column(name), links.of_row, len(links.sizes))
        for name in columns
    }
    candidates = np.zeros(links.n_known, np.int64)
    best = {name: np.full(links.n_known, -1, np.int64) for name in (*columns, *inferred)}
    times = {name: np.zeros(links.n_known) for name in (*columns, *inferred)}
    for part in links.matches:
        sums = np.concatenate([[0], np.cumsum(links.sizes[part.classes])])
        candidates[part.rows] = sums[part.starts[1:]] - sums[part.starts[:-1]]
        for name, of in values.items():
            found = guesses(
                part.starts, part.classes, of.starts, of.values, of.counts, len(of.texts)
            )
            best[name][part.rows], times[name][part.rows] = found[:2]
        linked = np.flatnonzero(np.diff(part.starts))  # by equality to one class at most
        for name, by_class in inferred.items() if len(linked) else ():
            best[name][part.rows][linked] = by_class.best[part.classes]
            times[name][part.rows][linked] = by_class.rows[part.classes]
    of_person = candidates[links.person]
    some = of_person[of_person > 0]
    return Linkage(
        rows=table.num_rows,
        linked=len(some),
        pinned=int((of_person == 1).sum()),
        smallest=int(some.min()) if len(some) else None,
        median=float(np.median(some)) if len(some) else None,
        sensitive={
            name: _guess(
                of.totals,
                of_person,
                best[name][links.person],
                times[name][links.person],
                table.num_rows,
                _true_values(name, known, of.texts, rules.get(name)),
            )
            for name, of in (values | dict(inferred)).items()
        },
        unread={name: count for name, count in links.unread.items() if count},
    )


def _true_values(
    name: str, known: pa.Table, texts: Sequence[str], rule: ColumnRule | None
) -> tuple[Ints, Bools] | None:
    """(people,) the true value of each among those of the table (-1 for another one), and whether it
    is known; None without the column."""
    if name not in known.column_names:
        return None
    column = known.column(name) if rule is None else rule(one_chunk(known.column(name)))
    found = distinct_texts(name, column)
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
        real, guessed = truth[0][truth[1]], np.where(has, best, 0)[truth[1]]
        by_base, by_guess = float((real == 0).mean()), float((real == guessed).mean())
        measured = (by_base, by_guess, by_guess - by_base)
    return Guess(pinned, base, guess, guess - base, *measured)


def _warnings(found: Attack, tables: Tables, policy: Policy) -> Iterator[str]:
    """What may make an attack look weaker than it is, or its release odd; no value is named."""
    allowed = set(policy.published(tables.published))
    if policy.publish == "anatomy":
        allowed = allowed - set(policy.sensitive) | {group_name(policy)}
        if not tables.sensitive:
            yield (
                "The sensitive values of an Anatomy release are in tables of their own, which were not "
                "given. Pass the `Release` itself or the path of its file to include them."
            )
    if extra := [name for name in tables.published if name not in allowed]:
        yield (
            f"The release holds {listed(map(repr, extra))}, which the policy does not let be "
            "published. Is this the release, and the policy it was made by?"
        )
    for name, count in found.release.unread.items():
        labels = counted(count, "label")
        yield f"{labels} of {name} could not be read and cover{'s' if count == 1 else ''} nobody."
    if found.release.linked == 0:
        unlinked = [name for name in found.columns if not _links_anybody(tables, policy, name)]
        yield _nobody("the release", unlinked or found.columns)
    if found.raw is not None and found.raw.linked == 0:
        yield _nobody("the raw table", found.columns)
    for name in policy.sensitive:
        held = tables.sensitive.get(name, tables.release)
        if name in tables.known.column_names and name in held.column_names:
            column = tables.known.column(name)
            if name in (rules := policy.column_rules):
                column = rules[name](one_chunk(column))
            theirs = set(distinct_texts(name, column).texts)
            if theirs and theirs.isdisjoint(distinct_texts(name, held.column(name)).texts):
                of = tables.known_name if tables.known_name != KNOWN_TABLE else KNOWN_TABLE.lower()
                yield (
                    f"None of the values of {name} in {of} occurs in the release: are they {SPELLING}"
                )


def _nobody(what: str, names: Sequence[str]) -> str:
    return f"Nobody links to {what}: are the values of {listed(names)} {SPELLING}"


def _links_anybody(tables: Tables, policy: Policy, name: str) -> bool:
    """Whether anybody links by one column alone."""
    return any(len(part.classes) for part in _link(tables, policy, [name]).matches)
