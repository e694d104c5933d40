"""What `incognito` and `optimal` publish, refuse and report."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import Infeasible, PolicyError
from shoal.methods import lattice as _lattice
from shoal.methods.incognito import Incognito
from shoal.methods.optimal import Optimal
from shoal.metrics.query_error import QueryError
from tests.methods.everyone import COLUMNS, everyone, write_hierarchies
from tests.releases import shuffled

METHODS = ["incognito", "optimal"]

# The patients of the Incognito paper, and its three hierarchies.
PATIENTS = pa.table(
    {
        "birth": ["76-01-21", "86-04-13", "76-02-28", "76-01-21", "86-04-13", "76-02-28"],
        "sex": ["Male", "Female", "Male", "Male", "Female", "Female"],
        "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
        "ill": ["flu", "hepatitis", "bronchitis", "broken arm", "sprained ankle", "hang nail"],
    }
)
BIRTH = {"tree": {"any": ["76-01-21", "76-02-28", "86-04-13"]}}
SEX = {"tree": {"Person": ["Male", "Female"]}}
ZIP = {"tree": {"537**": {"5371*": ["53715"], "5370*": ["53703", "53706"]}}}


def patients(method: Any, **keys: Any) -> shoal.Release:
    columns = {
        "birth": {"role": "quasi", "hierarchy": BIRTH},
        "sex": {"role": "quasi", "hierarchy": SEX},
        "zip": {"role": "quasi", "hierarchy": ZIP},
        "ill": "plain",
    }
    policy = {"columns": columns, "constraints": [{"k": 2}], **keys}
    return shoal.anonymize(PATIENTS, policy, method=method)


def node(birth: int, sex: int, zipped: int) -> dict[str, int]:
    return {"birth": birth, "sex": sex, "zip": zipped}


def test_the_patients_of_the_paper() -> None:
    """k = 2. Each zip, each birth date and each sex occur at least twice, so any of the three may stay
    raw when the other two are at their top. No two can: a man lives in 53715 and one in 5370* beside a
    second, one woman in 53715; on 76-02-28 one man and one woman were born; 76-01-21 lives in two
    zips, 5371* and 5370*."""
    release = patients("incognito")
    assert release.minimal_nodes == (node(0, 1, 2), node(1, 0, 2), node(1, 1, 0))
    assert release.to_dict()["minimal_nodes"] == list(release.minimal_nodes)
    # NCP: two columns lose all, the third nothing: equal, so the least sum of levels wins
    assert release.metrics["mean-ncp"] == pytest.approx(2 / 3)
    assert release.columns["zip"].levels == {0: 6}
    assert "3 of 12 combinations of levels are minimal" in release.notes[-1]


def test_the_optimum_need_not_be_minimal_nor_suppress_nothing() -> None:
    assert patients("optimal").columns["zip"].levels == {0: 6}
    assert patients("optimal").minimal_nodes == ()
    # one row of six may go, but failing classes come in twos here; two rows of six may
    assert patients("optimal", suppression=0.2).suppressed_rows == 0
    loose = patients("optimal", suppression=0.34)
    assert loose.suppressed_rows == 2
    # the two in 53715 go, the others lose one column of three; so do they where zip climbs instead
    # and the two of 76-02-28 go, but that is two levels and not one
    assert loose.columns["birth"].levels == {1: 4}
    assert loose.columns["sex"].levels == loose.columns["zip"].levels == {0: 4}
    assert loose.metrics["mean-ncp"] == pytest.approx((4 / 3 + 2) / 6)


def test_without_a_limit_nothing_is_suppressed(tmp_path: Path) -> None:
    write_hierarchies(tmp_path)
    for method in METHODS:
        assert people(tmp_path, method).suppressed_rows == 0


def people(folder: Path, method: Any, rows: int = 200, **keys: Any) -> shoal.Release:
    columns = {name: COLUMNS[name] for name in ("hours", "school", "race", "ill", "ward")}
    asked = {"constraints": [{"k": 4}, {"l": 2, "of": "ill"}], "default": "drop", **keys}
    policy = {"columns": columns, "method": method, "folder": folder, **asked}
    return shoal.anonymize(everyone(rows), policy)


@pytest.mark.parametrize(("method", "name"), [(Incognito, "incognito"), (Optimal, "optimal")])
def test_a_metric_by_name_with_options_or_as_an_object(method: type, name: str) -> None:
    asked = {"name": "query-error", "queries": 20}
    made = patients(method(metric=QueryError(queries=20)))
    named = patients({"name": name, "metric": asked})
    assert made.table.equals(named.table)
    assert made.policy.to_yaml() == named.policy.to_yaml()
    assert shoal.Policy.load(made.policy.to_yaml()).method == method(metric=QueryError(queries=20))
    assert "metric: query-error" in patients(method(metric=QueryError())).policy.to_yaml()
    with pytest.raises(ValueError, match="must be a metric's name"):
        method(metric=QueryError)


@pytest.mark.parametrize("method", METHODS)
def test_a_metric_that_is_not_there(method: str) -> None:
    with pytest.raises(PolicyError, match=r"method.metric: found 'mean-npc'.*'mean-ncp'\?"):
        patients({"name": method, "metric": "mean-npc"})


@pytest.mark.parametrize("method", METHODS)
def test_a_metric_without_a_figure(method: str) -> None:
    with pytest.raises(PolicyError, match=r"cm gives no figure.*target"):
        patients({"name": method, "metric": "cm"})
    assert patients({"name": method, "metric": "cm"}, target="ill").metrics["cm"] is not None


@pytest.mark.parametrize("method", METHODS)
def test_constraints_on_some_columns_are_refused_by_name(method: str) -> None:
    some = [{"k": 2, "on": ["sex", "zip"]}]
    with pytest.raises(PolicyError, match=f"{method} .*k speaks of sex, zip alone.*classfly-plus"):
        patients(method, constraints=some)
    assert patients(method, constraints=[{"k": 2, "on": ["zip", "sex", "birth"]}]).verified


@pytest.mark.parametrize("method", METHODS)
def test_a_lattice_too_large_to_search(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lattice, "MOST_NODES", 11)
    with pytest.raises(
        PolicyError, match=r"have 12; at most 11 .*zip \(3\), birth \(2\), sex \(2\)"
    ):
        patients(method)


@pytest.mark.parametrize("method", METHODS)
def test_searches_that_may_skip_nothing_are_refused_with_an_estimate(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lattice, "MOST_COUNTED", 71)
    monkeypatch.setattr(_lattice, "COUNTED_IN_AN_HOUR", 36)
    trees = {"birth": BIRTH, "sex": SEX, "zip": ZIP}
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": tree} for name, tree in trees.items()
    }
    columns["ill"] = "sensitive"
    limited = {"constraints": [{"k": 2}, {"t": 0.9, "of": "ill"}], "suppression": 0.5}
    with pytest.raises(
        PolicyError,
        match=r"all 12 combinations of levels over 6 rows, which takes about 2 hours: with k, t, .*"
        r"Set `suppression: 0`",
    ):
        patients(method, columns=columns, **limited)
    # k may skip, and so may t where nothing is suppressed
    assert patients(method, suppression=0.5).verified
    assert patients(method, columns=columns, **limited | {"suppression": 0}).verified


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "constraint", [{"k": 7}, {"l": 7, "of": "ill"}, {"entropy-l": 6.5, "of": "ill"}]
)
@pytest.mark.parametrize("suppression", [None, 0.5])
def test_what_no_node_can_meet(
    method: str, constraint: dict[str, Any], suppression: float | None
) -> None:
    columns = {"sex": {"role": "quasi", "hierarchy": SEX}, "ill": "sensitive"}
    policy = {"columns": columns, "constraints": [constraint], "default": "drop"}
    with pytest.raises(Infeasible, match=r"allows is 6"):
        shoal.anonymize(PATIENTS, policy, method=method, suppression=suppression)


def test_a_skewed_table_may_be_met_by_suppressing() -> None:
    """All rows are too uneven for entropy l = 2; without the nine equal ones they are not."""
    table = pa.table({"town": ["a"] * 9 + ["b", "b"], "ill": ["flu"] * 9 + ["flu", "gout"]})
    columns = {
        "town": {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}},
        "ill": "sensitive",
    }
    policy = {
        "columns": columns,
        "constraints": [{"entropy-l": 2, "of": "ill"}],
        "suppression": 0.9,
    }
    for method in METHODS:
        release = shoal.anonymize(table, policy, method=method)
        assert (release.published_rows, release.suppressed_rows) == (2, 9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("suppression", [0, 0.1])
def test_rows_in_any_order_and_threads_of_any_number(
    method: str, suppression: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_hierarchies(tmp_path)
    first = people(tmp_path, method, suppression=suppression)
    monkeypatch.setattr("shoal.methods.lattice.LARGE", 0)
    monkeypatch.setenv("SHOAL_THREADS", "3")
    again = people(tmp_path, method, suppression=suppression)
    assert first.table.equals(again.table)
    assert first.minimal_nodes == again.minimal_nodes
    table = shuffled(everyone(200), 3)
    turned = shoal.anonymize(table, first.policy)
    assert first.table.equals(turned.table)


def test_columns_that_need_more_than_a_word_of_bits() -> None:
    """Twelve columns of about 64 values take 72 bits."""
    rows = range(300)
    names = [f"c{j}" for j in range(12)]
    table = pa.table(
        {name: [(7 * i + j * i * i) % 61 for i in rows] for j, name in enumerate(names)}
    )
    flat = {"tree": {"any": [str(value) for value in range(61)]}}
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": flat} for name in names}
    columns["c0"]["hierarchy"] = {"intervals": [8, 32]}
    policy = {"columns": columns, "constraints": [{"k": 30}]}
    release = shoal.anonymize(table, policy, method="incognito")
    # counted with plain tuples: c0 in steps of 32 holds 30 rows and more, of 8 or none it does not
    sizes = Counter(value // 32 for value in table["c0"].to_pylist())
    assert (
        min(sizes.values()) >= 30 > min(Counter(v // 8 for v in table["c0"].to_pylist()).values())
    )
    assert {name: 2 if name == "c0" else 1 for name in names} in release.minimal_nodes
