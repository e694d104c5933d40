"""The cuts from histograms and the fragments below them, against the method in memory."""

import pickle
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.encoding.cells import Cells, encode
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.encoding.grouping import spans_of
from shoal.encoding.people import People
from shoal.engines import partition_tree, tie_splits, tree_walk, words
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.fragments import Finish, GroupFragment
from shoal.engines.partition_tree import (
    MOST_ENTRIES,
    Fragment,
    Rounds,
    cut_into_fragments,
    fragment_rows_for,
    whole_table,
)
from shoal.engines.queries import Cut, Tree
from shoal.errors import Infeasible, InputError
from shoal.methods import least_loss_partition
from shoal.methods.base import check_holds
from shoal.methods.flexible_partition import FlexiblePartition
from shoal.methods.least_loss_partition import LeastLossPartition
from shoal.methods.mondrian import Mondrian
from shoal.models.alpha import Alpha
from shoal.models.beta import Beta
from shoal.models.k import K
from shoal.models.l import EntropyL, L
from shoal.models.requirement import Requirement
from shoal.models.t import T
from shoal.publish.labels import labels_of
from shoal.sample.census import census
from tests import naive
from tests.coded import coded, coded_tables
from tests.examples import examples
from tests.out_of_core.encoded_tables import store_cells

METHODS: dict[str, Any] = {
    "mondrian strict": Mondrian(),
    "mondrian published": Mondrian(median="below"),
    "mondrian relaxed": Mondrian(strict=False),
    "flexible widest": FlexiblePartition(dimension="widest"),
    "flexible least-loss": FlexiblePartition(),
    "least-loss": LeastLossPartition(),
}
REQUIREMENTS = {
    "k1": (K(k=1),),
    "k2": (K(k=2),),
    "k3": (K(k=3),),
    "k2 l2": (K(k=2), L(l=2, of="illness")),
    "l3": (L(l=3, of="illness"),),
    "alpha": (Alpha(alpha=0.5, of="illness"),),
    "t": (K(k=2), T(t=0.4, of="illness")),
    "beta entropy": (Beta(beta=2.0, of="illness"), EntropyL(entropy_l=1.5, of="illness")),
}
Published = Counter[tuple[object, ...]]


@pytest.fixture(scope="module")
def session() -> Iterator[DuckSession]:
    made = DuckSession()
    yield made
    made.close()


def nothing(_: float) -> None:
    pass


def local(cells: Cells, method: Any, requirement: Requirement) -> tuple[Published, list[int]]:
    """Labels and number of each canonical row, and the sizes of the groups."""
    (grouping,) = method.group(cells, requirement, 0, nothing)
    spans = spans_of(cells, grouping)
    columns = []
    for j, domain in enumerate(cells.domains):
        labels = labels_of(domain, spans, j)
        columns.append([labels.texts[labels.of_group[g]].as_py() for g in grouping.group])
    return Counter(zip(*columns, range(cells.n_rows), strict=True)), sorted(spans.sizes.tolist())


def large(
    session: DuckSession,
    cells: Cells,
    method: Any,
    requirement: Requirement,
    fragment_rows: int,
    most_entries: int = MOST_ENTRIES,
) -> tuple[Published, list[int]]:
    encoded = store_cells(session, cells)
    check_holds(whole_table(encoded, requirement), requirement)
    top = cut_into_fragments(
        session,
        encoded,
        requirement,
        method.partition_rule(),
        fragment_rows,
        most_entries=most_entries,
    )
    depths = np.array([fragment.depth for fragment in top.fragments], np.int64)
    group = GroupFragment(method, requirement, encoded.n_rows)
    finish = Finish(
        encoded.domains,
        encoded.sensitive,
        encoded.sensitive_domains,
        encoded.totals,
        depths,
        tuple(encoded.schema.names),
        group,
        has_people=cells.people is not None,
    )
    rows, locate = top.rows(finish.columns, encoded.schema)
    sent, finds = pickle.loads(pickle.dumps((finish, locate)))
    session.map_groups(
        "published",
        rows,
        "node",
        sent,
        finish.schema(encoded.schema),
        [one.rows for one in top.fragments],
        before=finds,
    )
    if finds is not None:
        session.map("located", rows, finds, finds.schema)
        rows = "SELECT node FROM located"
    assert sorted(fragment.rows for fragment in top.fragments) == sorted(
        session.query(f"SELECT count(*) AS n FROM ({rows}) GROUP BY node")["n"].to_pylist()
    )
    sizes = session.query("SELECT count(*) AS n FROM published GROUP BY g")["n"].to_pylist()
    names = [*(f"q{j}" for j in range(len(cells.domains))), "p0"]
    found = session.query(f"SELECT {', '.join(names)} FROM published")
    return Counter(zip(*(found[name].to_pylist() for name in names), strict=True)), sorted(sizes)


@pytest.mark.parametrize("method", METHODS)
@given(table=coded_tables(), data=st.data())
@settings(
    examples(20),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_same_rows_for_any_size_of_fragment(
    session: DuckSession, method: str, table: Any, data: st.DataObject
) -> None:
    models = REQUIREMENTS[data.draw(st.sampled_from(sorted(REQUIREMENTS)))]
    requirement = Requirement(models)
    fragment_rows = data.draw(st.integers(1, table.cells.n_rows + 1) | st.just(1))
    few = data.draw(st.sampled_from([0, 10, 200_000]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tie_splits, "FEW", few)
        patched.setattr(tree_walk, "FEW", few)
        patched.setattr(tree_walk, "COUNT_BITS", data.draw(st.sampled_from([7, 20])))
        patched.setattr(words, "WORD_BITS", data.draw(st.sampled_from([0, 63, 63])))
        patched.setattr(tie_splits, "MOST_COUNTS", data.draw(st.sampled_from([1, 20, 500_000])))
        if data.draw(st.booleans()):  # else no small table is deep enough for it
            patched.setattr(least_loss_partition, "lopsided_depth", lambda *_: 2)
        patched.setattr(
            partition_tree, "MOST_SQL_FRAGMENTS", data.draw(st.sampled_from([0, 3, 32]))
        )
        most = data.draw(st.sampled_from([1, 25, MOST_ENTRIES]))
        require_same(session, table.cells, METHODS[method], requirement, fragment_rows, most)


@pytest.mark.parametrize("method", METHODS)
@given(table=coded_tables(), data=st.data())
@settings(
    examples(10),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_same_rows_where_people_are_counted(
    session: DuckSession, method: str, table: Any, data: st.DataObject
) -> None:
    models = REQUIREMENTS[data.draw(st.sampled_from(sorted(REQUIREMENTS)))]
    n = table.cells.n_rows
    number = data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    found, person = np.unique(number, return_inverse=True)
    cells = replace(table.cells, people=People(person.astype(np.int32), len(found)))
    requirement = Requirement(models, counts_people=True)
    fragment_rows = data.draw(st.integers(1, n + 1) | st.just(1))
    require_same(session, cells, METHODS[method], requirement, fragment_rows)


def require_same(
    session: DuckSession,
    cells: Cells,
    method: Any,
    requirement: Requirement,
    fragment_rows: int,
    most_entries: int = MOST_ENTRIES,
) -> None:
    try:
        expected = local(cells, method, requirement)
    except Infeasible as error:
        with pytest.raises(Infeasible, match=re.escape(str(error))):
            large(session, cells, method, requirement, fragment_rows, most_entries)
        return
    assert large(session, cells, method, requirement, fragment_rows, most_entries) == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("different", [1, 3])
def test_rows_that_are_nearly_all_equal(session: DuckSession, method: str, different: int) -> None:
    """Cells are far larger than groups: most cuts go through one."""
    places = [0, UNIT // 3, UNIT]
    axis = Domain("range", Kind.RANGE, pa.array(["0", "1", "2"]), -1, np.array(places, np.int64))
    pairs = [(axis, naive.range_column(places)), (axis, naive.range_column(places))]
    rows = sorted((i % different, i * i % different) for i in range(90))
    table = coded(rows, pairs, [i * 7 % 5 for i in range(90)])
    for models in (REQUIREMENTS["k2"], REQUIREMENTS["k2 l2"], REQUIREMENTS["t"]):
        require_same(session, table.cells, METHODS[method], Requirement(models), 5)


@pytest.mark.parametrize("method", METHODS)
def test_a_table_of_many_rows(session: DuckSession, method: str) -> None:
    cells = people()
    models = (K(k=5), L(l=3, of="disease"))
    require_same(session, cells, METHODS[method], Requirement(models), 1_500)


@cache
def people() -> Cells:
    table = census(20_000)
    quasi = ["age", "sex", "race", "education", "nationality", "zip"]
    how = {name: ColumnSpec(kind="unordered" if name == "zip" else None) for name in quasi}

    def column(name: str) -> pa.Array:
        return table[name].combine_chunks()

    return encode(column, how, {"disease": ColumnSpec()}, ["hours", "weight"], 0)


def test_losses_that_no_number_holds_are_refused(session: DuckSession) -> None:
    encoded = store_cells(session, people())
    many = replace(encoded, n_rows=(1 << 35) // len(encoded.domains) + 1)
    for name, method in METHODS.items():
        rule = method.partition_rule()
        if not rule.compares_losses:
            assert name == "flexible widest" or name.startswith("mondrian")
            continue
        with pytest.raises(InputError, match="takes at most 5,726,623,061 rows with so many"):
            cut_into_fragments(session, many, Requirement((K(k=5),)), rule)


def test_no_more_histograms_at_a_time_than_fit(session: DuckSession) -> None:
    """A node has an entry for each value, but not more than rows; a group of them fits, or is one."""
    encoded = store_cells(session, people())
    rule = LeastLossPartition().partition_rule()
    known = {node: Fragment(3, rows) for node, rows in enumerate([9_000, 50, 50, 50, 9_000])}
    rounds = Rounds(session, encoded, Requirement((K(k=5),)), rule)
    entries = [sum(min(f.rows, d.size) for d in encoded.domains) for f in known.values()]
    most = entries[1] + entries[2]
    assert most < entries[0]
    assert rounds.portions([0, 1, 2, 3, 4], known, most) == [[0], [1, 2], [3], [4]]
    assert rounds.portions([0, 1, 2, 3, 4], known, sum(entries)) == [[0, 1, 2, 3, 4]]
    values = Requirement((K(k=5), L(l=3, of="disease")))
    asked = Rounds(session, encoded, values, rule)
    assert asked.portions([1, 2], known, most) == [[1], [2]]


def test_fragments_grow_where_they_would_be_too_many() -> None:
    assert fragment_rows_for(20_000_000) == 250_000
    assert fragment_rows_for(10_000_000_001) == 2_500_001


def test_the_fragments_stand_depth_first() -> None:
    tree = Tree(1)
    below, above = tree.cut(0, Cut(0, 5, None))
    upper = tree.cut(above, Cut(0, 8, None))
    lower = tree.cut(below, Cut(0, 2, (2, -7, 9)))
    assert tree.leaves() == [*lower, *upper]
    case = tree.case({lower[0]: "1", upper[1]: "2"})
    assert case == (
        "CASE WHEN c0 < 5 THEN CASE WHEN (c0 < 2 OR (c0 = 2 AND (key < -7 OR (key = -7 AND h <= 9)))) "
        "THEN 1 ELSE NULL END ELSE CASE WHEN c0 < 8 THEN NULL ELSE 2 END END"
    )
