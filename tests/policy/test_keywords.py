from typing import Any

import pytest

from shoal.errors import PolicyError
from shoal.methods.mondrian import Mondrian
from shoal.models.k import K
from shoal.models.t import T
from shoal.policy import Policy, policy_from_keywords

NAMES = ["name", "age", "zip", "disease", "ward"]


def test_the_one_line_call() -> None:
    policy = policy_from_keywords(
        NAMES,
        quasi=["zip", "age"],
        sensitive="disease",
        identifiers=["name"],
        plain="ward",
        k=5,
        l=2,
        hierarchies={"zip": {"mask": "right"}},
        method=Mondrian(strict=False),
        seed=3,
    )
    assert policy == Policy.load(
        {
            "columns": {
                "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                "age": "quasi",
                "disease": "sensitive",
                "name": "identifier",
                "ward": "plain",
            },
            "constraints": [{"k": 5}, {"l": 2, "of": "disease"}],
            "method": {"name": "mondrian", "strict": False},
            "seed": 3,
        }
    )
    assert policy.quasi == ("zip", "age")
    policy.check(NAMES)


def test_l_is_asked_of_every_sensitive_column() -> None:
    policy = policy_from_keywords(["a", "b", "c"], quasi="a", sensitive=("b", "c"), l=2)
    assert [(m.l, m.of) for m in policy.constraints] == [(2, "b"), (2, "c")]  # type: ignore[attr-defined]


def refused(**keys: object) -> str:
    with pytest.raises(PolicyError) as caught:
        policy_from_keywords(NAMES, **keys)  # type: ignore[arg-type]
    return str(caught.value)


def test_no_column_is_published_by_accident() -> None:
    assert refused(quasi=["age", "zip"], k=5) == (
        "no role for name, disease, ward; put each into quasi, sensitive, identifiers or plain, or "
        'give default="drop" to leave such columns out.'
    )
    policy = policy_from_keywords(NAMES, quasi=["age", "zip"], k=5, default="drop")
    assert policy.published(NAMES) == ("age", "zip")


def test_lists_that_cannot_be_meant() -> None:
    rest = {"default": "drop", "k": 5}
    assert refused(quasi=["age", "zpi"], **rest) == (
        "quasi: the table has no column 'zpi'; it has name, age, zip, disease, ward. Did you mean "
        "'zip'?"
    )
    assert refused(quasi=["age", "zip"], sensitive=["zip"], **rest) == (
        "sensitive: 'zip' is in `quasi` already; a column has one role."
    )
    assert refused(quasi=["age"], hierarchies={"zip": {"mask": "right"}}, **rest) == (
        "hierarchies: 'zip' is neither in `quasi` nor in `sensitive`."
    )


def test_guarantees_that_cannot_be_meant() -> None:
    rest = {"default": "drop", "quasi": "age"}
    assert (
        refused(**rest)
        == "k: missing; give k, l or t, such as k=5, or `constraints`, or a `preset`."
    )
    assert refused(l=2, **rest) == (
        "l: needs a sensitive column; give `sensitive`, or leave `l` out."
    )
    assert refused(k=0, **rest) == "constraints[0].k: found 0; must be 1 or more"
    assert refused(k=5, sed=1, **rest).startswith("sed: unknown key; allowed: ")
    assert refused(k=5, columns={"age": "quasi"}, **rest) == (
        "columns: cannot be combined with `quasi`; give a whole policy instead."
    )


def test_further_constraints_join_the_figures() -> None:
    policy = policy_from_keywords(
        ["a", "b"],
        quasi="a",
        sensitive="b",
        k=2,
        t=0.5,
        constraints=[K(3, on=("a",)), {"l": 2, "of": "b"}],
    )
    assert policy.constraints[:3] == (K(2), T(0.5, of="b"), K(3, on=("a",)))
    assert policy.constraints[3].l == 2  # type: ignore[attr-defined]


def asked(*constraints: Any, **keys: Any) -> Policy:
    columns = {
        "age": "quasi",
        "zip": "quasi",
        "ill": "sensitive",
        "pay": "sensitive",
        "id": "identifier",
    }
    return Policy.load({"columns": columns, "constraints": list(constraints), **keys})


def test_a_figure_changes_its_constraint_and_keeps_the_other_options() -> None:
    policy = asked({"k": 5, "on": ["age"]}, {"t": 0.3, "of": "ill"}, seed=3)
    changed = policy.with_changes(k=10, t=0.1, seed=None)
    assert changed.constraints == (K(10, on=("age",)), T(0.1, of="ill"))
    assert changed.seed == 3
    assert policy.with_changes(k=None) is policy


def test_a_figure_without_a_constraint_adds_one() -> None:
    policy = asked({"t": 0.3, "of": "ill"}).with_changes(k=4, l=2)
    assert [type(model).__name__ for model in policy.constraints] == ["T", "K", "L", "L"]
    assert [model.of for model in policy.constraints[2:]] == ["ill", "pay"]  # type: ignore[attr-defined]


def unchangeable(policy: Policy, **changes: Any) -> str:
    with pytest.raises(PolicyError) as caught:
        policy.with_changes(**changes)
    return str(caught.value)


def test_ambiguous_figures_are_refused_together() -> None:
    policy = asked(
        {"k": 5, "on": ["age"]},
        {"k": 5, "on": ["zip"]},
        {"l": 2, "of": "ill"},
        {"l": 3, "of": "pay"},
    )
    assert unchangeable(policy, k=10, l=4).splitlines() == [
        "k: the policy has 2 k constraints (constraints[0], constraints[1]), so a single k is "
        "ambiguous; give all `constraints` instead",
        "l: the policy has 2 l constraints (constraints[2], constraints[3]), so a single l is "
        "ambiguous; give all `constraints` instead",
    ]
    same = asked({"l": 2, "of": "ill"}, {"l": 2, "of": "pay"}).with_changes(l=3)
    assert [model.l for model in same.constraints] == [3, 3]  # type: ignore[attr-defined]


def test_wrong_changes_are_named_by_their_keyword() -> None:
    policy = asked({"k": 5})
    assert unchangeable(policy, k=0, t=3).splitlines() == [
        "k: found 0; must be 1 or more",
        "t: found 3; must be a number from 0 to 1",
    ]
    assert unchangeable(policy, sed=3).startswith("sed: unknown key; allowed: k, l, t, quasi, ")
    assert unchangeable(policy, method="mondrain").startswith("method: found 'mondrain'; allowed: ")
    assert unchangeable(policy, k=3, constraints=[{"k": 2}]) == (
        "k: cannot be combined with `constraints`; put all models there."
    )
    assert unchangeable(policy, columns={"age": {"kind": "odd"}}).startswith("columns.age.kind: ")


def test_a_column_keeps_the_settings_that_are_not_changed() -> None:
    policy = asked({"k": 5})
    levels = {"role": "sensitive", "levels": {"flu": 1}}
    policy = policy.replace_keys(columns={**policy.columns, "ill": levels})
    changed = policy.with_changes(
        columns={"ill": {"kind": "ordered"}, "pay": "plain", "id": "quasi", "new": "plain"},
        hierarchies={"zip": {"mask": "right"}},
    )
    assert changed.quasi == ("age", "zip", "id")
    assert changed.plain == ("pay", "new")
    assert changed.columns["ill"].levels == {"flu": 1}
    assert changed.columns["ill"].kind == "ordered"
    assert type(changed.columns["zip"].hierarchy).__name__ == "Mask"
    ordered = changed.with_changes(columns={"zip": {"kind": "ordered"}})
    assert ordered.columns["zip"].hierarchy is None


def test_settings_of_no_known_column_are_named_by_their_keyword() -> None:
    policy = Policy.load({"columns": {"age": "quasi"}, "constraints": [{"k": 2}]})
    with pytest.raises(
        PolicyError, match=r"importance: the policy has no column 'agee'.*mean 'age'"
    ):
        policy.with_changes(importance={"agee": 3})
    for call in (
        lambda: policy.with_changes(labels="mean"),
        lambda: policy_from_keywords(["age"], quasi="age", k=2, labels="mean"),  # type: ignore[arg-type]
    ):
        with pytest.raises(PolicyError, match="labels: found 'mean'; must be a mapping of columns"):
            call()
