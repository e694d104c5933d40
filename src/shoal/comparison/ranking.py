"""Figures of a comparison in a few letters."""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.comparison.outcome import Figures, Outcome
from shoal.errors import percent

MEGABYTE = 1_000_000


def seconds_words(seconds: float) -> str:
    """`0.04 s`, `12.3 s`, `4 min`."""
    if seconds < 0.995:
        return f"{max(seconds, 0.01):.2f} s"
    if seconds < 99.5:
        return f"{seconds:.1f} s"
    return f"{seconds:,.0f} s" if seconds < 600 else f"{seconds / 60:,.0f} min"


def memory_words(memory: int) -> str:
    """`<1 MB`, `12 MB`, `1.3 GB`."""
    if memory < MEGABYTE:
        return "<1 MB"
    if memory < 999.5 * MEGABYTE:
        return f"{memory / MEGABYTE:.0f} MB"
    return f"{memory / MEGABYTE / 1000:,.1f} GB"


def at_k(k: int | None) -> str:
    """`at k = 5`, or what stands for it where there is not one k."""
    return "under the policy's constraints" if k is None else f"at k = {k:,}"


def times(ratio: float) -> str:
    """`30 % more`, `2.4 times as much`."""
    return f"{(ratio - 1) * 100:.0f} % more" if ratio < 2 else f"{ratio:,.1f} times as much"


__all__ = ["at_k", "memory_words", "percent", "seconds_words", "times"]


# Which method to take, and why.


NEAR = 0.02
"""Within this share of the least loss speed decides: so little is not worth waiting for."""
FAR = 1.1
"""From this many times the loss on the policy's own method is told to be behind."""


@dataclass(frozen=True)
class Recommendation:
    """The method to take."""

    method: str
    k: int | None
    """Where the methods were judged: the policy's own k, or the middle one of those that were asked."""
    reason: str
    """One sentence."""
    own: str = ""
    """How the policy's own method does beside it; empty where the reason says so already."""
    further: str = ""
    """Whether a larger k, which holds this one too, costs even less."""


@dataclass(frozen=True)
class Judging:
    """By what methods are judged: their loss, or where nothing is lost (anatomy) their risk."""

    by_risk: bool = False

    def cost(self, outcome: Outcome) -> float:
        """What is to be low."""
        figures = _of(outcome)
        return figures.risk.average if self.by_risk else figures.loss

    def words(self, outcome: Outcome, would: bool = False) -> str:
        """`loses 7.4 % of the detail`, or in short `would lose 7.4 %`."""
        share = percent(self.cost(outcome))
        if self.by_risk:
            return f"{'would leave' if would else 'leaves'} a best guess right in {share} of cases"
        return f"would lose {share}" if would else f"loses {share} of the detail"

    @property
    def least(self) -> str:
        """What the best one does."""
        return "leaves the least to be guessed" if self.by_risk else "keeps the most detail"


def recommend(
    outcomes: Sequence[Outcome], own: str, k: int | None, by_risk: bool = False
) -> Recommendation | None:
    """The method to take; None where none finished.

    own: the policy's method; k: the policy's own.
    """
    done = [one for one in outcomes if one.status == "done"]
    if not done:
        return None
    chosen_k = judged_at(done, k)
    judging = Judging(by_risk)
    at = sorted(
        (one for one in done if one.k == chosen_k),
        key=lambda o: (judging.cost(o), _of(o).seconds, o.method),
    )
    least = judging.cost(at[0])
    near = [one for one in at if judging.cost(one) <= least * (1 + NEAR)]
    chosen = min(near, key=lambda o: (_of(o).seconds, judging.cost(o), o.method))
    other = next((one for one in at if one is not chosen), None)
    told = [one.method for one in (chosen, other) if one is not None]
    mine = next((one for one in outcomes if (one.method, one.k) == (own, chosen_k)), None)
    return Recommendation(
        chosen.method,
        chosen_k,
        _reason(chosen, other, own, judging),
        "" if mine is None or mine.method in told else _own(mine, chosen, judging),
        _further(done, chosen, judging),
    )


def judged_at(done: Sequence[Outcome], k: int | None) -> int | None:
    """The policy's own k if something finished there, else the middle one (the lower of two)."""
    ks = list(dict.fromkeys(one.k for one in done))
    if k in ks:
        return k
    known = sorted(each for each in ks if each is not None)
    return known[(len(known) - 1) // 2] if known else None


def _of(outcome: Outcome) -> Figures:
    assert outcome.figures is not None
    return outcome.figures


def _reason(chosen: Outcome, other: Outcome | None, own: str, judging: Judging) -> str:
    """Why, and what the next best would cost."""
    place, time = at_k(chosen.k), seconds_words(_of(chosen).seconds)
    if other is None:
        return (
            f"{chosen.method} is the only method that finished {place}; it {judging.words(chosen)}, "
            f"in {time}."
        )
    mine = "the policy's own method, " if other.method == own else ""
    theirs = seconds_words(_of(other).seconds)
    ours, cost = judging.cost(chosen), judging.cost(other)
    if cost < ours:
        return (
            f"{chosen.method} {judging.words(chosen)} {place}, hardly more than {mine}{other.method} "
            f"({percent(cost)}), and takes {time} instead of {theirs}."
        )
    if cost == ours:
        return (
            f"{chosen.method} {judging.words(chosen)} {place}, as {mine}{other.method} does, and "
            f"takes {time} instead of {theirs}."
        )
    mine = " and the policy's own method" if mine else ""
    return (
        f"{chosen.method} {judging.least} {place}: it {judging.words(chosen)}, in {time}; the "
        f"runner-up{mine}, {other.method}, {judging.words(other, would=True)}, in {theirs}."
    )


def _own(mine: Outcome, chosen: Outcome, judging: Judging) -> str:
    name = f"The policy's own method, {mine.method},"
    if mine.status == "over budget":
        return f"{name} did not finish within the budget."
    if mine.status != "done":
        return f"{name} gives no release here: {mine.reason}"
    ours, theirs = judging.cost(chosen), judging.cost(mine)
    words = f"{name} {judging.words(mine)}"
    if theirs >= ours * FAR and theirs > ours:
        return f"{words}: {times(theirs / ours)}." if ours else f"{words}."
    return f"{words}, nearly as little."


def _further(done: Sequence[Outcome], chosen: Outcome, judging: Judging) -> str:
    """Methods do not always lose more at a larger k; whoever sees that can have both."""
    if chosen.k is None:
        return ""
    larger = [
        one
        for one in done
        if one.k is not None and one.k > chosen.k and judging.cost(one) < judging.cost(chosen)
    ]
    if not larger:
        return ""
    best = min(larger, key=lambda o: (judging.cost(o), _of(o).seconds, o.method))
    return (
        f"{best.method} at k = {best.k:,} does even better ({percent(judging.cost(best))}), and its "
        f"release holds k = {chosen.k:,} too."
    )
