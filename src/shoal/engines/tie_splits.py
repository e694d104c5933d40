"""Where a cut goes through equal values: the row it goes through, and the two parts it makes.

A slice is the rows of a node with one code in one column. The first rows of it in canonical order go
below a cut, the others above.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.arrays import Ints
from shoal.engines import queries as questions
from shoal.engines.base import Session
from shoal.engines.node_histograms import Histograms, label_costs
from shoal.kernels.costs import SET

FEW = 1_000_000
"""So many rows are put in order to find the ones in question; of more, columns are counted first."""
MOST_COUNTS = 500_000
"""Of columns as many together as make at most so many counts; of one there may be more."""


class Slice(NamedTuple):
    """The rows with a code in a column of a node, the first `below` of which part from the others."""

    node: int
    column: int
    code: int
    rows: int
    below: int


@dataclass(frozen=True)
class Part:
    """One side of a slice that is parted."""

    low: Ints
    """(d,)"""
    high: Ints
    members: dict[int, Ints]
    """Per set column, the codes that occur."""


class Slices:
    """What is known of the slices of a round; each thing is asked once."""

    def __init__(
        self, session: Session, table: str, sizes: Sequence[int], sets: Sequence[int]
    ) -> None:
        """sizes: of the quasi-identifiers, how many codes each has."""
        self._session, self._table, self._sizes, self._sets = session, table, sizes, sets
        self._columns = len(sizes)
        self._last: dict[Slice, tuple[int, ...]] = {}
        self._parts: dict[Slice, tuple[Part, Part]] = {}
        self._values: dict[tuple[Slice, int], Mapping[int, int]] = {}

    def last(self, slices: Iterable[Slice]) -> list[tuple[int, ...]]:
        """The last row below of each slice, as (c0, ..., key, h)."""
        asked = list(slices)
        self._find([one for one in dict.fromkeys(asked) if one not in self._last])
        return [self._last[one] for one in asked]

    def parts(self, slices: Iterable[Slice]) -> list[tuple[Part, Part]]:
        """What both sides of each slice cover."""
        asked = list(slices)
        new = [one for one in dict.fromkeys(asked) if one not in self._parts]
        if new:
            pieces = self._sides(new)
            sql = questions.spans(self._table, self._columns, pieces, self._sets)
            found = {row["part"]: self._part(row) for row in self._session.ask(sql).to_pylist()}
            for number, one in enumerate(new):
                self._parts[one] = found[2 * number], found[2 * number + 1]
        return [self._parts[one] for one in asked]

    def values(self, slices: Iterable[Slice], sensitive: int) -> list[Mapping[int, int]]:
        """How often each code of a sensitive column occurs below, in each slice."""
        asked = list(slices)
        new = [one for one in dict.fromkeys(asked) if (one, sensitive) not in self._values]
        if new:
            found: dict[int, dict[int, int]] = {}
            part, values, n = self._tally(self._sides(new), [f"s{sensitive}"])
            for at, value, rows in zip(part, values[:, 0], n, strict=True):
                found.setdefault(int(at), {})[int(value)] = int(rows)
            for number, one in enumerate(new):
                self._values[one, sensitive] = found[2 * number]
        return [self._values[one, sensitive] for one in asked]

    def _tally(self, pieces: list[questions.Piece], columns: list[str]) -> tuple[Ints, Ints, Ints]:
        """Piece, (entries, columns) codes and rows."""
        answer = self._session.ask(questions.piece_tally(self._table, pieces, columns))
        part, n = (answer[name].to_numpy().astype(np.int64) for name in ("part", "n"))
        codes = [answer[f"v{i}"].to_numpy().astype(np.int64) for i in range(len(columns))]
        return part, np.stack(codes, axis=1), n

    def _sides(self, slices: list[Slice]) -> list[questions.Piece]:
        return [
            questions.Piece(number, one.node, one.column, one.code, last=last)
            for number, (one, last) in enumerate(zip(slices, self.last(slices), strict=True))
        ]

    def _part(self, row: dict[str, object]) -> Part:
        def ends(side: str) -> Ints:
            return np.array([row[f"{side}{j}"] for j in range(self._columns)], np.int64)

        members = {j: np.array(row[f"m{j}"], np.int64) for j in self._sets}
        return Part(ends("l"), ends("h"), members)

    def _together(self, first: int, slices: int) -> range:
        """The columns from the first on that are counted at once."""
        counts, end = slices * self._sizes[first], first + 1
        while end < self._columns and counts * self._sizes[end] <= MOST_COUNTS:
            counts *= self._sizes[end]
            end += 1
        return range(first, end)

    def _find(self, slices: list[Slice]) -> None:
        """Count columns while many rows are in question, then put the rest in order."""
        if not slices:
            return
        first: dict[Slice, tuple[int, ...]] = dict.fromkeys(slices, ())
        rows = {one: one.rows for one in slices}
        place = {one: one.below for one in slices}
        counted = 0
        while many := [one for one in slices if rows[one] * len(slices) > FEW]:
            if counted == self._columns:
                break
            together = self._together(counted, len(many))
            part, codes, n = self._tally(_pieces(many, first), [f"c{j}" for j in together])
            order = np.lexsort((*codes.T[::-1], part))
            ends = np.searchsorted(part[order], np.arange(len(many) + 1))
            for one, begin, end in zip(many, ends[:-1], ends[1:], strict=True):
                mine = order[begin:end]
                upto = np.cumsum(n[mine])
                at = int(np.searchsorted(upto, place[one]))
                rows[one] = int(n[mine[at]])
                place[one] -= int(upto[at]) - rows[one]
                first[one] += tuple(codes[mine[at]].tolist())
            counted = together.stop
        places = {number: place[one] for number, one in enumerate(slices)}
        sql = questions.nth(self._table, self._columns, _pieces(slices, first), places)
        answer = self._session.ask(sql)
        names = [name for name in answer.column_names if name != "part"]
        for row in answer.to_pylist():
            self._last[slices[row["part"]]] = tuple(row[name] for name in names)


def _pieces(slices: list[Slice], first: Mapping[Slice, tuple[int, ...]]) -> list[questions.Piece]:
    return [
        questions.Piece(number, one.node, one.column, one.code, first[one])
        for number, one in enumerate(slices)
    ]


# What it would lose to cut through equal values, column by column.


NEVER = np.iinfo(np.int64).max


def sized_losses(
    seen: Histograms,
    slices: Slices,
    groups: Ints,
    below: Ints,
    place: Callable[[int, int], tuple[int, int]],
    every: bool,
) -> Ints:
    """(n, d) loss of cutting each node along each column with below[g] rows below.

    Unless `every` loss is wanted, those surely above the least are NEVER. What a cut through equal
    values loses lies between what it would lose without them and with all of them on both sides: only
    columns that may be the best are looked at closely.
    """
    d = len(seen.along)
    least = np.empty((len(groups), d), np.int64)
    most = np.empty((len(groups), d), np.int64)
    at: dict[tuple[int, int], tuple[int, int]] = {}
    for j, along in enumerate(seen.along):
        upto, after = seen.label_up_to(j), seen.label_from(j)
        for i, g in enumerate(groups):
            entry, extra = at[i, j] = place(int(g), j)
            n, above = int(below[g]), int(seen.rows[g] - below[g])
            before = upto[entry - 1] if entry > along.starts[g] else 0
            if extra == 0:
                least[i, j] = most[i, j] = n * before + above * after[entry]
                continue
            behind = after[entry + 1] if entry + 1 < along.starts[g + 1] else 0
            least[i, j] = n * before + above * behind
            most[i, j] = n * upto[entry] + above * after[entry]
    open_ones = least < most
    if not every:
        possible = least <= most.min(axis=1, keepdims=True)
        most[~possible] = NEVER
        # where one column is left, what it loses does not matter
        open_ones &= possible & (possible.sum(axis=1, keepdims=True) > 1)
    asked = list(zip(*np.nonzero(open_ones), strict=True))
    wanted = [slice_at(seen, int(groups[i]), int(j), *at[i, j]) for i, j in asked]
    for (i, j), parts in zip(asked, slices.parts(wanted), strict=True):
        g, (entry, _) = int(groups[i]), at[i, j]
        n, above = int(below[g]), int(seen.rows[g] - below[g])
        under = _cost(seen, g, int(j), entry, parts[0], forward=True)
        most[i, j] = n * under + above * _cost(seen, g, int(j), entry, parts[1], forward=False)
    return most


def slice_at(seen: Histograms, group: int, column: int, entry: int, extra: int) -> Slice:
    """The slice that a cut goes through."""
    along = seen.along[column]
    rows = int(along.count[entry])
    return Slice(int(seen.nodes[group]), column, int(along.code[entry]), rows, extra)


def _cost(seen: Histograms, g: int, j: int, entry: int, part: Part, forward: bool) -> int:
    """What the label costs of the rows before (or after) an entry and a part of its slice."""
    along = seen.along[j]
    code = along.code[entry]
    others = slice(along.starts[g], entry) if forward else slice(entry + 1, along.starts[g + 1])
    total = 0
    for i, other in enumerate(seen.along):
        if seen.costs.kind[i] == SET:
            mine = slice(other.starts[g], other.starts[g + 1])
            there = other.low[mine, j] < code if forward else other.high[mine, j] > code
            if i == j:
                there = other.code[mine] < code if forward else other.code[mine] > code
            members = int((there | np.isin(other.code[mine], part.members[i])).sum())
            low = high = members
        else:
            low = int(min(along.low[others, i].min(initial=part.low[i]), part.low[i]))
            high = int(max(along.high[others, i].max(initial=part.high[i]), part.high[i]))
            members = 0
        ends = np.array([low]), np.array([high])
        total += int(label_costs(seen.costs, i, *ends, np.array([members]))[0])
    return total
