"""What the paper on the rounded partition claims, judged by what was measured."""

from collections.abc import Callable

from shoal.errors import listed
from shoal.reproduction._flexible_found import BOTTOM_UP, OTHERS, OURS, STRICT, WIDEST, Found
from shoal.reproduction.base import Claim

PATIENCE = 10
"""Times as long as strict Mondrian may a method take and still be called acceptable."""


def bound(rows: int, k: int) -> int:
    """The most rows of a group by Theorem 2: k + ⌈β / 2^x⌉ for n = αk + β and x = ⌊log2 α⌋."""
    many, rest = divmod(rows, k)
    halvings = many.bit_length() - 1
    return k + -(-rest // 2**halvings)


def judged(found: Found) -> tuple[Claim, ...]:
    """Every claim, with the figures it was judged by."""
    return (
        _as_many_as_there_can_be(found),
        _bounded(found),
        _compared(found, "Its DM is below that of the three others for every k", "dm", _below),
        _compared(found, "Its CM is below that of the three others for every k", "cm", _below),
        _compared(
            found, "It makes more groups than the three others for every k", "groups", _above
        ),
        _quick_enough(found),
    )


def _as_many_as_there_can_be(found: Found) -> Claim:
    made = {k: {found.of[name, k].groups for name in (OURS, WIDEST)} for k in found.ks}
    right = [k for k in found.ks if made[k] == {found.rows // k}]
    k = found.ks[0]
    return Claim(
        "It makes exactly ⌊n/k⌋ groups (Theorem 1)",
        len(right) == len(found.ks),
        f"for {len(right)} of {len(found.ks)} values of k; at k = {k}: {found.of[OURS, k].groups:,} "
        f"of {found.rows // k:,}",
    )


def _bounded(found: Found) -> Claim:
    largest = {k: max(found.of[name, k].largest for name in (OURS, WIDEST)) for k in found.ks}
    over = [k for k, rows in largest.items() if rows > bound(found.rows, k)]
    apart = max(rows - k for k, rows in largest.items())
    close = [k for k in found.ks if found.rows >= 2 * k * k]
    return Claim(
        "No group exceeds k + ⌈β/2^x⌉ rows (Theorem 2), nor k + 1 where n ≥ 2k² (its corollary)",
        not over and all(largest[k] <= k + 1 for k in close),
        f"at most k + {apart} for every k" + (f"; over at k = {_named(over)}" if over else ""),
    )


def _compared(found: Found, text: str, what: str, better: Callable[[float, float], bool]) -> Claim:
    ours = found.line(OURS, what)
    words = []
    fine = True
    for name in OTHERS:
        theirs = found.line(name, what)
        pairs = list(zip(found.ks, ours, theirs, strict=True))
        lost = [k for k, a, b in pairs if not better(a, b)]
        ratios = [b / a for _, a, b in pairs if a]
        fine &= not lost
        words.append(
            f"{name} {_span(ratios)} times ours" + (f" (not at k = {_named(lost)})" if lost else "")
        )
    return Claim(text, fine, "; ".join(words))


def _span(ratios: list[float]) -> str:
    low, high = (f"{ratio:.3g}" for ratio in (min(ratios), max(ratios)))
    return low if low == high else f"{low} to {high}"


def _quick_enough(found: Found) -> Claim:
    ours, strict = found.line(OURS, "seconds"), found.line(STRICT, "seconds")
    ratios = [a / b for a, b in zip(ours, strict, strict=True)]
    slow = found.line(BOTTOM_UP, "seconds")
    return Claim(
        f"Its time is acceptable (we ask: at most {PATIENCE} times that of strict Mondrian)",
        max(ratios) <= PATIENCE,
        f"{min(ours):.2f} to {max(ours):.2f} s, {_span(ratios)} times strict Mondrian; "
        f"bottom-up {min(slow):.1f} to {max(slow):.1f} s",
    )


def _named(ks: list[int]) -> str:
    return listed(map(str, ks))


def _below(one: float, other: float) -> bool:
    return one < other


def _above(one: float, other: float) -> bool:
    return one > other
