"""The text of a policy: a change touches its own lines, and comments stay."""

from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import api
from shoal.errors import PolicyError
from shoal.policy.yaml_source import parse as meaning
from shoal.studio.columns_text import with_role
from shoal.studio.constraints import (
    constraints_in,
    figure_step,
    presets_in,
    with_constraint,
    with_figure,
    with_key,
    with_preset,
    without,
    without_preset,
)
from shoal.studio.policy_text import changed, difference, parse
from shoal.studio.screens.release import about_in, with_about

SAMPLE = (files("shoal.sample") / "policy.yaml").read_text(encoding="utf-8")
AWKWARD = """\
# on top
columns:   # every one
    zip: {role: quasi,
          hierarchy: {tree: {"02": ["02138", 02139],   other: [10001]}}}
    "on": plain
    'no': 'sensitive'
    since: {role: quasi, missing: [2020-01-01, ~, yes]}
constraints: [{k: 5}, {l: 2, of: 'no'}]  # both


seed: 0012  # kept
"""


def data_of(text: str) -> object:
    return meaning(text, "policy", files("shoal.sample")).data  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [SAMPLE, AWKWARD])
def test_without_a_change_nothing_changes(text: str) -> None:
    assert changed(text, lambda _: None) == text


@pytest.mark.parametrize("text", [SAMPLE, AWKWARD])
def test_a_figure_changes_one_line(text: str) -> None:
    one = constraints_in(text)[0]
    assert (one.label, one.figure) == ("k", 5)
    after = changed(text, with_figure(one, 8))
    marks = [mark for mark, _ in difference(text, after) if mark in "+-"]
    assert marks == ["-", "+"]
    assert constraints_in(after)[0].figure == 8
    expected = data_of(text)
    assert isinstance(expected, dict)
    expected["constraints"][0]["k"] = 8
    assert data_of(after) == expected


@pytest.mark.parametrize("text", [SAMPLE, AWKWARD])
def test_what_a_caller_changes_is_not_kept(text: str) -> None:
    first = parse(text)
    first["constraints"][0]["k"] = "99"
    first.pop("columns")
    second = parse(text)
    assert second["constraints"][0]["k"] == "5"
    assert "columns" in second
    assert changed(text, lambda _: None) == text


def test_no_remark_of_the_sample_repeats_a_figure_that_a_step_changes() -> None:
    after = SAMPLE
    for one in constraints_in(SAMPLE):
        assert one.figure is not None
        after = changed(after, with_figure(one, one.figure + 1))
    lines = [line for line in after.splitlines() if line.startswith("  - {")]
    assert len(lines) == len(constraints_in(SAMPLE))
    for line in lines:
        assert not any(character.isdigit() for character in line.partition("#")[2]), line


def test_steps_are_named_after_what_they_change() -> None:
    k, disease, _ = constraints_in(SAMPLE)
    assert figure_step(k, 8) == "k 5 → 8"
    assert figure_step(disease, 2.5) == "l of disease 3 → 2.5"


def test_constraints_come_and_go() -> None:
    more = changed(SAMPLE, with_constraint({"t": 0.4, "of": "salary"}))
    assert api.read_policy(more, folder=str(files("shoal.sample"))).constraints[-1].figure == 0.4
    again = changed(more, without(constraints_in(more)[-1]))
    assert data_of(again) == data_of(SAMPLE)
    assert again.count("#") == SAMPLE.count("#")


def test_another_role_keeps_how_values_are_read() -> None:
    text = (
        "columns:\n"
        "  paid: {role: undecided, missing: [NA, -9], kind: ordered}  # a remark\n"
        "  born: {role: quasi, dates: '%d.%m.%Y', hierarchy: {date: [year]}, why: known}\n"
        "  town: {role: quasi, hierarchy: {mask: right}}\n"
        "constraints: [{k: 2}]\n"
    )
    after = changed(text, with_role("paid", "sensitive", settings=False))
    line = next(line for line in after.splitlines() if "paid" in line)
    assert " ".join(line.split()) == "paid: {role: sensitive, missing: [NA, -9]} # a remark"
    after = changed(after, with_role("born", "identifier", settings=False))
    assert "  born: {role: identifier, dates: '%d.%m.%Y'}\n" in after
    assert "  town: plain\n" in changed(after, with_role("town", "plain", settings=False))
    bare = changed(after, with_role("born", "weight", settings=False, reading=False))
    assert "  born: weight\n" in bare
    kept = changed(text, with_role("born", "sensitive"))
    assert (
        "  born: {role: sensitive, dates: '%d.%m.%Y', hierarchy: {date: [year]}, why: known}"
        in kept
    )


def test_presets_come_and_go() -> None:
    one = changed(SAMPLE, with_preset("cell-size-11", (0,)))
    two = changed(one, with_preset("opinion-05-2014"))
    assert presets_in(two) == ["cell-size-11", "opinion-05-2014"]
    assert presets_in(changed(two, without_preset("cell-size-11"))) == ["opinion-05-2014"]
    assert "preset" not in parse(changed(one, without_preset("cell-size-11")))
    alone = "columns: {a: quasi}\nconstraints: [{k: 2}]\n"
    preset = changed(alone, with_preset("cell-size-11", (0,)))
    assert constraints_in(preset) == []
    assert [c.figure for c in constraints_in(changed(preset, without_preset("cell-size-11")))] == [
        5
    ]


def test_keys_are_added_and_removed() -> None:
    text = changed(AWKWARD, with_key("suppression", 0.1))
    assert data_of(text)["suppression"] == 0.1  # type: ignore[index]
    assert data_of(changed(text, with_key("suppression", None))) == data_of(AWKWARD)


@given(
    value=st.one_of(
        st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
    )
)
@settings(max_examples=60)
def test_any_value_is_read_as_it_was_written(value: object) -> None:
    text = changed("a: b\n", with_key("key", {"value": value}))
    try:
        found = data_of(text)
    except PolicyError:  # a character that no policy may have
        assert isinstance(value, str)
        assert any(not c.isprintable() for c in value)
        return
    assert found == {"a": "b", "key": {"value": value}}


def test_what_a_release_is_for_comes_and_goes() -> None:
    plain = "columns: {age: quasi}  # one\nconstraints: [{k: 2}]\n"
    titled = changed(plain, with_about("title", "Visits: 2025, #1"))
    both = changed(titled, with_about("legal_basis", "yes"))
    assert about_in(both) == {"title": "Visits: 2025, #1", "legal_basis": "yes"}
    assert api.read_policy(both).about.title == "Visits: 2025, #1"
    assert api.read_policy(both).about.legal_basis == "yes"
    assert both.startswith(plain)
    assert about_in(changed(both, with_about("title", ""))) == {"legal_basis": "yes"}
    assert changed(titled, with_about("title", "")) == plain
    assert about_in("about:\ncolumns: {age: quasi}\n") == {}
    assert about_in("columns: [") == {}


def test_what_is_no_yaml_is_a_mistake_of_the_policy() -> None:
    for text in ("a: [", "- a\n", "text\n"):
        with pytest.raises(PolicyError):
            changed(text, lambda _: None)


def test_what_a_draft_says_of_a_figure_follows_it() -> None:
    text = (
        "columns: {a: quasi, b: sensitive}\n"
        "constraints:\n"
        "  - {k: 5}           # anyone who looks for a person finds at least 5 people\n"
        "  - {l: 3, of: b}    # at least 3 different values in every group (3 values)\n"
        "\n"
        "# how groups are formed\n"
        "method: auto\n"
    )
    k, of_b = constraints_in(text)
    said = changed(text, with_figure(k, 11))
    assert "- {k: 11}          # anyone who looks for a person finds at least 11 people\n" in said
    assert "at least 3 different values in every group (3 values)" in said
    said = changed(text, with_figure(of_b, 2))
    assert "at least 2 different values in every group (3 values)" in said
    assert "at least 5 people" in said
    said = changed(text, with_constraint({"l": 2, "of": "a"}))
    assert said.endswith("(3 values)\n  - {l: 2, of: a}\n\n# how groups are formed\nmethod: auto\n")
    plain = changed("columns: {a: quasi}\nconstraints: [{k: 5}]\n", with_constraint({"l": 2}))
    assert plain.endswith("constraints: [{k: 5}, {l: 2}]\n")
