"""The figures of the Classfly+ paper."""

from shoal.reproduction._classfly_found import METHODS, Found
from shoal.reproduction.base import Figure, Line

ROWS, CONSTRAINTS = "rows", "constraints"
SETS = {2: "C1, C2", 4: "C1 to C4", 8: "C1 to C8"}


def figures(found: Found) -> tuple[Figure, ...]:
    """All of them, in the paper's order, and one of ours."""
    return (
        _precision(found, 2, "Fig. 3 (a)"),
        _precision(found, 4, "Fig. 3 (b)"),
        _by_constraints(found, "complete", "Fig. 4 (a); the same for partial"),
        _by_constraints(found, "naive", "Fig. 4 (b)"),
        _times(found, 4, "Fig. 5 (a)"),
        _times(found, 8, "Fig. 5 (b)"),
        *(
            _times_of(found, name, f"Fig. 6 ({letter})")
            for name, letter in (("naive", "a"), ("partial", "b"), ("complete", "c"))
        ),
        _times_by_constraints(found),
    )


def _precision(found: Found, size: int, shows: str) -> Figure:
    return Figure(
        f"precision-{size}-constraints",
        f"Precision against rows, {SETS[size]}",
        shows,
        ROWS,
        "precision",
        tuple(
            Line(name, _floats(found.rows), tuple(found.precisions(size, name))) for name in METHODS
        ),
    )


def _by_constraints(found: Found, name: str, shows: str) -> Figure:
    return Figure(
        f"precision-{name}",
        f"Precision of {name} against constraints",
        shows,
        CONSTRAINTS,
        "precision",
        tuple(
            Line(
                f"{rows:,} rows",
                _floats(found.constraints),
                tuple(found.precision[rows, size][name] for size in found.constraints),
            )
            for rows in found.fewer_rows
        ),
    )


def _times(found: Found, size: int, shows: str) -> Figure:
    return Figure(
        f"time-{size}-constraints",
        f"Time against rows, {SETS[size]}",
        shows,
        ROWS,
        "milliseconds",
        tuple(
            Line(name, _floats(found.fewer_rows), _milliseconds(found.times(size, name)))
            for name in METHODS
        ),
        kind="bars",
    )


def _times_of(found: Found, name: str, shows: str) -> Figure:
    return Figure(
        f"time-{name}",
        f"Time of {name} against rows",
        shows,
        ROWS,
        "milliseconds",
        tuple(
            Line(
                f"{size} constraints",
                _floats(found.fewer_rows),
                _milliseconds(found.times(size, name)),
            )
            for size in found.constraints
            if size % 2 == 0
        ),
    )


def _times_by_constraints(found: Found) -> Figure:
    return Figure(
        "time-by-constraints",
        f"Time against constraints, {found.fewer_rows[-1]:,} rows",
        "Not in the paper, which speaks of it from Fig. 6",
        CONSTRAINTS,
        "milliseconds",
        tuple(
            Line(name, _floats(found.constraints), _milliseconds(found.times_by_constraints(name)))
            for name in METHODS
        ),
    )


def _milliseconds(seconds: list[float]) -> tuple[float, ...]:
    return tuple(round(1000 * each, 3) for each in seconds)


def _floats(numbers: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(float(each) for each in numbers)
