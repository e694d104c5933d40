"""A figure as a table: one row per place on the level axis, one column per line."""

from shoal.reproduction.base import Figure


def places(figure: Figure) -> list[float]:
    """Every place on the level axis where some line has a figure."""
    return sorted({x for line in figure.lines for x in line.x})


def header(figure: Figure) -> list[str]:
    """What each column holds."""
    return [figure.x_label, *(line.label for line in figure.lines)]


def rows(figure: Figure) -> list[list[float | None]]:
    """The figures as they are; None where a line has none."""
    lines = [dict(zip(line.x, line.y, strict=True)) for line in figure.lines]
    return [[_whole(x), *(line.get(x) for line in lines)] for x in places(figure)]


def shown(number: float | None) -> str:
    """A figure for the eye: four digits that count, none after the point of a large one."""
    if number is None:
        return "–"
    if number == int(number) or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.4g}" if abs(number) >= 1e-4 else f"{number:.1e}"


def _whole(x: float) -> float:
    return int(x) if x == int(x) else x
