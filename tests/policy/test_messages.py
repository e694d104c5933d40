from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from shoal.errors import PolicyError
from shoal.models.k import K as KModel
from shoal.policy import Policy
from shoal.policy.messages import Problem, found, path_text, problems_of, refusal
from tests.policy.bad_policies import BAD_POLICIES, age_is, with_line
from tests.policy.bad_policies import K as FIVE


def message(policy: Any) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy.load(policy)
    return str(caught.value)


@pytest.mark.usefixtures("few_plugins")
@pytest.mark.parametrize(("text", "expected"), BAD_POLICIES)
def test_what_the_author_of_a_bad_policy_reads(text: str, expected: str) -> None:
    assert message(text) == expected


@pytest.mark.parametrize(("text", "expected"), BAD_POLICIES)
def test_nothing_of_pydantic_shows(text: str, expected: str) -> None:
    said = message(text).lower()
    assert not any(word in said for word in ("pydantic", "http", "input should", "validationerror"))
    assert expected  # the exact text is judged above


@pytest.mark.parametrize(
    ("hierarchy", "hint"),
    [
        ("{msk: right}", "Did you mean 'mask'?"),
        ("{mask: rigt}", "Did you mean 'right'?"),
        ("5", "found 5"),
        ("''", "empty path"),
    ],
)
def test_a_bad_hierarchy_is_placed(hierarchy: str, hint: str) -> None:
    said = message(age_is(f"{{role: quasi, hierarchy: {hierarchy}}}"))
    assert said.startswith("policy:2: columns.age.hierarchy: ")
    assert hint in said
    assert "hierarchy: hierarchy:" not in said


def test_ten_problems_are_shown_and_the_rest_counted() -> None:
    columns = "".join(f"  c{i}: x\n" for i in range(15))
    lines = message(f"columns:\n{columns}{FIVE}").split("\n")
    assert len(lines) == 11
    assert lines[0].startswith("policy:2: columns.c0.role: found 'x'")
    assert lines[-1] == "... and 5 more problems"


def test_a_file_is_named_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policy.yaml").write_text("# a comment\n\n" + age_is("{role: quasi, kind: orderd}"))
    monkeypatch.chdir(tmp_path)
    assert message("policy.yaml") == (
        "policy.yaml:4: columns.age.kind: found 'orderd'; allowed: ordered, unordered. "
        "Did you mean 'ordered'?"
    )


def test_a_mapping_has_no_file_and_no_line() -> None:
    assert message(
        {"columns": {"age": {"role": "quasi", "kind": "orderd"}}, "constraints": []}
    ) == ("columns.age.kind: found 'orderd'; allowed: ordered, unordered. Did you mean 'ordered'?")


def test_names_that_are_not_text() -> None:
    assert message({"columns": {5: "quasi"}, "constraints": [{"k": 5}]}) == (
        "columns: found 5 as a name; a name must be text"
    )
    assert message({"columns": {"age": "quasi"}, "constraints": [{"k": 5}], 7: 1}) == (
        "[7]: found 7 as a key; a key must be text"
    )


@pytest.mark.usefixtures("few_plugins")
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            {"constraints": [KModel]},
            "constraints[0]: found the class K; make an object of it, as in K(...)",
        ),
        (
            {"constraints": [object()]},
            "constraints[0]: found a Python object of type object; must be a mapping with a model "
            "as a key, as in {k: 5}",
        ),
        (
            {"constraints": KModel(k=5)},
            "constraints: found a Python object of type K; must be a list; write at least one, as "
            "in `constraints: [{k: 5}]`",
        ),
        (
            {"method": object()},
            "method: found a Python object of type object; must be a method's name, as in "
            "`method: mondrian`",
        ),
        ({"folder": 5}, "folder: found 5; must be a path"),
    ],
)
def test_python_objects_that_do_not_fit(keys: dict[str, Any], expected: str) -> None:
    good = {"columns": {"age": "quasi"}, "constraints": [{"k": 5}]}
    assert message({**good, **keys}) == expected


def test_what_is_no_policy_at_all() -> None:
    assert message(5) == "policy: found 5; give a file's path, a mapping or a Policy."
    assert message(None) == "policy: found nothing; give a file's path, a mapping or a Policy."


def test_a_long_text_is_cut() -> None:
    said = message(with_line("order: " + "x" * 500))
    assert len(said) < 200
    assert found(10**100) == "1" + "0" * 59 + "..."


def test_paths() -> None:
    assert path_text(("columns", "age", "kind")) == "columns.age.kind"
    assert path_text(("constraints", 0, "on", 2)) == "constraints[0].on[2]"
    assert path_text(("columns", "zip code")) == "columns.'zip code'"
    assert path_text(("columns", "größe")) == "columns.größe"


def test_a_problem_of_the_whole_has_no_path() -> None:
    assert str(refusal([Problem((), "is odd")], lambda _: "p.yaml: ")) == "p.yaml: is odd"


class Sample(BaseModel):
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    most: Annotated[int, Field(le=3)] = 1
    word: Annotated[str, Field(min_length=2, max_length=3)] = "ab"
    words: Annotated[list[str], Field(max_length=1)] = []
    digit: Literal[1, 2] = 1
    code: Annotated[str, Field(pattern="^a")] = "a"
    many: set[int] = set()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"share": 0}, "share: found 0; must be above 0"),
        ({"share": 1.5}, "share: found 1.5; must be below 1"),
        ({"share": "x"}, "share: found 'x'; must be a number"),
        ({"share": [1]}, "share: found a list; must be a number"),
        ({"most": 4}, "most: found 4; must be 3 or less"),
        ({"most": float("inf")}, "most: found inf; must be a finite number"),
        ({"word": "a"}, "word: found 'a'; must be text of 2 or more characters"),
        ({"word": "abcd"}, "word: found 'abcd'; must be text of 3 or fewer characters"),
        ({"words": ["a", "b"]}, "words: found a list; must be a list of 1 or fewer"),
        ({"digit": 3}, "digit: found 3; allowed: 1, 2."),
        ({"code": "b"}, "code: found 'b'; string should match pattern '^a'"),
        ({"many": 5}, "many: found 5; must be a list"),
    ],
)
def test_what_a_plug_in_to_come_may_ask(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Sample(**given)
    assert str(refusal(problems_of(caught.value), lambda _: "")) == expected
