"""What the Classfly+ paper claims, judged by what was measured."""

from itertools import pairwise
from statistics import mean

from shoal.reproduction._classfly_found import FAMILY, METHODS, Found
from shoal.reproduction.base import Claim

ALIKE = 0.25
"""Two times are about the same when they differ by no more than this share."""
LEAST, MOST = 10, 20
"""Per cent by which the paper says precision gains."""


def judged(found: Found) -> tuple[Claim, ...]:
    """Every claim, with the figures it was judged by."""
    return (*_of_precision(found), *_of_time(found))


def _of_precision(found: Found) -> list[Claim]:
    points = len(found.rows)
    leads = {size: _lead(found, size) for size in (2, 4)}
    above = sum(a > b for a, b in _pairs(found, 2))
    below = sum(a < b for a, b in _pairs(found, 4))
    alike = found.compared - found.different
    return [
        Claim(
            "The precision of complete and partial is the same at every point",
            found.different == 0,
            f"cell for cell the same on {alike} of {found.compared} tables",
        ),
        Claim(
            f"The precision of complete is {LEAST} to {MOST} % above Datafly's on average",
            all(LEAST <= mean(lead) <= MOST for lead in leads.values()),
            f"{mean(leads[2]):+.1f} % on C1, C2; {mean(leads[4]):+.1f} % on C1 to C4, "
            f"{max(leads[4]):+.1f} % at most",
        ),
        Claim(
            "Naive is more precise than Datafly on C1, C2",
            above == points,
            f"at {above} of {points} sizes",
        ),
        Claim(
            "Naive is less precise than Datafly on C1 to C4",
            below == points,
            f"at {below} of {points} sizes",
        ),
        _rising(found),
    ]


def _rising(found: Found) -> Claim:
    each = {(size, name): found.precisions(size, name) for size in (2, 4) for name in FAMILY}
    steps = len(found.rows) - 1
    risen = {key: sum(b > a for a, b in pairwise(line)) for key, line in each.items()}
    ends = "; ".join(
        f"{words}: "
        + ", ".join(
            f"{name} {each[size, name][0]:.3f} to {each[size, name][-1]:.3f}"
            for name in ("naive", "complete")
        )
        for size, words in ((2, "C1, C2"), (4, "C1 to C4"))
    )
    return Claim(
        "The precision of the family rises with rows (we ask: from first to last, and in most steps)",
        all(line[-1] > line[0] for line in each.values())
        and all(2 * count > steps for count in risen.values()),
        f"{ends}; up in {sum(risen.values())} of {len(risen) * steps} steps",
    )


def _of_time(found: Found) -> list[Claim]:
    points = len(found.fewer_rows)
    four = {name: found.times(4, name) for name in METHODS}
    slowest = sum(max(four, key=lambda name: four[name][i]) == "naive" for i in range(points))
    last = {name: found.times(8, name)[-1] for name in METHODS}
    ratio = mean(four["partial"]) / mean(four["complete"])
    ratio_8 = last["partial"] / last["complete"]
    fastest = min(last, key=lambda name: last[name])
    by_size = {name: found.times_by_constraints(name) for name in METHODS}
    first_size, last_size = found.constraints[0], found.constraints[-1]
    first_rows, last_rows = found.fewer_rows[0], found.fewer_rows[-1]
    return [
        Claim(
            "Naive is the slowest on C1 to C4",
            slowest == points,
            f"at {slowest} of {points} sizes",
        ),
        Claim(
            f"Complete and partial take about the same time (we ask: within {100 * ALIKE:.0f} %)",
            abs(ratio - 1) <= ALIKE and abs(ratio_8 - 1) <= ALIKE,
            f"partial takes {ratio:.2f} times as long on C1 to C4, {ratio_8:.2f} times with 8 "
            f"constraints and {last_rows:,} rows",
        ),
        Claim(
            "Datafly is the fastest with 8 constraints",
            fastest == "datafly",
            f"at {last_rows:,} rows: "
            + ", ".join(f"{name} {1000 * last[name]:.1f} ms" for name in METHODS),
        ),
        Claim(
            "Time rises with the number of constraints",
            all(line[-1] > line[0] for line in by_size.values()),
            f"from {first_size} to {last_size}: {_growth(by_size)}",
        ),
        Claim(
            "Time rises with rows",
            all(line[-1] > line[0] for line in four.values()),
            f"C1 to C4, from {first_rows:,} to {last_rows:,}: {_growth(four)}",
        ),
    ]


def _growth(lines: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} ×{line[-1] / line[0]:.1f}" for name, line in lines.items())


def _lead(found: Found, size: int) -> list[float]:
    """How far complete lies above Datafly at each size, in per cent of that."""
    ours, theirs = found.precisions(size, "complete"), found.precisions(size, "datafly")
    return [100 * (a / b - 1) for a, b in zip(ours, theirs, strict=True)]


def _pairs(found: Found, size: int) -> list[tuple[float, float]]:
    """Naive and Datafly at each size."""
    naive, datafly = found.precisions(size, "naive"), found.precisions(size, "datafly")
    return list(zip(naive, datafly, strict=True))
