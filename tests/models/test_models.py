"""Models against plain Python on random histograms."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.models.alpha import Alpha
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.testing import histograms
from tests.models.histograms import groups_of_values


@given(groups_of_values, st.integers(1, 13))
def test_k_is_the_size(groups: list[list[int | None]], k: int) -> None:
    counts = histograms(groups)
    assert K(k).holds(counts).tolist() == [len(group) >= k for group in groups]
    assert K(k).reached(counts) == min(map(len, groups))
    assert K(k).min_rows == k


@given(groups_of_values, st.integers(1, 8))
def test_l_is_the_number_of_different_values(groups: list[list[int | None]], least: int) -> None:
    counts = histograms(groups)
    different = [len({v for v in group if v is not None}) for group in groups]
    model = L(least, "ill")
    assert model.holds(counts).tolist() == [n >= least for n in different]
    assert model.reached(counts) == min(different)
    assert model.min_rows == least
    assert counts.distinct().tolist() == different


@given(groups_of_values, st.floats(0.05, 1))
def test_alpha_is_the_largest_share(groups: list[list[int | None]], alpha: float) -> None:
    counts = histograms(groups)
    known = [[v for v in group if v is not None] for group in groups]
    most = [max(Counter(values).values(), default=0) for values in known]
    shares = [n / max(1, len(values)) for n, values in zip(most, known, strict=True)]
    model = Alpha(alpha, "ill")
    assert model.holds(counts).tolist() == [share <= alpha for share in shares]
    # rounded up, so that what is stated holds
    assert max(shares) <= model.reached(counts) < max(shares) + 1e-4


@given(groups_of_values, groups_of_values, st.integers(1, 9), st.integers(1, 5), st.integers(1, 5))
def test_a_requirement_is_all_its_models(
    ills: list[list[int | None]], pays: list[list[int | None]], k: int, first: int, second: int
) -> None:
    n = min(len(ills), len(pays))
    of_ill = [group[:6] for group in ills[:n]]
    of_pay = [(group * 6)[: len(ill)] for group, ill in zip(pays, of_ill, strict=False)]
    counts = {"": histograms(of_ill), "ill": histograms(of_ill), "pay": histograms(of_pay)}
    requirement = Requirement((K(k), L(first, "ill"), L(second, "pay")))
    expected = [
        len(ill) >= k and len({*ill} - {None}) >= first and len({*pay} - {None}) >= second
        for ill, pay in zip(of_ill, of_pay, strict=True)
    ]
    assert requirement.holds(counts).tolist() == expected
    assert requirement.min_rows == max(k, first, second)
    assert requirement.columns == ("ill", "pay")
    assert not requirement.only_size


def test_a_requirement_of_sizes_alone() -> None:
    requirement = Requirement((K(3), K(5, ("age",))))
    assert requirement.only_size
    assert requirement.columns == ()
    assert requirement.min_rows == 5
    assert Requirement(()).min_rows == 1


def test_one_column_is_asked_for_once() -> None:
    assert Requirement((L(2, "ill"), L(3, "ill"))).columns == ("ill",)


def test_no_group_at_all_breaks_nothing() -> None:
    none = histograms([])
    assert K(5).holds(none).tolist() == []
    assert L(5, "ill").holds(none).tolist() == []
    assert K(5).reached(none) >= 5


@pytest.mark.parametrize("figure", [0, -1, 1.5, "many"])
def test_figures_below_one_are_refused(figure: object) -> None:
    with pytest.raises(ValidationError):
        K(figure)  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        L(figure, "ill")  # type: ignore[arg-type]


def test_names_figures_and_columns() -> None:
    assert [m.name for m in (K(2), L(3, "ill"))] == ["k", "l"]
    assert [m.figure for m in (K(2), L(3, "ill"))] == [2, 3]
    assert [m.column for m in (K(2), L(3, "ill"))] == ["", "ill"]
