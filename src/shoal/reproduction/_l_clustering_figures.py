"""The figures of the L-clustering paper, by its numbers."""

from collections.abc import Callable, Sequence

from shoal.reproduction._l_clustering_runs import NAMES, Found, Point
from shoal.reproduction.base import Figure, Line

QUASI, ROWS, REPEAT = "quasi-identifiers", "rows", "repeat"
LOSS, SHARE, SECONDS = "loss L(D, D*)", "relative loss RL, %", "seconds"


def figures(found: Found) -> tuple[Figure, ...]:
    """Figures 2 to 7."""
    return (
        *_by_quasi(found, 2, "Loss", LOSS, _loss),
        *_by_l(found, 3, "Relative loss", SHARE, _percent),
        *_repeats(found),
        *_by_quasi(found, 5, "Time", SECONDS, _seconds),
        *_by_l(found, 6, "Time", SECONDS, _seconds),
        *_by_rows(found),
    )


def _by_quasi(
    found: Found, number: int, what: str, label: str, figure: Callable[[Point], float | None]
) -> list[Figure]:
    return [
        Figure(
            name=f"{_slug(what)}-by-quasi-l{ell}",
            title=f"{what} against quasi-identifiers, l = {ell}",
            shows=f"Fig. {number}({part}): {found.rows:,} rows",
            x_label=QUASI,
            y_label=label,
            lines=tuple(
                _line(NAMES[method], found.sizes.every_quasi, found.by_quasi(method, ell), figure)
                for method in NAMES
            ),
            log=number == 2,
        )
        for part, ell in zip("abcdefgh", found.sizes.some_l, strict=False)
    ]


def _by_l(
    found: Found, number: int, what: str, label: str, figure: Callable[[Point], float | None]
) -> list[Figure]:
    return [
        Figure(
            name=f"{_slug(what)}-by-l-{d}-quasi",
            title=f"{what} against l, {d} quasi-identifiers",
            shows=f"Fig. {number}({part}): {found.rows:,} rows",
            x_label="l",
            y_label=label,
            lines=tuple(
                _line(NAMES[method], found.sizes.every_l, found.by_l(method, d), figure)
                for method in NAMES
            ),
        )
        for part, d in zip("abcdefgh", found.sizes.quasi, strict=False)
    ]


def _repeats(found: Found) -> list[Figure]:
    def line(label: str, d: int, ell: int) -> Line:
        shares = found.repeats[d, ell]
        repeats = tuple(range(1, len(shares) + 1))
        return Line(label, repeats, tuple(100 * share for share in shares))

    sizes = found.sizes
    d, middle = sizes.repeated
    shows = f"{found.rows:,} rows, a seed for each repeat"
    return [
        Figure(
            name=f"repeats-{d}-quasi",
            title=f"Relative loss of L-clustering, repeated, {d} quasi-identifiers",
            shows=f"Fig. 4(a): {shows}",
            x_label=REPEAT,
            y_label=SHARE,
            lines=tuple(line(f"l = {ell}", d, ell) for ell in sizes.some_l),
        ),
        Figure(
            name=f"repeats-l{middle}",
            title=f"Relative loss of L-clustering, repeated, l = {middle}",
            shows=f"Fig. 4(b): {shows}",
            x_label=REPEAT,
            y_label=SHARE,
            lines=tuple(line(f"{d} QI", d, middle) for d in sizes.quasi),
        ),
    ]


def _by_rows(found: Found) -> list[Figure]:
    return [
        Figure(
            name=f"time-by-rows-{d}-quasi-l{ell}",
            title=f"Time against rows, {d} quasi-identifiers, l = {ell}",
            shows=f"Fig. 7({part})",
            x_label=ROWS,
            y_label=SECONDS,
            lines=tuple(
                _line(NAMES[method], found.sizes.growing, found.by_rows(method, d, ell), _seconds)
                for method in NAMES
            ),
        )
        for part, (d, ell) in zip("abcdefgh", found.sizes.growing_at, strict=False)
    ]


def _line(
    label: str, x: Sequence[float], points: list[Point], figure: Callable[[Point], float | None]
) -> Line:
    return Line(label, tuple(x), tuple(figure(point) for point in points))


def _loss(point: Point) -> float | None:
    return point.loss or None  # the axis is logarithmic: nothing lost is nowhere on it


def _percent(point: Point) -> float:
    return 100 * point.share


def _seconds(point: Point) -> float:
    return point.seconds


def _slug(what: str) -> str:
    return what.lower().replace(" ", "-")
