"""The chance that somebody's row is picked out: prosecutor, journalist and marketer risk.

A prosecutor knows that a person is in the table: the chance is 1 / f, f being the rows of the person's
class. A journalist looks for anybody and knows only that people of the table come from a population:
1 / F, F being the people of that population in the class. A marketer tries everybody at once and
cares for the share that is right: the mean of 1 / F over all rows, which without a population is
classes / rows.

Source: El Emam, "Guide to the De-Identification of Personal Health Information", 2013, chapter 16;
Dankar and El Emam, "A method for evaluating marketer re-identification risk", EDBT workshops 2010.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Ints
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.selection import LOCAL, is_out_of_core, is_spark
from shoal.errors import InputError, listed, nearest
from shoal.policy import Policy
from shoal.release import Release
from shoal.risk.columns import Contents, contents_of
from shoal.risk.population import PopulationUniques, population_uniques
from shoal.risk.uniqueness import MinimalUniques, Packed, minimal_uniques

THRESHOLD = 0.2
"""The usual limit: no class below five rows."""


@dataclass(frozen=True)
class Risk:
    """How likely one attacker is to pick the right row."""

    highest: float
    """Of any row."""
    average: float
    """Over all rows."""
    above: float
    """Share of rows with a risk above the threshold."""


@dataclass(frozen=True)
class Reidentification:
    """The three attackers' chances."""

    rows: int
    classes: int
    """Different combinations of the quasi-identifiers."""
    unique_rows: int
    """Rows alone in their class: sample uniques."""
    unique_share: float
    """The same, of all rows."""
    threshold: float
    prosecutor: Risk
    journalist: Risk
    marketer: float
    """The share of rows that somebody who tries all of them is expected to get right."""
    basis: Literal["population", "table"]
    """Where the journalist's and the marketer's classes were counted: in a population table, or for
    want of one in the table itself, which can only overstate the risk."""
    outside: int
    """Rows in classes with fewer people in the population table than here: it cannot hold them all.
    They are taken to be as many there as here."""


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
    every = sizes * times
    rows = int(every.sum())
    unique = int(times[sizes == 1].sum())
    people = sizes if population is None else np.maximum(sizes, population)
    prosecutor, journalist = _risk(every, sizes, threshold), _risk(every, people, threshold)
    return Reidentification(
        rows=rows,
        classes=int(times.sum()),
        unique_rows=unique,
        unique_share=unique / rows if rows else 0.0,
        threshold=threshold,
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=journalist.average,
        basis="table" if population is None else "population",
        outside=0 if population is None else int(every[population < sizes].sum()),
    )


def _risk(sizes: Ints, people: Ints, threshold: float) -> Risk:
    if not len(sizes):
        return Risk(0.0, 0.0, 0.0)
    chance, rows = 1 / people, sizes.sum()
    return Risk(
        highest=float(chance.max()),
        average=float((chance * sizes).sum() / rows),
        above=float(sizes[chance > threshold].sum() / rows),
    )


# The risk figures of any table, raw or published.


@dataclass(frozen=True)
class Assessment:
    """What can be said about the risk of a table."""

    quasi: tuple[str, ...]
    """The columns that an attacker knows."""
    reidentification: Reidentification
    population_uniques: PopulationUniques | None = None
    """With a sampling fraction."""
    minimal_uniques: MinimalUniques | None = None
    """Where asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return asdict(self)


def assess(
    data: Any,
    quasi: Sequence[str] | str | None = None,
    *,
    population: Any = None,
    policy: Any = None,
    fraction: float | None = None,
    msu: int | None = None,
    threshold: float = THRESHOLD,
    engine: str = LOCAL,
    memory: str | None = None,
) -> Assessment:
    """The risk that people are picked out of a table, raw or published.

    `data` is a frame, a file's path or a `Release`. `quasi` are the columns an attacker knows; a
    release or a policy names them already. `population` is another table with these columns and a
    row per person: the journalist's and the marketer's risk are then counted in it, labels being
    read by the policy. `fraction` is the share of a population that is in the table, for an
    estimate of population uniques. `msu` is the largest set of columns in which minimal sample
    uniques are looked for. Rows count as risky above `threshold`.

    A Spark frame is counted in Spark. So are files, or folders of them, with `engine` "spark" or
    "spark://host:port"; with `memory`, such as "2GB", they are counted on disk under that limit.
    There `population` and `msu` are not allowed.
    """
    if isinstance(data, Release):
        policy, data = policy or data.policy, data.table
    asked = None if policy is None else Policy.load(policy)
    if quasi is None and asked is None:
        raise InputError("Say which columns an attacker knows: quasi=[...], or give a policy.")
    chosen = [quasi] if isinstance(quasi, str) else list(quasi or (asked.quasi if asked else ()))
    if not 0 < threshold <= 1:
        raise InputError(f"threshold: found {threshold:g}; must be above 0 and at most 1.")
    if is_spark(data) or is_out_of_core(engine, memory):
        from shoal.risk.out_of_core import assess_elsewhere

        return assess_elsewhere(data, chosen, population, msu, fraction, threshold, engine, memory)
    table = table_of(data)
    require_columns(table.column_names, chosen, "The table")
    columns = [contents_of(name, table.column(name)) for name in chosen]
    heads, sizes = classes_of(columns, table.num_rows)
    people = None
    if population is not None:
        from shoal.publish.covering import population_of

        others = table_of(population)
        require_columns(others.column_names, chosen, "The population table")
        labels = {name: table.column(name).take(pa.array(heads)) for name in chosen}
        rows = {name: others.column(name) for name in chosen}
        how = {name: asked.how(name) for name in asked.quasi} if asked else {}
        people = population_of(labels, rows, how, asked.folder if asked else Path())
    return assessed(columns, sizes, people, fraction, msu, threshold)


def assessed(
    columns: Sequence[Contents],
    sizes: Ints,
    people: Ints | None,
    fraction: float | None,
    msu: int | None,
    threshold: float = THRESHOLD,
) -> Assessment:
    """The figures of columns that are counted already."""
    rows = int(sizes.sum())
    if msu is not None and msu < 1:
        raise InputError(f"msu: found {msu}; must be at least 1, the size of the largest set.")
    return Assessment(
        tuple(column.name for column in columns),
        reidentification(sizes, people, threshold),
        None if fraction is None else population_uniques(sizes, fraction),
        None if msu is None else minimal_uniques(columns, rows, msu),
    )


def classes_of(columns: Sequence[Contents], rows: int) -> tuple[npt.NDArray[np.intp], Ints]:
    """A row of each class, and how many rows it has."""
    numbers = Packed.nothing(rows).beside(columns).numbers
    _, heads, sizes = np.unique(numbers, return_index=True, return_counts=True)
    return heads, sizes.astype(np.int64)


def table_of(data: Any) -> pa.Table:
    """A frame or the table in a file, as Arrow."""
    if isinstance(data, str | Path):
        return LocalFiles().read(Path(data))
    if isinstance(data, pa.Table):
        return data
    table = wrap(data)
    return pa.table({name: table.column(name) for name in table.names})


def require_columns(held: Sequence[str], names: Sequence[str], what: str) -> None:
    """Raise `InputError` unless a table that holds some columns has these."""
    if not names:
        raise InputError(f"{what} needs at least one column that an attacker knows.")
    for name in names:
        if name not in held:
            raise InputError(
                f"{what} has no column '{name}'.{nearest(name, held)} It has: {listed(held)}."
            )
