"""Comparisons with figures that never change."""

from shoal.comparison.comparison import Comparison
from shoal.comparison.outcome import Figures, Outcome, Risk
from shoal.policy import Policy

POLICY = Policy.load(
    {
        "columns": {"age": "quasi", "zip": "quasi", "disease": "sensitive"},
        "constraints": [{"k": 5}],
        "method": "mondrian",
    }
)


def figures(loss, average, seconds=0.5, highest=None, suppressed=0):
    return Figures(
        loss=loss,
        exact=0.3,
        ncp=loss / 2,
        risk=Risk(highest or min(1.0, average * 1.5), average),
        groups=1234,
        classes=1230,
        suppressed_rows=suppressed,
        suppressed_share=suppressed / 10_000,
        seconds=seconds,
        memory=21_000_000,
    )


def done(method, k, loss, average=0.1, seconds=0.5, **others):
    return Outcome(method, k, "done", figures=figures(loss, average, seconds, **others))


def comparison(outcomes, ks=(5,), policy=POLICY, budget=None):
    return Comparison(policy, 10_000, tuple(ks), len(ks) > 1, budget, tuple(outcomes), "people.csv")


REASON = "honours k alone, but the policy also asks for l. Use another."
TWO_K = comparison(
    [
        Outcome("bottom-up", 5, "over budget", "stopped after 10 seconds"),
        Outcome("classfly", 5, "cannot", f"classfly {REASON}"),
        done("k-clustering", 5, 0.168, 0.147, 1.9),
        Outcome("l-clustering", 5, "cannot", "l-clustering asks for k = 5."),
        done("least-loss-partition", 5, 0.199, 0.085, 0.39),
        done("mondrian", 5, 0.222, 0.119, 0.04),
        Outcome("optimal", 5, "infeasible", "No combination of levels will do."),
        done("bottom-up", 10, 0.21, 0.06, 700.0),
        Outcome("classfly", 10, "cannot", f"classfly {REASON}"),
        done("k-clustering", 10, 0.2, 0.09, 120.0, suppressed=3),
        Outcome("l-clustering", 10, "cannot", "l-clustering asks for k = 10."),
        done("least-loss-partition", 10, 0.228, 0.048, 0.5),
        done("mondrian", 10, 0.267, 0.068, 0.1),
        Outcome("optimal", 10, "failed", "its process was ended by SIGKILL"),
    ],
    ks=(5, 10),
    budget=10.0,
)
ONE_K = comparison(
    [
        done("k-clustering", 5, 0.168, 0.147, 1.9),
        done("least-loss-partition", 5, 0.169, 0.085, 0.39),
        done("mondrian", 5, 0.36, 0.119, 0.04),
    ]
)
