"""Every method keeps every model it takes: judged on the published text by the textbook twins."""

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import shoal
from tests.methods.everyone import COLUMNS, ILLS, everyone, write_hierarchies
from tests.models import twins
from tests.releases import every_method, raw_text, takes_k_alone

QUASI = ["age", "town", "zip", "race"]
TREES = ["zip", "race", "school"]
# codes in the order of ILLS, which the tree keeps
TREE = {"lung": ["flu", "asthma"], "other": [{"grave": ["cancer"]}, {"mild": ["gout", "ulcer"]}]}
NODES = ((0, 1, 2, 3, 4), (0, 1, 2, 3, 3), (0, 0, 1, 1, 1), (0, 0, 0, 0, 0))

Judge = Callable[[list[int | None], list[int | None]], bool]
CASES: list[tuple[dict[str, Any], Judge]] = [
    ({"alpha": 0.5}, lambda g, _: twins.alpha(g) <= Fraction(1, 2)),
    ({"entropy-l": 3}, lambda g, _: twins.entropy(g) >= math.log(3) - 1e-9),
    ({"recursive-l": 2, "c": 1}, lambda g, _: twins.recursive(g, 2, Fraction(1))),
    ({"recursive-l": 3, "c": 1.5}, lambda g, _: twins.recursive(g, 3, Fraction(3, 2))),
    ({"t": 0.3}, lambda g, e: twins.distance("equal", NODES)(g, e) <= Fraction(3, 10)),
    (
        {"t": 0.2, "distance": "ordered"},
        lambda g, e: twins.distance("ordered", NODES)(g, e) <= Fraction(1, 5),
    ),
    (
        {"t": 0.2, "distance": "hierarchical"},
        lambda g, e: twins.distance("hierarchical", NODES)(g, e) <= Fraction(1, 5),
    ),
    ({"beta": 1.5}, lambda g, e: twins.beta(g, e, Fraction(3, 2), enhanced=False)),
    ({"beta": 1, "enhanced": True}, lambda g, e: twins.beta(g, e, Fraction(1), enhanced=True)),
    ({"delta": 0.9}, lambda g, e: twins.delta(g, e, 0.9)),
]


def asked(folder: Path, constraint: dict[str, Any], **keys: Any) -> dict[str, Any]:
    ill: dict[str, Any] = {"role": "sensitive"}
    if constraint.get("distance") == "hierarchical":
        ill["hierarchy"] = {"tree": TREE}
    elif constraint.get("distance") == "ordered":
        ill["order"] = ILLS
    columns = {**{name: COLUMNS[name] for name in QUASI}, "ill": ill}
    return {"columns": columns, "default": "drop", "folder": folder, "seed": 0, **keys}


def classes(table: Any, quasi: list[str] = QUASI) -> dict[Any, list[int | None]]:
    """The sensitive values of each published class, as places in ILLS."""
    found = defaultdict(list)
    for row in table.select([*quasi, "ill"]).to_pylist():
        ill = row.pop("ill")
        key = tuple(raw_text(value) for value in row.values())
        found[key].append(None if ill is None else ILLS.index(ill))
    return found


@pytest.mark.parametrize("method", every_method())
@pytest.mark.parametrize(("constraint", "judge"), CASES, ids=[str(asked) for asked, _ in CASES])
def test_every_model_holds(
    method: dict[str, Any], constraint: dict[str, Any], judge: Judge, tmp_path: Path
) -> None:
    write_hierarchies(tmp_path)
    table = everyone(220, seed=4)
    constraints = [{"k": 2}, {**constraint, "of": "ill"}]
    policy = asked(tmp_path, constraint, constraints=constraints, method=method)
    release = shoal.anonymize(table, policy)
    groups = classes(release.table)
    everybody = [value for group in groups.values() for value in group]
    assert len(everybody) == 220
    assert len(groups) == release.published_classes > 1, "it does not give up"
    assert all(judge(group, everybody) for group in groups.values())
    assert all(len(group) >= 2 for group in groups.values())


@pytest.mark.parametrize("method", every_method())
def test_average_risk_holds(method: dict[str, Any], tmp_path: Path) -> None:
    write_hierarchies(tmp_path)
    policy = asked(tmp_path, {}, constraints=[{"average-risk": 0.15}], method=method)
    release = shoal.anonymize(everyone(220, seed=4), policy)
    groups = classes(release.table)
    assert 1 < len(groups) <= Fraction(15, 100) * 220
    assert release.findings[0].reached >= len(groups) / 220


CLIMBING = every_method(climbing=True)


@pytest.mark.parametrize("method", [m for m in CLIMBING if not takes_k_alone(m.values[0])])
@pytest.mark.parametrize(("constraint", "judge"), CASES, ids=[str(asked) for asked, _ in CASES])
def test_every_model_holds_where_all_rows_climb_alike(
    method: dict[str, Any], constraint: dict[str, Any], judge: Judge, tmp_path: Path
) -> None:
    write_hierarchies(tmp_path)
    constraints = [{"k": 2}, {**constraint, "of": "ill"}]
    policy = asked(tmp_path, constraint, constraints=constraints, method=method, suppression=0.2)
    policy["columns"] = {name: COLUMNS[name] for name in TREES} | {"ill": policy["columns"]["ill"]}
    release = shoal.anonymize(everyone(220, seed=4), policy)
    groups = classes(release.table, TREES)
    everybody = [value for group in groups.values() for value in group]
    assert len(everybody) == release.published_rows >= 0.8 * 220
    assert all(judge(group, everybody) for group in groups.values())
    assert all(len(group) >= 2 for group in groups.values())


@pytest.mark.parametrize("method", [m for m in CLIMBING if takes_k_alone(m.values[0])])
def test_methods_that_take_k_alone_say_so(method: dict[str, Any], tmp_path: Path) -> None:
    write_hierarchies(tmp_path)
    constraints = [{"k": 2}, {"t": 0.2, "of": "ill"}]
    with pytest.raises(shoal.PolicyError, match=r"also asks for t of ill\. Leave these"):
        shoal.anonymize(everyone(50), asked(tmp_path, {}, constraints=constraints, method=method))
