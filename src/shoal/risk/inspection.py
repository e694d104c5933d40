"""Inspect a table before it is published: what each column is, and who stands out.

Counts and column names only: no value of the table is in the result, but likely codes for missing
values.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import comb
from typing import Any

from shoal.engines.sessions import LOCAL
from shoal.errors import InputError, percent
from shoal.evidence.estimated_risk import THRESHOLD as USUAL_LIMIT
from shoal.evidence.estimated_risk import EstimatedRisk
from shoal.io.address import Place, as_place
from shoal.policy.reading import AS_WRITTEN, Reading
from shoal.progress import Clock, ProgressCallback, ignore_event
from shoal.results import Record, Result
from shoal.risk.assessment import Reidentification, assessment_of
from shoal.risk.columns import (
    Contents,
    Role,
    Suggestion,
    Treatment,
    Type,
    look_alike_warnings,
    quasi_treatment,
    suggest,
)
from shoal.risk.derived import with_derived_of
from shoal.risk.generalisation import FEW_LEVELS, hierarchies, hierarchy_of, kind_of
from shoal.risk.people import with_person
from shoal.risk.population import PopulationUniques
from shoal.risk.protection import Protection, protection_of
from shoal.risk.table import (
    CountedTable,
    TableInMemory,
    count_people_of,
    counted_table,
    require_columns,
    require_memory,
    require_rows,
)
from shoal.risk.undecided import K, with_undecided
from shoal.risk.uniqueness import (
    LARGEST_SET,
    THRESHOLD,
    MinimalUniques,
    Search,
    most_sets,
    search,
)

OF_PEOPLE = Suggestion("person", "dropped", "given as the column that tells people apart")
OF_WEIGHT = Suggestion("weight", "read", "given as the column of sampling weights")


@dataclass(frozen=True)
class ColumnReport:
    """The counts of one column, with a suggested role."""

    name: str
    type: str
    """The type of the values, for people."""
    distinct: int
    """Distinct values, not counting missing."""
    missing: int
    """Rows without a value."""
    unique_alone: float
    """Share of rows that no other row equals in this column."""
    unique_caused: float | None
    """Share of rows that are unique on all suspected quasi-identifiers, but would not be without
    this one; None for columns that are not suspected."""
    role: Role
    """The suggested role."""
    treatment: Treatment
    """How the column is then published: `ordered`, `unordered`, `mask` or `date` generalise it,
    `kept` leaves it, `dropped` and `read` do not publish it."""
    reason: str
    """Why, in one sentence."""
    read_as: str = ""
    """Why the values were taken for what they are."""
    written: dict[str, str] = field(default_factory=dict)
    """How texts are written, as keys of a policy, where that is not as plain numbers or ISO dates."""
    question: str = ""
    """What is not certain about the values; empty where nothing is."""
    answers: tuple[str, ...] = ()
    """The lines of a policy of which one answers the question."""
    likely_missing: tuple[str, ...] = ()
    """Values such as `NA` or -9 that are likely to stand for a missing one."""
    blank: bool = False
    """Whether some texts are empty or only spaces, which stands for a missing value too."""
    identifiers: tuple[str, ...] = ()
    """Direct identifiers that its cells are or contain, with their share."""
    alone_in_group: float | None = None
    """Share of people who would be alone with their value in a group of 5, for columns that are plain
    or undecided."""
    as_quasi: Treatment = "unordered"
    """How it would be generalised as a quasi-identifier."""
    protection: Protection | None = None
    """The constraint that it needs as a sensitive column; None for data that cannot be counted."""


@dataclass(frozen=True, repr=False)
class Inspection(Result):
    """What there is to know about a table before choosing a policy."""

    rows: int
    columns: tuple[ColumnReport, ...]
    """In the table's order."""
    unique_rows: int
    """Rows that no other row equals in all suspected quasi-identifiers; where people are counted,
    people who are alone in a class of these."""
    unique_share: float
    """The same, of all rows or people."""
    keys: tuple[str, ...]
    """Columns in which every row has a value of its own."""
    search: Search
    """The smallest sets of suspected quasi-identifiers that single people out."""
    risk: Reidentification
    """The re-identification risk by the suspected quasi-identifiers."""
    population_uniques: PopulationUniques | None = None
    """People who are unique in the population, estimated from a sampling fraction."""
    minimal_uniques: MinimalUniques | None = None
    """The smallest sets of suspected quasi-identifiers that single each row out."""
    warnings: tuple[str, ...] = ()
    """What was guessed to read the file."""
    read: dict[str, Any] = field(default_factory=dict)
    """How the table is written, as under `read` in a policy, where that is not as usual."""
    hierarchies: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    """A hierarchy for each column as a quasi-identifier, as a policy writes it. Trees list values of the
    table, and are in no other output than a draft."""
    people: int | None = None
    """How many people there are, where a column of people was given or found: they are then counted in
    place of rows. Where one is only found, tables larger than memory are counted in rows."""
    estimated: EstimatedRisk | None = None
    """The risk in the population by the suspected quasi-identifiers, where a column has sampling
    weights."""

    @property
    def quasi(self) -> tuple[str, ...]:
        """The suspected quasi-identifiers."""
        return tuple(column.name for column in self.columns if column.role == "quasi")

    @property
    def suggested_k(self) -> int:
        """The k that a draft begins with: 5, unless there are fewer rows or people."""
        ids = (column.distinct for column in self.columns if column.role == "person")
        return min(K, self.rows, *ids)

    @property
    def rows_for_people(self) -> str:
        """A sentence about what figures count where a column seems to tell people apart; empty where
        there is none, or it was given."""
        ids = [column.name for column in self.columns if column.role == "person"]
        if not ids or any(column.reason == OF_PEOPLE.reason for column in self.columns):
            return ""
        if self.people is not None:
            return (
                f"These figures count people, by the values of {ids[0]}, and not rows: with `person` "
                "(--person) another column tells them apart."
            )
        return (
            "These figures count rows, of which a person may have several. People are counted of tables "
            f"in memory, with `person` (--person {ids[0]})."
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns whose role only a person can choose."""
        return tuple(column.name for column in self.columns if column.role == "undecided")

    def generalisation(self, column: ColumnReport) -> dict[str, Any]:
        """How a draft makes a column coarser as a quasi-identifier: its kind, where it has one, and its
        hierarchy, as a policy writes them."""
        how: dict[str, Any] = {}
        if kind := kind_of(column.as_quasi):
            how["kind"] = kind
        hierarchy = self.hierarchies.get(column.name)
        if hierarchy and not (
            "date" in hierarchy and kind
        ):  # a preset publishes years, which have none
            how["hierarchy"] = hierarchy
        return how

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        searched = {**asdict(self.search), "bounded": self.search.bounded}
        shown = {name: one for name, one in self.hierarchies.items() if "tree" not in one}
        found = {**asdict(self), "quasi": list(self.quasi), "search": searched}
        return {**found, "hierarchies": shown, "undecided": list(self.undecided)}

    def _records(self) -> Sequence[Record]:
        return [asdict(column) for column in self.columns]

    def _headline(self) -> str:
        whose = "" if self.people is None else f" of {self.people:,} people"
        return (
            f"{self.rows:,} rows{whose}, {len(self.columns)} columns, {len(self.quasi)} suspected "
            f"quasi-identifiers on which {percent(self.unique_share)} of the "
            f"{'rows' if self.people is None else 'people'} are unique"
        )


def inspect(
    data: Any,
    *,
    person: str | None = None,
    weight: str | None = None,
    fraction: float | None = None,
    msu: int | None = None,
    engine: str = LOCAL,
    memory: str | None = None,
    read: Reading = AS_WRITTEN,
    progress: ProgressCallback = ignore_event,
) -> Inspection:
    """Count the columns of a table, suggest their roles and search for people who stand out.

    Parameters
    ----------
    data
        A frame, or the path of a file. With an engine or a memory limit it may be a folder of part
        files and need not fit into memory; a Spark frame is counted in Spark.
    person
        The column that tells which rows are one person's: people are counted in place of rows.
    weight
        The column of sampling weights, from which the risk in the population is estimated; found by
        its name when left out.
    fraction
        The share of a population that is in the table, to estimate population uniques.
    msu
        The largest set of columns in which minimal sample uniques are searched; in memory only.
    engine, memory
        "spark" or "spark://host:port", or a memory limit such as "2GB".
    read
        How the table is written; detected when left out.
    progress
        Called with a `ProgressEvent` now and then.

    Returns
    -------
    Inspection

    Raises
    ------
    InputError
        If the table cannot be read or has no rows.
    """
    require_memory(data, engine, memory, msu=msu, person=person)
    clock = Clock(progress)
    with counted_table(data, read=read, engine=engine, memory=memory, clock=clock) as table:
        if person is not None:
            assert isinstance(table, TableInMemory)
            require_columns(table.names, [person], "The table")
            table = count_people_of(table, person)
        if weight is not None:
            require_columns(table.names, [weight], "The table")
        found = inspection_of(table, fraction, msu, clock, person, weight)
    place = as_place(data)
    require_rows(found.rows, str(place) if isinstance(place, Place) else "The table")
    return found


def inspection_of(
    table: CountedTable,
    fraction: float | None = None,
    msu: int | None = None,
    clock: Clock | None = None,
    person: str | None = None,
    weight: str | None = None,
) -> Inspection:
    """The inspection of a table that is open for counting; see `inspect`.

    person: the column of people, where these are counted. weight: that of sampling weights.
    """
    clock = clock or Clock()
    with clock.step("count") as progress:
        contents = table.count(progress)
    given = {person: OF_PEOPLE, weight: OF_WEIGHT}
    suggested = [given.get(column.name) or suggest(column) for column in contents]
    if person is None:
        suggested = with_person(table, contents, suggested)
    suggested = _one_weight(table, contents, suggested, weight is not None)
    suggested = with_derived_of(table, contents, suggested)
    suggested, alone = with_undecided(table, contents, suggested)
    ids = next((c for c, s in zip(contents, suggested, strict=True) if s.role == "person"), None)
    people, doubted, rows_table = person, tuple[str, ...](), table
    if person is None and ids is not None and msu is None and isinstance(table, TableInMemory):
        try:
            table, people = count_people_of(table, ids.name), ids.name
        except InputError as error:  # rows without an id, of which the publisher must think
            doubted = (str(error),)
    quasi = [c for c, s in zip(contents, suggested, strict=True) if s.role == "quasi"]
    names = [column.name for column in quasi]
    rows, units, queries = table.rows, table.units, 0

    def share(count: int) -> float:
        return count / units if units else 0.0

    def protected(column: Contents, role: Role) -> Protection | None:
        if column.type == Type.OTHER:
            return None
        if ids is None or role not in ("sensitive", "undecided"):
            return protection_of(column)
        people = table.people_of_values(ids.name, column)
        return protection_of(column, people=people, units=ids.size)

    def alone_on(column: Contents) -> float:
        return share(column.unique_rows if people is None else table.unique_rows([column.name]))

    with clock.step("search") as progress, table.watched(progress):

        def advance() -> None:
            nonlocal queries
            queries += 1
            progress(_search_progress(queries, rows, len(quasi)))

        def unique_rows(_: int, columns: Sequence[Contents]) -> int:
            found = table.unique_rows([column.name for column in columns])
            advance()
            return found

        unique = unique_rows(rows, quasi)
        caused: dict[str, float] = {}
        for name, left in zip(names, table.unique_without_each(names), strict=True):
            caused[name] = share(unique - left)
            advance()
        sets = search(quasi, units, unique_rows)
        risk = assessment_of(table, names, fraction, msu)
        found = [c.name for c, s in zip(contents, suggested, strict=True) if s.role == "weight"]
        given_weight = weight is not None
        try:
            estimated, doubts = _estimated(table, names, found, given_weight)
        except InputError:
            if person is not None or people is None:
                raise
            # people were only suspected, and their rows have different weights
            estimated, doubts = _estimated(rows_table, names, found, given_weight)
    sensitive = [c for c, s in zip(contents, suggested, strict=True) if s.role == "sensitive"]
    alike = [text for column in sensitive for text in look_alike_warnings(column)]
    return Inspection(
        rows=rows,
        columns=tuple(
            ColumnReport(
                name=column.name,
                type=column.type.value,
                distinct=column.distinct,
                missing=column.missing,
                unique_alone=alone_on(column),
                unique_caused=caused.get(column.name),
                role=suggestion.role,
                treatment=suggestion.treatment,
                reason=_reason(suggestion, alone_on(column)),
                read_as=column.read_as,
                written=column.written.needed,
                question=column.question,
                answers=column.answers,
                likely_missing=column.likely_missing,
                blank=column.blank,
                identifiers=tuple(one.words for one in column.identifiers),
                alone_in_group=alone.get(column.name),
                as_quasi=quasi_treatment(column),
                protection=protected(column, suggestion.role),
            )
            for column, suggestion in zip(contents, suggested, strict=True)
        ),
        unique_rows=unique,
        unique_share=share(unique),
        keys=tuple(column.name for column in contents if rows > 1 and column.unique_rows == rows),
        search=sets,
        risk=risk.reidentification,
        population_uniques=risk.population_uniques,
        minimal_uniques=risk.minimal_uniques,
        warnings=(*table.warnings, *doubted, *doubts, *alike),
        read=_read(table, contents),
        hierarchies=_hierarchies(contents, quasi),
        people=None if people is None else units,
        estimated=estimated,
    )


def _estimated(
    table: CountedTable, quasi: Sequence[str], weights: Sequence[str], given: bool
) -> tuple[EstimatedRisk | None, tuple[str, ...]]:
    """The risk in the population by the weights that were found or given, and what is wrong with
    weights that were found."""
    if not weights or not quasi:
        return None, ()
    try:
        return table.estimated_risk(quasi, weights[0], USUAL_LIMIT), ()
    except InputError as error:
        if given:
            raise
        return None, (str(error),)


def _one_weight(
    table: CountedTable, contents: Sequence[Contents], suggested: Sequence[Suggestion], given: bool
) -> list[Suggestion]:
    """The suggestions with one weight, the given one or the first; others are left out, and so is one
    that differs between the rows of a person; where people were given, that is a warning instead."""
    found = list(suggested)
    weights = [i for i, one in enumerate(found) if one.role == "weight"]
    kept = [i for i in weights if not given or found[i] is OF_WEIGHT][:1]
    suspected = [i for i, one in enumerate(found) if one.role == "person" and one is not OF_PEOPLE]
    people = [contents[i].name for i in suspected]
    for i in weights:
        pair = [*people, contents[i].name]
        if i not in kept:
            why = "a survey weight beside another, by which the population is estimated"
            found[i] = Suggestion("identifier", "dropped", why)
        elif people and not given and table.classes_on(pair) > table.classes_on(people):
            why = f"a survey weight, but rows with the same {people[0]} have different ones"
            found[i] = Suggestion("identifier", "dropped", why)
    return found


def _reason(suggestion: Suggestion, alone: float) -> str:
    """The reason of a role, with a warning about quasi columns that single people out alone."""
    if suggestion.role != "quasi" or alone < THRESHOLD:
        return suggestion.reason
    return f"{suggestion.reason}; alone it makes {percent(alone)} of the rows unique"


def _hierarchies(
    contents: Sequence[Contents], quasi: Sequence[Contents]
) -> dict[str, dict[str, Any]]:
    """A hierarchy for every column that can have one, with the levels that all quasi columns allow."""
    others = [c for c in contents if c.distinct and c.type != Type.OTHER]
    return {c.name: hierarchy_of(c, FEW_LEVELS) for c in others} | hierarchies(quasi)


def _read(table: CountedTable, contents: Sequence[Contents]) -> dict[str, Any]:
    """What a policy should say about how the table is written; formats of dates are per column."""
    options, found = table.options, dict[str, Any]()
    if options.header is False or table.read.file.header:  # given: without it the run would ask
        found["header"] = options.header
    if options.names is not None:
        found |= {"header": options.has_header, "names": list(options.names)}
    if options.footer:
        found["footer"] = options.footer
    if options.sheet is not None:
        found["sheet"] = options.sheet
    if options.skip:
        found["skip"] = options.skip
    if options.labels is False:
        found["labels"] = False
    usual = {"separator": ",", "quote": '"', "encoding": "utf-8"}
    given = {"separator": options.separator, "quote": options.quote, "encoding": options.encoding}
    found |= {key: one for key, one in given.items() if one not in (None, usual[key])}
    found |= table.read.values
    for key in ("decimal", "thousands"):
        marks = {mark for column in contents if (mark := column.written.needed.get(key))}
        if len(marks) == 1:
            found.setdefault(key, marks.pop())
    if "decimal" in found and found["decimal"] == found.get("thousands"):
        del found["decimal"], found["thousands"]  # columns differ, so each is detected by itself
    return found


def _search_progress(queries: int, rows: int, d: int) -> float:
    """The share of the search that is done after some counts of unique rows on up to d columns.

    Rows are counted once with all columns and once without each, which is taken for half of the work,
    and then for sets of columns, of which there may be fewer than expected here.
    """
    first = 1 + d
    if queries <= first:
        return queries / first / 2
    sets = sum(min(comb(d, n), most_sets(rows)) for n in range(1, LARGEST_SET + 1))
    return 0.5 + 0.5 * min(1.0, (queries - first) / (sets + 1))
