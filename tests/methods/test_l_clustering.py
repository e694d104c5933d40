"""L-clustering: the paper's tables, what it refuses, and what it must survive."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import Infeasible, PolicyError
from tests import naive
from tests.releases import text_rows

HOSPITAL = pa.table(
    {
        "age": [51, 50, 51, 54, 54, 54, 55, 52, 52, 53],
        "zip": [12562, 12552, 12532, 12555, 12555, 12555, 12532, 12561, 12533, 12553],
        "disease": ["heart", "cancer", "heart", "cancer", "heart", "trachea", "cancer", "trachea",
                    "trachea", "trachea"],
    }
)  # fmt: skip
"""The paper's Table 1."""
COLUMNS = {"age": "quasi", "zip": "quasi", "disease": "sensitive"}


def asked(l: int, **keys: Any) -> dict[str, Any]:  # noqa: E741
    wanted = {"columns": COLUMNS, "constraints": [{"l": l, "of": "disease"}]}
    return {**wanted, "method": "l-clustering", **keys}


@pytest.mark.parametrize("seed", range(10))
def test_the_papers_table_becomes_3_diverse(seed: int) -> None:
    release = shoal.anonymize(HOSPITAL, asked(3, seed=seed))
    rows = text_rows(release.table)
    assert min(naive.distinct_by_class(rows, [0, 1], of=2).values()) == 3
    # two diseases come three times, so three clusters at most; its full-domain table has one
    assert 1 < release.groups <= 3
    assert release.suppressed_rows == 0


def test_plain_clustering_is_not_enough() -> None:
    """The paper's Table 5: equal rows share a disease, so clusters of equal rows are not 2-diverse."""
    table = pa.table(
        {
            "age": [51, 56, 56, 51],
            "zip": [12320] * 4,
            "disease": ["heart", "cancer", "cancer", "heart"],
        }
    )
    by_size = shoal.anonymize(table, asked(2, constraints=[{"k": 2}], method="k-clustering"))
    assert by_size.metrics["ncp"] == 0
    assert set(naive.distinct_by_class(text_rows(by_size.table), [0, 1], of=2).values()) == {1}
    diverse = text_rows(shoal.anonymize(table, asked(2)).table)
    assert {row[:2] for row in diverse} == {("[51~56]", "12320")}
    assert set(naive.distinct_by_class(diverse, [0, 1], of=2).values()) == {2}


def test_too_large_an_l_names_the_largest() -> None:
    with pytest.raises(Infeasible, match="largest l it allows is 3"):
        shoal.anonymize(HOSPITAL, asked(4))


def test_a_missing_sensitive_value_is_published_but_never_counts() -> None:
    diseases = [None, None, *HOSPITAL["disease"].to_pylist()[2:]]
    table = HOSPITAL.set_column(2, "disease", pa.array(diseases))
    release = shoal.anonymize(table, asked(3))
    rows = text_rows(release.table)
    assert sum(row[2] is None for row in rows) == 2
    assert min(naive.distinct_by_class(rows, [0, 1], of=2).values()) >= 3


def test_a_k_up_to_l_is_implied() -> None:
    constraints = [{"k": 3}, {"l": 3, "of": "disease"}]
    assert shoal.anonymize(HOSPITAL, asked(3, constraints=constraints)).verified


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([{"k": 2}], "asks for no l.*k-clustering or least-loss-partition"),
        ([{"k": 4}, {"l": 3, "of": "disease"}], "k = 4.*k-clustering or least-loss-partition"),
    ],
)
def test_what_it_cannot_honour_is_refused(constraints: list[Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        shoal.anonymize(HOSPITAL, asked(3, constraints=constraints))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"age": -1}, "weight -1 for 'age'; a weight is a number, 0 or more"),
        ({"age": float("inf")}, "weight inf"),
        ({"ages": 1}, "'ages', which is no quasi column; allowed: age, zip. Did you mean 'age'"),
    ],
)
def test_bad_weights_are_refused(weights: dict[str, float], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        shoal.anonymize(HOSPITAL, asked(3, method={"name": "l-clustering", "weights": weights}))


def test_a_heavy_column_is_kept_sharp() -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 20, 400) for name in ("age", "zip")}
    table = pa.table({**columns, "disease": [f"d{i}" for i in rng.integers(0, 6, 400)]})
    loss = {}
    for heavy in ("age", "zip"):
        method = {"name": "l-clustering", "weights": {heavy: 50}}
        loss[heavy] = shoal.anonymize(table, asked(4, method=method)).column_loss
    assert loss["age"]["age"] < loss["zip"]["age"]
    assert loss["zip"]["zip"] < loss["age"]["zip"]


def test_an_unordered_column_with_very_many_values() -> None:
    n = 20_000
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "age": [f"v{i}" for i in range(n)],
            "zip": rng.integers(0, 3, n),
            "disease": [f"d{i}" for i in rng.integers(0, 6, n)],
        }
    )
    columns = {**COLUMNS, "age": {"role": "quasi", "kind": "unordered"}}
    with pytest.raises(PolicyError, match=r"age.*20,000 different values.*least-loss-partition"):
        shoal.anonymize(table, asked(3, columns=columns))
