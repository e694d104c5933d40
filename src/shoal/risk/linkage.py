"""What people linked to rows give away: who is pinned, and how good a guess is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.publish.covering import distinct_texts
from shoal.risk.linking import Linked, values_of
from shoal.risk.told import Told

Ints = npt.NDArray[np.int64]
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
    from shoal.kernels.covering import guesses

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


def _truth(
    name: str, known: pa.Table, texts: Sequence[str]
) -> tuple[Ints, npt.NDArray[np.bool_]] | None:
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
    times: npt.NDArray[np.float64],
    rows: int,
    truth: tuple[Ints, npt.NDArray[np.bool_]] | None,
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
