"""Policies that the climbing methods cannot honour are refused before any work, in plain words."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import run
from shoal.errors import Infeasible, PolicyError, ShoalError

TABLE = pa.table(
    {
        "race": ["w", "w", "b", "b"],
        "zip": ["101", "102", "101", "102"],
        "age": [30, 31, 32, 33],
        "illness": ["flu", "flu", "cold", "cold"],
    }
)
CLIMBING = ["datafly", "classfly", "classfly-plus"]
PARTITIONS = ["least-loss-partition", "flexible-partition", "mondrian", "bottom-up"]


def policy(constraints: list[dict[str, Any]], method: object, **columns: object) -> dict[str, Any]:
    quasi: dict[str, Any] = {
        "race": {"role": "quasi", "hierarchy": {"tree": {"*": ["w", "b"]}}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
        "illness": "sensitive",
    }
    return {"columns": quasi | columns, "constraints": constraints, "method": method}


WHOLE = {"k": 2, "on": ["race", "zip", "age"]}
UNKNOWN = {"k": 2, "on": ["race", "zipp"]}
SENSITIVE = {"k": 2, "on": ["race", "illness"]}
REFUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("an unknown column", policy([WHOLE, UNKNOWN], "datafly"), ["zipp", "zip", "constraints[1]"]),
    (
        "a column that is no quasi-identifier",
        policy([WHOLE, SENSITIVE], "datafly"),
        ["'illness' has the role sensitive", "race, zip, age"],
    ),
    (
        "the same constraint twice",
        policy([WHOLE, {"k": 2, "on": ["age", "race", "zip"]}], "datafly"),
        ["constraints[1]", "is the same as constraints[0]"],
    ),
    ("a constraint on no column", policy([WHOLE, {"k": 2, "on": []}], "datafly"), ["is empty"]),
    ("a column twice", policy([WHOLE, {"k": 2, "on": ["zip", "zip"]}], "datafly"), ["twice"]),
]
for method in CLIMBING:
    REFUSED += [
        (
            f"{method}: a column without a hierarchy",
            policy([WHOLE], method, age="quasi"),
            [f"{method} climbs hierarchies, but age has none", "least-loss-partition"],
        ),
        (
            f"{method}: another model beside",
            policy([WHOLE, {"l": 2, "of": "illness"}], method),
            [f"{method} honours k alone", "l", *PARTITIONS],
        ),
        (
            f"{method}: a column that no constraint names",
            policy([{"k": 2, "on": ["race"]}, {"k": 2, "on": ["zip"]}], method),
            ["none names age", "`on`"],
        ),
    ]
REFUSED.append(
    (
        "classfly: constraints that overlap",
        policy([{"k": 2, "on": ["race", "zip"]}, {"k": 3, "on": ["zip", "age"]}], "classfly"),
        ["k = 2 on race, zip", "k = 3 on zip, age", "overlap", "classfly-plus"],
    )
)


@pytest.mark.parametrize(("asked", "words"), [pytest.param(a, w, id=i) for i, a, w in REFUSED])
def test_refused_before_any_work(
    asked: dict[str, Any], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PolicyError) as error:
        shoal.anonymize(TABLE, asked)
    assert error.value.exit_code == 2
    for word in words:
        assert word in str(error.value)

    def no_work(*_: object, **__: object) -> None:
        raise AssertionError("rows were read before the policy was refused")

    source = tmp_path / "t.csv"
    source.write_text("race,zip,age,illness\nw,101,30,flu\nb,102,31,cold\n")
    monkeypatch.setattr("shoal.engines.files.LocalFiles.read", no_work)
    with pytest.raises(PolicyError, match=r"[a-z]"):
        run(source, asked, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("method", [*CLIMBING, *PARTITIONS])
def test_a_k_larger_than_the_table_is_infeasible(method: str) -> None:
    apart = [{"k": 2, "on": ["race"]}, {"k": 5, "on": ["zip", "age"]}]
    with pytest.raises(
        Infeasible, match=r"has 4 rows, but k = 5 was required.*largest k.* is 4"
    ) as error:
        shoal.anonymize(TABLE, policy(apart, method))
    assert error.value.exit_code == 3


def test_classfly_takes_overlaps_that_are_implied() -> None:
    made = shoal.anonymize(TABLE, policy([WHOLE, {"k": 2, "on": ["zip"]}], "classfly"))
    assert made.constraints[1].implied_by == 0
    assert made.verified


def test_all_hierarchies_that_are_missing_are_named() -> None:
    with pytest.raises(PolicyError, match=r"race, age have none"):
        shoal.anonymize(TABLE, policy([WHOLE], "datafly", age="quasi", race="quasi"))


def test_an_unknown_variant_lists_those_there_are() -> None:
    with pytest.raises(ShoalError, match=r"complete.*partial.*naive") as error:
        shoal.anonymize(TABLE, policy([WHOLE], {"name": "classfly-plus", "variant": "naiv"}))
    assert error.value.exit_code == 2


@pytest.mark.parametrize("how", ["withheld", "starred"])
def test_partition_methods_allow_a_column_that_no_constraint_names(how: str) -> None:
    asked = policy([{"k": 2, "on": ["zip"]}, {"k": 2, "on": ["age"]}], "mondrian")
    made = shoal.anonymize(TABLE, asked | {"suppressed": how})
    assert any("No constraint covers" in warning for warning in made.warnings)
    assert made.verified


def test_a_suppression_limit_that_rows_starred_everywhere_exceed() -> None:
    rare = pa.table({"race": ["w", "w", "w", "b"]})
    asked = {
        "columns": {"race": {"role": "quasi", "hierarchy": {"tree": {"*": ["w", "b"]}}}},
        "constraints": [{"k": 2, "on": ["race"]}],
        "method": "classfly-plus",
    }
    assert shoal.anonymize(rare, asked, suppression=0.25).suppressed_rows == 1
    with pytest.raises(Infeasible, match=r"1 of 4 rows \(25.0%\)"):
        shoal.anonymize(rare, asked, suppression=0.2)
    # Datafly climbs further where less may be suppressed
    kept = shoal.anonymize(rare, asked, method="datafly", suppression=0.2)
    assert kept.table.column("race").to_pylist() == ["*"] * 4
    gone = shoal.anonymize(rare, asked, method="datafly", suppression=1.0)
    assert (gone.published_rows, gone.suppressed_rows) == (3, 1)
