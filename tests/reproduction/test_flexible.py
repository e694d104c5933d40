"""The claims on the rounded partition can be held and not, and the bound is that of the theorem."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.reproduction.adult import adult_table
from shoal.reproduction.base import Verdict
from shoal.reproduction.flexible_partition import (
    ALPHABET,
    BOTTOM_UP,
    FORMS,
    METHODS,
    OURS,
    RELAXED,
    SETS,
    SHOWN,
    STRICT,
    WIDEST,
    FlexiblePartition,
    Measurements,
    Point,
    bound,
    judge,
)
from tests.reproduction.tiny import FLEXIBLE

KS = (2, 5, 30)
ROWS = 1000


def found() -> Measurements:
    """Just what the paper claims."""
    of = {}
    for k in KS:
        for form in FORMS:
            for name in METHODS:
                ours = name in (OURS, WIDEST)
                groups = ROWS // k - 2 * (not ours)
                of[form, name, k] = Point(groups, bound(ROWS, k), 10.0 - ours, 5.0 - ours, 0.1)
    return Measurements(ROWS, KS, of)


def verdicts(made: Measurements) -> list[Verdict]:
    return [claim.verdict for claim in judge(made)]


def test_what_is_as_claimed_holds() -> None:
    assert verdicts(found()) == ["holds"] * 8


@pytest.mark.parametrize(
    ("claim", "name", "other"),
    [
        (0, OURS, Point(199, 5, 9, 4, 0.1)),
        (0, WIDEST, Point(201, 5, 9, 4, 0.1)),
        (1, OURS, Point(200, 6, 9, 4, 0.1)),
        (1, WIDEST, Point(200, 6, 9, 4, 0.1)),
        (2, OURS, Point(200, 5, 10, 4, 0.1)),
        (3, STRICT, Point(150, 9, 10, 4, 0.1)),
        (4, RELAXED, Point(150, 9, 10, 4, 0.1)),
        (5, BOTTOM_UP, Point(150, 9, 10, 4, 0.1)),
        (6, STRICT, Point(200, 5, 10, 5, 0.1)),
        (7, OURS, Point(200, 5, 9, 4, 1.1)),
    ],
)
def test_what_is_otherwise_does_not_hold(claim: int, name: str, other: Point) -> None:
    made = found()
    for form in FORMS:
        made.points[form, name, 5] = other
    if claim == 2:
        for form in FORMS:
            made.points[form, WIDEST, 5] = other
    assert verdicts(made)[claim] == "does not hold"
    assert verdicts(made).count("does not hold") == 1


def test_what_hangs_on_the_order_or_the_column_depends() -> None:
    made = found()
    made.points[ALPHABET, STRICT, 5] = Point(150, 9, 10, 4, 0.1)
    made.points[SETS, WIDEST, 5] = Point(200, 5, 9, 5, 0.1)
    judged = judge(made)
    assert [claim.verdict for claim in judged[3:6]] == ["depends"] * 3
    assert "it holds with values by rarity and least loss. It does not" in judged[3].reason
    assert "least loss: 1.25 times ours, as claimed at 3 of 3 points" in judged[3].found


def parts(n: int, k: int) -> list[int]:
    """Sizes of the groups of n rows, cut as the paper says."""
    many, rest = divmod(n, k)
    if many < 2:
        return [n]
    below = (many + 1) // 2 * k + (rest + 1) // 2
    return parts(below, k) + parts(n - below, k)


@given(n=st.integers(2, 3000), k=st.integers(1, 40))
def test_the_bound_is_kept_by_plain_cuts(n: int, k: int) -> None:
    if n < k:
        return
    assert max(parts(n, k)) <= bound(n, k) <= max(2 * k - 1, k)
    assert len(parts(n, k)) == n // k


def test_the_bound_of_some_sizes() -> None:
    assert bound(30_162, 5) == 6
    assert bound(30_162, 2) == 2
    assert bound(7, 2) == 3
    assert bound(9, 5) == 9


def test_a_real_run_on_a_little() -> None:
    table, _ = adult_table(None)
    result = FlexiblePartition().run_on(table, FLEXIBLE, lambda *_: None)
    assert [figure.name for figure in result.figures] == [
        "dm",
        "cm",
        "groups",
        "time",
        "dm-rules",
        "cm-rules",
        "groups-rules",
        "cm-alphabet",
        "largest-group",
    ]
    for figure in result.figures[:4]:
        assert [line.label for line in figure.lines] == list(SHOWN)
        assert all(line.x == (2, 3, 10) for line in figure.lines)
    assert result.claims[0].verdict == "holds"
    assert result.claims[1].verdict == "holds"
    groups = result.figures[2].lines[0].y
    assert groups == (153, 102, 30)
