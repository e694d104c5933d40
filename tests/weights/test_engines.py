"""Every engine, and every order of rows, estimates the same population."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import shoal
from shoal.policy import Policy

ROWS = 120
TREES = {"age": {"intervals": [5, 20]}, "sex": {"tree": {"any": ["f", "m"]}}}


def table(seed: int = 4) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(20, 30, ROWS),
            "sex": draw.choice(["f", "m"], ROWS),
            "ill": draw.choice(["a", "b"], ROWS),
            "w": draw.choice([0.5, 20.125, 33.3, 400], ROWS),
        }
    )


def policy(method: str, weight: Any = "weight", **more: Any) -> Policy:
    columns: dict[str, Any] = {n: {"role": "quasi", "hierarchy": t} for n, t in TREES.items()}
    columns |= {"ill": "sensitive", "w": weight}
    constraints = [{"k": 4}, {"l": 2, "of": "ill"}]
    chosen = {"columns": columns, "constraints": constraints, "seed": 9, "method": method, **more}
    return Policy.load(chosen)


CASES = [
    ("least-loss-partition", "weight", {}),
    ("mondrian", {"role": "weight", "round": 0.5}, {}),
    ("datafly", "weight", {"suppression": 0.2, "constraints": [{"k": 4}]}),
    (
        "optimal",
        {"role": "weight", "publish": "exact"},
        {"suppression": 0.3, "suppressed": "starred"},
    ),
]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(("method", "weight", "more"), CASES)
def test_a_table_on_disk_estimates_as_one_in_memory(tmp_path, method, weight, more) -> None:
    csv.write_csv(table(), tmp_path / "table.csv")
    chosen = policy(method, weight, **more)
    releases = [
        shoal.run(tmp_path / "table.csv", chosen, tmp_path / f"{memory}.csv", memory=memory)
        for memory in (None, "1GB")
    ]
    inside, outside = releases
    assert inside.weighted == outside.weighted
    assert inside.weighted is not None
    for name in ("weighted-mean-ncp", "weighted-suppression"):
        assert outside.metrics[name] == pytest.approx(inside.metrics[name], rel=1e-12)
    written = [(tmp_path / f"{memory}.csv").read_text().splitlines() for memory in (None, "1GB")]
    assert sorted(written[0]) == sorted(written[1])
    assert [w for w in inside.warnings if "weight" in w] == [
        w for w in outside.warnings if "weight" in w
    ]


@pytest.mark.parametrize("constraint", [{"k": 4}, {"estimated-k-map": 300}])
def test_the_order_of_rows_does_not_matter(constraint: dict[str, int]) -> None:
    """Rows that are published alike may have other weights: which goes where must not follow from
    where they stood."""
    chosen = policy("least-loss-partition", constraints=[{"k": 2}, constraint])
    shuffled = np.random.default_rng(1).permutation(ROWS)
    first, second = (
        shoal.anonymize(one, chosen) for one in (table(), table().take(pa.array(shuffled)))
    )
    assert first.table.equals(second.table)
    assert first.weighted == second.weighted
    assert first.findings == second.findings


def test_bad_weights_on_disk_are_refused(tmp_path) -> None:
    rows = table().set_column(3, "w", pa.array([-1.0, *[2.0] * (ROWS - 1)]))
    csv.write_csv(rows, tmp_path / "table.csv")
    with pytest.raises(shoal.InputError, match="1 of 120 rows have a weight of 0 or below"):
        shoal.run(tmp_path / "table.csv", policy("mondrian"), tmp_path / "out.csv", memory="1GB")
    assert not (tmp_path / "out.csv").exists()


def test_people_with_weights_are_refused_by_name_outside_of_memory(tmp_path) -> None:
    columns = {"age": "quasi", "w": "weight", "id": "person"}
    chosen = {"columns": columns, "constraints": [{"k": 2}]}
    with pytest.raises(
        shoal.PolicyError, match=r"'w' has the role weight.*'id'.*larger than memory"
    ):
        shoal.run(tmp_path / "none.csv", chosen, tmp_path / "out.csv", memory="1GB")
