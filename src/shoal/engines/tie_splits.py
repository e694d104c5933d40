"""Cuts through equal values: the last row below such a cut, and what its two sides hold.

A tie is the rows of a node with one code in one column. The first of them in canonical order go below
the cut, the others above.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.engines import queries
from shoal.engines.sessions import Session
from shoal.methods.partition_histograms import Tie, TieSide

FEW = 1_000_000
"""Up to this many rows are sorted to find the last one below; of more, columns are counted first, and of
rows that are equal in all of them the keys, which are random."""
KEY_BITS = 64
PARTS = 8
"""Parts of the keys of equal rows for each that is to be sorted: few of them are larger than that."""
MOST_COUNTS = 500_000
"""As many columns are counted together as give at most this many counts; one alone may give more."""


class TieSplits:
    """What is known of the ties of a round; everything is queried once."""

    def __init__(
        self, session: Session, table: str, sizes: Sequence[int], sets: Sequence[int]
    ) -> None:
        """sizes: of the quasi-identifiers, how many codes each has."""
        self._session, self._table, self._sizes, self._sets = session, table, sizes, sets
        self._columns = len(sizes)
        self._last: dict[Tie, tuple[int, ...]] = {}
        self._sides_of: dict[Tie, tuple[TieSide, TieSide]] = {}
        self._values: dict[tuple[Tie, int], Mapping[int, int]] = {}

    def last(self, ties: Iterable[Tie]) -> list[tuple[int, ...]]:
        """The last row below of each tie, as (c0, ..., key, h)."""
        wanted = list(ties)
        self._find([one for one in dict.fromkeys(wanted) if one not in self._last])
        return [self._last[one] for one in wanted]

    def sides(self, ties: Iterable[Tie]) -> list[tuple[TieSide, TieSide]]:
        """What both sides of each tie cover."""
        wanted = list(ties)
        new = [one for one in dict.fromkeys(wanted) if one not in self._sides_of]
        if new:
            pieces = self._pieces_of(new)
            sql = queries.piece_spans(self._table, self._columns, pieces, self._sets)
            found = {row["part"]: self._side(row) for row in self._session.query(sql).to_pylist()}
            for number, one in enumerate(new):
                self._sides_of[one] = found[2 * number], found[2 * number + 1]
        return [self._sides_of[one] for one in wanted]

    def values(self, ties: Iterable[Tie], sensitive: int) -> list[Mapping[int, int]]:
        """How often each code of a sensitive column occurs below, in each tie."""
        wanted = list(ties)
        new = [one for one in dict.fromkeys(wanted) if (one, sensitive) not in self._values]
        if new:
            found: dict[int, dict[int, int]] = {}
            part, values, n = self._tally(self._pieces_of(new), [f"s{sensitive}"])
            for at, value, rows in zip(part, values[:, 0], n, strict=True):
                found.setdefault(int(at), {})[int(value)] = int(rows)
            for number, one in enumerate(new):
                self._values[one, sensitive] = found[2 * number]
        return [self._values[one, sensitive] for one in wanted]

    def _tally(self, pieces: list[queries.Piece], columns: list[str]) -> tuple[Ints, Ints, Ints]:
        """Piece, (entries, columns) codes and rows."""
        answer = self._session.query(queries.piece_counts(self._table, pieces, columns))
        part, n = (_numbers(answer[name]) for name in ("part", "n"))
        codes = [_numbers(answer[f"v{i}"]) for i in range(len(columns))]
        return part, np.stack(codes, axis=1), n

    def _pieces_of(self, ties: list[Tie]) -> list[queries.Piece]:
        return [
            queries.Piece(number, one.node, one.column, one.code, last=last)
            for number, (one, last) in enumerate(zip(ties, self.last(ties), strict=True))
        ]

    def _side(self, row: dict[str, object]) -> TieSide:
        def ends(side: str) -> Ints:
            return np.array([row[f"{side}{j}"] for j in range(self._columns)], np.int64)

        members = {j: np.array(row[f"m{j}"], np.int64) for j in self._sets}
        return TieSide(ends("l"), ends("h"), members)

    def _together(self, first: int, ties: int) -> range:
        """The columns from the first on that are counted at once."""
        counts, end = ties * self._sizes[first], first + 1
        while end < self._columns and counts * self._sizes[end] <= MOST_COUNTS:
            counts *= self._sizes[end]
            end += 1
        return range(first, end)

    def _find(self, ties: list[Tie]) -> None:
        """Count columns while many rows are in question, then put the rest in order."""
        if not ties:
            return
        first: dict[Tie, tuple[int, ...]] = dict.fromkeys(ties, ())
        rows = {one: one.rows for one in ties}
        place = {one: one.below for one in ties}
        counted, keys = 0, dict[Tie, tuple[int, int]]()
        while many := [one for one in ties if rows[one] * len(ties) > FEW]:
            if counted == self._columns:
                keys = self._count_keys(many, first, rows, place)
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
        places = {number: place[one] for number, one in enumerate(ties)}
        pieces = _pieces(ties, first, keys)
        sql = queries.nth_rows(self._table, self._columns, pieces, places)
        answer = self._session.query(sql)
        names = [name for name in answer.column_names if name != "part"]
        for row in answer.to_pylist():
            self._last[ties[row["part"]]] = tuple(row[name] for name in names)

    def _count_keys(
        self,
        many: list[Tie],
        first: Mapping[Tie, tuple[int, ...]],
        rows: Mapping[Tie, int],
        place: dict[Tie, int],
    ) -> dict[Tie, tuple[int, int]]:
        """In which part of the keys the rows are that are searched; their places become those in it."""
        wanted = PARTS * len(many) * max(rows[one] for one in many) // max(1, FEW)
        width = 1 << (KEY_BITS - max(1, wanted.bit_length()))
        sql = queries.key_counts(self._table, _pieces(many, first), width)
        answer = self._session.query(sql)
        part, value, n = (_numbers(answer[name]) for name in ("part", "v0", "n"))
        order = np.lexsort((value, part))
        ends = np.searchsorted(part[order], np.arange(len(many) + 1))
        found = {}
        for one, begin, end in zip(many, ends[:-1], ends[1:], strict=True):
            mine = order[begin:end]
            upto = np.cumsum(n[mine])
            at = int(np.searchsorted(upto, place[one]))
            place[one] -= int(upto[at] - n[mine[at]])
            found[one] = width, int(value[mine[at]])
        return found


def _numbers(column: pa.ChunkedArray) -> Ints:
    return column.to_numpy().astype(np.int64)


def _pieces(
    ties: list[Tie],
    first: Mapping[Tie, tuple[int, ...]],
    keys: Mapping[Tie, tuple[int, int]] | None = None,
) -> list[queries.Piece]:
    return [
        queries.Piece(
            number, one.node, one.column, one.code, first[one], keys=(keys or {}).get(one)
        )
        for number, one in enumerate(ties)
    ]
