"""What a policy may ask of each model, and the exact text where it asks for what cannot be."""

import pytest

import shoal
from tests.policy.bad_policies import constraint_is

BAD = [
    (
        constraint_is("{t: 1.5, of: disease}"),
        "policy:3: constraints[0].t: found 1.5; must be a number from 0 to 1",
    ),
    (
        constraint_is("{t: 0.2, of: disease, distance: far}"),
        "policy:3: constraints[0].distance: found 'far'; allowed: equal, ordered, hierarchical.",
    ),
    (
        constraint_is("{t: 0.2, of: disease, distance: ordered}"),
        "policy:3: constraints[0].distance: 'ordered' needs `kind: ordered` (numbers, dates) or an "
        "`order` on the column 'disease'",
    ),
    (
        constraint_is("{t: 0.2, of: disease, distance: hierarchical}"),
        "policy:3: constraints[0].distance: 'hierarchical' needs a `hierarchy` on the column "
        "'disease'",
    ),
    (
        constraint_is("{entropy-l: 0.5, of: disease}"),
        "policy:3: constraints[0].entropy-l: found 0.5; must be 1 or more",
    ),
    (
        constraint_is("{recursive-l: 2, of: disease}"),
        "policy:3: constraints[0].c: missing. The commonest value must occur less than c times as often "
        "as the rarer ones together.",
    ),
    (
        constraint_is("{t: 0.2}"),
        "policy:3: constraints[0].of: missing. The sensitive column; allowed: disease",
    ),
    (
        constraint_is("{beta: 1, of: disease, enhance: true}"),
        "policy:3: constraints[0].enhance: not an option of beta; allowed: beta, of, enhanced. Did you "
        "mean 'enhanced'?",
    ),
    (
        constraint_is("{delta: 0, of: disease}"),
        "policy:3: constraints[0].delta: found 0; must be above 0",
    ),
    (
        constraint_is("{average-risk: true}"),
        "policy:3: constraints[0].average-risk: found true; must be a number above 0 and 1 or less",
    ),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_what_cannot_be_asked(text: str, expected: str) -> None:
    with pytest.raises(shoal.PolicyError) as refused:
        shoal.Policy.load(text)
    assert str(refused.value) == expected


GOOD = """
columns:
  age: quasi
  ill: {role: sensitive, hierarchy: {tree: {lung: [flu, asthma], gut: [ulcer]}}}
  pay: {role: sensitive, kind: ordered}
  stage: {role: sensitive, order: [I, II, III]}
constraints:
- {entropy-l: 2.5, of: ill}
- {recursive-l: 3, of: ill, c: 2.0}
- {t: 0.2, of: ill, distance: hierarchical}
- {t: 0.2, of: pay, distance: ordered}
- {t: 0.2, of: stage, distance: ordered}
- {t: 0.1, of: stage, distance: equal}
- {beta: 1.0, of: ill, enhanced: true}
- {delta: 0.7, of: ill}
- {average-risk: 0.05}
"""


def test_what_asks_for_nothing_is_warned_of() -> None:
    weak = [{"t": 1, "of": "disease"}, {"entropy-l": 1, "of": "disease"}, {"average-risk": 1}]
    columns = {"age": "quasi", "disease": "sensitive"}
    for constraint in weak:
        policy = shoal.Policy.load({"columns": columns, "constraints": [constraint]})
        assert any("of 1 has" in words for words in policy.warnings())


def test_every_model_loads_and_is_written_as_it_was_read() -> None:
    policy = shoal.Policy.load(GOOD)
    assert GOOD.partition("constraints:")[2].strip() in policy.to_yaml()
    assert shoal.Policy.load(policy.to_yaml()) == policy
    assert policy.column_spec("stage").order == ("I", "II", "III")
    assert policy.column_spec("pay").kind == "ordered"
