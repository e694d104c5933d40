"""The L-clustering paper, run tiny; and its claims, judged on figures made by hand."""

from dataclasses import replace

import pytest

from shoal.errors import InputError
from shoal.reproduction.adult import adult_like
from shoal.reproduction.base import Claim, Findings
from shoal.reproduction.l_clustering import (
    METHODS,
    OURS,
    QUICK,
    LClustering,
    Measurements,
    Point,
    Sizes,
    figures,
    judge,
)
from tests.reproduction.tiny import L_CLUSTERING


def tiny() -> Findings:
    return LClustering(L_CLUSTERING).run(adult_like(400), True, lambda *_: None)


@pytest.fixture(scope="module")
def result() -> Findings:
    return tiny()


def test_a_tiny_run_draws_every_figure(result: Findings) -> None:
    shown = [figure.shows.split(":")[0] for figure in result.figures]
    assert shown == [
        *("Fig. 2(a)", "Fig. 2(b)", "Fig. 3(a)", "Fig. 3(b)", "Fig. 4(a)", "Fig. 4(b)"),
        *("Fig. 5(a)", "Fig. 5(b)", "Fig. 6(a)", "Fig. 6(b)", "Fig. 7(a)"),
    ]
    assert len({figure.name for figure in result.figures}) == len(result.figures)
    for figure in result.figures:
        assert all(len(line.x) == len(line.y) > 1 for line in figure.lines)
        assert all(y is None or y >= 0 for line in figure.lines for y in line.y)
    assert [line.label for line in result.figures[0].lines] == ["L-clustering", "L-incognito"]
    assert result.figures[-1].lines[0].x == (100, 200), "no more rows than there are"


def test_a_tiny_run_judges_every_claim(result: Findings) -> None:
    assert len(result.claims) == 15
    assert all(claim.found for claim in result.claims)
    assert any("fewer rows" in note for note in result.notes)


def test_only_times_differ_from_run_to_run(result: Findings) -> None:
    again = tiny()
    for one, other in zip(result.figures, again.figures, strict=True):
        if one.y_label != "seconds":
            assert one == other


def test_the_full_run_is_the_papers() -> None:
    found = _found(Sizes(), as_claimed)
    shown = [figure.shows.split(":")[0] for figure in figures(found)]
    parts = {2: "abc", 3: "abc", 4: "ab", 5: "abc", 6: "abc", 7: "abcd"}
    assert shown == [f"Fig. {number}({part})" for number in parts for part in parts[number]]
    assert QUICK.rows is not None
    assert QUICK.growing[-1] <= QUICK.rows


def as_claimed(method: str, d: int, ell: int, rows: int) -> Point:
    """What the paper says, in figures."""
    n = rows / 45_222
    if method == OURS:
        share = 0.001 + 0.001 * d + 0.006 * (ell - 2)
        if (d, ell) == (2, 2):
            share = 0.0003
        return Point(share * 1e7, share, (1 + d) * (40 - (ell - 6) ** 2 / 2) * n**2)
    step = 8 if ell < 8 else 9 if ell < 12 else 10
    share = 0.08 * step + 0.01 * d
    turn = ell if d < 5 else 20 - ell
    return Point(
        8_000 * 3_000 if (d, ell) == (2, 2) else share * 1e8 * d, share, 2.0**d * (9 + turn) * 3 * n
    )


def as_feared(method: str, d: int, ell: int, rows: int) -> Point:
    """The opposite of all of it."""
    if method == OURS:
        return Point(1e6 / d / ell, 0.9 - 0.2 * (ell % 2), 10 / d**4 / ell * rows**3)
    return Point(1e6 / d / ell, 0.05 * ell, (1 - d / 1e3) * (1 + (ell if d > 5 else -ell) / 100))


def _found(sizes: Sizes, point: object, spread: float = 0.001) -> Measurements:
    assert callable(point)
    every = {(d, ell) for d in sizes.quasi for ell in sizes.every_l}
    every |= {(d, ell) for d in sizes.every_quasi for ell in sizes.some_l}
    return Measurements(
        sizes,
        45_222,
        {(m, d, ell): point(m, d, ell, 45_222) for m in METHODS for d, ell in sorted(every)},
        {
            (d, ell): tuple(0.01 * (d + ell) + spread * i for i in range(sizes.repeats))
            for d, ell in sizes.repeated_at
        },
        {
            (m, d, ell, n): point(m, d, ell, n)
            for m in METHODS
            for d, ell in sizes.growing_at
            for n in sizes.growing
        },
    )


def _told(judged: tuple[Claim, ...]) -> list[str]:
    return [f"{claim.text}: {claim.verdict}, {claim.reason} ({claim.found})" for claim in judged]


def test_claims_that_hold_are_found_to() -> None:
    judged = judge(_found(Sizes(), as_claimed, spread=0.00001))
    assert all(claim.verdict == "holds" for claim in judged), _told(judged)
    assert judged[1].found == "at 2 QI, l = 2: 8,000 times"


def test_claims_that_do_not_hold_are_found_not_to() -> None:
    judged = judge(_found(Sizes(), as_feared, spread=0.01))
    assert all(claim.verdict == "does not hold" for claim in judged), _told(judged)
    assert "not for L-clustering, l = 2 (2 to 3, 3 to 4 and 4 more), " in judged[2].reason


def test_what_cannot_be_told_is_said_so() -> None:
    sizes = replace(Sizes(), growing=(10_000,), every_l=tuple(range(3, 14)), some_l=(3, 7, 12))
    judged = judge(_found(sizes, as_claimed))
    untold = [claim.text for claim in judged if claim.verdict == "cannot tell"]
    assert len(untold) == 3, untold


def test_too_little_of_a_table_is_refused() -> None:
    with pytest.raises(InputError):
        LClustering(L_CLUSTERING).run(adult_like(0), True, lambda *_: None)
