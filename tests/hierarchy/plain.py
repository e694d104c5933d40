"""Plain twins of the hierarchy builders: one value at a time, no arrays, nothing of the package."""

import datetime
import itertools
from collections.abc import Sequence
from fractions import Fraction

Path = tuple[str, ...]


def fault(paths: Sequence[Path]) -> str | None:
    """What is wrong with the paths: 'circle', 'parents', 'names' or nothing."""
    edges = {(low, high) for p in paths for low, high in itertools.pairwise(p) if low != high}
    reach = set(edges)
    while True:
        more = {(a, d) for a, b in reach for c, d in reach if b == c} - reach
        if not more:
            break
        reach |= more
    if any(a == b for a, b in reach):
        return "circle"
    levels = range(len(paths[0]))
    for level in levels[:-1]:
        parents: dict[str, set[str]] = {}
        for path in paths:
            parents.setdefault(path[level], set()).add(path[level + 1])
        if any(len(found) > 1 for found in parents.values()):
            return "parents"
    covered = {
        (level, path[level]): {p[0] for p in paths if p[level] == path[level]}
        for path in paths
        for level in levels
    }
    for (low, text), leaves in covered.items():
        for (high, other), more_leaves in covered.items():
            if low < high and text == other and not leaves <= more_leaves:
                return "names"
    return None


def depth_first(paths: Sequence[Path]) -> list[Path]:
    """Distinct paths, siblings in the order of their first appearance."""
    if not paths or not paths[0]:
        return [()] if paths else []
    tops = list(dict.fromkeys(path[-1] for path in paths))
    return [
        (*below, top)
        for top in tops
        for below in depth_first([path[:-1] for path in paths if path[-1] == top])
    ]


def masked(text: str, longest: int, level: int, side: str) -> str:
    """The text with `level` places hidden, as the reader sees it."""
    if level == 0:
        return text
    if level >= max(longest, 1):
        return "*"
    keep = longest - level
    kept = text[:keep] if side == "right" else text[-keep:]
    kept = "".join("\\" + c if c in "\\*" else c for c in kept)
    if len(text) < keep:
        return kept
    return kept + "*" * level if side == "right" else "*" * level + kept


def interval(text: str, width: str, start: str) -> str:
    """The interval that holds a number; texts are decimals."""
    step, origin = Fraction(width), Fraction(start)
    low = origin + (Fraction(text) - origin) // step * step
    return f"[{decimal(low)}-{decimal(low + step)})"


def decimal(number: Fraction) -> str:
    """A fraction of a power of ten, written out."""
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
    whole = int(abs(number) * 10**places)
    head, tail = divmod(whole, 10**places)
    text = f"{head}.{tail:0{places}}" if places else str(head)
    return f"-{text}" if number < 0 else text


def part(day: datetime.date, name: str) -> str:
    """One part of a date."""
    return {
        "day": day.isoformat(),
        "month": day.isoformat()[:7],
        "quarter": f"{day.year:04}-Q{(day.month - 1) // 3 + 1}",
        "year": f"{day.year:04}",
        "decade": f"{day.year - day.year % 10:04}s",
    }[name]
