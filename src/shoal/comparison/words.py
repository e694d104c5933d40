"""Figures of a comparison in a few letters."""

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
