"""Clusters that know their constraints: a stronger one never costs less."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.methods import bottom_up

QUASI = ["age", "town", "zip", "sex", "smoker"]


def people(n: int, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, n),
            "town": [f"t{i}" for i in rng.geometric(0.3, n)],
            "zip": [f"{i:04d}" for i in rng.integers(0, 60, n) * 31],
            "sex": [f"s{i}" for i in rng.integers(0, 2, n)],
            "smoker": [f"s{i}" for i in rng.integers(0, 2, n)],
            "ill": [f"i{min(i, 9)}" for i in rng.geometric(0.35, n)],
        }
    )


def release(method: Any, *constraints: dict[str, Any], n: int = 500) -> shoal.Release[Any]:
    columns: dict[str, Any] = dict.fromkeys(QUASI, "quasi") | {"ill": "sensitive"}
    columns["town"] = {"role": "quasi", "kind": "unordered"}
    columns["zip"] = {"role": "quasi", "hierarchy": {"mask": "right"}}
    policy = {"columns": columns, "constraints": list(constraints), "method": method, "seed": 1}
    return shoal.anonymize(people(n), policy)


@pytest.mark.parametrize(
    "constraints",
    [
        [[{"k": k}, {"l": 3, "of": "ill"}] for k in (2, 3, 5, 8, 12)],
        [[{"k": 4}, {"l": l, "of": "ill"}] for l in (1, 2, 3, 4)],  # noqa: E741
        [[{"k": k}, {"alpha": 0.5, "of": "ill"}] for k in (2, 4, 8)],
        [[{"k": 4}, {"alpha": alpha, "of": "ill"}] for alpha in (1, 0.7, 0.5)],
    ],
)
def test_the_loss_does_not_fall_as_a_constraint_is_strengthened(
    constraints: list[list[dict[str, Any]]],
) -> None:
    losses = [release("k-clustering", *one).metrics["mean-ncp"] for one in constraints]
    for i, loss in enumerate(losses):
        assert loss <= 1.01 * min(losses[i:])


def test_clusters_are_no_larger_than_their_constraints_need() -> None:
    found = release("k-clustering", {"k": 8}, {"l": 3, "of": "ill"})
    assert found.rows / found.groups < 9.5


def test_l_clustering_by_ncp_loses_less_ncp() -> None:
    asked = {"l": 3, "of": "ill"}
    widths = release("l-clustering", asked)
    ncp = release({"name": "l-clustering", "loss": "ncp"}, asked)
    assert ncp.metrics["mean-ncp"] < widths.metrics["mean-ncp"]
    sizes = ncp.table.group_by(QUASI).aggregate([("ill", "count_distinct")])
    assert min(sizes["ill_count_distinct"].to_pylist()) >= 3


def test_weights_belong_to_the_widths_of_the_paper() -> None:
    method = {"name": "l-clustering", "loss": "ncp", "weights": {"age": 2}}
    with pytest.raises(PolicyError, match="l-clustering has `weights`"):
        release(method, {"l": 3, "of": "ill"})


def test_bottom_up_refuses_what_would_take_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bottom_up, "MOST_CELLS", 10)
    with pytest.raises(PolicyError, match="bottom-up compares every different row with all others"):
        release("bottom-up", {"k": 2}, n=100)
