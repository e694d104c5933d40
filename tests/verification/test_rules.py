"""Published texts against the column rules of a policy, one text at a time."""

from dataclasses import replace

import pyarrow as pa
import pytest

from shoal.encoding.rules import rule_of
from shoal.errors import VerificationFailed
from shoal.verification.rules import PublishedRule, require_rules

QUARTERS = PublishedRule("pay", rule_of("pay", 100, None, 25, missing=("-9",)))
"""Multiples of 25, and 100 or more as `100+`."""
LABELS = replace(QUARTERS, generalised=True)
NODES = replace(QUARTERS, nodes=True)
TOKENS = PublishedRule("id", None)
TOKEN = "0123456789abcdef" * 2


def broken(rule: PublishedRule, *texts: str | None) -> bool:
    return rule.is_broken(pa.array(texts, pa.string()))


@pytest.mark.parametrize("rule", [QUARTERS, LABELS, NODES])
def test_single_values(rule: PublishedRule) -> None:
    assert not broken(rule)
    for good in ("0", "50", "-25", "100+", "*", "-9", "", None, "<missing>"):
        assert not broken(rule, good), good
        assert not broken(rule, "50", good), good
    for bad in ("51", "100", "125"):
        assert broken(rule, bad), bad
        assert broken(rule, "50", bad, "75"), bad


@pytest.mark.parametrize("label", ["[25~50]", "[-25~100+]", "{25, 50}", "{50}", "{75, <missing>}"])
def test_labels_of_a_quasi_identifier(label: str) -> None:
    assert not broken(LABELS, label)
    assert broken(QUARTERS, label)
    assert not broken(NODES, label)


@pytest.mark.parametrize(
    "label",
    [
        "[24~50]", "[25~51]", "[25~50", "25~50]", "25~50", "[25~50}", "{25~50}", "[25]", "[25, 50]",
        "{24, 50}", "{25, 51}", "{25, 50", "25, 50}", "{25,51}", "{}", "[]", "[~]", "word", "100+~",
    ],
)  # fmt: skip
def test_labels_that_name_other_values(label: str) -> None:
    assert broken(LABELS, label)
    assert broken(LABELS, "[25~50]", label)
    assert broken(QUARTERS, label)


def test_nodes_of_a_hierarchy_are_no_numbers_but_numbers_follow_the_rule() -> None:
    for node in ("low", "[0-30)", "12 to 17"):
        assert not broken(NODES, node)
        assert broken(QUARTERS, node)
    for number in ("51", "+51", "-51.5", "51.0"):
        assert broken(NODES, number)
    assert not broken(NODES, "+50.0")


def test_pseudonyms() -> None:
    assert not broken(TOKENS)
    assert not broken(TOKENS, TOKEN, "*", None)
    for bad in ("Ann", TOKEN[:-1], TOKEN + "0", TOKEN.replace("a", "g"), "", " " + TOKEN):
        assert broken(TOKENS, bad), bad
        assert broken(TOKENS, TOKEN, bad), bad


def test_every_broken_rule_is_told_of() -> None:
    require_rules([])
    with pytest.raises(VerificationFailed) as failed:
        require_rules([QUARTERS, TOKENS])
    assert str(failed.value) == (
        "Column 'pay' has published values that do not follow the policy's rule: rounded to "
        "multiples of 25; 100 or more is published as 100+.\n"
        "Column 'id' has published values that do not follow the policy's rule: pseudonyms of 32 "
        "hexadecimal digits."
    )
