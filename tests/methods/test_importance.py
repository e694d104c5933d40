"""Columns that count more than others, in every method."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import plugins
from shoal.encoding.domain import SHARES, shares_of
from shoal.errors import PolicyError
from shoal.methods.base import Method
from shoal.methods.k_clustering import KClustering, start_order
from shoal.methods.optimal import Optimal
from shoal.methods.refinement import loss_of
from shoal.metrics.importance import MeanNcpByImportance
from shoal.models.k import K
from shoal.models.requirement import Requirement
from shoal.testing import check_metric
from tests import naive, naive_clusters, naive_lattice
from tests.coded import Coded, coded_tables, weighed
from tests.examples import examples
from tests.lattices import Table, tables
from tests.methods.clustered import Clustered
from tests.methods.clustered import tables as clustered_tables
from tests.methods.test_against_twins import TWINS
from tests.methods.test_k_clustering_twin import by_ncp

some_shares = st.lists(st.integers(0, SHARES).map(lambda n: n / SHARES), min_size=4, max_size=4)

TREES = {
    "a": {"intervals": [5, 10, 20]},
    "b": {"intervals": [5, 10, 20]},
    "c": {"tree": {"P": ["u", "v", "w"], "Q": ["x", "y", "z"]}},
}


def people(n: int = 160) -> pa.Table:
    """Two columns that are alike, and a third; nothing goes together."""
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "a": rng.integers(0, 60, n),
            "b": rng.integers(0, 60, n),
            "c": rng.choice(list("uvwxyz"), n).tolist(),
            "ill": rng.choice(["x", "y", "z"], n).tolist(),
        }
    )


def settings_of(name: str) -> dict[str, Any]:
    figures = {"l": 3} if name == "l-clustering" else {"k": 8}
    trees = {"hierarchies": TREES} if plugins.method(name).along_hierarchies else {}
    return {"quasi": ["a", "b", "c"], "sensitive": "ill", "method": name, **figures, **trees}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("name", [n for n in plugins.names("methods") if n != "sorted-runs"])
def test_detail_goes_where_it_counts(name: str) -> None:
    table, given = people(), settings_of(name)

    def lost(**importance: float) -> dict[str, float | None]:
        release = shoal.anonymize(table, **given, seed=1, importance=importance)
        return dict(release.column_loss)

    for_a, for_b, without_a = lost(a=8), lost(b=8), lost(a=0)
    assert for_a["a"] < for_b["a"]  # type: ignore[operator]
    assert for_b["b"] < for_a["b"]  # type: ignore[operator]
    assert without_a["a"] > for_a["a"]  # type: ignore[operator]
    alike = shoal.anonymize(table, **given, seed=1, importance={"a": 5, "b": 5, "c": 5})
    assert alike.table.equals(shoal.anonymize(table, **given, seed=1).table)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_refined_rows_lose_less_of_what_counts() -> None:
    table, given = people(), settings_of("least-loss-partition")
    plain, refined = (
        shoal.anonymize(table, **given, seed=1, importance={"a": 8}, refine=refine)
        for refine in (None, "quick")
    )
    figure = "mean-ncp-by-importance"
    assert refined.metrics[figure] < plain.metrics[figure]


@pytest.mark.parametrize(
    ("method", "twin"), TWINS, ids=lambda v: str(v) if isinstance(v, str) else ""
)
@examples(20)
@given(table=coded_tables(), k=st.integers(1, 7), shares=some_shares)
def test_groups_equal_the_twins(
    method: Method, twin: Any, table: Coded, k: int, shares: list[float]
) -> None:
    table = weighed(table, shares)
    k = min(k, len(table.rows))
    (grouping,) = method.group(table.cells, Requirement((K(k),)), 0, lambda _: None)
    expected = twin(table, k, table.holds(k, 0))
    assert table.groups(grouping) == sorted(sorted(group) for group in expected)
    assert loss_of(table.cells, grouping) == sum(
        naive.loss(table.columns, table.rows, group) for group in expected
    )


@examples(20)
@given(table=clustered_tables(), k=st.integers(1, 7), shares=some_shares)
def test_clusters_equal_the_twins(table: Clustered, k: int, shares: list[float]) -> None:
    k = min(k, len(table.rows))
    domains = tuple(
        replace(d, share=shares[j % len(shares)]) for j, d in enumerate(table.cells.domains)
    )
    cells = replace(table.cells, domains=domains)
    columns = []
    for domain, column in zip(domains, table.columns, strict=True):
        plain = by_ncp(domain, column)

        def width(label: naive_clusters.Label, plain: Any = plain, domain: Any = domain) -> float:
            if domain.positions is None:
                return round(plain.width(label) * domain.share)
            ends = [
                round(int(domain.positions[end]) * domain.share) for end in (min(label), max(label))
            ]
            return min(round(naive_clusters.UNIT * domain.share), ends[1] - ends[0])

        columns.append(replace(column, width=width))
    (grouping,) = KClustering().group(cells, Requirement((K(k),)), 0, lambda _: None)
    order = start_order(cells, 0).tolist()
    expected = naive_clusters.k_clusters(
        columns, table.rows, [], k, lambda group: len(group) >= k, order
    )
    assert table.groups(grouping) == sorted(expected)


@examples(20)
@given(table=tables(), k=st.integers(1, 6), shares=some_shares.filter(any))
def test_optimum_equals_brute_force(table: Table, k: int, shares: list[float]) -> None:
    k = min(k, len(table.rows))
    wide = [shares[j % len(shares)] for j in range(len(table.columns))]
    if not any(wide) or all(share == 1 for share in wide):
        wide[0] = 0.5
    domains = tuple(
        replace(d, share=share) for d, share in zip(table.cells.domains, wide, strict=True)
    )
    (grouping,) = Optimal().group(
        replace(table.cells, domains=domains), Requirement((K(k),), 0), 0, lambda _: None
    )

    def lost(node: tuple[int, ...]) -> Fraction:
        total = Fraction(0)
        for row in table.rows:
            for column, level, leaf, share in zip(table.columns, node, row, wide, strict=True):
                under = sum(other == column[level][leaf] for other in column[level])
                total += Fraction(share) * Fraction(under if level else 0, len(column[level]))
        return total

    valid = [
        node
        for node in naive_lattice.nodes(table.columns)
        if all(len(g) >= k for g in naive_lattice.classes(table.columns, table.rows, node))
    ]
    assert grouping.levels is not None
    assert float(lost(tuple(grouping.levels[0].tolist()))) == pytest.approx(
        float(min(map(lost, valid)))
    )


def test_the_metric() -> None:
    check_metric(MeanNcpByImportance)
    table = pa.table({"age": [10, 20, 60, 60], "sex": ["f", "f", "f", "m"]})
    release = shoal.anonymize(table, quasi=["age", "sex"], k=2, importance={"age": 3}, seed=0)
    assert sorted(release.table["age"].to_pylist()) == ["60", "60", "[10~20]", "[10~20]"]
    # two rows lose a fifth of the ages, and two lose the sex
    assert release.metrics["mean-ncp-by-importance"] == pytest.approx(
        (3 * 2 * 0.2 + 2 * 1) / (4 * (3 + 1)), rel=1e-3
    )
    assert release.metrics["mean-ncp"] == pytest.approx((2 * 0.2 + 2 * 1) / 8)
    plain = shoal.anonymize(table, quasi=["age", "sex"], k=2, importance={"age": 1}, seed=0)
    assert "mean-ncp-by-importance" not in plain.metrics


def test_shares() -> None:
    assert shares_of({"a": 1, "b": 1}) == {"a": 1, "b": 1}
    assert shares_of({"a": 0, "b": 0}) == {"a": 1, "b": 1}
    assert shares_of({"a": 4, "b": 1, "c": 0}) == {"a": 1, "b": 0.25, "c": 0}
    assert shares_of({"a": 1000, "b": 0.001})["b"] == 1 / SHARES


@pytest.mark.parametrize("value", [-1, "3", True, float("nan"), float("inf"), 1001, [3]])
def test_bad_importance(value: Any) -> None:
    with pytest.raises(
        PolicyError, match=r"columns\.a\.importance: found .*must be a number from 0"
    ):
        shoal.anonymize(people(), quasi=["a", "b", "c"], plain="ill", k=3, importance={"a": value})


def test_importance_has_no_meaning_there() -> None:
    given: dict[str, Any] = {"quasi": ["a", "b", "c"], "sensitive": "ill", "importance": {"a": 2}}
    with pytest.raises(PolicyError, match="no effect with `publish: anatomy`"):
        shoal.anonymize(people(), **given, l=2, publish="anatomy")
    method = {"name": "optimal", "metric": "precision"}
    with pytest.raises(
        PolicyError, match="optimal searches by a metric in which all columns count"
    ):
        shoal.anonymize(people(), **given, k=2, hierarchies=TREES, method=method)
    with pytest.raises(PolicyError, match="only a quasi column has one"):
        shoal.anonymize(people(), **{**given, "importance": {"ill": 2}}, k=2)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    "method", ["least-loss-partition", "optimal", {"name": "k-clustering", "block_rows": 60}]
)
def test_the_same_release_out_of_core(method: Any, tmp_path: Any) -> None:
    import pyarrow.csv as pc

    pc.write_csv(people(), tmp_path / "people.csv")
    trees = {k: {"role": "quasi", "hierarchy": tree} for k, tree in TREES.items()}
    columns: dict[str, Any] = {**trees, "ill": "sensitive"}
    columns["a"] = {**columns["a"], "importance": 3}
    policy = {"columns": columns, "constraints": [{"k": 8}], "method": method, "seed": 5}
    shoal.run(tmp_path / "people.csv", policy, tmp_path / "memory.csv")
    shoal.run(tmp_path / "people.csv", policy, tmp_path / "disk.csv", memory="256MB")
    # engines order equal labels differently
    rows = [
        sorted((tmp_path / name).read_text().splitlines()) for name in ("memory.csv", "disk.csv")
    ]
    assert rows[0] == rows[1]
