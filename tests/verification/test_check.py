"""Asking models of counted classes, and the words when they do not hold."""

from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

from shoal.encoding.counts import Counts
from shoal.errors import VerificationFailed
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.base import Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.k import K
from shoal.models.l import EntropyL, L
from shoal.models.t import T
from shoal.testing import histograms
from shoal.verification.anatomy import Values
from shoal.verification.check import (
    Finding,
    StarredRows,
    Strength,
    check,
    judge,
    models_of,
    require,
    strengths,
)
from shoal.verification.digest import Fingerprint, Piece
from shoal.verification.meaning import Meaning
from shoal.verification.rules import PublishedRule


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


def test_of_both_readings_the_weaker_figure_is_stated() -> None:
    """Where more is stronger, as of the sizes of classes, that is the smaller one."""
    three, two = histograms([[0, 1, 1], [0, 1, 2]]), histograms([[0, 1], [0, 1, 2]])
    for first, second in ((three, two), (two, three)):
        held, reached = judge(K(3), replace(first, spelled=second))
        assert held.tolist() == [False, True]
        assert reached == 2


def test_what_was_not_folded_is_judged_once() -> None:
    held, reached = judge(T(0.2, "ill"), histograms([[0, 1], [0, 1]]))
    assert held.all()
    assert reached == 0
    unknown = replace(histograms([[2, 1], [0, 1]]), domain=None)
    assert judge(T(0.2, "ill"), replace(histograms([[0, 1]]), spelled=unknown))[1] == 0


def test_a_model_without_classes_is_not_the_whole_release() -> None:
    """Every row may be starred in the columns of one model, and not in those of another."""
    empty, full = (
        Finding("k", 2, 2, ("age",), None, 0, 0, None, 0),
        Finding("k", 2, 2, ("zip",), None, 3, 0, None, 9),
    )
    require([empty, full])
    for findings in ([], [empty], [empty, empty]):
        with pytest.raises(VerificationFailed, match="there is nothing to verify"):
            require(findings)


def test_values_at_their_worst_are_explained_where_they_concern() -> None:
    broken = Finding("l", 2, 1, ("age",), "ill", 3, 1, 4, 9)
    for raised, told in (([], False), (["pay"], False), (["ill"], True)):
        with pytest.raises(VerificationFailed) as failed:
            require([broken], raised)
        assert ("counted at its worst" in str(failed.value)) == told
    with pytest.raises(VerificationFailed, match="counted at its worst"):
        require([broken, replace(broken, of="pay")], ["ill"])


def test_no_figure_holds() -> None:
    broken = Finding(
        "t", 0.1, np.inf, ("age",), "ill", 2, 1, 1, 9, "people", {"distance": "ordered"}
    )
    with pytest.raises(VerificationFailed) as failed:
        require([broken])
    assert str(failed.value) == (
        "t = 0.1 of ill, distance ordered was promised on age, but 1 of 2 published classes fall "
        "short; the smallest of them has 1 person. No figure of t of ill, distance ordered holds for "
        "the table."
    )
    assert broken.to_dict()["reached"] is None
    assert replace(broken, reached=0.3).to_dict()["reached"] == 0.3
    assert Strength("t", "ill", np.inf).to_dict()["reached"] is None
    assert Strength("t", "ill", 0.3).to_dict()["reached"] == 0.3


@pytest.mark.parametrize(
    "kind", [Finding, Fingerprint, Meaning, Piece, PublishedRule, StarredRows, Strength, Values]
)
def test_what_was_found_cannot_be_changed(kind: Any) -> None:
    required = [f.name for f in fields(kind)]
    found = kind(**dict.fromkeys(required))
    with pytest.raises(FrozenInstanceError):
        setattr(found, required[0], None)


def test_options_in_words() -> None:
    plain = Finding("beta", 1, 1, ("age",), "ill", 3, 0, None, 9)
    assert plain.details == ""
    assert replace(plain, options={"enhanced": True}).details == " (enhanced)"
    assert replace(plain, options={"enhanced": False}).details == " (not enhanced)"
    options = {"c": 2, "a": True, "b": False}
    assert replace(plain, options=options).details == ", c 2 (a, not b)"


def test_starred_rows_up_to_what_the_policy_allows() -> None:
    StarredRows(5, 100, 0.05).require()
    StarredRows(0, 0, 0).require()
    with pytest.raises(VerificationFailed) as failed:
        StarredRows(6, 100, 0.05).require()
    assert str(failed.value) == (
        "6 of 100 published rows (6.0%) are suppressed (`*` in every cell), but the policy allows "
        "5.0% (`suppression`)."
    )
    assert StarredRows(6, 100, 0.05).to_dict()["holds"] is False


def test_the_models_of_a_table_ask_for_the_least_there_is() -> None:
    """Figures that promise nothing, so that every class is described and none is refused."""
    ordered, tree = histograms([[0, 1]], tree=None).domain, histograms([[0, 1]]).domain
    common: list[Model] = [K(1), AverageRisk(1)]

    def of(name: str, *more: Model) -> list[Model]:
        return [L(1, name), Alpha(1, name), *more]

    def plain(name: str, *more: Model) -> list[Model]:
        return of(name, EntropyL(1, name), T(1, name), *more, Beta(0, name), Delta(1, name))

    assert list(models_of({})) == common
    assert list(models_of({"ill": None})) == [*common, *plain("ill")]
    assert list(models_of({"ill": ordered, "pay": tree})) == [
        *common,
        *plain("ill", T(1, "ill", "ordered")),
        *plain("pay", T(1, "pay", "hierarchical")),
    ]
    assert list(models_of({"ill": tree, "pay": None}, raised=["ill"])) == [
        *common,
        *of("ill"),
        *plain("pay"),
    ]


def test_strengths_of_counted_classes() -> None:
    """Classes a a b and a b b c: of 3 and 4 rows, 2 classes over 7 rows, 2 values, 2/3 and 1/2."""
    ill = histograms([[0, 0, 1], [0, 1, 1, 2]], tree=None)
    found = strengths(Asked({"": counts([3, 4]), "ill": ill}), ["age"], ["ill"])
    by_name = {(one.model, one.of, *one.options.values()): one.reached for one in found}
    assert by_name["k", None] == 3
    assert by_name["average-risk", None] == 0.2858
    assert by_name["l", "ill"] == 2
    assert by_name["alpha", "ill"] == 0.6667
    assert ("t", "ill", "ordered") in by_name
    assert ("t", "ill", "hierarchical") not in by_name
    assert strengths(Asked({"": counts([])}), ["age"], []) == ()
