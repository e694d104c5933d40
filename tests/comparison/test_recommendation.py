"""The reason for a recommendation, word by word."""

from shoal.comparison.criterion import RISK, Criterion
from shoal.comparison.outcome import Outcome
from shoal.comparison.ranking import recommend
from tests.comparison.comparisons import ONE_K, TWO_K, comparison, done


def test_the_runner_up_is_told_with_its_cost():
    assert TWO_K.recommended.reason == (
        "k-clustering keeps the most information at k = 5: it loses 16.8 % of the information, in "
        "1.9 s; the runner-up, least-loss-partition, would lose 19.9 %, in 0.39 s."
    )
    assert TWO_K.recommended.own == (
        "The policy's own method, mondrian, loses 22.2 % of the information: 32 % more."
    )
    assert TWO_K.recommended.further == ""


def test_the_faster_of_two_that_are_near():
    assert ONE_K.recommended.reason == (
        "least-loss-partition loses 16.9 % of the information at k = 5, hardly more than k-clustering "
        "(16.8 %), and takes 0.39 s instead of 1.9 s."
    )
    assert ONE_K.recommended.own == (
        "The policy's own method, mondrian, loses 36.0 % of the information: 2.1 times as much."
    )


def test_equal_losses():
    found = recommend([done("a", 5, 0.2, seconds=3), done("b", 5, 0.2, seconds=1)], "c", 5)
    assert found.reason == (
        "b loses 20.0 % of the information at k = 5, as a does, and takes 1.0 s instead of 3.0 s."
    )
    nearly = [done("a", 5, 0.2, seconds=3), done("b", 5, 0.2 - 1e-9, seconds=1)]
    assert recommend(nearly, "c", 5).reason == found.reason, "which no reader can see"
    found = recommend([done("a", 5, 0.2, seconds=3), done("b", 5, 0.2, seconds=1)], "a", 5)
    assert "as the policy's own method, a, does, and takes 1.0 s" in found.reason


def test_the_own_method_as_runner_up_is_told_once():
    found = recommend([done("a", 5, 0.1), done("b", 5, 0.2)], "b", 5)
    assert "the runner-up and the policy's own method, b, would lose 20.0 %" in found.reason
    assert found.own == ""


def test_an_own_method_that_is_near():
    found = recommend([done("a", 5, 0.1), done("b", 5, 0.103), done("c", 5, 0.104)], "c", 5)
    assert found.own.endswith("c, loses 10.4 % of the information, nearly as little.")


def test_an_own_method_without_a_release():
    runs = [done("a", 5, 0.1), Outcome("b", 5, "over budget", "stopped")]
    assert recommend(runs, "b", 5).own.endswith("b, did not finish within the budget.")
    runs = [done("a", 5, 0.1), Outcome("b", 5, "infeasible", "Nothing will do.")]
    assert recommend(runs, "b", 5).own.endswith("b, gives no release here: Nothing will do.")


def test_one_alone():
    found = recommend([done("a", None, 0.1)], "a", None)
    assert found.reason == (
        "a is the only method that finished under the policy's constraints; it loses 10.0 % of the "
        "information, in 0.50 s."
    )


def test_a_larger_k_that_costs_less_is_told():
    runs = [done("a", 5, 0.168, 0.1), done("a", 10, 0.164, 0.11), done("b", 2, 0.1)]
    assert recommend(runs, "a", 5).further == (
        "a at k = 10 does even better (16.4 %), and its release holds k = 5 too."
    )


def test_a_larger_k_with_less_loss_and_less_risk_is_recommended():
    runs = [done("a", 5, 0.168, 0.1), done("b", 10, 0.164, 0.08), done("c", 2, 0.1, 0.05)]
    found = recommend(runs, "a", 5)
    assert (found.method, found.k) == ("b", 10)
    assert found.reason == (
        "b at k = 10 loses 16.4 % of the information, in 0.50 s, with no more loss and no more risk "
        "than a at k = 5 (16.8 %), the best there; its release holds k = 5 too."
    )


def test_nothing_finished():
    assert recommend([Outcome("a", 5, "failed", "why")], "a", 5) is None
    assert comparison([Outcome("a", 5, "cannot", "why")]).recommended is None


def test_risk_decides_where_nothing_is_lost():
    runs = [done("a", None, 0.0, 0.5), done("b", None, 0.0, 0.4)]
    found = recommend(runs, "a", None, Criterion(RISK))
    assert found.method == "b"
    assert "leaves a best guess right in 40.0 % of cases" in found.reason
