"""k-clustering makes the very clusters of its slow, plain twin."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal import threads
from shoal.encoding.domain import Domain, Kind
from shoal.errors import Infeasible
from shoal.methods.k_clustering import KClustering, start_order
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from tests import naive_clusters as naive
from tests.examples import examples
from tests.methods.clustered import Clustered, tables


def by_ncp(domain: Domain, column: naive.Column) -> naive.Column:
    """The same column, measured by NCP in whole numbers."""

    def width(label: naive.Label) -> float:
        if domain.kind == Kind.RANGE:
            assert domain.positions is not None
            places = domain.positions.tolist()
            return min(naive.UNIT, places[max(label)] - places[min(label)])
        return len(label) * naive.UNIT // domain.size

    return replace(column, width=width)


@examples(30)
@given(table=tables(), k=st.integers(1, 7), diverse=st.integers(0, 4), seed=st.integers(0, 9))
def test_clusters_equal_the_twins(table: Clustered, k: int, diverse: int, seed: int) -> None:
    models: tuple[Model, ...] = (K(k), L(diverse, "s0")) if diverse else (K(k),)
    requirement = Requirement(models)

    def holds(group: Sequence[int]) -> bool:
        return len(group) >= k and len({table.sensitive[0][i] for i in group} - {None}) >= diverse

    if not holds(range(len(table.rows))):
        with pytest.raises(Infeasible):
            KClustering().group(table.cells, requirement, seed, lambda _: None)
        return
    for other in (k + 1, k - 1):  # what is kept of these runs changes nothing
        with suppress(Infeasible, ValidationError):
            before = Requirement((K(other), *models[1:]))
            KClustering().group(table.cells, before, seed, lambda _: None)
    (grouping,) = KClustering().group(table.cells, requirement, seed, lambda _: None)
    pairs = zip(table.cells.domains, table.columns, strict=True)
    columns = [by_ncp(domain, column) for domain, column in pairs]
    order = start_order(table.cells, seed).tolist()
    asked = table.sensitive[:1] if diverse else []
    least = requirement.min_rows
    if not diverse:
        expected = naive.k_clusters(columns, table.rows, asked, least, holds, order)
        assert table.groups(grouping) == sorted(expected)
        return

    def lost(groups: list[list[int]]) -> int:
        return sum(
            len(group) * naive.ncp(column, column.cover(frozenset(table.rows[i][j] for i in group)))
            for group in groups
            for j, column in enumerate(columns)
        )

    # larger and larger clusters, until two in a row are no better
    tried = []
    for size in [least] + [size for size in (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18) if size > least]:
        if tried and 2 * size > len(table.rows):
            break
        for required in (0, diverse) if diverse > 1 else (0,):
            tried.append(naive.k_clusters(columns, table.rows, asked, size, holds, order, required))
        sizes = len(tried) // (1 + (diverse > 1))
        last = len(tried) // sizes * 2
        if sizes > 2 and min(map(lost, tried[-last:])) >= min(map(lost, tried[:-last])):
            break
    assert table.groups(grouping) == sorted(min(tried, key=lost))


@examples(5)
@given(table=tables(), k=st.integers(1, 4), seed=st.integers(0, 9))
def test_the_same_clusters_for_any_number_of_threads(table: Clustered, k: int, seed: int) -> None:
    requirement = Requirement((K(k), L(2, "s0")))
    assume(len({*table.sensitive[0]} - {None}) >= 2 and len(table.rows) >= k)
    found = []
    for number in "13":
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SHOAL_THREADS", number)
            patch.setattr(threads, "SMALL", 0)
            found += KClustering().group(table.cells, requirement, seed, lambda _: None)
    assert found[0].group.tolist() == found[1].group.tolist()


def test_a_start_is_a_common_row_and_every_row_starts_once() -> None:
    from tests.coded import coded

    texts = coded([(0,), (0,), (1,)], [(_domain(), naive.unordered())])  # type: ignore[list-item]
    assert sorted(start_order(texts.cells, 0).tolist()) == [0, 1, 2]
    assert start_order(texts.cells, 0).tolist()[-1] == 2


def _domain() -> Domain:
    import pyarrow as pa

    return Domain("c", Kind.SET, pa.array(["a", "b"]), -1)


@examples(10)
@given(table=tables(), sizes=st.lists(st.integers(1, 6), min_size=2, max_size=5))
def test_runs_on_the_same_rows_find_what_a_first_run_finds(
    table: Clustered, sizes: list[int]
) -> None:
    for turn, k in enumerate(sizes):
        requirement, seed = Requirement((K(k), L(1 + turn % 2, "s0"))), turn % 2
        fresh = replace(table.cells)
        assert not fresh.kept
        found = []
        for cells in (table.cells, fresh):
            try:
                found += KClustering().group(cells, requirement, seed, lambda _: None)
            except Infeasible:
                continue
        if found:
            assert found[0].group.tolist() == found[1].group.tolist()
