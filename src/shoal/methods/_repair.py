"""Mend a grouping that breaks a model: pool, group afresh, insert, suppress.

For grouping methods that cannot honour a model while they group. Groups that hold are kept. The rows
of the others are pooled and grouped again, for as long as a round yields a group that holds. Each
row then left joins the nearest group that still holds with it; what fits nowhere is suppressed.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells, totals_of
from shoal.cells.grouping import SUPPRESSED, Grouping
from shoal.methods._asking import counts_of_runs
from shoal.methods._inserting import insert
from shoal.methods._runs import Runs, chosen, joined
from shoal.models.requirement import Requirement

Rows = npt.NDArray[np.int32]
GroupRows = Callable[[Rows, int, int], Runs]
"""Groups the rows given (ascending), each of so many rows or more, by a seed."""


def repaired(cells: Cells, requirement: Requirement, group_rows: GroupRows, seed: int) -> Grouping:
    """Groups of all rows that hold the requirement; what fits into none is suppressed."""
    everyone = np.arange(cells.n_rows, dtype=np.int32)
    least = requirement.min_rows
    runs = group_rows(everyone, least, _seed(seed, 0))
    if not requirement.only_size:
        good, pool = _sorted_out(cells, requirement, runs)
        good, pool = _pooled(cells, requirement, group_rows, seed, good, pool)
        if not good:
            good, pool = _dealt(cells, requirement, pool)
        runs = insert(cells, requirement, good, pool)
        runs = _settled(cells, requirement, runs)
    group = np.full(cells.n_rows, SUPPRESSED, np.int32)
    n_groups = len(runs.starts) - 1
    group[runs.rows] = np.repeat(np.arange(n_groups, dtype=np.int32), runs.sizes)
    return Grouping(group, n_groups, tuple(range(len(cells.domains))))


def _seed(seed: int, number: int) -> int:
    """A seed of its own for each round."""
    return (seed * 0x9E3779B9 + number * 0x85EBCA6B + 1) % (1 << 64)


def _sorted_out(cells: Cells, requirement: Requirement, runs: Runs) -> tuple[Runs, Rows]:
    """The groups that hold, and the rows of the others, ascending."""
    held = requirement.holds(counts_of_runs(cells, requirement, *runs))
    return chosen(runs, held), np.sort(chosen(runs, ~held).rows)


def _pooled(
    cells: Cells, requirement: Requirement, group_rows: GroupRows, seed: int, good: Runs, pool: Rows
) -> tuple[Runs, Rows]:
    """Group the pool again and again. While there is no good group at all, ask for larger ones."""
    size, number = requirement.min_rows, 0
    while len(pool) >= size and (not good or len(pool) >= 2 * size):
        number += 1
        found, rest = _sorted_out(cells, requirement, group_rows(pool, size, _seed(seed, number)))
        if found:
            good, pool = joined([good, found]), rest
        elif good:
            break
        else:
            size = min(2 * size, len(pool)) if size < len(pool) else len(pool) + 1
    return good, pool


def _dealt(cells: Cells, requirement: Requirement, pool: Rows) -> tuple[Runs, Rows]:
    """Where near rows never hold together: groups that mix the sensitive values, as cards are dealt.

    Larger and larger ones, until some hold.
    """
    codes = [cells.sensitive[name][pool] for name in requirement.columns]
    by_value = pool[np.lexsort((pool, *codes))]
    size = requirement.min_rows
    while size <= len(pool):
        n = len(pool) // size
        group = np.arange(len(pool)) % n
        starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n))])
        runs = Runs(by_value[np.argsort(group, kind="stable")], starts.astype(np.int64))
        good, rest = _sorted_out(cells, requirement, runs)
        if good:
            return good, rest
        size *= 2
    return Runs(pool[:0], np.zeros(1, np.int64)), pool


def _settled(cells: Cells, requirement: Requirement, runs: Runs) -> Runs:
    """Without the groups that break a model once they are compared with the rows kept alone."""
    while runs and len(runs.rows) < cells.n_rows:
        totals = {
            name: totals_of(cells.sensitive[name][runs.rows], domain)
            for name, domain in cells.sensitive_domains.items()
        }
        held = requirement.holds(counts_of_runs(cells, requirement, *runs, totals))
        if held.all():
            break
        runs = chosen(runs, held)
    return runs
