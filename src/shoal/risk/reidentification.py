"""The chance that somebody's row is picked out: prosecutor, journalist and marketer risk.

A prosecutor knows that a person is in the table: the chance is 1 / f, f being the rows of the person's
class. A journalist looks for anybody and knows only that people of the table come from a population:
1 / F, F being the people of that population in the class. A marketer tries everybody at once and
cares for the share that is right: the mean of 1 / F over all rows, which without a population is
classes / rows.

Source: El Emam, "Guide to the De-Identification of Personal Health Information", 2013, chapter 16;
Dankar and El Emam, "A method for evaluating marketer re-identification risk", EDBT workshops 2010.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
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
