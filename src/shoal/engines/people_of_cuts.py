"""People on both sides of the cuts of a table larger than memory.

People are not added up as rows are: who has rows on both sides of a cut is counted on both. Below a
boundary between two codes are those whose smallest code is, above it those whose largest one is, so
histograms of these ends tell of every boundary along a column. Cuts through equal values are counted
one by one.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.counts import Counts, Reference, size_counts
from shoal.encoding.domain import Domain
from shoal.engines import queries
from shoal.engines.encode import EncodedTable
from shoal.engines.queries import ANYONE, HAS, KNOWN, Cut
from shoal.engines.sessions import Session
from shoal.engines.tie_splits import TieSplits
from shoal.kernels.partition import Cuts
from shoal.methods.partition_histograms import NodeHistograms
from shoal.models.base import SIZES_ONLY
from shoal.models.requirement import Requirement

Ends = tuple[Ints, Ints, Ints, Ints]
"""What is counted, a sensitive code, a code of the column, and people."""


class PeopleOfCuts:
    """Counts the people on both sides of the cuts of a round; every count is queried once."""

    def __init__(
        self,
        session: Session,
        table: str,
        encoded: EncodedTable,
        requirement: Requirement,
        groups: NodeHistograms,
        ties: TieSplits,
    ) -> None:
        self._session, self._table, self._encoded = session, table, encoded
        self._groups, self._ties, self._columns = groups, ties, requirement.columns
        self._sensitive = {
            encoded.sensitive.index(name): encoded.sensitive_domains[name].missing
            for name in requirement.columns
        }
        self._ends: dict[tuple[int, int], tuple[Ends, Ends]] = {}
        """Per column and place of a node: people by their smallest code, and by their largest."""
        self._tried = np.zeros(len(groups.nodes), np.bool_)

    def counts(self, numbers: Ints, cuts: Cuts) -> dict[str, Counts]:
        """The counts of both sides of each cut, below before above."""
        tied = cuts.extra > 0
        self._query_ends(numbers[~tied], cuts.column[~tied])
        sides = SideCounts(2 * len(numbers), self._encoded, self._columns)
        for n in np.flatnonzero(~tied).tolist():
            g, j = int(numbers[n]), int(cuts.column[n])
            code = self._groups.columns[j].code[cuts.position[n]]
            for side, (what, value, end, people) in enumerate(self._ends[j, g]):
                mine = end >= code if side else end < code
                sides.add(
                    np.full(int(mine.sum()), 2 * n + side), what[mine], value[mine], people[mine]
                )
        if tied.any():
            self._add_tied(sides, np.flatnonzero(tied), numbers, cuts)
        below = self._groups.rows_below(numbers, cuts)
        rows = np.stack([below, self._groups.rows[numbers] - below], axis=1).ravel()
        return sides.counts(rows)

    def _add_tied(self, sides: "SideCounts", tied: Ints, numbers: Ints, cuts: Cuts) -> None:
        """Count the sides of cuts through equal values."""
        ties = [self._groups.tie(*(int(part[n]) for part in (numbers, *cuts))) for n in tied]
        made = {
            int(n): (tie.node, Cut(tie.column, tie.code, last))
            for n, tie, last in zip(tied, ties, self._ties.last(ties), strict=True)
        }
        sql = queries.people_on_sides(self._table, self._groups.n_columns, made, self._sensitive)
        answer = self._session.query(sql)
        part, what, value = (_numbers(answer, name) for name in ("part", "what", "s"))
        sides.add(2 * part, what, value, _numbers(answer, "below"))
        sides.add(2 * part + 1, what, value, _numbers(answer, "above"))

    def _query_ends(self, numbers: Ints, columns: Ints) -> None:
        """Query each node's column; once a cut of a node has failed, all others too."""
        wanted: dict[int, list[int]] = {}
        for g, column in zip(numbers.tolist(), columns.tolist(), strict=True):
            for j in range(self._groups.n_columns) if self._tried[g] else [column]:
                if (j, g) not in self._ends:
                    wanted.setdefault(j, []).append(g)
        self._tried[numbers] = True
        if not wanted:
            return
        nodes = {j: self._groups.nodes[some].tolist() for j, some in wanted.items()}
        sql = queries.people_histograms(self._table, nodes, self._sensitive)
        answer = self._session.query(sql)
        largest = answer["lo"].is_null().to_numpy()
        end = np.where(largest, _filled(answer, "hi"), _filled(answer, "lo"))
        along, what, node, value, people = (
            _numbers(answer, name) for name in ("j", "what", "node", "s", "n")
        )
        place = np.searchsorted(self._groups.nodes, node)
        order = np.lexsort((largest, place, along))
        keys = np.stack([along, place, largest], axis=1)[order]
        starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        found = {}
        for begin, stop in zip(starts, np.append(starts[1:], len(keys)), strict=True):
            mine = order[begin:stop]
            found[tuple(keys[begin].tolist())] = what[mine], value[mine], end[mine], people[mine]
        for j, some in wanted.items():
            self._ends |= {(j, g): (found[j, g, 0], found[j, g, 1]) for g in some}


class SideCounts:
    """Counts of people that come in any order, gathered side by side."""

    def __init__(self, n: int, encoded: EncodedTable, columns: tuple[str, ...]) -> None:
        self._people = np.zeros(n, np.int64)
        self._encoded, self._columns = encoded, columns
        self._known = {name: np.zeros(n, np.int64) for name in columns}
        self._having = {
            name: np.zeros((n, encoded.sensitive_domains[name].size), np.int64) for name in columns
        }

    def add(self, side: Ints, what: Ints, value: Ints, people: Ints) -> None:
        """Add what was counted: (n,) each, see `queries.people_histograms`."""
        mine = what == ANYONE
        np.add.at(self._people, side[mine], people[mine])
        for name in self._columns:
            i = self._encoded.sensitive.index(name)
            mine = what == KNOWN + i
            np.add.at(self._known[name], side[mine], people[mine])
            mine = what == HAS + i
            np.add.at(self._having[name], (side[mine], value[mine]), people[mine])

    def counts(self, rows: Ints) -> dict[str, Counts]:
        """The counts of all sides, which have so many rows."""
        found = {SIZES_ONLY: size_counts(self._people, rows=rows)}
        for name in self._columns:
            domain, whole = self._encoded.sensitive_domains[name], self._encoded.totals[name]
            found[name] = counts_of_people(
                self._people, rows, self._known[name], self._having[name], domain, whole
            )
        return found


def counts_of_people(
    people: Ints, rows: Ints, known: Ints, having: Ints, domain: Domain, whole: Reference
) -> Counts:
    """The counts of groups, from (g,) people, rows and people with a known value, and (g, size) people
    who have each value."""
    group, value = np.nonzero(having)
    begins = np.searchsorted(group, np.arange(len(people) + 1)).astype(np.int64)
    return Counts(
        people,
        begins,
        value.astype(np.int32),
        having[group, value],
        domain,
        whole.counts,
        whole.people,
        known=known,
        rows=rows,
    )


def whole_table_people(encoded: EncodedTable, columns: tuple[str, ...]) -> Mapping[str, Counts]:
    """The counts of all people as one group."""
    assert encoded.n_people is not None
    people, rows = (np.array([n], np.int64) for n in (encoded.n_people, encoded.n_rows))
    found = {SIZES_ONLY: size_counts(people, rows=rows)}
    for name in columns:
        domain, whole = encoded.sensitive_domains[name], encoded.totals[name]
        known = np.array([whole.people], np.int64)
        found[name] = counts_of_people(people, rows, known, whole.counts[None, :], domain, whole)
    return found


def _numbers(answer: pa.Table, name: str) -> Ints:
    return answer[name].to_numpy().astype(np.int64)


def _filled(answer: pa.Table, name: str) -> Ints:
    return answer[name].fill_null(-1).to_numpy().astype(np.int64)
