"""What the papers leave open, run tiny; and our expectations, judged on figures made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.methods.mondrian import Mondrian
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.reproduction.adult import adult_like
from shoal.reproduction.base import Findings
from shoal.reproduction.further_questions import (
    CASES,
    COLUMNS,
    ELL,
    GROWN,
    LEVEL,
    PRICES,
    SIZED,
    FurtherQuestions,
    GroupSizes,
    Measurements,
    Price,
    Sizes,
    Together,
    _cells,
    _values,
    judge,
    people,
)
from shoal.reproduction.personalised import DISEASES
from tests.reproduction.tiny import FURTHER


@pytest.fixture(scope="module")
def result() -> Findings:
    return FurtherQuestions(FURTHER).run(adult_like(300), True, lambda *_: None)


def test_a_tiny_run_draws_and_judges_everything(result: Findings) -> None:
    assert len({figure.name for figure in result.figures}) == len(result.figures) == 16
    assert all(len(line.x) == len(line.y) > 1 for one in result.figures for line in one.lines)
    assert len(result.claims) == 15
    assert all(claim.found and claim.reason for claim in result.claims)
    assert not FurtherQuestions.is_paper


def test_people_have_two_diseases_and_preferences_for_each() -> None:
    table = people(adult_like(2_000), 1_000, 3, share=0.5, level=2)
    for name in COLUMNS:
        assert set(table[name].to_pylist()) == set(DISEASES)
        wishes = table[f"{name} wish"].to_pylist()
        assert (wishes.count(None), wishes.count(2)) == (500, 500)
    assert table["disease"].to_pylist() != table["second disease"].to_pylist()


def test_what_two_releases_leave_is_what_both_groups_have() -> None:
    """Worked out from the published groups with sets of words, row by row."""
    table = people(adult_like(400), 120, 1)
    requirement = Requirement((K(5), L(3, "disease")))
    found = _values(table, Mondrian(), requirement, 0)
    cells = _cells(table)
    (grouping,) = Mondrian().group(cells, requirement, 0, lambda _: None)
    diseases = table["disease"].to_pylist()
    group_of = dict(zip(cells.rows.tolist(), grouping.group.tolist(), strict=True))
    for row in range(table.num_rows):
        held = {diseases[other] for other, group in group_of.items() if group == group_of[row]}
        assert {DISEASES[i] for i in np.flatnonzero(found[row])} == held
        assert len(held) >= 3


def as_expected(sizes: Sizes) -> Measurements:
    made = Measurements(sizes, 10_000)
    for case in CASES:
        for k in sizes.many_k:
            made.many[case, k] = Price(0.1 + 0.1 * case**0.5, 0.2, 0)
    for what in PRICES:
        step = 2 if what == ELL else 1
        for i, value in enumerate(made.places(what)):
            made.prices[what, value] = Price(0.1 + 0.01 * i * step, 0.3 - 0.01 * i, 0)
    for column in SIZED:
        for k in sizes.sized_k:
            for ell in sizes.sized_l:
                made.sized[column, "l", k, float(ell)] = GroupSizes(10_000 // k, k + 1)
            for alpha in sizes.sized_alpha:
                made.sized[column, "alpha", k, alpha] = GroupSizes(10_000 // k - 1, 2 * k - 1)
    for name in GROWN:
        for growth in sizes.growth:
            made.grown[name, growth] = Together(0.0 if name == "mondrian" else 0.1, 0.2, 4)
    return made


def test_what_is_as_expected_holds() -> None:
    made = as_expected(Sizes())
    judged = judge(made)
    wrong = [claim.text for claim in judged if claim.verdict != "holds"]
    assert len(wrong) == 2, "two releases always give something away here"
    for key, at in made.grown.items():
        made.grown[key] = replace(at, certain=0.0, fewer=0.0)
    assert [claim.verdict for claim in judge(made)].count("holds") == 14


def test_what_is_otherwise_does_not_hold() -> None:
    made = as_expected(Sizes())
    for (case, k), price in made.many.items():
        made.many[case, k] = Price(0.1 * 2**case, 0.2 + 0.1 * case, float(case))
        assert price.suppressed == 0
    for key, one in made.prices.items():
        made.prices[key] = Price(-one.loss, one.rate, 0)
    for (*key, k, figure), sized in list(made.sized.items()):
        made.sized[(*key, k, figure)] = GroupSizes(sized.groups // 3, 2 * k)  # type: ignore[index]
    for i, key in enumerate(made.grown):
        made.grown[key] = Together(0.9 - 0.01 * i, 0.9, 4)
    verdicts = [claim.verdict for claim in judge(made)]
    assert verdicts[:7] == ["does not hold"] * 7
    assert verdicts[8:] == ["does not hold"] * 5 + [verdicts[-2]] + ["does not hold"]
    assert LEVEL in PRICES
