"""Where a cut goes through equal values: the row it goes through, and the two parts it makes.

A slice is the rows of a node with one code in one column. The first rows of it in canonical order go
below a cut, the others above.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.engines.large import questions
from shoal.engines.large.session import Session
from shoal.engines.large.tree import Tree, not_after

FEW = 200_000
"""So many rows are put in order to find the one in question; of more, columns are counted first."""
Ints = npt.NDArray[np.int64]


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

    def __init__(self, session: Session, tree: Tree, sets: list[int]) -> None:
        self._session, self._tree, self._sets = session, tree, sets
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
            answer = self._session.ask(questions.spans(self._tree, self._sides(new), self._sets))
            found = {row["part"]: self._part(row) for row in answer.to_pylist()}
            for number, one in enumerate(new):
                self._parts[one] = found[2 * number], found[2 * number + 1]
        return [self._parts[one] for one in asked]

    def values(self, slices: Iterable[Slice], sensitive: int) -> list[Mapping[int, int]]:
        """How often each code of a sensitive column occurs below, in each slice."""
        asked = list(slices)
        new = [one for one in dict.fromkeys(asked) if (one, sensitive) not in self._values]
        if new:
            sides = self._sides(new)
            answer = self._session.ask(questions.tally(self._tree, sides, f"s{sensitive}"))
            found: dict[int, dict[int, int]] = {}
            for part, value, n in zip(
                *(answer[name].to_pylist() for name in ["part", "v", "n"]), strict=True
            ):
                found.setdefault(part, {})[value] = n
            for number, one in enumerate(new):
                self._values[one, sensitive] = found[2 * number]
        return [self._values[one, sensitive] for one in asked]

    def _sides(self, slices: list[Slice]) -> list[dict[int, str]]:
        texts = {}
        for number, (one, last) in enumerate(zip(slices, self.last(slices), strict=True)):
            before = not_after(last, self._tree.columns, one.column)
            side = f"CASE WHEN {before} THEN {2 * number} ELSE {2 * number + 1} END"
            texts[one] = f"CASE WHEN c{one.column} = {one.code} THEN {side} END"
        return by_column(texts)

    def _part(self, row: dict[str, object]) -> Part:
        def ends(side: str) -> Ints:
            return np.array([row[f"{side}{j}"] for j in range(self._tree.columns)], np.int64)

        members = {j: np.array(row[f"m{j}"], np.int64) for j in self._sets}
        return Part(ends("l"), ends("h"), members)

    def _find(self, slices: list[Slice]) -> None:
        """Count columns while many rows are in question, then put the rest in order."""
        if not slices:
            return
        known: dict[Slice, list[str]] = {one: [f"c{one.column} = {one.code}"] for one in slices}
        rows = {one: one.rows for one in slices}
        place = {one: one.below for one in slices}
        for j in range(self._tree.columns):
            many = [one for one in slices if rows[one] * len(slices) > FEW and one.column != j]
            if not many:
                continue
            asked = self._numbered(many, known)
            answer = self._session.ask(questions.tally(self._tree, asked, f"c{j}"))
            part, value, n = (answer[name].to_numpy() for name in ("part", "v", "n"))
            for number, one in enumerate(many):
                mine = np.flatnonzero(part == number)
                mine = mine[np.argsort(value[mine])]
                upto = np.cumsum(n[mine])
                at = int(np.searchsorted(upto, place[one]))
                rows[one] = int(n[mine[at]])
                place[one] -= int(upto[at]) - rows[one]
                known[one].append(f"c{j} = {value[mine[at]]}")
        asked = self._numbered(slices, known)
        places = {number: place[one] for number, one in enumerate(slices)}
        answer = self._session.ask(questions.nth(self._tree, asked, places))
        names = [name for name in answer.column_names if name != "part"]
        for row in answer.to_pylist():
            self._last[slices[row["part"]]] = tuple(row[name] for name in names)

    def _numbered(self, slices: list[Slice], known: dict[Slice, list[str]]) -> list[dict[int, str]]:
        return by_column(
            {
                one: f"CASE WHEN {' AND '.join(known[one])} THEN {number} END"
                for number, one in enumerate(slices)
            }
        )


def by_column(texts: Mapping[Slice, str]) -> list[dict[int, str]]:
    """Texts per node, those of each column together: a row lies in one slice along each column."""
    found: dict[int, dict[int, str]] = {}
    for one, text in texts.items():
        found.setdefault(one.column, {})[one.node] = text
    return list(found.values())
