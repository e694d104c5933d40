"""Identifiers that a run drops: whether they repeat, and whether a plain column stands for them.

They are read for this alone. Here are those of tables in memory; `session_identifiers.py` has the
others.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.columns import encode_quasi
from shoal.encoding.domain import Kind
from shoal.encoding.people import person_of_ids
from shoal.encoding.values import canonical, countable, distinct
from shoal.errors import ShoalError
from shoal.evidence.disclosure import Determined
from shoal.evidence.mappings import SAMPLED, Coded, is_possible, relation, spread_of
from shoal.evidence.repeated_ids import (
    RepeatedId,
    agree,
    agreements,
    classes_below,
    contradicts,
    is_own,
    is_panel,
)
from shoal.io.arrow import gather
from shoal.io.tables import Table
from shoal.policy import Policy
from shoal.publish.assemble import PublishedRows


def repeating_identifiers(policy: Policy, table: Table) -> dict[str, Ints]:
    """(n,) the hash of each row's id, -1 where it has none, of every identifier or pseudonym that
    repeats; if there is one, also of those that are a person's own by their name.

    None where the policy names a person: which rows are one person's is then known.
    """
    found, any_repeats = {}, False
    for name in (*policy.identifiers, *policy.pseudonyms) if policy.person is None else ():
        if name not in table.names:
            continue
        try:
            ids = person_of_ids(canonical(countable(name, table.column(name))))
        except (ShoalError, pa.ArrowException):  # lists and the like are no ids
            continue
        repeated = repeats(ids)
        any_repeats |= repeated
        if repeated or is_own(name):
            found[name] = ids
    return found if any_repeats else {}


def repeats(ids: Ints) -> bool:
    """Whether several rows have one id."""
    from shoal.kernels.uniqueness import count_keys

    known = ids[ids >= 0]
    return count_keys(known.view(np.uint64))[0] < len(known)


def repeated_ids(
    policy: Policy, cells: Cells, ids: Mapping[str, Ints], published: PublishedRows
) -> Iterator[RepeatedId]:
    """The repeating identifiers by which several rows look like one person's."""
    k = max(model.min_rows for model in policy.constraints)
    if not ids or k < 2:
        return
    known = cells.kept.get("ids of people")
    if known is None or known[0] is not ids:
        cell = np.repeat(np.arange(cells.n_cells), cells.counts)
        known = ids, _of_people(_in_canonical_order(cells, cell, ids), cells, cell)
        cells.kept["ids of people"] = known
    people: dict[str, Ints] = known[1]
    if not people:
        return
    places = np.empty(cells.n_rows, np.int64)
    places[cells.rows] = np.arange(cells.n_rows)
    places = places[published.rows]
    for name, one in people.items():
        there = one[one >= 0]
        below = classes_below(published.class_of.astype(np.int64), one[places], k)
        role = policy.columns[name].role
        yield RepeatedId(name, role, len(there), len(np.unique(there)), k, *below)


def _of_people(ids: Mapping[str, Ints], cells: Cells, cell: Ints) -> dict[str, Ints]:
    """The ids of which several rows look like one person's; those of each canonical row."""
    quasi = [cells.codes[cell, j] for j in range(len(cells.domains))]
    own = [name for name in ids if is_own(name)]
    found = {}
    for name, one in ids.items():
        agreeing = agreements(one, quasi)
        if not agree(agreeing) and not is_panel(agreeing):
            continue
        if not any(_contradicts(ids[other], one) for other in own if other != name):
            found[name] = one
    return found


def _contradicts(other: Ints, ids: Ints) -> bool:
    both = (other >= 0) & (ids >= 0)
    pair = [np.unique(each[both], return_inverse=True)[1].reshape(-1) for each in (other, ids)]
    (of_ids,), (of_other,) = agreements(pair[1], pair[:1]), agreements(pair[0], pair[1:])
    return contradicts(of_ids, of_other)


def _in_canonical_order(cells: Cells, cell: Ints, ids: Mapping[str, Ints]) -> dict[str, Ints]:
    """(n,) ids in canonical order, which of equal rows has which following from the ids alone.

    Rows that are published alike are told apart by their place in the input, which other engines do
    not have: they take such rows by their ids.
    """
    here = {name: one[cells.rows] for name, one in ids.items()}
    order = np.lexsort((cells.hashes, cell))
    same = (cells.hashes[order][1:] == cells.hashes[order][:-1]) & (
        cell[order][1:] == cell[order][:-1]
    )
    twins = order[np.append(same, False) | np.append(False, same)]
    if len(twins):
        alike = cells.hashes[twins], cell[twins]
        by_place = twins[np.lexsort((cells.rows[twins], *alike))]
        by_id = twins[np.lexsort((*(one[twins] for one in reversed(here.values())), *alike))]
        for name, one in here.items():
            moved = one.copy()
            moved[by_place] = one[by_id]
            here[name] = moved
    return here


def given_away(table: Table, identifiers: Sequence[str], plain: Sequence[str]) -> list[Determined]:
    """The repeating identifiers that plain columns of a table give away."""
    few = np.unique(np.linspace(0, table.n_rows - 1, min(table.n_rows, SAMPLED)).astype(np.int64))
    found = []
    for name in plain:
        for other in identifiers:
            try:
                values, hidden = countable(name, table.column(name)), table.column(other)
                some = _coded(other, gather(hidden, few))
                if is_possible(spread_of(distinct(name, gather(values, few)), some), some.ordered):
                    coded = _coded(other, hidden)
                    how = relation(spread_of(distinct(name, values), coded), coded.ordered)
                    found += [Determined(name, other, how, "dropped")] if how else []
            except (ShoalError, pa.ArrowException):  # lists and the like have no values to compare
                continue
    return found


def _coded(name: str, column: pa.Array) -> Coded:
    domain, codes = encode_quasi(name, column)
    return Coded(codes, domain.missing, domain.kind != Kind.SET)
