import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.errors import PolicyError
from shoal.hierarchy import parse_hierarchy
from shoal.methods.auto import Auto
from shoal.methods.flexible_partition import FlexiblePartition
from shoal.methods.mondrian import Mondrian
from shoal.models.k import K
from shoal.models.l import L
from shoal.policy import Column, Policy

HOSPITAL = """
columns:
  name: identifier
  age: {role: quasi, kind: ordered}
  zip: {role: quasi, hierarchy: {mask: right}}
  race: {role: quasi, hierarchy: race.csv}
  hours: {role: quasi, hierarchy: {intervals: [5, 10, 20], from: 20}}
  education: {role: quasi, order: [none, school, university]}
  on: quasi
  2020: {role: quasi, kind: unordered}
  disease: {role: sensitive, hierarchy: {tree: {any: [flu, HIV]}}}
  ppl: preference
  ward: plain
constraints:
  - {k: 5}
  - {k: 3, on: [age, on]}
  - {k: 4, on: 2020}
  - {l: 3, of: disease}
method: {name: mondrian, strict: false}
suppression: 0.05
suppressed: starred
seed: 7
target: ward
default: drop
"""


def test_a_policy_as_it_was_meant(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(HOSPITAL)
    policy = Policy.load(tmp_path / "policy.yaml")
    assert policy.columns["age"] == Column(role="quasi", kind="ordered")
    assert policy.columns["zip"].hierarchy == parse_hierarchy({"mask": "right"})
    assert policy.columns["race"].hierarchy == parse_hierarchy("race.csv")
    assert policy.columns["education"].order == ("none", "school", "university")
    assert policy.columns["education"].kind == "ordered"
    assert policy.constraints == (
        K(k=5),
        K(k=3, on=("age", "on")),
        K(k=4, on=("2020",)),
        L(l=3, of="disease"),
    )
    assert policy.method == Mondrian(strict=False)
    assert policy.suppression == 0.05
    assert (policy.suppressed, policy.order, policy.seed) == ("starred", "sorted", 7)
    assert (policy.target, policy.default) == ("ward", "drop")
    assert policy.folder == tmp_path
    assert Policy.load(str(tmp_path / "policy.yaml")) == policy
    assert Policy.load(policy) is policy


def test_what_a_policy_leaves_out() -> None:
    policy = Policy.load({"columns": {"age": "quasi"}, "constraints": [{"k": 5}]})
    assert policy.method == Auto()
    assert policy.suppression is None
    assert (policy.suppressed, policy.order, policy.seed) == ("withheld", "sorted", None)
    assert (policy.target, policy.default, policy.folder) == (None, None, Path())


def test_roles() -> None:
    policy = Policy.load(HOSPITAL)
    assert policy.quasi == ("age", "zip", "race", "hours", "education", "on", "2020")
    assert policy.sensitive == ("disease",)
    assert policy.plain == ("ward",)
    assert policy.identifiers == ("name",)
    assert policy.columns_with("preference") == ("ppl",)


def test_what_is_published_of_a_table() -> None:
    policy = Policy.load(HOSPITAL)
    names = ["ward", "note", "zip", "ppl", "name", "disease", "age"]
    assert policy.published(names) == ("ward", "zip", "disease", "age")


def test_python_objects_and_plain_data_mean_the_same() -> None:
    objects = Policy(
        columns={"age": Column(role="quasi"), "disease": Column(role="sensitive")},
        constraints=(K(k=5), L(l=2, of="disease")),
        method=FlexiblePartition(dimension="widest"),
    )
    plain = Policy(
        columns={"age": "quasi", "disease": {"role": "sensitive"}},  # type: ignore[dict-item]
        constraints=[{"k": 5}, {"l": 2, "of": "disease"}],  # type: ignore[arg-type]
        method={"name": "flexible-partition", "dimension": "widest"},  # type: ignore[arg-type]
    )
    text = Policy.load(
        "columns: {age: quasi, disease: sensitive}\nconstraints: [{k: 5}, {l: 2, of: disease}]\n"
        "method: {name: flexible-partition, dimension: widest}\n"
    )
    assert objects == plain == text
    assert hash(objects) == hash(text)
    assert objects != Policy(columns=objects.columns, constraints=(K(k=5),))
    assert objects != "a policy"


def test_python_mistakes_are_policy_errors_too() -> None:
    with pytest.raises(PolicyError, match=r"^seed: found -1; must be 0 or more$"):
        Policy(columns={"age": Column(role="quasi")}, constraints=(K(k=5),), seed=-1)


def test_values_of_an_order_are_text() -> None:
    column = Column.model_validate({"role": "quasi", "order": [1, 2.0, 2.5, True, "x"]})
    assert column.order == ("1", "2", "2.5", "true", "x")


def test_a_policy_cannot_be_changed_in_place() -> None:
    policy = Policy.load(HOSPITAL)
    with pytest.raises(ValueError, match="frozen"):
        policy.seed = 3


def test_a_changed_policy_is_checked_again() -> None:
    policy = Policy.load(HOSPITAL)
    assert policy.replace_keys(method="flexible-partition", seed=3).method == FlexiblePartition()
    assert policy.seed == 7
    with pytest.raises(PolicyError, match="method: found 'mondrain'"):
        policy.replace_keys(method="mondrain")
    with pytest.raises(PolicyError, match="sed: unknown key"):
        policy.replace_keys(sed=3)


def test_a_policy_travels_to_other_processes() -> None:
    policy = Policy.load(HOSPITAL)
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_a_constraint_named_by_the_key_that_owns_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`{c: 2, k: 5}` is the model c where c has an option k."""
    import dataclasses

    from shoal import plugins
    from shoal.policy import parts

    @dataclasses.dataclass(frozen=True)
    class C:
        c: float
        k: int

    classes = {"c": C, "k": K}
    monkeypatch.setattr(plugins, "names", lambda _: list(classes))
    monkeypatch.setattr(plugins, "model", classes.__getitem__)
    assert parts.constraint({"c": 2, "k": 5}) == C(c=2, k=5)
    assert parts.constraint({"k": 5}) == K(k=5)


def warned(**keys: object) -> list[str]:
    columns = {"age": "quasi", "zip": "quasi", "disease": "sensitive"}
    constraints = [{"k": 5}, {"l": 2, "of": "disease"}]
    return Policy.load({"columns": columns, "constraints": constraints, **keys}).warnings()


def test_a_careful_policy_has_no_warning() -> None:
    assert warned() == []


def test_what_is_allowed_but_worth_a_word() -> None:
    assert warned(constraints=[{"k": 5}]) == [
        "No constraint protects the sensitive column disease: where all rows of a group share one "
        "value, it is disclosed for everyone in the group. Consider {l: 2, of: disease}, "
        "or {t: 0.3, of: disease, distance: ordered} if it has more than 20 different numbers."
    ]
    assert warned(order="kept") == [
        "order: kept leaves the rows in the order of the input, so anyone who knows that order can "
        "tell whose row is whose. Use it only where nobody else does."
    ]
    assert warned(constraints=[{"k": 1}, {"l": 1, "of": "disease"}]) == [
        "No constraint protects the sensitive column disease: where all rows of a group share one "
        "value, it is disclosed for everyone in the group. Consider {l: 2, of: disease}, "
        "or {t: 0.3, of: disease, distance: ordered} if it has more than 20 different numbers.",
        "k of 1 has no effect: every table satisfies it, and nobody is protected by it. Choose 2 or "
        "more.",
        "l of 1 has no effect: every table satisfies it, and nobody is protected by it. Choose 2 or "
        "more.",
    ]
    assert warned(
        columns={"age": "quasi", "zip": "quasi"}, constraints=[{"k": 2, "on": "age"}]
    ) == [
        "No constraint covers the quasi columns zip: people may be re-identified by them. Name them "
        "in an `on`, or add a constraint without one."
    ]


def test_importing_it_is_light() -> None:
    heavy = "{'numba', 'pyarrow', 'duckdb', 'pandas', 'polars'}"
    code = f"import sys, shoal.policy; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
