"""From the raw table of a session to the encoded one: what `Cells` are to a table in memory.

The distinct values of each column are counted in the session and numbered here; the rows are encoded
where they are, with the hash and the canonical order that they would have in memory.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.cells import hash_rows, spelled, words_of
from shoal.encoding.columns import AS_SPELLED, quasi_domain, sensitive_domain, sensitive_readings
from shoal.encoding.counts import Reference
from shoal.encoding.domain import Domain
from shoal.encoding.people import check_ids, person_of_ids
from shoal.encoding.prediction import bits_of_columns, class_of_values, steered
from shoal.encoding.values import Tally, canonical, countable, tally_of_counts
from shoal.engines.column_types import (
    check_types,
    is_text,
    restore_type,
    storage_type,
    value_type_of,
    with_codes,
)
from shoal.engines.queries import (
    ENCODED,
    PERSON,
    WEIGHT,
    WORD,
    count_combinations,
    count_different,
    count_ids,
    count_repeated,
    count_rows,
    count_values,
    frequent_values,
    number_duplicates,
    people_with_values,
    present,
    rare_values,
    repeated_values,
    rows_with,
    select,
    value_counts,
)
from shoal.engines.session_weights import ReadWeights, read_weights_in
from shoal.engines.sessions import RevisingSession, Session, passing, query_number
from shoal.engines.words import WordLayout, word_layout
from shoal.errors import InputError
from shoal.evidence.repeated_ids import is_own
from shoal.io.arrow import one_chunk
from shoal.policy import Policy
from shoal.progress import Progress, no_progress

MOST_NUMBERED = 1_000_000
"""Different rows with equals of which this process counts how many have passed; of more, only those with
many equals."""
FREQUENT = 10_000
"""Equals of a row that are many."""
MAX_VALUES = 1_000_000
"""Distinct values that a column may have: they and their counts are kept in this process."""
COUNTED, HASHED = 0.1, 0.6
"""Shares of the work that are done when all values are counted, and all rows hashed."""
SIGN = np.uint64(1 << 63)
Witness = Callable[[pa.RecordBatch | pa.Table], str]
"""Looks at rows where they are, and says what it found; it can be sent to another process."""
ALIKE = "k"
"""The column of a hash of the codes and `h`: rows that differ in it differ in these."""


@dataclass(frozen=True)
class EncodedTable:
    """The meaning of the encoded table of a session.

    Its columns: `node` (0), `c0..` the quasi codes, `s0..` the sensitive codes, `t` the code of the
    target if the policy has one, `u` the hash of the person's id if it names a person column or else
    `i0..` the hashes of identifiers that repeat, `h` the
    rows' hash and `key` the order of rows inside a cell (both
    unsigned, as signed numbers of the same order), `k` the same number for rows that are equal in
    codes and hash, and for few others, `word` all quasi codes packed, where they fit into one,
    `p0..` the other published columns as they are, `v0..` the values of the quasi-identifiers, which
    are compared with their labels at the end, or the places of these in `behind`.
    """

    domains: tuple[Domain, ...]
    """One per quasi-identifier."""
    sensitive_domains: dict[str, Domain]
    totals: dict[str, Reference]
    """Per sensitive column, how often each value occurs in the table."""
    rows_of_sensitive: dict[str, Ints]
    """Per sensitive column, (size,) rows with each value, also with the missing one."""
    n_rows: int
    rows_of_values: tuple[Ints, ...]
    """Per quasi-identifier, rows with each value."""
    quasi: tuple[str, ...]
    """In the policy's order, as c0, c1, ..."""
    sensitive: tuple[str, ...]
    """In the order of their names, as s0, s1, ...; then those with the spellings of others."""
    payload: tuple[str, ...]
    """The published columns p0, p1, ...: plain ones, then sensitive ones, each by name."""
    schema: pa.Schema
    """The types of p0, p1, ... in the file."""
    has_target: bool
    """Whether there is a column t."""
    n_people: int | None = None
    """How many people there are, where the policy names a person column."""
    merged_ids: int = 0
    """How many of their ids are another spelling of one."""
    has_weights: bool = False
    """Whether there is a column `wt`, the sampling weights."""
    ids: tuple["RepeatingIds", ...] = ()
    """The identifiers that repeat, and those that may contradict them, whose hashes are `i0..`, where
    the policy names no person column."""
    behind: tuple[pa.Array | None, ...] = ()
    """Per quasi-identifier its different values, where `v0..` are places of them."""
    found: tuple[str, ...] = ()
    """What a witness found in the batches of the raw table."""

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive columns of the table, without those that have the spellings of others."""
        domains = self.sensitive_domains
        return tuple(name for name in self.sensitive if domains[name].spelled_of is None)


@dataclass(frozen=True)
class RepeatingIds:
    """An identifier of which several rows have the same, or one that may contradict such a one."""

    name: str
    rows: int
    """Rows with an id."""
    ids: int
    """Different ids."""


def columns_to_read(policy: Policy, identifiers: Sequence[str] = ()) -> list[str]:
    """The columns of the raw table p0, p1, ..., in this order.

    identifiers: those that are dropped, but read to see whether they repeat.
    """
    person = [] if policy.person is None else [policy.person]
    published = [*sorted(policy.plain), *sorted(policy.sensitive), *policy.quasi]
    weight = [policy.weight] if policy.weight is not None and policy.withholds_weight else []
    return [*published, *person, *weight, *identifiers]


def encode_table(
    session: Session,
    policy: Policy,
    schema: pa.Schema,
    seed: int,
    raw: str = "raw",
    max_values: int = MAX_VALUES,
    progress: Progress = no_progress,
    identifiers: Sequence[str] = (),
    witness: Witness | None = None,
) -> EncodedTable:
    """Create the encoded table of a raw one.

    Parameters
    ----------
    session : Session
        It has the table `raw`, with the columns of `columns_to_read(policy, identifiers)`.
    policy : Policy
        Says what each column is.
    schema : pa.Schema
        The types of p0, p1, ... in the file.
    seed : int
        Where the randomness of the run starts.
    raw : str
        The name of the raw table.
    max_values : int
        Distinct values that a column may have.
    progress : Progress
        Called with the share of the work that is done.
    witness : Witness
        Looks at every batch of the raw table too, and says what it finds.

    Returns
    -------
    EncodedTable
        The meaning of the table `queries.ENCODED`.

    Raises
    ------
    InputError
        Where a type is not supported, a column has too many values, the table has no rows, or ids do
        not tell people apart.
    """
    names = columns_to_read(policy, identifiers)
    check_types(names, schema)
    quasi, sensitive = tuple(policy.quasi), tuple(sorted(policy.sensitive))
    places = {name: f"p{i}" for i, name in enumerate(names)}
    types = dict(zip(names, schema.types, strict=True))
    ids, n_people, spellings = None, None, 0
    if policy.person is not None:
        place = places[policy.person]
        ids = ReadIds(policy.person, place, types[policy.person], policy.no_ids)
        n_people = _count_people(session, raw, ids)
        spellings = query_number(session, count_values(raw, ids.place)) - n_people
    read = [
        ReadIds(name, places[name], types[name])
        for name in ((*identifiers, *policy.pseudonyms) if policy.person is None else ())
    ]
    repeating = _repeating(session, raw, read)
    weight = None
    if policy.weight is not None:
        weight = ReadWeights(
            policy.weight,
            places[policy.weight],
            types[policy.weight],
            policy.missing_codes(policy.weight),
            policy.value_reading(policy.weight),
        )
        step = policy.columns[policy.weight].round
        session.drop(read_weights_in(session, raw, weight, step))
    further = [name for name in (policy.target, policy.predict) if name is not None]
    counted = dict.fromkeys((*quasi, *sensitive, *further))
    with passing(session, progress, 0, COUNTED, None):
        tallies = _count(session, raw, {n: places[n] for n in counted}, types, max_values)

    def lookup(name: str, codes: npt.NDArray[np.integer], missing: int) -> CodeLookup:
        return code_lookup(
            tallies[name], places[name], types[name], codes.astype(np.int32), missing
        )

    domains: dict[str, Domain] = {}
    lookups: dict[str, CodeLookup] = {}
    rows: dict[str, Ints] = {}
    for column in (*quasi, *sensitive):
        tally, spec = tallies[column], policy.column_spec(column)
        if column in quasi:
            found = {column: quasi_domain(tally, spec, policy.folder)}
        else:
            both = column in policy.both_spellings
            found = sensitive_readings(tally, spec, policy.folder, both)
        for name, (domain, codes) in found.items():
            domains[name], lookups[name] = domain, lookup(column, codes, domain.missing)
            rows[name] = np.zeros(domain.size, np.int64)
            np.add.at(rows[name], codes, tally.counts)
            if domain.missing >= 0:
                rows[name][domain.missing] += tally.missing
    if policy.predict is not None:
        of, (target_domain, codes) = tallies[policy.predict], quasi_domain(tallies[policy.predict])
        rows_of_target = np.zeros(target_domain.size, np.int64)
        np.add.at(rows_of_target, codes, of.counts)
        if target_domain.missing >= 0:
            rows_of_target[target_domain.missing] += of.missing
        classes = lookup(policy.predict, codes, target_domain.missing)
        of_value = class_of_values(target_domain, rows_of_target)
        some = [(domains[name], lookups[name]) for name in quasi]
        mine = [rows[name] for name in quasi]
        for domain in _steered(session, raw, some, mine, classes, of_value, policy.predict):
            domains[domain.name] = domain
    payload = [*sorted(policy.plain), *sensitive]
    sensitive += tuple(name for name in domains if name not in (*quasi, *sensitive))
    target = None
    if policy.target is not None:  # any numbers that differ for different values
        domain, codes = sensitive_domain(tallies[policy.target], AS_SPELLED)
        target = lookup(policy.target, codes, domain.missing)
    encode = EncodeRows(
        tuple(lookups[name] for name in quasi),
        tuple(lookups[name] for name in sensitive),
        target,
        tuple((places[name], types[name]) for name in payload),
        seed,
        ids,
        tuple(one for one in read if one.name in repeating),
        weight,
        word_layout([domains[name].size for name in quasi]),
    )
    n_rows = _n_rows(tallies[quasi[0]])
    found_in_rows = _encode_rows(session, raw, Witnessed(encode, witness), n_rows, progress)
    hidden = {name: domains[name] for name in sensitive}
    totals = {name: Reference(_known(rows[name], domain)) for name, domain in hidden.items()}
    return EncodedTable(
        domains=tuple(domains[name] for name in quasi),
        sensitive_domains=hidden,
        totals=totals if n_people is None else _totals_of_people(session, hidden),
        rows_of_sensitive={name: rows[name] for name in sensitive},
        n_rows=n_rows,
        rows_of_values=tuple(rows[name] for name in quasi),
        quasi=quasi,
        sensitive=sensitive,
        payload=tuple(payload),
        schema=pa.schema([schema.field(i) for i in range(len(payload))]),
        has_target=target is not None,
        n_people=n_people,
        merged_ids=spellings,
        ids=tuple(repeating.values()),
        has_weights=weight is not None,
        behind=tuple(_behind(tallies[name], types[name]) for name in quasi),
        found=found_in_rows,
    )


def _steered(
    session: Session,
    raw: str,
    columns: "Sequence[tuple[Domain, CodeLookup]]",
    rows: Sequence[Ints],
    target: "CodeLookup",
    of_value: Codes,
    name: str,
) -> list[Domain]:
    """The domains, counting by what they tell about a target, from the pairs of values that occur.

    rows: per column those with each value. of_value: the class of each code of the target. name: that
    of the target.
    """
    domains, n_classes = [domain for domain, _ in columns], int(of_value.max(initial=0)) + 1

    def counted(shape: tuple[int, ...], *some: "tuple[CodeLookup, Codes | None]") -> Ints:
        """Rows by the groups of values of some columns, and by the class of the target."""
        lookups = [*(lookup for lookup, _ in some), target]
        answer = session.query(
            count_combinations(raw, list(dict.fromkeys(each.place for each in lookups)))
        )
        places = []
        for lookup, group in (*some, (target, of_value)):
            codes = lookup(one_chunk(answer.column(lookup.place)))
            places.append(codes if group is None else group[codes])
        counts = np.zeros((*shape, n_classes), np.int64)
        np.add.at(counts, tuple(places), answer.column("n").cast(pa.int64()).to_numpy())
        return counts

    def alone(j: int) -> Ints:
        return counted((domains[j].size,), (columns[j][1], None))

    def together(i: int, j: int, of_i: Codes, of_j: Codes) -> Ints:
        shape = int(of_i.max()) + 1, int(of_j.max()) + 1
        return counted(shape, (columns[i][1], of_i), (columns[j][1], of_j))

    return steered(domains, bits_of_columns(domains, rows, n_classes, name, alone, together))


def _known(rows: Ints, domain: Domain) -> Ints:
    """(size,) the same without the missing value."""
    known = rows.copy()
    if domain.missing >= 0:
        known[domain.missing] = 0
    return known


def _count_people(session: Session, raw: str, ids: "ReadIds") -> int:
    """How many people a table has; raises `InputError` for ids that do not tell them apart."""
    rows, missing, people = _count_ids(session, raw, ids)
    if rows:  # that there are none is said of the table
        check_ids(ids.name, rows, missing, people)
    return people


def _repeating(
    session: Session, raw: str, identifiers: Sequence["ReadIds"]
) -> dict[str, RepeatingIds]:
    """The identifiers that repeat, by name; if there is one, also those that are a person's own."""
    found, any_repeats = {}, False
    for ids in identifiers:
        rows, missing, different = _count_ids(session, raw, ids)
        repeated = different < rows - missing
        any_repeats |= repeated
        if repeated or is_own(ids.name):
            found[ids.name] = RepeatingIds(ids.name, rows - missing, different)
    return found if any_repeats else {}


def _count_ids(session: Session, raw: str, ids: "ReadIds") -> tuple[int, int, int]:
    """All rows, those without an id, and the different ids."""
    table = f"{raw}_people"
    session.map(table, select(raw, [ids.place]), ids, ids.schema, once=True)
    (found,) = session.query(count_ids(table)).to_pylist()
    session.drop(table)
    rows, missing, different = (int(found[name] or 0) for name in ("n", "missing", "people"))
    return rows, missing, different


def _totals_of_people(session: Session, domains: Mapping[str, Domain]) -> dict[str, Reference]:
    """Per sensitive column, the people who have each value in some row."""
    if not domains:
        return {}
    missing = {f"s{i}": domain.missing for i, domain in enumerate(domains.values())}
    answer = session.query(people_with_values(ENCODED, missing)).to_pylist()
    found = {}
    for i, (name, domain) in enumerate(domains.items()):
        mine = [row for row in answer if row["i"] == i]
        counts = np.zeros(domain.size, np.int64)
        for row in mine:
            if row["v"] is not None:
                counts[row["v"]] = row["n"]
        found[name] = Reference(counts, sum(row["n"] for row in mine if row["v"] is None))
    return found


def some_values(
    session: Session, raw: str, place: str, kind: pa.DataType, limit: int = MAX_VALUES
) -> pa.Array:
    """The different values of a column; no more than the limit of them, the others being left out."""
    answer = session.query(value_counts(raw, [place], limit))
    return restore_type(one_chunk(answer.column("v")), kind)


def _count(
    session: Session,
    raw: str,
    places: Mapping[str, str],
    types: Mapping[str, pa.DataType],
    max_values: int,
) -> dict[str, Tally]:
    """The values of all columns and their counts; columns of one type are counted together."""
    by_type: dict[pa.DataType, list[str]] = {}
    for name in places:
        by_type.setdefault(types[name], []).append(name)
    tallies = {}
    # a few more than are too many: null, NaN, and 0 beside -0 are no values of their own
    limit = max_values + 4
    for kind, names in by_type.items():
        answer = session.query(value_counts(raw, [places[name] for name in names], limit))
        complete = len(answer) < len(names) * limit  # else values of any column may be left out
        column = answer.column("i").to_numpy()
        for i, name in enumerate(names if complete else ()):
            mine = answer.filter(pa.array(column == i))
            counts = mine.column("n").cast(pa.int64()).to_numpy()
            values = restore_type(one_chunk(mine.column("v")), kind)
            tallies[name] = tally_of_counts(name, values, counts)
        too_many = (
            [name for name in names if len(tallies[name].values) > max_values]
            if complete
            else names
        )
        if too_many:
            raise _too_many_values(session, raw, {n: places[n] for n in too_many}, max_values)
    if not all(map(_n_rows, tallies.values())):
        raise InputError("The table has column names but no rows: there is nothing to publish.")
    return tallies


def _too_many_values(
    session: Session, raw: str, places: Mapping[str, str], max_values: int
) -> InputError:
    """The error for the column with the most values."""
    counts = {
        name: query_number(session, count_values(raw, place)) for name, place in places.items()
    }
    name = max(counts, key=counts.__getitem__)
    return InputError(
        f"Column '{name}' has {counts[name]:,} distinct values, but a quasi-identifier or sensitive "
        f"column of a table larger than memory may have at most {max_values:,}. Make its values coarser "
        "first (fewer digits, days instead of seconds), or give it the role `identifier`, so that it "
        "is dropped."
    )


def _n_rows(tally: Tally) -> int:
    return int(tally.counts.sum()) + tally.missing


def _encode_rows(
    session: Session, raw: str, witnessed: "Witnessed", n_rows: int, progress: Progress
) -> tuple[str, ...]:
    """Create the encoded table: codes and hashes first, then the order of equal rows. Returns what a
    witness found."""
    encode = witnessed.function
    d, people = len(encode.quasi), encode.person is not None
    ids = [f"i{i}" for i in range(len(encode.ids))]
    weights = [] if encode.weight is None else [WEIGHT]
    codes = [f"c{i}" for i in range(d)]
    numbers = [*codes, *(f"s{i}" for i in range(len(encode.sensitive)))]
    numbers += ["t"] if encode.target else []
    payload = [(f"p{i}", storage_type(kind)) for i, (_, kind) in enumerate(encode.payload)]
    needed = [f"p{i}" for i in range(len(payload) + d + people)]
    places = [one.place for one in encode.ids]
    places += [] if encode.weight is None else [encode.weight.place]
    needed = list(dict.fromkeys((*needed, *places)))
    rows: str = select(raw, needed)
    payload += [
        (f"v{i}", pa.int32() if one.numbers_values else storage_type(one.kind))
        for i, one in enumerate(encode.quasi)
    ]
    head = [("node", pa.int64()), *((name, pa.int32()) for name in numbers)]
    owners = [PERSON] if people else [*weights, *ids]
    head += [(name, pa.int64()) for name in (*owners, "h")]
    head += [(name, pa.int64()) for name in ("key", ALIKE)]
    head += [] if encode.layout is None else [(WORD, pa.int64())]
    schema = pa.schema([*head, *payload])
    schema = schema.append(FOUND)
    with passing(session, progress, COUNTED, HASHED, n_rows):
        session.map(ENCODED, rows, witnessed, schema)
    found = findings(session, ENCODED)
    # most rows have no equal: only those that may have one are numbered among their equals
    doubled, numbered = f"{ENCODED}_doubled", f"{ENCODED}_numbered"
    if isinstance(session, RevisingSession) and not owners:
        session.keep(doubled, count_repeated(ENCODED, ALIKE))
        _number_frequent(session, doubled, [*codes, "h"])
    else:
        session.keep(doubled, repeated_values(ENCODED, ALIKE))
    if query_number(session, count_rows(doubled)):
        # rows that are published alike may be of different people, or stand for more of them
        by = owners or ["h"]
        rows = number_duplicates(ENCODED, schema.names, ALIKE, doubled, [*codes, "h"], by)
        with passing(session, progress, HASHED, 1, None):
            session.map(numbered, rows, AddKey(tuple(schema.names)), schema)
            session.substitute(ENCODED, numbered, ALIKE)
    session.drop(doubled)
    return found


def _number_frequent(session: Session, doubled: str, same: Sequence[str]) -> None:
    """Number those rows among their equals that have many, or all where few are different, as they pass:
    no more of them than a batch are in memory. Others stay in `doubled`.

    same: the columns in which equal rows are equal.
    """
    least = 2 if query_number(session, count_rows(doubled)) <= MOST_NUMBERED else FREQUENT
    frequent = f"{doubled}_frequent"
    session.keep(frequent, frequent_values(doubled, ALIKE, least))
    values = query_number(session, count_rows(frequent))
    # two different rows may share a number by accident: these are left to be compared as they are
    rows = rows_with(ENCODED, [ALIKE, *same], ALIKE, frequent)
    if values and query_number(session, count_different(rows, [ALIKE, *same])) == values:
        answer = session.query(select(frequent, [ALIKE])).column(ALIKE)
        assert isinstance(session, RevisingSession)
        session.revise(ENCODED, NumberEquals(np.sort(answer.to_numpy().astype(np.int64))))
        session.keep(doubled, rare_values(doubled, ALIKE, least))
    session.drop(frequent)


class NumberEquals:
    """Gives each row its key by its number among its equals, in the order in which they pass: these
    differ in nothing that is published."""

    columns = (ALIKE, "h", "key")

    def __init__(self, known: Ints) -> None:
        """known: (m,) what is the same for equal rows, ascending; others keep their keys."""
        self._known, self._lock = known, Lock()
        self._passed = np.zeros(len(known), np.int64)

    def __call__(self, rows: pa.RecordBatch | pa.Table) -> pa.Array | None:
        """(n,) the keys of some rows; None where none changes."""
        alike = rows.column(ALIKE).to_numpy().astype(np.int64, copy=False)
        place = np.searchsorted(self._known, alike)
        place[place == len(self._known)] = 0
        found = np.flatnonzero(self._known[place] == alike)
        if not len(found):
            return None
        place = place[found]
        order = np.argsort(place, kind="stable")
        begins = np.flatnonzero(np.diff(place[order], prepend=-1))
        n = np.diff(begins, append=len(order))
        slots = place[order][begins]
        with self._lock:
            before = self._passed[slots]
            self._passed[slots] += n
        nth = np.empty(len(found), np.int64)
        nth[order] = np.arange(len(order)) + np.repeat(before - begins, n)
        keys = rows.column("key").to_numpy().astype(np.int64)
        hashes = as_unsigned(one_chunk(rows.column("h")))[found]
        keys[found] = as_signed(_stirred(hashes, [nth.astype(np.uint64)]))
        return pa.array(keys)


FOUND = pa.field("found", pa.string())
"""What was found in a batch, beside one of its rows."""


@dataclass(frozen=True)
class Witnessed:
    """A function on batches, and another one that looks at what it is given or at what it returns."""

    function: Any
    """From a batch to a batch, or from a table to a table."""
    witness: Witness | None
    at_result: bool = False
    without: tuple[str, ...] = ()
    """Columns of the result that are needed for the witness alone."""

    @property
    def reads_codes(self) -> bool:
        """Whether the function takes texts as codes too; a witness does."""
        return getattr(self.function, "reads_codes", False)

    @property
    def divisible(self) -> Collection[int]:
        """The keys whose rows the function takes in parts."""
        return getattr(self.function, "divisible", ())

    def __call__(self, batch: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
        """What the function returns, with what was found in the first row of `found`."""
        rows = self.function(batch)
        n = len(rows)
        found = pa.nulls(n, pa.string())
        if self.witness is not None and n:
            text = self.witness(rows if self.at_result else batch)
            found = pa.concat_arrays([pa.array([text], pa.string()), found[1:]])
        if self.without:
            rows = rows.drop_columns(list(self.without))
        return rows.append_column(FOUND, found)


def findings(session: Session, table: str) -> tuple[str, ...]:
    """What a witness found in all batches of a table."""
    return tuple(session.query(present(table, FOUND.name)).column(FOUND.name).to_pylist())


def _is_numbered(kind: pa.DataType) -> bool:
    """Whether values of a type are kept as places of a list: those that are equal are also alike."""
    kind = value_type_of(kind)
    return is_text(kind) or bool(pa.types.is_integer(kind))


def _behind(tally: Tally, kind: pa.DataType) -> pa.Array | None:
    """The values of a column in the order of `CodeLookup`, where rows have places of them."""
    return tally.values.take(pa.array(_lookup_order(tally)[0])) if _is_numbered(kind) else None


def _lookup_order(tally: Tally) -> tuple[Ints, Words | None]:
    """The order of the values in a lookup, and their hashes in it; None where two share one."""
    hashes = words_of(tally.values)
    order = np.argsort(hashes)
    if (np.diff(hashes[order]) == 0).any():
        return np.arange(len(hashes)), None
    return order, hashes[order]


@dataclass(frozen=True)
class CodeLookup:
    """Finds the codes of one column's values."""

    name: str
    place: str
    """The column in the raw table."""
    kind: pa.DataType
    """Its type in the file."""
    hashes: Words | None
    """(m,) the values' hashes, ascending; None where two values share one."""
    values: pa.Array | None
    """(m,) the values themselves, where their hashes are not unique."""
    codes: Codes
    """(m,) the code of each."""
    missing: int
    """The code of the missing value, or -1."""

    @property
    def numbers_values(self) -> bool:
        """Whether rows keep the place of their value, and not the value itself."""
        return _is_numbered(self.kind)

    def __call__(self, column: pa.Array) -> Codes:
        """(n,) the code of each row."""
        return self.codes_of(self.places(column))

    def codes_of(self, places: Codes) -> Codes:
        """(n,) the codes of the values at some places, -1 being the missing one."""
        return np.append(self.codes, self.missing).astype(np.int32)[places]

    def places(self, column: pa.Array) -> Codes:
        """(n,) the place of each row's value in the lookup, -1 for a missing one."""
        coded = with_codes(column, self.kind)
        if not pa.types.is_dictionary(coded.type):
            coded = canonical(countable(self.name, coded)).dictionary_encode()
        at, is_known = self._positions(coded.dictionary)
        indices = coded.indices
        some_missing = indices.null_count > 0
        if some_missing:
            indices = pc.fill_null(indices, -1)
        codes = indices.to_numpy(zero_copy_only=False)
        # a file's dictionary may have values that no row has
        if (some_missing and self.missing < 0) or (
            not is_known.all() and not np.append(is_known, True)[codes].all()
        ):
            raise InputError(
                f"Column '{self.name}' has other values than when it was first read. Do not change "
                "the table during a run; run again."
            )
        return np.append(at, -1).astype(np.int32)[codes]

    def _positions(self, values: pa.Array) -> tuple[npt.NDArray[np.integer], Bools]:
        """(n,) the place of each value, and whether it is there at all."""
        if self.hashes is None:
            at = pc.fill_null(pc.index_in(values, self.values), -1).to_numpy(zero_copy_only=False)
            return at, at >= 0
        hashes = words_of(values)
        at = np.searchsorted(self.hashes, hashes)
        # one more, for hashes above all others: they are compared with one that is not theirs
        return at, np.append(self.hashes, 0)[at] == hashes


def code_lookup(
    tally: Tally, place: str, kind: pa.DataType, codes: Codes, missing: int
) -> CodeLookup:
    """Finds the codes that a tally's values were given."""
    order, hashes = _lookup_order(tally)
    values = tally.values if hashes is None else None
    return CodeLookup(tally.name, place, kind, hashes, values, codes[order], missing)


@dataclass(frozen=True)
class ReadIds:
    """The hash of each person's id, -1 where a row has none."""

    name: str
    place: str
    """The column in the raw table."""
    kind: pa.DataType
    """Its type in the file."""
    missing: tuple[str, ...] = ()
    """Texts that stand for a missing id."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(PERSON, pa.int64())])

    def of(self, batch: pa.RecordBatch) -> Ints:
        """(n,) the people of a batch."""
        column = restore_type(batch.column(self.place), self.kind)
        return person_of_ids(canonical(countable(self.name, column)), self.missing)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The same as a table."""
        return pa.RecordBatch.from_arrays([pa.array(self.of(batch))], schema=self.schema)


@dataclass(frozen=True)
class EncodeRows:
    """Raw rows to encoded ones, with the key of a row that has no equal."""

    quasi: tuple[CodeLookup, ...]
    sensitive: tuple[CodeLookup, ...]
    target: CodeLookup | None
    payload: tuple[tuple[str, pa.DataType], ...]
    """The raw column and the type in the file of each published column but the quasi ones."""
    seed: int
    person: ReadIds | None = None
    """Where people are counted: reads their ids."""
    ids: tuple[ReadIds, ...] = ()
    """Reads the identifiers that repeat, and those that may contradict them."""
    weight: ReadWeights | None = None
    """Reads the sampling weights."""
    layout: WordLayout | None = None
    """Packs the codes of a row into a word, where they fit into one."""

    reads_codes: ClassVar[bool] = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Encode a batch."""
        n = batch.num_rows
        sensitive = [lookup(batch.column(lookup.place)) for lookup in self.sensitive]
        payload = [with_codes(batch.column(place), kind) for place, kind in self.payload]
        columns: dict[str, pa.Array] = {"node": pa.array(np.zeros(n, np.int64))}
        behind = {}
        for i, lookup in enumerate(self.quasi):
            places = lookup.places(batch.column(lookup.place))
            columns[f"c{i}"] = pa.array(lookup.codes_of(places))
            if lookup.numbers_values:
                behind[f"v{i}"] = pa.array(places, mask=places < 0)
        for i, codes in enumerate(sensitive):
            columns[f"s{i}"] = pa.array(codes)
        if self.target is not None:
            columns["t"] = pa.array(self.target(batch.column(self.target.place)))
        if self.person is not None:
            columns[PERSON] = pa.array(self.person.of(batch))
        if self.weight is not None:
            columns[WEIGHT] = pa.array(self.weight.of(batch))
        for i, ids in enumerate(self.ids):
            columns[f"i{i}"] = pa.array(ids.of(batch))
        hashes = hash_rows(n, sensitive, map(spelled, payload), self.seed)
        columns["h"] = pa.array(as_signed(hashes))
        columns["key"] = pa.array(as_signed(_stirred(hashes, [np.zeros(n, np.uint64)])))
        quasi = (columns[f"c{i}"].to_numpy() for i in range(len(self.quasi)))
        cell = _stirred(hashes, (codes.astype(np.uint64) for codes in quasi))
        columns[ALIKE] = pa.array(as_signed(cell))
        if self.layout is not None:
            codes_of_row = [columns[f"c{i}"].to_numpy() for i in range(len(self.quasi))]
            columns[WORD] = pa.array(self.layout.pack(codes_of_row))
        for i, column in enumerate(payload):
            kind = storage_type(column.type)
            is_stored = pa.types.is_dictionary(column.type) and column.type.value_type == kind
            columns[f"p{i}"] = column if is_stored else column.cast(kind)
        for i, lookup in enumerate(self.quasi):
            if not lookup.numbers_values:
                value = restore_type(batch.column(lookup.place), lookup.kind)
                behind[f"v{i}"] = value.cast(storage_type(value.type))
        columns |= behind
        return pa.RecordBatch.from_pydict(columns)


def _stirred(hashes: Words, words: Iterable[Words]) -> Words:
    """(n,) the hashes with some words stirred into them."""
    from shoal.kernels.hashing import stir

    state = hashes.copy()
    for each_word in words:
        stir(state, each_word)
    return state


@dataclass(frozen=True)
class AddKey:
    """Encoded rows with `nth` to encoded rows with `key`, which scatters the rows of a cell."""

    names: tuple[str, ...]
    """The columns to return."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Hash the number of each row among its duplicates into its key."""
        nth = batch.column("nth").cast(pa.int64()).to_numpy(zero_copy_only=False)
        keys = _stirred(as_unsigned(batch.column("h")), [(nth - 1).astype(np.uint64)])
        columns = [
            pa.array(as_signed(keys)) if name == "key" else batch.column(name)
            for name in self.names
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(self.names))


def as_signed(words: Words) -> Ints:
    """Unsigned numbers as signed ones of the same order."""
    return (words ^ SIGN).view(np.int64)


def as_unsigned(numbers: pa.Array) -> Words:
    """The inverse of `as_signed`."""
    signed = numbers.to_numpy(zero_copy_only=False).astype(np.int64)
    return signed.view(np.uint64) ^ SIGN
