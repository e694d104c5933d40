"""The ranking of a comparison: the order of its runs, the recommended method, and what has no result.

The method that is best by the criterion is recommended; of methods within 2 % of it, the fastest. A run
is never recommended where another one, whose release holds this k too, is no worse in the criterion and
in risk, and better in one of them. Of models that differ by no more than noise, the release that
loses least is recommended, since nothing else tells them apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.comparison.criterion import Criterion
from shoal.comparison.outcome import Outcome, Status, frontier
from shoal.errors import format_seconds, listed, percent

UNFINISHED: tuple[Status, ...] = ("failed", "over budget", "infeasible", "cannot")
"""In the order in which they are reported."""


@dataclass(frozen=True)
class Recommendation:
    """The method to use."""

    method: str
    k: int | None
    """Of the run to use: the policy's own k, or the middle one of those compared, where the methods were
    judged; or a larger one that is better in the criterion and in risk."""
    reason: str
    """One sentence."""
    own: str = ""
    """How the policy's own method compares; empty where the reason says so already."""
    further: str = ""
    """Whether a larger k, whose release satisfies this one too, costs even less."""


@dataclass(frozen=True)
class Unfinished:
    """Methods without a result, for one reason."""

    methods: list[str]
    status: Status
    reason: str
    where: str
    """The k that it applies to; empty for all of them."""


def ranked(outcomes: Sequence[Outcome], k: int | None, criterion: Criterion) -> list[Outcome]:
    """The finished runs of one k, the best first."""
    done = [one for one in outcomes if one.status == "done" and one.k == k]
    return sorted(done, key=criterion.rank)


def unfinished(outcomes: Sequence[Outcome], n_ks: int) -> list[Unfinished]:
    """What has no result: an entry per reason, with the methods and the k it applies to.

    n_ks: how many k were compared.
    """
    by_reason: dict[tuple[str, Status, str], tuple[str, list[int | None]]] = {}
    for one in outcomes:
        if one.status == "done":
            continue
        reason = one.reason.removeprefix(f"{one.method} ")
        # the same reason at another k may name that k: it is one entry all the same
        key = (one.method, one.status, re.sub(rf"\b{one.k}\b", "k", reason))
        by_reason.setdefault(key, (reason, []))[1].append(one.k)
    entries: dict[tuple[Status, str, tuple[int | None, ...]], list[str]] = {}
    for (method, status, _), (reason, ks) in by_reason.items():
        entries.setdefault((status, reason, tuple(ks)), []).append(method)
    ordered = sorted(entries.items(), key=lambda item: (UNFINISHED.index(item[0][0]), item[1]))
    return [
        Unfinished(
            methods,
            status,
            reason[:1].upper() + reason[1:] + ("" if reason.endswith(".") else "."),
            "" if len(ks) == n_ks else f"k = {', '.join(map(str, ks))}",
        )
        for (status, reason, ks), methods in ordered
    ]


def recommend(
    outcomes: Sequence[Outcome],
    own: str,
    k: int | None,
    criterion: Criterion = Criterion(),  # noqa: B008, it never changes
) -> Recommendation | None:
    """The method to use; None where none finished.

    own: the policy's method; k: the policy's own.
    """
    done = [one for one in outcomes if one.status == "done"]
    if not done:
        return None
    chosen_k = judged_at(done, k)
    at_chosen_k = sorted(
        (one for one in done if one.k == chosen_k),
        key=lambda o: (criterion.cost(o), o.done_figures.seconds, o.method),
    )
    best = undominated(done, chosen_k, criterion)
    near = [one for one in at_chosen_k if criterion.is_near(one, at_chosen_k[0])]
    if criterion.is_accuracy:
        return _by_models(outcomes, near, own, criterion)
    best_here = [one for one in near if one in best]
    if not best_here:
        return _at_larger_k(at_chosen_k[0], best, own, criterion)
    chosen = min(best_here, key=lambda o: (o.done_figures.seconds, criterion.cost(o), o.method))
    other = next((one for one in at_chosen_k if one is not chosen), None)
    named = [one.method for one in (chosen, other) if one is not None]
    mine = next((one for one in outcomes if (one.method, one.k) == (own, chosen_k)), None)
    return Recommendation(
        chosen.method,
        chosen_k,
        _reason(chosen, other, own, criterion),
        "" if mine is None or mine.method in named else _own(mine, chosen, criterion),
        _further(done, chosen, criterion),
    )


def _by_models(
    outcomes: Sequence[Outcome], near: Sequence[Outcome], own: str, criterion: Criterion
) -> Recommendation:
    """The release that loses least, of those whose models are the best but for noise."""
    done = [one for one in outcomes if one.status == "done"]
    chosen = min(
        near,
        key=lambda o: (o.done_figures.loss, o.done_figures.seconds, criterion.cost(o), o.method),
    )
    here = [one for one in done if one.k == chosen.k and one is not chosen]
    best = min((chosen, *here), key=criterion.cost)
    mine = next((one for one in outcomes if (one.method, one.k) == (own, chosen.k)), None)
    figures, named = chosen.done_figures, [chosen.method]
    least = f"loses the least information ({percent(figures.loss)})"
    if not criterion.beats_guessing(best):
        reason = (
            f"No release predicts '{criterion.target}' better than {criterion.guessing(best)}, but "
            f"for noise (at most {criterion.figure(best):.3f}), so accuracy does not tell the "
            f"methods apart {at_k(chosen.k)}. Of these, {chosen.method} {least}, in "
            f"{format_seconds(figures.seconds)}."
        )
    elif len(near) > 1:
        reason = (
            f"{chosen.method} {criterion.verdict(chosen)} {at_k(chosen.k)}. But for noise, "
            f"{criterion.noise(best):.3f} on so many rows, that is as good as "
            f"{listed([one.method for one in near if one is not chosen])}, and of these it {least}, "
            f"in {format_seconds(figures.seconds)}."
        )
    else:
        other = min(here, key=criterion.cost, default=None)
        reason = _reason(chosen, other, own, criterion)
        named += [] if other is None else [other.method]
    silent = mine is None or mine.method in named or (mine in near and mine.status == "done")
    return Recommendation(
        chosen.method,
        chosen.k,
        reason,
        "" if silent or mine is None else _own(mine, chosen, criterion),
        _further(done, chosen, criterion),
    )


def undominated(done: Sequence[Outcome], k: int | None, criterion: Criterion) -> list[Outcome]:
    """Of the runs whose release holds this k, those that no other one dominates."""
    holding = [one for one in done if k is None or one.k is None or one.k >= k]
    on_frontier = frontier([criterion.point(one) for one in holding])
    return [one for one, optimal in zip(holding, on_frontier, strict=True) if optimal]


def _at_larger_k(
    here: Outcome, best: Sequence[Outcome], own: str, criterion: Criterion
) -> Recommendation:
    """A run at a larger k that dominates the best one at the k where methods were judged."""
    points = [(criterion.point(one), one) for one in best]
    risk, cost = criterion.point(here)
    better = [one for point, one in points if point[0] <= risk and point[1] <= cost]
    chosen = min(better, key=lambda o: (criterion.cost(o), o.done_figures.seconds, o.method))
    mine = " (the policy's own method)" if chosen.method == own else ""
    return Recommendation(
        chosen.method,
        chosen.k,
        f"{chosen.method}{mine} {at_k(chosen.k)} {criterion.verdict(chosen)}, in "
        f"{format_seconds(chosen.done_figures.seconds)}, {criterion.no_worse} and no more risk than "
        f"{here.method} {at_k(here.k)} ({criterion.shown(here)}), the best there; its release "
        f"holds k = {here.k:,} too.",
    )


def judged_at(done: Sequence[Outcome], k: int | None) -> int | None:
    """The policy's own k if something finished there, else the middle one (the lower of two)."""
    ks = list(dict.fromkeys(one.k for one in done))
    if k in ks:
        return k
    known = sorted(each for each in ks if each is not None)
    return known[(len(known) - 1) // 2] if known else None


def _reason(chosen: Outcome, other: Outcome | None, own: str, criterion: Criterion) -> str:
    """Why, and what the runner-up would cost."""
    place, time = at_k(chosen.k), format_seconds(chosen.done_figures.seconds)
    verdict = criterion.verdict(chosen)
    if other is None:
        return f"{chosen.method} is the only method that finished {place}; it {verdict}, in {time}."
    mine = "the policy's own method, " if other.method == own else ""
    theirs = format_seconds(other.done_figures.seconds)
    ours, cost = criterion.cost(chosen), criterion.cost(other)
    is_faster = chosen.done_figures.seconds < other.done_figures.seconds
    if is_faster and criterion.shown(chosen) == criterion.shown(other):
        ours = cost  # a reader sees no difference
    if cost < ours:
        return (
            f"{chosen.method} {verdict} {place}, {criterion.hardly_worse} {mine}{other.method} "
            f"({criterion.shown(other)}), and takes {time} instead of {theirs}."
        )
    if cost == ours:
        return (
            f"{chosen.method} {verdict} {place}, as {mine}{other.method}{',' if mine else ''} does, and "
            f"takes {time} instead of {theirs}."
        )
    mine = " and the policy's own method" if mine else ""
    return (
        f"{chosen.method} {criterion.praise} {place}: it {verdict}, in {time}; the runner-up{mine}, "
        f"{other.method}, {criterion.verdict(other, would=True)}, in {theirs}."
    )


def _own(mine: Outcome, chosen: Outcome, criterion: Criterion) -> str:
    name = f"The policy's own method, {mine.method},"
    if mine.status == "over budget":
        return f"{name} did not finish within the budget."
    if mine.status != "done":
        return f"{name} gives no release here: {mine.reason}"
    ours, theirs = criterion.cost(chosen), criterion.cost(mine)
    verdict = f"{name} {criterion.verdict(mine)}"
    if criterion.is_far(theirs, ours):
        is_share = criterion.is_loss or criterion.is_risk
        return f"{verdict}: {times(theirs / ours)}." if ours and is_share else f"{verdict}."
    return f"{verdict}, {criterion.nearly}."


def _further(done: Sequence[Outcome], chosen: Outcome, criterion: Criterion) -> str:
    """Methods do not always lose more at a larger k; then both can be had."""
    if chosen.k is None:
        return ""
    larger = [
        one
        for one in done
        if one.k is not None and one.k > chosen.k and criterion.cost(one) < criterion.cost(chosen)
        # a little better by chance is no reason
        if not (criterion.is_accuracy and criterion.is_near(chosen, one))
    ]
    if not larger:
        return ""
    best = min(larger, key=lambda o: (criterion.cost(o), o.done_figures.seconds, o.method))
    return (
        f"{best.method} at k = {best.k:,} does even better ({criterion.shown(best)}), and its "
        f"release holds k = {chosen.k:,} too."
    )


def at_k(k: int | None) -> str:
    """`at k = 5`, or what stands for it where there is not one k."""
    return "under the policy's constraints" if k is None else f"at k = {k:,}"


def times(ratio: float) -> str:
    """`30 % more`, `2.4 times as much`."""
    return f"{(ratio - 1) * 100:.0f} % more" if ratio < 2 else f"{ratio:,.1f} times as much"
