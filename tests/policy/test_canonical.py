import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.models.k import K
from shoal.policy import Column, Policy
from shoal.policy.canonical import fingerprint
from shoal.policy.yaml_source import parse

TEXT = """\
columns:
  name: identifier
  age: {role: quasi, kind: ordered}
  zip: {role: quasi, hierarchy: {mask: right}}
  race: {role: quasi, hierarchy: race.csv}
  on: quasi
  'true': plain
  disease: sensitive
constraints:
- {k: 5}
- {k: 3, on: [age, on]}
- {l: 3, of: disease}
method: {name: mondrian, strict: false}
default: drop
suppression: 0.05
suppressed: withheld
order: sorted
publish: generalised
seed: 7
target: disease
metrics:
- loss
- {name: query-error, queries: 50, columns: 3, selectivity: 0.05, seed: 0}
"""


def test_the_text_of_a_policy() -> None:
    assert Policy.load(TEXT).to_yaml() == TEXT


def test_defaults_are_written_out() -> None:
    policy = Policy.load("columns: {age: quasi}\nconstraints: [{k: 5}]\nmethod: mondrian\n")
    assert policy.to_yaml() == (
        "columns:\n  age: quasi\nconstraints:\n- {k: 5}\nmethod: {name: mondrian, strict: true}\n"
        "suppressed: withheld\norder: sorted\npublish: generalised\n"
    )


def test_a_long_column_is_written_over_several_lines() -> None:
    order = [f"grade number {i}" for i in range(20)]
    policy = Policy.load(
        {"columns": {"g": {"role": "quasi", "order": order}}, "constraints": [{"k": 2}]}
    )
    assert policy.to_yaml().startswith("columns:\n  g:\n    role: quasi\n    kind: ordered\n")
    assert Policy.load(policy.to_yaml()) == policy


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
labels = st.lists(names, min_size=1, max_size=4, unique=True)
number = st.integers(1, 10**6)
hierarchies = st.one_of(
    st.sampled_from(["right", "left"]).map(lambda side: {"mask": side}),
    st.builds(lambda w, f: {"intervals": [w, 2 * w], "from": f}, number, st.integers(-99, 99)),
    number.map(lambda w: {"intervals": [w / 8]}),
    st.just({"date": ["month", "year"]}),
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=9).map(lambda t: f"x{t}.csv"),
    st.just({"csv": "a.csv", "separator": ";"}),
    st.just({"tree": {"any": {"b": ["x", "y"], "a": ["z", 5, True]}}}),
)
quasi = st.one_of(
    st.just({"role": "quasi"}),
    st.sampled_from(["ordered", "unordered"]).map(lambda kind: {"role": "quasi", "kind": kind}),
    labels.map(lambda order: {"role": "quasi", "order": order}),
    hierarchies.map(lambda tree: {"role": "quasi", "hierarchy": tree}),
)
others = st.sampled_from(["identifier", "plain", "preference", {"role": "sensitive"}])
methods = st.sampled_from(
    ["mondrian", {"name": "mondrian", "strict": False}, {"name": "flexible-partition"}]
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    columns: dict[str, Any] = draw(st.dictionaries(names, quasi, min_size=1, max_size=4))
    known = list(columns)
    columns |= draw(st.dictionaries(names.filter(lambda n: n not in known), others, max_size=4))
    order = draw(st.permutations(list(columns)))
    on = draw(st.lists(st.sampled_from(known), min_size=1, unique=True))
    constraints: list[dict[str, Any]] = [{"k": draw(number)}, {"k": 10**7, "on": on}]
    sensitive = [name for name, column in columns.items() if column == {"role": "sensitive"}]
    constraints += [{"l": draw(number), "of": name} for name in sensitive]
    return Policy.load(
        {
            "columns": {name: columns[name] for name in order},
            "constraints": draw(st.permutations(constraints)),
            "method": draw(methods),
            "seed": draw(st.integers(0, 2**256 - 1)),
            "suppression": draw(st.none() | st.floats(0, 1)),
            "suppressed": draw(st.sampled_from(["withheld", "starred"])),
            "order": draw(st.sampled_from(["sorted", "kept"])),
            "default": draw(st.sampled_from([None, "drop"])),
            "target": draw(st.sampled_from([None, *known])),
            "metrics": draw(
                st.sampled_from([[], "cm", [{"name": "general-loss", "aggregate": "rank"}, "dm"]])
            ),
        }
    )


@given(policies())
def test_a_policy_comes_back_from_its_text(policy: Policy) -> None:
    text = policy.to_yaml()
    again = Policy.load(text)
    assert again == policy
    assert again.columns == policy.columns
    assert list(again.columns) == list(policy.columns)
    assert (again.constraints, again.method) == (policy.constraints, policy.method)
    assert again.metrics == policy.metrics
    assert again.to_yaml() == text


@given(st.one_of(names, st.from_regex(r"\A[-+.0-9a-zA-Z_:~]{1,6}\Z")))
def test_any_text_stays_text(text: str) -> None:
    order = ("first", text) if text != "first" else ("first",)
    policy = Policy(
        columns={text: Column(role="quasi", kind="ordered", order=order)}, constraints=(K(k=2),)
    )
    assert parse(policy.to_yaml(), "p", Path()).data["columns"][text]["order"] == list(order)


def test_a_fingerprint_is_a_sha256() -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", Policy.load(TEXT).fingerprint())


SAME = [
    ("{role: quasi, kind: ordered}", "{kind: ordered, role: quasi}"),
    ("name: identifier\n", "name: {role: identifier}\n"),
    ("- {k: 5}\n", "- k: 5  # a comment\n"),
    ("{l: 3, of: disease}", "{of: disease, l: 3}"),
    ("seed: 7\n", "seed: +7\n"),
    ("seed: 7\n", "seed: 8\n"),  # it could be found by trying
    ("seed: 7\n", ""),
    ("hierarchy: race.csv", "hierarchy: {csv: race.csv}"),
    ("order: sorted\n", ""),
    ("publish: generalised\n", ""),
    ("on: [age, on]", "on: [age, 'on']"),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_another_way_to_write_it_keeps_the_fingerprint(old: str, new: str) -> None:
    assert old in TEXT
    assert Policy.load(TEXT.replace(old, new)).fingerprint() == Policy.load(TEXT).fingerprint()


DIFFERENT = [
    ("k: 5", "k: 6"),
    ("strict: false", "strict: true"),
    ("mask: right", "mask: left"),
    ("race.csv", "races.csv"),
    ("default: drop\n", ""),
    ("0.05", "0.06"),
    ("withheld", "starred"),
    ("sorted", "kept"),
    ("target: disease", "target: age"),
    ("queries: 50", "queries: 51"),
    ("- loss\n", ""),
    ("on: quasi", "on: {role: quasi, kind: ordered}"),
    ("name: identifier", "name: plain"),
]


@pytest.mark.parametrize(("old", "new"), DIFFERENT)
def test_another_meaning_changes_the_fingerprint(old: str, new: str) -> None:
    assert old in TEXT
    assert Policy.load(TEXT.replace(old, new)).fingerprint() != Policy.load(TEXT).fingerprint()


def reordered(policy: Policy, names: list[str]) -> str:
    return policy.replace_keys(columns={name: policy.columns[name] for name in names}).fingerprint()


def test_the_order_of_columns_counts_for_quasi_columns_only() -> None:
    policy = Policy.load(TEXT)
    moved = ["disease", "age", "true", "zip", "race", "name", "on"]
    assert reordered(policy, moved) == policy.fingerprint()
    swapped = ["name", "zip", "age", "race", "on", "true", "disease"]
    assert reordered(policy, swapped) != policy.fingerprint()


def test_the_order_of_a_tree_counts() -> None:
    """It is the order of the leaves, and groups are cut along it."""
    one, two = (
        Policy.load(
            f"columns: {{a: {{role: quasi, hierarchy: {tree}}}}}\nconstraints: [{{k: 2}}]\n"
        )
        for tree in ("{tree: {all: {x: [a, b], y: [c]}}}", "{tree: {all: {y: [c], x: [a, b]}}}")
    )
    assert one.fingerprint() != two.fingerprint()


def test_the_folder_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(TEXT)
    assert Policy.load(tmp_path / "policy.yaml").fingerprint() == Policy.load(TEXT).fingerprint()


def test_the_fingerprint_is_the_same_on_every_machine() -> None:
    """It is printed in reports, so it must not drift."""
    policy = Policy.load("columns: {age: quasi}\nconstraints: [{k: 5}]\nmethod: mondrian\n")
    assert (
        policy.fingerprint() == "f24faac029961a1ecb1fff450e72875246c8027803f284d8576389fc5b42aa61"
    )


def test_certificates_of_the_first_format_had_the_seed_in_the_fingerprint() -> None:
    policy = Policy.load("columns: {age: quasi}\nconstraints: [{k: 5}]\nmethod: mondrian\n")
    assert (
        fingerprint(policy, seed=0)
        == "a1af9ed3766b4a8414a2a11190628f1d55e76c2b82bb922fa6e78fd09c4cc9f2"
    )


def test_policies_with_different_seeds_are_different() -> None:
    policy = Policy.load(TEXT)
    assert policy != policy.replace_keys(seed=8)
    assert policy == Policy.load(TEXT)
    assert "7777" not in repr(policy.replace_keys(seed=7777))
