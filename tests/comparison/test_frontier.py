"""The frontier and the recommendation, against slow twins."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.comparison.criterion import NEAR, RISK, Criterion
from shoal.comparison.outcome import frontier
from shoal.comparison.page import place_labels
from shoal.comparison.ranking import recommend
from tests.comparison.comparisons import done

FEW = st.sampled_from([0.0, 0.1, 0.1000001, 0.25, 0.5, 1.0])


def beaten(one, other):
    return other != one and other[0] <= one[0] and other[1] <= one[1]


@given(st.lists(st.tuples(FEW, FEW), max_size=12))
def test_nothing_beats_the_frontier(points):
    plain = [not any(beaten(one, other) for other in points) for one in points]
    assert frontier(points) == plain


NAMES = ["bottom-up", "datafly", "mondrian", "optimal"]
RISKS = st.sampled_from([0.05, 0.1, 0.2])
LOSSES = st.sampled_from([0.0, 0.1, 0.1015, 0.103, 0.2])


@st.composite
def runs(draw):
    pairs = draw(
        st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from([2, 5, 10])), min_size=1)
    )
    return [
        done(name, k, draw(LOSSES), draw(RISKS), seconds=draw(st.sampled_from([0.1, 1.0, 2.0])))
        for name, k in sorted(pairs)
    ]


def dominated(one, others):
    """Whether a run that holds the same k is as good in loss and risk, and better in one."""
    return any(
        other.k >= one.k
        and other.figures.loss <= one.figures.loss
        and other.figures.risk.average <= one.figures.risk.average
        and (other.figures.loss, other.figures.risk) != (one.figures.loss, one.figures.risk)
        for other in others
    )


def plain_choice(outcomes, own):
    """By hand: the k, then those that are near the least and not dominated, then the quickest of them.

    Where all of them are dominated: None.
    """
    ks = sorted({one.k for one in outcomes})
    k = own if own in ks else ks[(len(ks) - 1) // 2]
    here = [one for one in outcomes if one.k == k]
    least = min(one.figures.loss for one in here)
    near = [one for one in here if one.figures.loss <= least + least * NEAR]
    near = [one for one in near if not dominated(one, outcomes)]
    if not near:
        return None, k
    quickest = min(one.figures.seconds for one in near)
    near = [one for one in near if one.figures.seconds == quickest]
    least = min(one.figures.loss for one in near)
    return min(one.method for one in near if one.figures.loss == least), k


@given(runs(), st.sampled_from([None, 2, 5, 7]), st.sampled_from(NAMES), st.booleans())
def test_a_dominated_run_is_never_recommended(outcomes, own_k, own, by_risk):
    found = recommend(outcomes, own, own_k, Criterion(RISK) if by_risk else Criterion())
    (chosen,) = [one for one in outcomes if (one.method, one.k) == (found.method, found.k)]
    assert not dominated(chosen, outcomes)
    assert chosen.k >= plain_choice(outcomes, own_k)[1]


@given(runs(), st.sampled_from([None, 2, 5, 7]), st.sampled_from(NAMES))
def test_the_recommendation_is_the_quickest_of_the_best(outcomes, own_k, own):
    found = recommend(outcomes, own, own_k)
    method, k = plain_choice(outcomes, own_k)
    if method is None:
        assert found.k > k
    else:
        assert (found.method, found.k) == (method, k)
    assert found.reason.startswith(found.method)
    assert found.reason.endswith(".")
    assert found.reason.count(". ") == 0  # one sentence


class Box:
    x0, y0, x1, y1 = 0, 0, 300, 200


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 200)), min_size=1, max_size=20),
    st.integers(1, 8),
)
def test_no_label_lies_over_another_or_over_a_point(points, letters):
    texts = ["k" * letters] * len(points)
    wide, high = letters * 7 / 2, 13 / 2
    placed = [at for at in place_labels(texts, points, Box, [6.0] * len(points)) if at]
    for i, (x, y) in enumerate(placed):
        assert wide <= x <= 300 - wide
        assert high <= y <= 200 - high
        assert all(abs(x - a) >= wide + 6 or abs(y - b) >= high + 6 for a, b in points)
        others = placed[:i] + placed[i + 1 :]
        assert all(abs(x - a) >= 2 * wide or abs(y - b) >= 2 * high for a, b in others)
