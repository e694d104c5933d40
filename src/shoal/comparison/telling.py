"""The order in which runs are told, and what has no result, for terminal and page alike."""

import re
from typing import Any

from shoal.comparison.comparison import Comparison
from shoal.comparison.outcome import Outcome


def ranked(comparison: Comparison, k: int | None) -> list[Outcome]:
    """The runs of one k that are done, by what methods are judged by."""

    def cost(outcome: Outcome) -> tuple[float, float, str]:
        figures = outcome.figures
        assert figures is not None
        loss, risk = figures.loss, figures.risk.average
        return (risk, loss, outcome.method) if comparison.by_risk else (loss, risk, outcome.method)

    return sorted((one for one in comparison.done if one.k == k), key=cost)


def missing(comparison: Comparison) -> list[dict[str, Any]]:
    """What is not done: a line per reason, with the methods and the k it speaks of."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in comparison.outcomes:
        if one.status == "done":
            continue
        reason = one.reason.removeprefix(f"{one.method} ")
        # the same reason at another k may name that k: it is one line all the same
        key = (one.method, one.status, re.sub(rf"\b{one.k}\b", "k", reason))
        found.setdefault(key, {"method": one.method, "reason": reason, "ks": []})["ks"].append(
            one.k
        )
    lines: dict[tuple[Any, ...], list[str]] = {}
    for (method, status, _), line in found.items():
        lines.setdefault((status, line["reason"], tuple(line["ks"])), []).append(method)
    order = ("failed", "over budget", "infeasible", "cannot")
    return [
        {
            "methods": methods,
            "status": status,
            "reason": reason[:1].upper() + reason[1:] + ("" if reason.endswith(".") else "."),
            "where": "" if len(ks) == len(comparison.ks) else f"k = {', '.join(map(str, ks))}",
        }
        for (status, reason, ks), methods in sorted(
            lines.items(), key=lambda item: (order.index(item[0][0]), item[1])
        )
    ]
