"""Published values that do not follow the rules of their columns are found, and no others."""

import pyarrow as pa
import pytest

import shoal
from shoal.encoding.rules import Recoding
from shoal.errors import VerificationFailed
from shoal.policy.policy import Policy
from shoal.verification.rules import PublishedRule, require_rules

TOKEN = "0123456789abcdef" * 2


def rule_of(**settings: object) -> Recoding:
    """The rule of a column of numbers."""
    column = {"role": "quasi", **settings}
    policy = Policy.model_validate({"columns": {"age": column}, "constraints": [{"k": 2}]})
    return policy.column_rules["age"]


@pytest.mark.parametrize(
    ("texts", "broken"),
    [
        (["10", "20", None], False),
        (["10", "21"], True),
        (["*"], False),
        (["NA", "10"], False),
        (["[10~20]"], False),
        (["[10~21]"], True),
        (["[11~20]"], True),
        (["{10, 20}"], False),
        (["{10, 25, 30}"], True),
        (["{11, 20}"], True),
        (["{10, 21}"], True),
        (["{10, <missing>}"], False),
        (["[10]"], True),
    ],
)
def test_numbers_inside_of_labels_are_rounded(texts: list[str | None], broken: bool) -> None:
    rule = PublishedRule("age", rule_of(round=10, missing=["NA"]), generalised=True)
    assert rule.is_broken(pa.array(texts)) is broken


def test_only_labels_are_taken_apart() -> None:
    """In a plain column `[10~20]` is a text, and no range of rounded numbers."""
    rule = rule_of(round=10)
    assert PublishedRule("age", rule).is_broken(pa.array(["[10~20]"]))
    assert not PublishedRule("age", rule, generalised=True).is_broken(pa.array(["[10~20]"]))


def test_a_node_is_no_number() -> None:
    rule = rule_of(round=10)
    assert PublishedRule("age", rule, generalised=True).is_broken(pa.array(["young"]))
    assert not PublishedRule("age", rule, True, nodes=True).is_broken(pa.array(["young"]))
    assert PublishedRule("age", rule, True, nodes=True).is_broken(pa.array(["21"]))


@pytest.mark.parametrize(
    ("text", "broken"), [(TOKEN, False), ("*", False), (TOKEN[:-1], True), ("Pat", True)]
)
def test_pseudonyms_are_tokens(text: str, broken: bool) -> None:
    rule = PublishedRule("id", None)
    assert rule.is_broken(pa.array([TOKEN, text])) is broken
    assert rule.words == "pseudonyms of 32 hexadecimal digits"


def test_what_is_broken_is_said() -> None:
    require_rules([])
    rules = [PublishedRule("id", None), PublishedRule("age", rule_of(round=10))]
    with pytest.raises(
        VerificationFailed, match=r"Column 'id' has .*pseudonyms.*\n.*'age'"
    ) as error:
        require_rules(rules)
    assert isinstance(error.value, shoal.ShoalError)
