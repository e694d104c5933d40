"""What became of the claims of the paper on personalised protection. The thresholds are ours."""

from shoal.reproduction._personalised_runs import DIVERSITY, NAMES, PERSONAL, PLAIN, Found, Point
from shoal.reproduction._trends import between, falls
from shoal.reproduction.base import Claim

MEETING = 0.02
"""Losses that differ by less than this share have met."""
FLAT = 0.05
"""Rates that differ by less than this share are flat."""
CLOSE = 0.25
"""Times that differ by less than this share are close."""


def claims(found: Found) -> tuple[Claim, ...]:
    """All of them, in the order of the figures."""
    return (*_loss(found), *_rate(found), *_time(found))


def _loss(found: Found) -> list[Claim]:
    every = _settings(found)
    ordered = [at[PERSONAL].loss >= at[DIVERSITY].loss >= at[PLAIN].loss for at in every]
    last = {model: found.along_k(model)[-1].loss for model in NAMES}
    apart = [
        b.loss / a.loss - 1
        for a, b in zip(found.along_k(PLAIN), found.along_k(DIVERSITY), strict=True)
    ]
    k = found.sizes.k
    return [
        Claim(
            "Loss: personalised at least (α,l), (α,l) at least k-anonymity",
            all(ordered),
            f"at {sum(ordered)} of {len(every)} settings; personalised loses "
            + between([at[PERSONAL].loss / at[PLAIN].loss for at in every])
            + " times as much as k-anonymity",
        ),
        _trend("Loss grows with k", found, "along_k", "loss", ",.0f"),
        _trend("Loss grows with rows", found, "along_rows", "loss", ",.0f"),
        Claim(
            f"The losses of (α,l) and k-anonymity meet for large k (within {100 * MEETING:.0f} %)",
            abs(last[DIVERSITY] / last[PLAIN] - 1) < MEETING,
            f"apart by {100 * apart[0]:.1f} % at k = {k[0]}, by {100 * apart[-1]:.1f} % at k = {k[-1]}",
        ),
    ]


def _rate(found: Found) -> list[Claim]:
    every = _settings(found)
    lowest = [at[PERSONAL].rate <= min(at[DIVERSITY].rate, at[PLAIN].rate) for at in every]
    flat = {
        model: max(rates) / min(rates) - 1
        for model in NAMES
        if (rates := [point.rate for point in found.along_rows(model)])
    }
    return [
        Claim(
            "Recognition rate: personalised lowest",
            all(lowest),
            f"at {sum(lowest)} of {len(every)} settings; "
            + between([at[PERSONAL].rate / at[DIVERSITY].rate for at in every])
            + " times that of (α,l)",
        ),
        _trend("Recognition rate falls with k", found, "along_k", "rate", ".3f", up=False),
        Claim(
            f"Recognition rate is flat in rows (within {100 * FLAT:.0f} %)",
            max(flat.values()) < FLAT,
            "; ".join(f"{NAMES[m]} within {100 * share:.1f} %" for m, share in flat.items()),
        ),
    ]


def _time(found: Found) -> list[Claim]:
    k = found.sizes.k
    larger = k[len(k) // 2 :]
    spread = {
        one: max(seconds) / min(seconds) - 1
        for one in k
        if (seconds := [found.by_k[model, one].seconds for model in NAMES])
    }
    return [
        Claim(
            f"Times are close for larger k (from k = {larger[0]} within {100 * CLOSE:.0f} %)",
            all(spread[one] < CLOSE for one in larger),
            "; ".join(f"within {100 * share:.0f} % at k = {one}" for one, share in spread.items()),
        ),
        _trend("Time grows with rows", found, "along_rows", "seconds", ".2g"),
    ]


def _settings(found: Found) -> list[dict[str, Point]]:
    """The models beside each other, at each k and each number of rows."""
    return [{model: found.by_k[model, k] for model in NAMES} for k in found.sizes.k] + [
        {model: found.by_rows[model, rows] for model in NAMES} for rows in found.sizes.growing
    ]


def _trend(text: str, found: Found, which: str, what: str, form: str, up: bool = True) -> Claim:
    """Whether the lines of all models go up (or down) at every step."""
    x = found.sizes.k if which == "along_k" else found.sizes.growing
    lines = {
        name: [getattr(point, what) for point in getattr(found, which)(model)]
        for model, name in NAMES.items()
    }
    ends = [f"{name} {line[0]:{form}} to {line[-1]:{form}}" for name, line in lines.items()]
    sign = 1 if up else -1
    wrong = falls(x, {name: [sign * y for y in line] for name, line in lines.items()})
    return Claim(text, not wrong, "; ".join([*ends, wrong] if wrong else ends))
