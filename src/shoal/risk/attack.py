"""A linkage attack: what somebody with another table about the same people learns from a release.

Every known person is linked to the rows that may be theirs, on all columns that both tables have but
the sensitive ones, which are what the attacker wants to learn: in a raw table the rows with equal
values, in a release the rows whose labels cover the values and whose plain columns equal them. Plain
and sensitive values are equal where their spellings are of one value, numbers and dates by value.
From these candidates follow who is pinned to one row, who is pinned to one sensitive value, and how
often the best guess (the value that most candidates have) is right, against always guessing the table's
most frequent value. A person without candidates is guessed by the latter. In an Anatomy release rows
with equal values are candidates, and their groups give the values.

Where the policy names the column of a person and the known table has it, people are counted: the rows of
one person are known together, and the most telling of them counts. In a raw table that has the column,
and in a release with its private key, people are also counted all of whose candidates are one person's
rows.

Only counts are reported, never a value of a person.

Source: Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
Fuzziness and Knowledge-Based Systems 10, 2002, for the attack; Machanavajjhala et al.,
"l-diversity: privacy beyond k-anonymity", ACM TKDD 1, 2007, for what pins a value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.columns import BY_VALUES, ColumnSpec, as_published
from shoal.encoding.missing import is_missing
from shoal.encoding.people import People, read_people
from shoal.encoding.reading import declared_texts
from shoal.encoding.spelling import fold, fold_texts
from shoal.engines.anatomy_release import require_files, sensitive_files
from shoal.engines.person_key import PersonKey, read_key
from shoal.errors import InputError, PolicyError, counted, listed, nearest
from shoal.evidence.disclosure import Unit
from shoal.io.address import Place, as_place
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import CsvOptions
from shoal.models.k import K
from shoal.policy import Policy
from shoal.policy.anatomy import group_name
from shoal.policy.reading import AS_WRITTEN, Reading
from shoal.progress import ProgressCallback, ProgressEvent, ignore_event
from shoal.publish import labels as escape
from shoal.publish.covering import Covering, Matches, Texts, distinct_texts
from shoal.publish.label_parser import parse_labels
from shoal.publish.microaggregation import STATISTICS
from shoal.release import Release
from shoal.results import Record, Result
from shoal.risk.anatomy_inference import LikeliestValues, likeliest_values
from shoal.risk.table import TableInMemory, read_table
from shoal.risk.uniqueness import Coded, RowKeys

STAR = "*"
KNOWN_TABLE = "The known table"
SPELLING = "written the same way?"
MOST_PAIRS = 5_000_000
"""Pairs of a known row and a class that are looked at together."""
NO_VALUES: Mapping[str, LikeliestValues] = MappingProxyType({})


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
    below: int | None
    """People with some candidates, but fewer than the k that the policy promises on its
    quasi-identifiers; None without such a k."""
    pinned_person: int | None
    """People all of whose candidates are rows of one person, where the table tells people apart."""
    smallest_people: int | None
    """The fewest different people among the candidates of a person who has some; None where the table
    does not tell people apart."""
    sensitive: dict[str, Guess]
    """Per sensitive column."""
    unread: dict[str, int]
    """Labels that could not be read, by column, where there are some; they cover nobody."""


@dataclass(frozen=True, repr=False)
class Attack(Result):
    """An attack on a release, and on the raw table it was made from."""

    people: int
    """Rows of the known table; people, where it tells them apart."""
    columns: tuple[str, ...]
    """The columns that were linked on."""
    unguarded: tuple[str, ...]
    """Those of them that are no quasi-identifiers, so that no guarantee speaks of them."""
    guaranteed_risk: float | None
    """The highest chance to pick out a row by the quasi-identifiers that the policy allows: 1 / k."""
    highest_risk: float | None
    """The highest chance that the attack found in the release: 1 / the fewest candidates, in people
    where the release tells them apart and in rows elsewhere."""
    unit: Unit
    """What candidates are in `highest_risk`."""
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
                "pinned_person": found.pinned_person,
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
        people = counted(self.people, "known person", "known people")
        both = [one for one in (self.release, self.raw) if one is not None]
        told = all(one.pinned_person is not None for one in both)
        release, *raw = (one.pinned_person if told else one.pinned for one in both)
        what = "the rows of one person" if told else "one row"
        more = "".join(f", {count:,} in the raw table" for count in raw)
        return f"{release:,} of {people} pinned to {what} of the release{more}"


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
    owners: People | None = None
    """Whose the rows of the release are, where its private key is known."""


def attack(
    release: Any,
    policy: Any = None,
    *,
    known: Any,
    raw: Any = None,
    on: str | Iterable[str] | None = None,
    key: Any = None,
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
    on
        The columns to link on; all that both tables have, but no sensitive one, when left out.
    key
        The private key that was written with the release, where the policy has a person column; a
        `Release` has its own.
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
        If the tables share no column to link on, a column to link on is not in both, or the policy is
        not that of the release.
    """
    sensitive: Mapping[str, Any] = {}
    own_key: PersonKey | None = None
    if isinstance(release, Release):
        policy, sensitive = policy or release.policy, release.sensitive_tables
        release, own_key = release.table, release.key
    if policy is None:
        raise PolicyError("Give the policy the release was made by: its labels are read by it.")
    rules = Policy.load(policy).reading(**read.values)
    # a release has a header of its own, whatever the other tables have
    dialect = rules.release_options(CsvOptions(read.separator, read.quote, read.encoding))
    progress(ProgressEvent("read", 0.0))
    release, known = as_place(release), as_place(known)
    if isinstance(release, Place):
        sensitive = sensitive_files(release, rules)
    chosen = None if on is None else tuple(dict.fromkeys([on] if isinstance(on, str) else on))
    useful = {*rules.quasi, *rules.sensitive, *rules.plain}
    useful |= {group_name(rules)} if sensitive else set()
    useful |= {rules.person} if rules.person is not None else set()

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
        _owners(release, names, own_key, key, dialect),
    )
    progress(ProgressEvent("link", 0.0))
    return attack_tables(tables, rules, chosen)


def _owners(
    release: Any, names: list[str], own: PersonKey | None, key: Any, options: CsvOptions
) -> People | None:
    """Whose the rows of a release are, by its own key or one that is given."""
    if key is not None:
        own = read_key(Path(key) if isinstance(key, str) else key, names, options)
    if own is None:
        return None
    rows = read_table(release, names, options)[0]
    found, number = np.unique(own.people_of(rows), return_inverse=True)
    return People(number.reshape(-1).astype(np.int32), len(found))


def attack_tables(tables: Tables, policy: Policy, on: Sequence[str] | None = None) -> Attack:
    """See `attack`."""
    raw_rows = None if tables.raw is None else _ruled(tables.raw, policy)
    tables = replace(tables, known=_ruled(tables.known, policy), raw=raw_rows)
    published, people = tables.release, tables.known
    names = _shared_columns(policy, tables) if on is None else _chosen_columns(policy, tables, on)
    if not people.num_rows:
        raise InputError("The known table has column names but no rows: nobody is known.")
    if not published.num_rows:
        raise InputError("The release has column names but no rows: there is nothing to attack.")
    values = NO_VALUES
    linked = _link(tables, policy, names)
    if policy.publish == "anatomy":
        n_classes = len(linked.sizes)
        values = likeliest_values(published, tables.sensitive, policy, linked.of_row, n_classes)
    k = _promised(policy)
    sensitive = [name for name in policy.sensitive if name not in names]
    values = {name: one for name, one in values.items() if name in sensitive}
    who = _people(policy, people)
    after = linkage_of(published, people, sensitive, linked, policy, values, k, who, tables.owners)
    before = None
    if tables.raw is not None:
        if missing := [name for name in names if name not in tables.raw.column_names]:
            raise InputError(
                f"The raw table has no column {listed(map(repr, missing))}, which the release and "
                "the known table share. Is this the table the release was made from?"
            )
        if not tables.raw.num_rows:
            raise InputError("The raw table has column names but no rows.")
        raw = link_by_equality(tables.raw, people, names, policy)
        owners = _people(policy, tables.raw)
        before = linkage_of(tables.raw, people, sensitive, raw, policy, k=k, who=who, owners=owners)
    fewest = after.smallest if tables.owners is None else after.smallest_people
    found = Attack(
        people=people.num_rows if who is None else who.count,
        columns=tuple(names),
        unguarded=tuple(name for name in names if name not in policy.quasi),
        guaranteed_risk=None if k is None else 1 / k,
        highest_risk=None if fewest is None else 1 / fewest,
        unit="row" if tables.owners is None else "person",
        release=after,
        raw=before,
    )
    return replace(found, warnings=tuple(_warnings(found, tables, policy)))


def _promised(policy: Policy) -> int | None:
    """The k that a policy promises on all of its quasi-identifiers."""
    every = [m.k for m in policy.constraints if isinstance(m, K) and not m.quasi]
    return max(every, default=None) if policy.publish == "generalised" else None


def _people(policy: Policy, table: pa.Table) -> People | None:
    """The people of a table; None where it does not tell them apart."""
    if policy.person is None or policy.person not in table.column_names:
        return None
    return read_people(policy.person, one_chunk(table.column(policy.person)), policy.no_ids)


def _ruled(table: pa.Table, policy: Policy) -> pa.Table:
    """The table with the sensitive and plain values that the policy's column rules publish."""
    for name, rule in policy.column_rules.items():
        if name not in policy.quasi and name in table.column_names:
            column = rule(one_chunk(table.column(name)))
            table = table.set_column(table.column_names.index(name), name, column)
    return table


def _shared_columns(policy: Policy, tables: Tables) -> list[str]:
    """The columns that the release and the known table share, without sensitive ones."""
    published = [name for name in (*policy.quasi, *policy.unchanged) if name in tables.published]
    if not any(name in tables.published for name in policy.quasi):
        raise PolicyError(
            f"The release has none of the policy's quasi-identifiers ({listed(policy.quasi)}) among "
            f"its {counted(len(tables.published), 'column')}. Is this the policy it was made by, and "
            "has the file a line of column names?"
        )
    theirs = tables.known.column_names
    names = [name for name in published if name in theirs]
    if not names:
        raise InputError(
            f"{tables.known_name} has none of the release's quasi and plain columns "
            f"({listed(published)}) among its {counted(len(theirs), 'column')}. Give the columns that "
            "both tables have the same names, and see that the file begins with a line of column "
            "names."
        )
    return names


def _chosen_columns(policy: Policy, tables: Tables, on: Sequence[str]) -> list[str]:
    """The columns that the user names, in the order of roles; each must be in both tables."""
    if not on:
        raise InputError("No column to link on was given. Name one, or leave `on` out.")
    roles = (*policy.quasi, *policy.unchanged, *policy.sensitive)
    for name in on:
        if name in policy.sensitive and name in tables.sensitive:
            raise InputError(
                f"The release cannot be linked on '{name}': its values are in a table of their own."
            )
        for what, there in (
            ("The policy publishes", roles),
            ("The release has", tables.published),
            (f"{tables.known_name} has", tables.known.column_names),
        ):
            if name not in there:
                some = [one for one in there if one in roles]
                raise InputError(
                    f"{what} no column '{name}' to link on.{nearest(name, some)} It can be linked on: "
                    f"{listed(some) or 'none'}."
                )
    return [name for name in roles if name in on]


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
    if policy.publish == "anatomy":
        return link_by_equality(tables.release, tables.known, names, policy)
    unsaid = policy.columns_labelled(*STATISTICS)
    covered = [name for name in names if name in policy.quasi or name in policy.preferences]
    links = link_by_labels(
        tables.release, tables.known, [name for name in covered if name not in unsaid], policy
    )
    equal = [name for name in names if name not in covered]
    return links if not equal else _narrowed(links, tables, equal, policy)


def link_by_labels(
    release: pa.Table, known: pa.Table, names: Sequence[str], policy: Policy
) -> Links:
    """By containment: a class may hold a person whose values its labels cover."""
    if not names:  # all rows may be anybody's
        everyone = Matches(slice(0, 1), np.array([0, 1]), np.zeros(1, np.int32))
        sizes, person = np.array([release.num_rows]), np.zeros(known.num_rows, np.int64)
        return Links(sizes, np.zeros(release.num_rows, np.int64), person, iter([everyone]), 1, {})
    how = {name: policy.column_spec(name) for name in names}
    first, of_row, sizes = TableInMemory(release).classes(names)
    labels = {name: release.column(name).take(pa.array(first)) for name in names}
    found = Covering(labels, {name: known.column(name) for name in names}, how, policy.folder)
    return Links(sizes, of_row, found.row_of, found.matches(), found.n_rows, found.unread)


def _narrowed(links: Links, tables: Tables, names: Sequence[str], policy: Policy) -> Links:
    """The same people, each with the rows of her classes that are equal in some columns too.

    Rows with a star in all these columns were suppressed and may be anybody's.
    """
    release, known = tables.release, tables.known
    pairs = [_Folded.of(n, release.column(n), known.column(n), policy) for n in names]
    keys = RowKeys.of(release.num_rows + known.num_rows, pairs).renumbered()
    ours, theirs = np.split(keys.numbers, [release.num_rows])
    width = keys.size + 1
    ours = np.where(_starred(release, names), keys.size, ours)
    cells, of_row, sizes = np.unique(
        links.of_row * width + ours, return_inverse=True, return_counts=True
    )
    distinct, person = np.unique(links.person * width + theirs, return_inverse=True)
    matches = _narrow(links.matches, distinct, cells, width)
    return Links(sizes.astype(np.int64), of_row, person, matches, len(distinct), links.unread)


def _starred(release: pa.Table, names: Sequence[str]) -> Bools:
    """(rows,) whether a row reads `*` in all these columns."""
    found = np.ones(release.num_rows, np.bool_)
    for name in names:
        texts = distinct_texts(name, release.column(name))
        star = np.array([*(text == STAR for text in texts.texts), False], np.bool_)
        found &= star[texts.codes]
    return found


def _narrow(
    matches: Iterable[Matches], distinct: Ints, cells: Ints, width: int
) -> Iterator[Matches]:
    """The cells of known rows: a class and a key each.

    distinct: (known,) the known row times `width` plus its key, ascending. cells: the same for the
    classes of the attacked table; the last key is that of suppressed rows.
    """
    row, key = distinct // width, distinct % width
    for part in matches:
        begin, end = np.searchsorted(row, [part.rows.start, part.rows.stop])
        ends = np.cumsum(np.diff(part.starts)[row[begin:end] - part.rows.start])
        while begin < end:  # as many rows as fit into memory
            step = max(1, int(np.searchsorted(ends, MOST_PAIRS + (ends[0] if len(ends) else 0))))
            some, ends = slice(begin, min(begin + step, end)), ends[step:] - ends[step - 1]
            yield _narrow_some(part, some, row[some] - part.rows.start, key[some], cells, width)
            begin = some.stop


def _narrow_some(
    part: Matches, rows: slice, of: Ints, key: Ints, cells: Ints, width: int
) -> Matches:
    """The cells of some known rows; `of` are their places in the part."""
    counts = np.diff(part.starts)[of]
    owner = np.repeat(np.arange(len(of)), counts)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    classes = part.classes[np.repeat(part.starts[of], counts) + nth].astype(np.int64) * width
    # of each class the cell with the person's key, and that of suppressed rows
    wanted = np.stack([classes + key[owner], classes + width - 1], axis=1).reshape(-1)
    place = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    there = cells[place] == wanted
    owner = np.repeat(owner, 2)[there]
    starts = np.searchsorted(owner, np.arange(len(of) + 1)).astype(np.int64)
    return Matches(rows, starts, place[there].astype(np.int32))


def link_by_equality(raw: pa.Table, known: pa.Table, names: Sequence[str], policy: Policy) -> Links:
    """By equality: of numbers and dates in ordered columns, of folded texts in columns that are no
    quasi-identifiers, elsewhere of texts; missing values are equal to each other."""
    columns: list[Coded] = [
        _CodedPair.of(n, raw.column(n), known.column(n), policy.column_spec(n))
        if n in policy.quasi
        else _Folded.of(n, raw.column(n), known.column(n), policy)
        for n in names
    ]
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
class _Folded:
    """A column of two tables, one after the other, with equal codes for spellings of one value."""

    codes: Ints
    size: int

    @classmethod
    def of(
        cls, name: str, ours: pa.ChunkedArray, theirs: pa.ChunkedArray, policy: Policy
    ) -> "_Folded":
        both = [distinct_texts(name, column) for column in (ours, theirs)]
        texts = pa.array([text for one in both for text in one.texts], pa.string())
        spec = policy.columns[name]
        exact = spec.spelling == "exact"
        reading = policy.value_reading(name)
        missing = is_missing(texts, policy.missing_codes(name), exact, reading)
        folded = texts if exact else fold_texts(declared_texts(texts, reading))
        value = folded.dictionary_encode()
        n = len(value.dictionary)
        codes = np.where(missing, n, value.indices.to_numpy(zero_copy_only=False)).astype(np.int64)
        first = len(both[0].texts)
        found = [
            np.append(part, n)[one.codes]
            for part, one in zip((codes[:first], codes[first:]), both, strict=True)
        ]
        return cls(np.concatenate(found), n + 1)


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


def _values(name: str, column: pa.ChunkedArray, policy: Policy) -> Texts:
    """The values of a sensitive column, all spellings of one value being one text.

    A text that stands for a missing value is missing. Texts are not folded where people's preferences
    widen values, which makes labels of them.
    """
    found = distinct_texts(name, column)
    if name in policy.preferences or not found.texts:
        return found
    texts, exact = pa.array(found.texts, pa.string()), policy.columns[name].spelling == "exact"
    reading = policy.value_reading(name)
    missing = is_missing(texts, policy.missing_codes(name), exact, reading)
    folded = texts if exact else fold_texts(declared_texts(texts, reading))
    folded = folded.dictionary_encode()
    codes = folded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    known = folded.dictionary.to_pylist()
    codes = np.append(np.where(missing, len(known), codes), len(known))[found.codes]
    return Texts(known, codes, bool((codes == len(known)).any()))


def class_values(found: Texts, of_row: Ints, n_classes: int) -> ClassValues:
    """How often each sensitive value occurs in each class."""
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
    policy: Policy,
    inferred: Mapping[str, LikeliestValues] = NO_VALUES,
    k: int | None = None,
    who: People | None = None,
    owners: People | None = None,
) -> Linkage:
    """What the candidates of known people give away.

    inferred: of an Anatomy release, the likeliest value of each class, by sensitive column. k: as the
    policy promises. who: the people of the known rows. owners: those of the attacked table's rows.
    """
    from shoal.kernels.linkage import guesses

    columns = [name for name in sensitive if name in table.column_names]
    values = {
        name: class_values(
            _values(name, table.column(name), policy), links.of_row, len(links.sizes)
        )
        for name in columns
    }
    candidates = np.zeros(links.n_known, np.int64)
    spans = None if owners is None else _PersonSpans.of(links, owners)
    one_person = np.zeros(links.n_known, np.bool_)
    fewest = None if owners is None else _FewestPeople(links, owners)
    best = {name: np.full(links.n_known, -1, np.int64) for name in (*columns, *inferred)}
    times = {name: np.zeros(links.n_known) for name in (*columns, *inferred)}
    for part in links.matches:
        sums = np.concatenate([[0], np.cumsum(links.sizes[part.classes])])
        candidates[part.rows] = sums[part.starts[1:]] - sums[part.starts[:-1]]
        if spans is not None:
            one_person[part.rows] = spans.are_one_person(part)
        if fewest is not None:
            fewest.look_at(part)
        for name, of in values.items():
            found = guesses(
                part.starts, part.classes, of.starts, of.values, of.counts, len(of.texts)
            )
            best[name][part.rows], times[name][part.rows] = found[:2]
        linked = np.flatnonzero(np.diff(part.starts))  # by equality to one class at most
        for name, by_class in inferred.items() if len(linked) else ():
            best[name][part.rows][linked] = by_class.best[part.classes]
            times[name][part.rows][linked] = by_class.rows[part.classes]
    of_row = candidates[links.person]
    of_person = of_row if who is None else _fewest(of_row, who)
    some = of_person[of_person > 0]
    return Linkage(
        rows=table.num_rows,
        linked=len(some),
        pinned=int((of_person == 1).sum()),
        below=None if k is None else int((some < k).sum()),
        pinned_person=None if spans is None else _number_of(one_person[links.person], who),
        smallest_people=None if fewest is None else fewest.found,
        smallest=int(some.min()) if len(some) else None,
        median=float(np.median(some)) if len(some) else None,
        sensitive={
            name: _guess(
                of.totals,
                of_row,
                best[name][links.person],
                times[name][links.person],
                table.num_rows,
                _true_values(name, known, of.texts, policy),
                who,
            )
            for name, of in (values | dict(inferred)).items()
        },
        unread={name: count for name, count in links.unread.items() if count},
    )


def _fewest(candidates: Ints, who: People) -> Ints:
    """(people,) the candidates of the most telling row of each person, 0 where none has any."""
    none = np.iinfo(np.int64).max
    found = np.full(who.count, none)
    np.minimum.at(found, who.number, np.where(candidates > 0, candidates, none))
    return np.where(found == none, 0, found)


def _number_of(rows: Bools, who: People | None) -> int:
    """The people of some known rows; the rows, where people are not told apart."""
    return int(rows.sum()) if who is None else len(np.unique(who.number[rows]))


@dataclass(frozen=True)
class _PersonSpans:
    """The lowest and the highest number of a person in each class of the attacked table."""

    low: Ints
    high: Ints

    @classmethod
    def of(cls, links: Links, owners: People) -> "_PersonSpans":
        low = np.full(len(links.sizes), np.iinfo(np.int64).max)
        high = np.full(len(links.sizes), -1)
        np.minimum.at(low, links.of_row, owners.number.astype(np.int64))
        np.maximum.at(high, links.of_row, owners.number.astype(np.int64))
        return cls(low, high)

    def are_one_person(self, part: Matches) -> Bools:
        """(rows of the part,) whether all candidates of a row are one person's."""
        n = len(part.starts) - 1
        owner = np.repeat(np.arange(n), np.diff(part.starts))
        low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
        np.minimum.at(low, owner, self.low[part.classes])
        np.maximum.at(high, owner, self.high[part.classes])
        one: Bools = low == high
        return one


class _FewestPeople:
    """The fewest different people among the candidates of any known row that has some."""

    def __init__(self, links: Links, owners: People) -> None:
        pairs = np.unique(
            np.column_stack([links.of_row.astype(np.int64), owners.number.astype(np.int64)]), axis=0
        )
        self._owners = pairs[:, 1]
        self._starts = np.searchsorted(pairs[:, 0], np.arange(len(links.sizes) + 1))
        self._people = np.diff(self._starts)
        self.found: int | None = None

    def look_at(self, part: Matches) -> None:
        """Take the known rows of a part into account.

        The candidates of a row are at least as many people as its largest class has. Rows are looked
        at in this order, so that few are counted: one whose largest class has as many people as were
        found cannot have fewer.
        """
        some = np.flatnonzero(np.diff(part.starts))
        if not len(some):
            return
        # the starts of rows without classes coincide with the next ones
        largest = np.maximum.reduceat(self._people[part.classes], part.starts[some])
        for at in np.argsort(largest, kind="stable"):
            if self.found is not None and largest[at] >= self.found:
                return
            classes = part.classes[part.starts[some[at]] : part.starts[some[at] + 1]]
            members = [self._owners[self._starts[c] : self._starts[c + 1]] for c in classes]
            people = len(np.unique(np.concatenate(members)))
            self.found = people if self.found is None else min(self.found, people)


def _true_values(
    name: str, known: pa.Table, texts: Sequence[str], policy: Policy
) -> tuple[Ints, Bools] | None:
    """(people,) the true value of each among those of the table (-1 for another one), and whether it
    is known; None without the column."""
    if name not in known.column_names:
        return None
    found = _values(name, known.column(name), policy)
    place = {text: i for i, text in enumerate(texts)}
    if policy.publish == "anatomy":  # its tables are read as they are spelled
        place = {fold(text): i for i, text in reversed(list(enumerate(texts)))} | place
    codes = np.array([*(place.get(text, -1) for text in found.texts), -1], np.int64)
    return codes[found.codes], found.codes < len(found.texts)


def _guess(
    totals: Ints,
    candidates: Ints,
    best: Ints,
    times: Floats,
    rows: int,
    truth: tuple[Ints, Bools] | None,
    who: People | None,
) -> Guess:
    base = float(totals[0] / rows) if len(totals) else 0.0
    has = (candidates > 0) & (times > 0)
    expected = np.where(has, times / np.maximum(candidates, 1), base)
    guess = float(expected.mean())
    pinned = _number_of((times == candidates) & has, who)
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
    unsaid = policy.columns_labelled(*STATISTICS)
    if some := [name for name in found.columns if name in unsaid]:
        forms = listed(dict.fromkeys(str(policy.columns[name].labels) for name in some))
        yield (
            f"Nobody was linked by {listed(some)}: a {forms} does not say which values it stands for. "
            "An attacker who guesses by the nearest value may find somewhat more."
        )
    for name, count in found.release.unread.items():
        labels = counted(count, "label")
        yield f"{labels} of {name} could not be read and cover{'s' if count == 1 else ''} nobody."
    if found.release.linked == 0:
        unlinked = [name for name in found.columns if not _links_anybody(tables, policy, name)]
        yield _nobody("the release", unlinked or found.columns)
    if found.raw is not None and found.raw.linked == 0:
        yield _nobody("the raw table", found.columns)
    if found.release.below and found.unguarded:
        k = round(1 / (found.guaranteed_risk or 1))
        yield (
            f"{found.release.below:,} of {found.people:,} people have fewer than {k} candidates, the k "
            f"that the policy promises on its quasi-identifiers: the attack also knows "
            f"{listed(found.unguarded)}, of which no guarantee speaks."
        )
    for name in policy.sensitive:
        held = tables.sensitive.get(name, tables.release)
        if name in tables.known.column_names and name in held.column_names:
            theirs = set(_values(name, tables.known.column(name), policy).texts)
            if theirs and theirs.isdisjoint(_values(name, held.column(name), policy).texts):
                of = tables.known_name if tables.known_name != KNOWN_TABLE else KNOWN_TABLE.lower()
                yield (
                    f"None of the values of {name} in {of} occurs in the release: are they {SPELLING}"
                )


def _nobody(what: str, names: Sequence[str]) -> str:
    return f"Nobody links to {what}: are the values of {listed(names)} {SPELLING}"


def _links_anybody(tables: Tables, policy: Policy, name: str) -> bool:
    """Whether anybody links by one column alone."""
    return any(len(part.classes) for part in _link(tables, policy, [name]).matches)
