"""A quasi column with a kind and a hierarchy: each method takes what it can use."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shoal


def people(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(17, 90, n), "sex": rng.choice(["f", "m"], n)})


def policy(method: str, **age: object) -> dict[str, object]:
    return {
        "columns": {
            "age": {
                "role": "quasi",
                "kind": "ordered",
                "hierarchy": {"intervals": [10, 40]},
                **age,
            },
            "sex": {
                "role": "quasi",
                "kind": "unordered",
                "hierarchy": {"tree": {"any": ["f", "m"]}},
            },
        },
        "constraints": [{"k": 5}],
        "method": method,
        "seed": 1,
    }


@pytest.mark.parametrize("method", ["datafly", "optimal", "incognito", "classfly"])
def test_a_full_domain_method_takes_the_hierarchy(method: str) -> None:
    table = shoal.anonymize(people(), policy(method)).table
    assert {label[-1] for label in table["age"]} == {")"}
    alone = policy(method)
    alone["columns"]["age"].pop("kind")  # type: ignore[index]
    alone["columns"]["sex"].pop("kind")  # type: ignore[index]
    assert shoal.anonymize(people(), alone).table.equals(table)


def test_every_other_method_takes_the_kind(tmp_path: Path) -> None:
    release = shoal.anonymize(people(), policy("mondrian"))
    assert any("~" in label for label in release.table["age"])
    alone = policy("mondrian")
    alone["columns"]["age"].pop("hierarchy")  # type: ignore[index]
    alone["columns"]["sex"].pop("hierarchy")  # type: ignore[index]
    assert shoal.anonymize(people(), alone).table.equals(release.table)
    release.table.to_csv(tmp_path / "release.csv", index=False)
    assert shoal.verify(tmp_path / "release.csv", policy("mondrian")).holds


def test_the_policy_keeps_both_when_the_method_changes() -> None:
    both = shoal.Policy.load(policy("mondrian"))
    assert both.hierarchy_of("age") is None
    changed = shoal.Policy.load(both.to_yaml()).with_changes(method="datafly")
    assert changed.hierarchy_of("age") is not None
    assert changed.columns == both.columns


def test_an_open_end_is_refused_only_where_the_hierarchy_is_used() -> None:
    release = shoal.anonymize(people(), policy("mondrian", top=80))
    assert release.verified
    with pytest.raises(shoal.PolicyError, match=r"columns.age.top: cannot be combined with `hier"):
        shoal.Policy.load(policy("datafly", top=80))
