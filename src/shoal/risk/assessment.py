"""The risk that people are re-identified in a table: prosecutor, journalist and marketer risk.

A prosecutor knows that a person is in the table: the chance to pick the right row is 1 / f, f being the
rows of the person's class. A journalist looks for anybody and knows only that people of the table come
from a population: 1 / F, F being the people of that population in the class. A marketer tries everybody
at once and cares for the share that is right: the mean of 1 / F over all rows, which without a
population is classes / rows.

Source: El Emam, "Guide to the De-Identification of Personal Health Information", 2013, chapter 16;
Dankar and El Emam, "A method for evaluating marketer re-identification risk", EDBT workshops 2010.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.engines.person_key import PersonKey, read_key
from shoal.engines.sessions import LOCAL
from shoal.errors import InputError, percent
from shoal.evidence.estimated_risk import EstimatedRisk
from shoal.evidence.evidence import Histogram
from shoal.evidence.people import PeopleSizes
from shoal.policy import Policy
from shoal.release import Release
from shoal.results import Record, Result
from shoal.risk.population import PopulationUniques, population_uniques
from shoal.risk.table import (
    CountedTable,
    PeopleInMemory,
    TableInMemory,
    count_people_of,
    counted_table,
    read_table,
    require_columns,
    require_memory,
)
from shoal.risk.uniqueness import MinimalUniques

THRESHOLD = 0.2
"""The usual limit: no class below five rows."""


@dataclass(frozen=True)
class Risk:
    """The chance of one attacker to pick the right row."""

    highest: float
    """Of any row."""
    average: float
    """Over all rows."""
    above: float
    """Share of rows with a risk above the threshold."""


@dataclass(frozen=True)
class Reidentification:
    """The risks of the three attackers."""

    rows: int
    classes: int
    """Distinct combinations of the quasi-identifiers."""
    unique_rows: int
    """Rows alone in their class: sample uniques. Where people are counted, rows of classes that hold
    one person only."""
    unique_share: float
    """The same, of all rows; where people are counted, `unique_people` of all people."""
    threshold: float
    prosecutor: Risk
    journalist: Risk
    marketer: float
    """The share of rows that an attacker who tries all of them is expected to get right."""
    basis: Literal["population", "table"]
    """Where the journalist's and the marketer's classes were counted: in a population table, or
    without one in the table itself, which can only overstate the risk."""
    outside: int
    """Rows (or people) in classes with fewer people in the population than here: it cannot hold all.
    They are taken to be as many there as here."""
    people: int | None = None
    """How many people there are, where they were counted: every risk is then that of a person, in the
    class where she shares her values with the fewest others."""
    unique_people: int | None = None
    """People who are alone in a class."""


@dataclass(frozen=True, repr=False)
class Assessment(Result):
    """The disclosure risk of a table."""

    quasi: tuple[str, ...]
    """The columns that an attacker knows."""
    reidentification: Reidentification
    population_uniques: PopulationUniques | None = None
    """Given a sampling fraction."""
    minimal_uniques: MinimalUniques | None = None
    """On request."""
    estimated: EstimatedRisk | None = None
    """The risk in the population, estimated from sampling weights, where there are any."""

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        return asdict(self)

    def _records(self) -> Sequence[Record]:
        risk = self.reidentification
        both = {"prosecutor": risk.prosecutor, "journalist": risk.journalist}
        return [
            *({"attacker": name, **asdict(one)} for name, one in both.items()),
            {"attacker": "marketer", "highest": None, "average": risk.marketer, "above": None},
        ]

    def _headline(self) -> str:
        risk = self.reidentification
        whose = "" if risk.people is None else f" of {risk.people:,} people"
        return (
            f"{risk.rows:,} rows{whose} in {risk.classes:,} classes, "
            f"{percent(risk.unique_share)} unique; "
            f"prosecutor risk {percent(risk.prosecutor.highest)} at most, "
            f"{percent(risk.prosecutor.average)} on average"
        )


def assess(
    data: Any,
    quasi: str | Sequence[str] | None = None,
    *,
    population: Any = None,
    policy: Any = None,
    person: str | None = None,
    weight: str | None = None,
    household: str | None = None,
    key: Any = None,
    fraction: float | None = None,
    msu: int | None = None,
    threshold: float = THRESHOLD,
    engine: str = LOCAL,
    memory: str | None = None,
) -> Assessment:
    """Measure the risk that people are re-identified in a table, raw or published.

    Parameters
    ----------
    data
        A frame, the path of a file, or a `Release`. A Spark frame is counted in Spark.
    quasi
        The columns that an attacker knows; a release or a policy names them already.
    population
        Another table with these columns and a row per person, in which the journalist's and the
        marketer's risk are counted. Labels are read by the policy.
    policy
        The policy of a published table; a `Release` brings its own.
    person
        The column that tells which rows are one person's: people are counted. A policy may name it.
    weight
        The column of sampling weights, from which the risk in the population is estimated. A policy
        may name it; of a release without its weights the estimate of the run is returned.
    household
        The column that tells which rows are one household's, with `weight`.
    key
        The private key of a published table, by which people are counted; a `Release` has its own.
    fraction
        The share of a population that is in the table, to estimate population uniques.
    msu
        The largest set of columns in which minimal sample uniques are searched.
    threshold
        Rows with a risk above it are counted.
    engine, memory
        "spark" or "spark://host:port" counts files, or folders of them, in Spark; a memory limit
        such as "2GB" counts them on disk. `population` and `msu` are not available there.

    Returns
    -------
    Assessment

    Raises
    ------
    InputError
        If a column is missing, or an option cannot be used.
    """
    own: PersonKey | None = None
    of_run: EstimatedRisk | None = None
    if isinstance(data, Release):
        if quasi is None and policy is None and data.measured.weighted is not None:
            of_run = data.measured.weighted.after
        policy, own, data = policy or data.policy, data.key, data.table
    rules = None if policy is None else Policy.load(policy)
    if quasi is None and rules is None:
        raise InputError("Say which columns an attacker knows: quasi=[...], or give a policy.")
    known = [quasi] if isinstance(quasi, str) else list(quasi or (rules.quasi if rules else ()))
    if not 0 < threshold <= 1:
        raise InputError(f"threshold: found {threshold:g}; must be above 0 and at most 1.")
    require_memory(data, engine, memory, population=population, msu=msu, person=person, key=key)
    # a key has all columns of a release; a policy's own person column is in a raw table alone
    named = rules is not None and (rules.person is not None or rules.weight is not None)
    every = key is not None or own is not None or named
    more = [name for name in (person, weight, household) if name is not None]
    wanted = None if every else list(dict.fromkeys((*known, *more)))
    if household is not None and weight is None and (rules is None or rules.weight is None):
        raise InputError(
            "household: the risk of households is estimated from sampling weights. Name their column "
            "with weight=."
        )
    with counted_table(data, wanted, engine=engine, memory=memory) as table:
        table.prepare()
        require_columns(table.names, known, "The table")
        if person is None and rules is not None and rules.person in table.names:
            person = rules.person
            require_memory(data, engine, memory, person=person)
        table = _in_people(table, person, key, own)
        people = None
        if population is not None:
            assert isinstance(table, TableInMemory)
            people = _class_sizes_in(population, table, known, rules)
        found = assessment_of(table, known, fraction, msu, threshold, people)
        if weight is None and rules is not None and rules.weight in table.names:
            weight = rules.weight
        require_columns(table.names, [n for n in (weight, household) if n] or known, "The table")
        if weight is None:
            return replace(found, estimated=of_run)
        return replace(found, estimated=table.estimated_risk(known, weight, threshold, household))


def _in_people(
    table: CountedTable, person: str | None, key: Any, own: PersonKey | None
) -> CountedTable:
    """The table with its people, where they are known: by a column of ids, or by a key."""
    if not isinstance(table, TableInMemory):
        return table
    if person is not None:
        require_columns(table.names, [person], "The table")
        return count_people_of(table, person)
    known = own if key is None else read_key(key, table.names)
    if known is None:
        return table
    people = np.unique(known.people_of(table.table), return_inverse=True)[1].reshape(-1)
    return PeopleInMemory(table, people)


def assessment_of(
    table: CountedTable,
    quasi: Sequence[str],
    fraction: float | None = None,
    msu: int | None = None,
    threshold: float = THRESHOLD,
    population: Ints | None = None,
) -> Assessment:
    """The risks of a table that is open for counting.

    population: (classes,) people of a population in each class.
    """
    if msu is not None and msu < 1:
        raise InputError(f"msu: found {msu}; must be at least 1, the size of the largest set.")
    sizes, times = table.class_sizes(quasi)
    if isinstance(table, PeopleInMemory):
        risk = reidentification_of_people(table.people_sizes(quasi), threshold)
        if population is not None:
            risk = _with_population(risk, table, quasi, population)
    else:
        risk = reidentification(sizes, population, threshold, times)
    return Assessment(
        tuple(quasi),
        risk,
        None if fraction is None else population_uniques(np.repeat(sizes, times), fraction),
        None if msu is None else table.minimal_uniques(quasi, msu),
    )


def reidentification(
    sizes: Ints,
    population: Ints | None = None,
    threshold: float = THRESHOLD,
    times: Ints | None = None,
) -> Reidentification:
    """The risks of a table whose classes have `sizes` rows, and `population` people elsewhere.

    times: how many classes there are of each size, if more than one.
    """
    times = np.ones(len(sizes), np.int64) if times is None else times
    rows_of_size = sizes * times
    rows = int(rows_of_size.sum())
    unique = int(times[sizes == 1].sum())
    people = sizes if population is None else np.maximum(sizes, population)
    journalist = _risk(rows_of_size, people, threshold)
    return Reidentification(
        rows=rows,
        classes=int(times.sum()),
        unique_rows=unique,
        unique_share=unique / rows if rows else 0.0,
        threshold=threshold,
        prosecutor=_risk(rows_of_size, sizes, threshold),
        journalist=journalist,
        marketer=journalist.average,
        basis="table" if population is None else "population",
        outside=0 if population is None else int(rows_of_size[population < sizes].sum()),
    )


def reidentification_of_people(
    found: PeopleSizes, threshold: float = THRESHOLD
) -> Reidentification:
    """The risks of people, each in the smallest class that she has a row in."""
    sizes, times = np.array(found.smallest, np.int64).reshape(-1, 2).T
    risk = _risk(times, sizes, threshold)
    alone = int(times[sizes == 1].sum())
    return Reidentification(
        rows=found.rows,
        classes=sum(times for _, times in found.classes),
        unique_rows=found.alone_rows,
        unique_share=alone / found.people if found.people else 0.0,
        threshold=threshold,
        prosecutor=risk,
        journalist=risk,
        marketer=risk.average,
        basis="table",
        outside=0,
        people=found.people,
        unique_people=alone,
    )


@dataclass(frozen=True)
class RiskChange:
    """The risks of a table before and after it was anonymised, with the same attackers."""

    raw: Reidentification
    now: Reidentification
    counted: Literal["rows", "people"]
    raw_sizes: Histogram
    """How many rows (or people) are in a raw class of each size, ascending."""
    now_sizes: Histogram
    """The same of the release."""

    def below(self, size: int) -> tuple[int, int]:
        """Rows (or people) in classes with fewer than `size`, of the table and of the release."""
        raw, now = (
            sum(units for found, units in sizes if found < size)
            for sizes in (self.raw_sizes, self.now_sizes)
        )
        return raw, now


def risk_change(release: Release[Any], threshold: float = THRESHOLD) -> RiskChange:
    """The risks before and after, from what a run in memory kept of its classes."""
    kept = release.evidence
    if kept.people_before is not None and kept.people_after is not None:
        return RiskChange(
            reidentification_of_people(kept.people_before, threshold),
            reidentification_of_people(kept.people_after, threshold),
            "people",
            kept.people_before.smallest,
            kept.people_after.smallest,
        )

    def risk(found: Histogram) -> Reidentification:
        sizes, times = np.array(found, np.int64).reshape(-1, 2).T
        return reidentification(sizes, None, threshold, times)

    def in_rows(found: Histogram) -> Histogram:
        return tuple((size, size * classes) for size, classes in found)

    before, after = kept.before, kept.after
    return RiskChange(risk(before), risk(after), "rows", in_rows(before), in_rows(after))


def _with_population(
    risk: Reidentification, table: PeopleInMemory, quasi: Sequence[str], population: Ints
) -> Reidentification:
    """The journalist's and the marketer's risk of people, counted in a population."""
    group = table.classes(quasi)[1]
    pairs = np.unique(np.stack([group, table.people]), axis=1)
    here = np.bincount(pairs[0], minlength=len(population))
    smallest = np.full(table.units, np.iinfo(np.int64).max)
    np.minimum.at(smallest, pairs[1], np.maximum(here, population)[pairs[0]])
    journalist = _risk(np.ones(table.units, np.int64), smallest, risk.threshold)
    return replace(
        risk,
        journalist=journalist,
        marketer=journalist.average,
        basis="population",
        outside=len(np.unique(pairs[1][(population < here)[pairs[0]]])),
    )


def _risk(rows: Ints, people: Ints, threshold: float) -> Risk:
    if not len(rows):
        return Risk(0.0, 0.0, 0.0)
    chance, total = 1 / people, rows.sum()
    return Risk(
        highest=float(chance.max()),
        average=float((chance * rows).sum() / total),
        above=float(rows[chance > threshold].sum() / total),
    )


def _class_sizes_in(
    population: Any, table: TableInMemory, quasi: Sequence[str], policy: Policy | None
) -> Ints:
    """(classes,) how many people of a population the labels of each class cover."""
    from shoal.publish.covering import population_of

    people, names, _ = read_table(population)
    require_columns(names, quasi, "The population table")
    first = pa.array(table.classes(quasi)[0])
    labels = {name: table.table.column(name).take(first) for name in quasi}
    how = {name: policy.column_spec(name) for name in policy.quasi} if policy else {}
    folder = policy.folder if policy else Path()
    return population_of(labels, {name: people.column(name) for name in quasi}, how, folder)
