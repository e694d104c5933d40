"""Figures as people read them."""

from collections.abc import Iterable

from shoal import errors
from shoal.report.labels import shown

EVEN = 0.5
"""From here on a chance is told in per cent: `1 in 1.4` says nothing to anybody."""


BLANK = "\u00a0"
"""One at which no line ends."""


def percent(share: float) -> str:
    """As everywhere, on one line."""
    return errors.percent(share).replace(" ", BLANK)


def counted(n: int, what: str, many: str = "") -> str:
    """`1 row`, `1,200 rows`."""
    return f"{n:,} {what if n == 1 else many or what + 's'}"


def figure(value: float | None) -> str:
    """A figure of a model or a metric."""
    if value is None:
        return "none"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1_000 else f"{value:.4g}"


def chance(share: float) -> str:
    """`1 in 5`; per cent where the chance is even or better."""
    if share <= 0:
        return "none"
    if share >= 1:
        return "certain"
    return percent(share) if share >= EVEN else f"1{BLANK}in{BLANK}{1 / share:,.0f}"


def share_of(n: int, whole: int, what: str = "row") -> str:
    """`120 of 1,000 rows (12.0 %)`."""
    part = f" ({percent(n / whole)})" if whole else ""
    return f"{n:,} of {counted(whole, what)}{part}"


def names(words: Iterable[str], limit: int = 8) -> str:
    """`a, b and c`; many are cut, with how many were left out."""
    every = [shown(word, 40) for word in words]
    if len(every) > limit:
        return f"{', '.join(every[:limit])} and {len(every) - limit} more"
    return " and ".join(filter(None, [", ".join(every[:-1]), *every[-1:]]))
