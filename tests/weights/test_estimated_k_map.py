"""Estimated k-map: by hand, with every method, recounted from what is published."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import plugins
from shoal.encoding.counts import SCALE
from shoal.methods.base import FullDomainMethod
from shoal.models.estimated_k_map import EstimatedKMap
from shoal.testing import check_model, histograms
from shoal.verification.weights import weights_of_classes
from tests.weights.naive import classes

ROWS = 40
TREES = {
    "age": {"intervals": [5, 10, 20, 40]},
    "sex": {"tree": {"any": ["f", "m"]}},
}


def table(seed: int = 1, people: bool = False, rows: int = ROWS) -> pa.Table:
    draw = np.random.default_rng(seed)
    person = np.arange(rows) // 2 if people else np.arange(rows)
    return pa.table(
        {
            "age": draw.integers(20, 60, rows),
            "sex": draw.choice(["f", "m"], rows),
            "w": draw.choice([0.5, 2.25, 7, 30.125], rows)[person],
            "id": person,
        }
    )


def policy(weight: Any = "weight", people: bool = False, **more: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": tree} for name, tree in TREES.items()
    }
    columns |= {"w": weight, "id": "person" if people else "identifier"}
    constraints = [{"k": 2}, {"estimated-k-map": 50}]
    return {"columns": columns, "constraints": constraints, "seed": 5, **more}


EXACT = {"role": "weight", "publish": "exact"}


def test_conformance() -> None:
    check_model(EstimatedKMap)


def test_whole_people_count() -> None:
    counts = histograms([[0, 1], [2, 3]])
    assert EstimatedKMap(3).strengths(counts).tolist() == [3, 7]
    assert EstimatedKMap(4).holds(counts).tolist() == [False, True]
    assert EstimatedKMap(4).reached(counts) == 3


def test_a_fraction_short_is_not_enough() -> None:
    rows = pa.table({"age": [1, 1], "w": [1.5, 1.499]})
    columns = {"age": "quasi", "w": EXACT}
    with pytest.raises(shoal.Infeasible, match=r"add up to 2 people.*largest it allows is 2"):
        shoal.anonymize(rows, {"columns": columns, "constraints": [{"estimated-k-map": 3}]})


METHODS = sorted(set(plugins.methods()) - {"l-clustering"})


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_it_or_refuses_it(method: str, people: bool) -> None:
    rows = table(people=people)
    try:
        release = shoal.anonymize(rows, policy(EXACT, people, method=method), order="kept")
    except shoal.PolicyError as refused:
        assert method in str(refused)  # noqa: PT017 - by name, before any work
        return
    assert release.table.num_rows == ROWS - release.suppressed_rows
    kept = release.table
    ids = rows["id"].to_pylist() if not release.suppressed_rows else range(kept.num_rows)
    keys = list(zip(kept["age"].to_pylist(), kept["sex"].to_pylist(), strict=True))
    found = classes(keys, [str(w) for w in kept["w"].to_pylist()], list(ids))
    least = min(total for _, total in found.values())
    assert least >= 50
    if not release.suppressed_rows:
        (finding,) = (one for one in release.findings if one.model == "estimated-k-map")
        assert finding.reached == int(least)
        assert finding.classes == len(found)


@pytest.mark.parametrize("people", [False, True])
def test_withheld_weights_are_added_up_as_a_plain_count_does(people: bool) -> None:
    rows = table(people=people)
    release = shoal.anonymize(rows, policy(people=people), order="kept")
    assert release.table.column_names == ["age", "sex"]
    assert not release.suppressed_rows
    keys = list(zip(*(release.table[name].to_pylist() for name in ("age", "sex")), strict=True))
    each = classes(keys, [str(w) for w in rows["w"].to_pylist()], rows["id"].to_pylist())
    least = int(min(total for _, total in each.values()))
    exact = shoal.verify(release).findings[1]
    assert exact.reached == least >= 50
    finding = release.findings[1]
    assert finding.classes == exact.classes == len(each)
    # the weights are withheld, and a class may hold one row: a bound is stated
    assert finding.reached == max(n for n in (50, 100, 200, 500, 1000) if n <= least)


def test_a_release_with_withheld_weights_is_verified_written_and_checked_once_more(
    tmp_path,
) -> None:
    release = shoal.anonymize(table(), policy())
    assert shoal.verify(release).holds
    release.write(tmp_path / "release.csv")
    with pytest.raises(
        shoal.InputError, match="run the raw table with the same policy and seed file"
    ):
        shoal.verify(tmp_path / "release.csv", policy())
    other = shoal.Release(**{**vars(release), "table": release.table.slice(1)})
    with pytest.raises(shoal.VerificationFailed, match="not what was verified"):
        other.write(tmp_path / "other.csv")
    with pytest.raises(shoal.VerificationFailed, match="not what was verified"):
        shoal.verify(other)


def test_a_run_checks_the_written_file(tmp_path) -> None:
    from pyarrow import csv

    csv.write_csv(table(), tmp_path / "table.csv")
    release = shoal.run(tmp_path / "table.csv", policy(), tmp_path / "out.csv")
    assert release.verified
    shown = shoal.run(
        tmp_path / "table.csv", policy({"role": "weight", "round": 0.25}), tmp_path / "shown.csv"
    )
    found = shoal.verify(tmp_path / "shown.csv", shown.policy)
    assert found.findings == shown.findings


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_release_that_falls_short_is_found(tmp_path) -> None:
    from pyarrow import csv

    release = shoal.anonymize(table(), policy({"role": "weight", "round": 0.25}))
    lower = release.table.set_column(2, "w", pa.array([0.25] * ROWS))
    csv.write_csv(lower, tmp_path / "lower.csv")
    found = shoal.verify(tmp_path / "lower.csv", release.policy)
    assert [one.model for one in found.findings if not one.holds] == ["estimated-k-map"]


@pytest.mark.parametrize("suppressed", ["withheld", "starred"])
def test_suppressed_rows_weigh_nothing(suppressed: str) -> None:
    rows = pa.table({"age": [30, 30, 31, 50, 50, 70], "w": [30.0, 30.0, 40.0, 60.0, 60.0, 1000.0]})
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [5]}}, "w": EXACT}
    chosen = {"columns": columns, "constraints": [{"k": 2}, {"estimated-k-map": 100}], "seed": 1}
    release = shoal.anonymize(
        rows, chosen, method="optimal", suppression=0.2, suppressed=suppressed
    )
    assert release.suppressed_rows == 1
    (finding,) = (one for one in release.findings if one.model == "estimated-k-map")
    assert (finding.reached, finding.classes) == (100, 2)


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 5), st.sampled_from(["0.5", "1.25", "1e6"])),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
def test_the_verifier_adds_up_as_a_plain_count(rows, by_person) -> None:
    weight_of = {person: weight for _, person, weight in rows}
    group = np.unique([g for g, _, _ in rows], return_inverse=True)[1]
    people = [p for _, p, _ in rows] if by_person else None
    weights = [weight_of[p] if by_person else w for _, p, w in rows]
    found = weights_of_classes(
        group.astype(np.int64),
        np.array([int(Fraction(w) * SCALE) for w in weights]),
        None if people is None else np.array(people),
    )
    expected = classes(group.tolist(), weights, people)
    for g, (size, total) in expected.items():
        assert found.sizes[g] == size
        assert Fraction(int(found.weights[g]), SCALE) == total


def test_what_a_policy_must_have() -> None:
    with pytest.raises(shoal.PolicyError, match="no column has the role weight"):
        shoal.anonymize(table(), policy("identifier"))
    with pytest.warns(shoal.ShoalWarning, match="is an estimate.*Add a `k`"):
        shoal.anonymize(table(), policy(constraints=[{"estimated-k-map": 50}]))


def test_tables_larger_than_memory_refuse_it_by_name(tmp_path) -> None:
    with pytest.raises(
        shoal.PolicyError, match="estimated-k-map is estimated from sampling weights"
    ):
        shoal.run(tmp_path / "none.csv", policy(), tmp_path / "out.csv", memory="1GB")


def test_hierarchy_methods_are_among_those_tried() -> None:
    assert any(issubclass(plugins.method(name), FullDomainMethod) for name in METHODS)
