"""Whether both sides of cuts hold the requirement, by counts alone."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.cells.counts import Counts
from shoal.cells.domain import Domain
from shoal.engines.large import questions
from shoal.engines.large.session import Session
from shoal.large.choosing import Places
from shoal.large.histograms import Histograms
from shoal.large.labels import Ints
from shoal.large.parting import slice_at
from shoal.large.slices import Slices
from shoal.models.requirement import SIZES_ONLY, Requirement


class Coded(Protocol):
    """What must be known of a coded table to cut it."""

    @property
    def domains(self) -> tuple[Domain, ...]:
        """One per quasi-identifier."""

    @property
    def sensitive_domains(self) -> dict[str, Domain]:
        """Of the sensitive columns."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Their names, as s0, s1, ..."""

    @property
    def totals(self) -> dict[str, Ints]:
        """Per sensitive column, rows with each value; none are missing."""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""


def whole_table(coded: Coded, requirement: Requirement) -> Mapping[str, Counts]:
    """The counts of all rows as one group."""
    tables = {name: coded.totals[name][None, :] for name in requirement.columns}
    return _counts(coded, requirement, np.array([coded.n_rows], np.int64), tables)


class Judge:
    """Asks the requirement about the cuts of a round; what was counted once is kept."""

    def __init__(
        self,
        session: Session,
        table: str,
        coded: Coded,
        requirement: Requirement,
        seen: Histograms,
        slices: Slices,
    ) -> None:
        self._session, self._table, self._coded = session, table, coded
        self._requirement, self._seen, self._slices = requirement, seen, slices
        self._sensitive = [coded.sensitive.index(name) for name in requirement.columns]
        self._joint: dict[tuple[int, int, int], tuple[Ints, Ints, Ints]] = {}
        """Per column, sensitive column and place of a node: codes, sensitive codes and rows."""
        self._tried = np.zeros(len(seen.nodes), np.bool_)

    def hold(self, groups: Ints, places: Places) -> npt.NDArray[np.bool_]:
        """(n,) whether both sides of each cut hold; every try respects min_rows."""
        real = (places.column >= 0) & (places.entry >= 0)
        if self._requirement.only_size or not real.any():
            return real
        asked = groups[real]
        cuts = Places(*(part[real] for part in places))
        self._count(asked, cuts.column)
        below = self._rows_below(asked, cuts)
        sizes = np.stack([below, self._seen.rows[asked] - below], axis=1).ravel()
        tables = {
            name: self._tables(asked, cuts, i)
            for i, name in zip(self._sensitive, self._requirement.columns, strict=True)
        }
        counts = _counts(self._coded, self._requirement, sizes, tables)
        held = np.zeros(len(groups), np.bool_)
        held[real] = self._requirement.holds(counts).reshape(-1, 2).all(axis=1)
        return held

    def _rows_below(self, groups: Ints, cuts: Places) -> Ints:
        along = [self._seen.along[j] for j in cuts.column]
        return np.array(
            [
                extra + (a.upto[entry - 1] if entry > a.starts[g] else 0)
                for a, g, entry, extra in zip(along, groups, cuts.entry, cuts.extra, strict=True)
            ],
            np.int64,
        )

    def _tables(self, groups: Ints, cuts: Places, i: int) -> Ints:
        """(2n, size) rows of each sensitive value on both sides of each cut."""
        size = self._coded.sensitive_domains[self._coded.sensitive[i]].size
        sides = np.zeros((len(groups), 2, size), np.int64)
        through = []
        for n, (g, j, entry) in enumerate(zip(groups, cuts.column, cuts.entry, strict=True)):
            codes, values, rows = self._joint[int(j), i, int(g)]
            under = codes < self._seen.along[j].code[entry]
            np.add.at(sides[n, 0], values[under], rows[under])
            np.add.at(sides[n, 1], values[~under], rows[~under])
            if cuts.extra[n]:
                through.append(n)
        wanted = [
            slice_at(self._seen, *(int(part[n]) for part in (groups, *cuts))) for n in through
        ]
        for n, more in zip(through, self._slices.values(wanted, i), strict=True):
            for value, rows_below in more.items():
                sides[n, 0, value] += rows_below
                sides[n, 1, value] -= rows_below
        return sides.reshape(-1, size)

    def _count(self, groups: Ints, columns: Ints) -> None:
        """Count along each node's column; of one that was cut in vain along all others too."""
        d, first = len(self._seen.along), self._sensitive[0]
        wanted: dict[int, list[int]] = {}
        for g, column in zip(groups.tolist(), columns.tolist(), strict=True):
            for j in range(d) if self._tried[g] else [column]:
                if (j, first, g) not in self._joint:
                    wanted.setdefault(j, []).append(g)
        self._tried[groups] = True
        if not wanted:
            return
        nodes = {j: self._seen.nodes[asked].tolist() for j, asked in wanted.items()}
        answer = self._session.ask(questions.joint(self._table, nodes, self._sensitive))
        along, of, node, code, value, rows = (
            answer[name].to_numpy().astype(np.int64) for name in ("j", "i", "node", "v", "s", "n")
        )
        place = np.searchsorted(self._seen.nodes, node)
        order = np.lexsort((place, of, along))
        keys = np.stack([along, of, place], axis=1)[order]
        starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        for begin, end in zip(starts, np.append(starts[1:], len(keys)), strict=True):
            mine = order[begin:end]
            j, i, g = keys[begin].tolist()
            self._joint[j, i, g] = code[mine], value[mine], rows[mine]


def _counts(
    coded: Coded, requirement: Requirement, sizes: Ints, tables: Mapping[str, Ints]
) -> dict[str, Counts]:
    none = np.zeros(0, np.int64)
    starts = np.zeros(len(sizes) + 1, np.int64)
    counts = {SIZES_ONLY: Counts(sizes, starts, none.astype(np.int32), none)}
    for name in requirement.columns:
        domain, table = coded.sensitive_domains[name], tables[name].copy()
        if domain.missing >= 0:
            table[:, domain.missing] = 0
        group, value = np.nonzero(table)
        begins = np.searchsorted(group, np.arange(len(sizes) + 1)).astype(np.int64)
        found = value.astype(np.int32), table[group, value]
        counts[name] = Counts(sizes, begins, *found, domain, coded.totals[name])
    return counts
