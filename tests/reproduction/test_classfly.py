"""The claims of the Classfly+ paper can be held and not, and its table is that of the page."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from shoal.reproduction.base import Verdict
from shoal.reproduction.classfly_plus import METHODS, ClassflyPlus, Measurements, Sizes, judge
from shoal.reproduction.synthetic import (
    COLUMNS,
    CONSTRAINTS,
    FIRST,
    SETTINGS,
    cells_of,
    coded,
    columns_named,
    domains,
)
from tests.reproduction.tiny import CLASSFLY

ROWS, SIZES = (1000, 2000, 3000), (2, 4, 8)
AS_CLAIMED = {"datafly": 0.5, "naive": 0.55, "complete": 0.58, "partial": 0.58}
TIMES = {"datafly": 1.0, "naive": 3.0, "complete": 2.0, "partial": 2.1}


def found() -> Measurements:
    """Just what the paper claims."""
    made = Measurements(Sizes(ROWS, ROWS, ROWS, SIZES, 1, 1), compared=6)
    for rows in ROWS:
        for size in SIZES:
            grown = 1 + rows / 1e5
            lower = {"naive": 0.45} if size > 2 else {}
            for setting in SETTINGS:
                made.precision.setdefault(setting, {})[rows, size] = {
                    n: v * grown for n, v in (AS_CLAIMED | lower).items()
                }
            made.seconds[rows, size] = {n: v * rows * size for n, v in TIMES.items()}
    return made


def verdicts(made: Measurements) -> list[Verdict]:
    return [claim.verdict for claim in judge(made)]


def test_what_is_as_claimed_holds() -> None:
    assert verdicts(found()) == ["holds"] * 10


def change(
    made: Measurements, what: str, name: str, factor: float, rows: int = 0, size: int = 0
) -> Measurements:
    parts = [made.seconds] if what == "seconds" else list(made.precision.values())
    for part in parts:
        for point, values in part.items():
            if rows in (0, point[0]) and size in (0, point[1]):
                values[name] *= factor
    return made


@pytest.mark.parametrize(
    ("claim", "made"),
    [
        (0, replace(found(), different=1)),
        (1, change(found(), "precision", "complete", 1.1)),
        (1, change(found(), "precision", "complete", 0.9)),
        (2, change(found(), "precision", "naive", 0.9, 2000, 2)),
        (3, change(found(), "precision", "naive", 1.2, 2000, 4)),
        (4, change(found(), "precision", "partial", 0.97, 3000, 4)),
        (5, change(found(), "seconds", "naive", 0.5, size=4)),
        (6, change(found(), "seconds", "partial", 2)),
        (6, change(found(), "seconds", "partial", 0.5)),
        (7, change(found(), "seconds", "datafly", 2.5, 3000, 8)),
        (8, change(found(), "seconds", "complete", 0.1, 3000, 8)),
        (9, change(found(), "seconds", "datafly", 0.1, 3000, 4)),
    ],
)
def test_what_is_otherwise_does_not_hold(claim: int, made: Measurements) -> None:
    assert verdicts(made)[claim] == "does not hold"


def test_what_holds_in_some_settings_depends_on_them() -> None:
    made = found()
    for values in made.precision[FIRST].values():
        values["naive"] *= 0.88 if values["naive"] > 0.5 else 1.2
    assert verdicts(made) == ["holds"] * 2 + ["depends"] * 2 + ["holds"] * 6
    assert f"It does not with {FIRST}." in judge(made)[2].reason


def test_times_too_short_tell_nothing() -> None:
    made = found()
    for values in made.seconds.values():
        values.update({name: seconds / 1e6 for name, seconds in values.items()})
    assert verdicts(made) == ["holds"] * 5 + ["cannot tell"] * 5


def test_settings_change_what_they_say() -> None:
    heights = {}
    for setting in SETTINGS:
        assert set(domains(setting)) == set(COLUMNS)
        heights[setting] = {
            name: (domain.size, domain.hierarchy.height)  # type: ignore[union-attr]
            for name, (domain, _) in domains(setting).items()
        }
    first = heights[FIRST]
    changes = [
        {name: now for name, now in heights[setting].items() if now != first[name]}
        for setting in SETTINGS
    ]
    days = first["Birth"][0]
    assert changes[:4] == [
        {},
        {"Birth": (days, 2)},
        {"ZIP": (100_000, 5)},
        {"Birth": (days, 2), "ZIP": (100_000, 5)},
    ]
    assert {height for _, height in changes[4].values()} == {2}
    assert set(changes[4]) == {"Birth", "Height", "Weight", "Work_Hrs", "Salary"}


def test_the_figures_are_those_of_the_paper() -> None:
    result = ClassflyPlus().run_on(CLASSFLY, lambda *_: None)
    shows = [figure.shows.partition(";")[0] for figure in result.figures]
    shows = [show for show in shows if show.startswith("Fig. ")]
    letters = ("3 (a)", "3 (b)", "4 (a)", "4 (b)", "5 (a)", "5 (b)", "6 (a)", "6 (b)", "6 (c)")
    assert shows == [f"Fig. {each}" for each in letters]
    assert [line.label for line in result.figures[0].lines] == list(METHODS)
    assert result.claims[0].verdict == "holds"
    complete, partial = result.figures[0].lines[2:]
    assert complete.y == partial.y


def test_the_table_is_as_described() -> None:
    sizes = {name: domain.size for name, (domain, _) in domains().items()}
    heights = {name: domain.hierarchy.height for name, (domain, _) in domains().items()}  # type: ignore[union-attr]
    days = (date(1990, 1, 1) - date(1950, 1, 1)).days
    told = (5, days, 2, 100, 50, 60, 40, 200, 16)
    assert sizes == dict(zip(COLUMNS, told, strict=True))
    assert heights == dict(zip(COLUMNS, (1, 4, 1, 5, 4, 4, 4, 4, 3), strict=True))
    assert [one.k for one in CONSTRAINTS] == [5, 3, 5, 3, 6, 3, 4, 8]
    assert columns_named(CONSTRAINTS[:2]) == ["Race", "Birth", "Sex", "ZIP"]
    assert columns_named(CONSTRAINTS) == list(COLUMNS)


def test_every_value_is_as_likely() -> None:
    columns = coded(20_000, 3)
    for name in COLUMNS:
        size = domains()[name][0].size
        counts = np.bincount(columns[name], minlength=size)
        assert len(counts) == size
        spread = ((counts - 20_000 / size) ** 2 / (20_000 / size)).sum()
        assert abs(spread - size) < 6 * np.sqrt(2 * size), name
    assert cells_of(columns, COLUMNS).n_rows == 20_000
    assert all(np.array_equal(columns[name], coded(20_000, 3)[name]) for name in COLUMNS)
