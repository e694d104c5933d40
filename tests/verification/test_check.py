"""Asking models of counted classes, and the words when they do not hold."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from shoal.encoding.counts import Counts
from shoal.errors import VerificationFailed
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.t import T
from shoal.testing import histograms
from shoal.verification.check import Finding, check, judge, require


def counts(sizes: list[int], distinct: list[int] | None = None) -> Counts:
    """Classes of these sizes that hold so many different values."""
    each = distinct or [0] * len(sizes)
    starts = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
    values = np.concatenate([np.arange(n) for n in [*each, 0]]).astype(np.int32)
    return Counts(np.array(sizes, np.int64), starts, values, np.ones(len(values), np.int64))


class Asked:
    """Counts classes, and remembers what was asked."""

    def __init__(self, found: Mapping[str, Counts]) -> None:
        self.found, self.calls = found, []  # type: ignore[var-annotated]

    def __call__(self, columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        self.calls.append((tuple(columns), tuple(of)))
        return self.found


def test_a_model_that_holds() -> None:
    (found,) = check(Asked({"": counts([5, 9, 7])}), ["age", "zip"], [K(5)])
    assert found == Finding("k", 5, 5, ("age", "zip"), None, 3, 0, None, 21)
    assert found.holds
    require([found])


def test_a_model_that_does_not_hold() -> None:
    (found,) = check(Asked({"": counts([5, 2, 3, 9])}), ["age"], [K(4)])
    assert (found.failing, found.smallest_failing, found.reached) == (2, 2, 2)
    assert not found.holds
    with pytest.raises(VerificationFailed) as failed:
        require([found])
    assert failed.value.exit_code == 4
    assert str(failed.value) == (
        "k = 4 was promised on age, but 2 of 4 published classes fall short; the smallest of them "
        "has 2 rows. The table really holds k = 2."
    )


def test_every_broken_model_is_told_of() -> None:
    asked = Asked({"": counts([3, 1]), "ill": counts([3, 1], [2, 1])})
    found = check(asked, ["age"], [K(2), L(2, "ill"), K(1)])
    with pytest.raises(VerificationFailed) as failed:
        require(found)
    lines = str(failed.value).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("k = 2 was promised on age")
    assert lines[1].startswith("l = 2 of ill was promised on age")
    assert "has 1 row." in lines[1]


def test_findings_come_in_the_order_of_the_models() -> None:
    asked = Asked({"": counts([4]), "ill": counts([4], [3])})
    models: list[Model] = [L(3, "ill"), K(2, ("zip",)), K(4), K(3, ("age", "zip"))]
    found = check(asked, ["age", "zip"], models)
    assert [(f.model, f.asked, f.columns, f.of) for f in found] == [
        ("l", 3, ("age", "zip"), "ill"),
        ("k", 2, ("zip",), None),
        ("k", 4, ("age", "zip"), None),
        ("k", 3, ("age", "zip"), None),
    ]
    # classes over the same columns are counted once
    assert asked.calls == [(("age", "zip"), ("ill",)), (("zip",), ())]


def test_two_sensitive_columns_are_counted_together() -> None:
    asked = Asked({"": counts([4]), "ill": counts([4], [3]), "pay": counts([4], [1])})
    found = check(asked, ["age"], [L(3, "ill"), L(2, "pay")])
    assert [f.holds for f in found] == [True, False]
    assert asked.calls == [(("age",), ("ill", "pay"))]


def test_no_classes_hold_anything() -> None:
    (found,) = check(Asked({"": counts([])}), ["age"], [K(5)])
    assert found.holds
    assert found.classes == 0


def test_a_model_must_hold_in_both_readings_of_spellings() -> None:
    """Folded, each class has both values as the table has them; as written, one class has a spelling
    of its own."""
    folded = histograms([[0, 1], [0, 1]])
    spelled = histograms([[0, 1], [2, 1]])
    held, reached = judge(T(0.3, "ill"), replace(folded, spelled=spelled))
    assert held.tolist() == [True, True]
    assert reached == pytest.approx(0.25)
    held, reached = judge(T(0.2, "ill"), replace(folded, spelled=spelled))
    assert held.tolist() == [False, False]
    assert reached == pytest.approx(0.25)
    held, reached = judge(T(0.2, "ill"), replace(spelled, spelled=folded))
    assert held.tolist() == [False, False]
    assert reached == pytest.approx(0.25)
    # more values are never less than l of them
    held, reached = judge(L(2, "ill"), replace(folded, spelled=histograms([[0, 0], [2, 1]])))
    assert held.tolist() == [True, True]
    assert reached == 2
