"""What a release is for: the section `about`, and the reasons of columns."""

import pytest

from shoal.errors import PolicyError
from shoal.policy import Policy
from shoal.policy.about import LONGEST, LONGEST_REASON

COLUMNS = {"age": {"role": "quasi", "why": "neighbours know it"}, "ill": "sensitive"}
GIVEN = {"title": "Discharges", "purpose": "Research", "legal_basis": "GDPR, article 89"}


def policy(**keys: object) -> Policy:
    return Policy.load({"columns": COLUMNS, "constraints": [{"k": 2}], **keys})


def test_it_is_kept_and_changes_nothing_that_the_policy_means() -> None:
    with_about = policy(about=GIVEN)
    assert with_about.about.given() == GIVEN
    assert with_about.columns["age"].why == "neighbours know it"
    again = Policy.load(with_about.to_yaml())
    assert again.about == with_about.about
    assert again.columns["age"].why == "neighbours know it"
    plain = Policy.load(
        {"columns": {"age": "quasi", "ill": "sensitive"}, "constraints": [{"k": 2}]}
    )
    assert with_about.fingerprint() == plain.fingerprint()


def test_changes_of_a_policy_keep_it() -> None:
    changed = policy(about=GIVEN).with_changes(k=3, columns={"age": {"kind": "unordered"}})
    assert changed.about.title == "Discharges"
    assert changed.columns["age"].why == "neighbours know it"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"about": {"titel": "x"}}, "legal_basis. Did you mean 'title'?"),
        ({"about": {"title": 7}}, "about.title: found 7; must be text (put it in quotes)"),
        (
            {"about": {"title": " "}},
            "about.title: is empty; write what it is, or leave the key out",
        ),
        ({"about": {"title": "x" * (LONGEST + 1)}}, f"write at most {LONGEST}, to fit on the page"),
        ({"about": "Discharges"}, "about: found 'Discharges'; must be a mapping"),
        (
            {"columns": COLUMNS | {"ill": {"role": "sensitive", "why": "x" * 301}}},
            f"columns.ill.why: has 301 characters; write at most {LONGEST_REASON}, to fit on the page",
        ),
    ],
)
def test_mistakes(keys: dict[str, object], words: str) -> None:
    with pytest.raises(PolicyError) as error:
        policy(**keys)
    assert words in str(error.value)


def test_lines_are_joined() -> None:
    text = (
        "columns: {age: quasi}\nconstraints: [{k: 2}]\nabout:\n  purpose: >\n    one\n\n    two\n"
    )
    assert Policy.load(text).about.purpose == "one two"
