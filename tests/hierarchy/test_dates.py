import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import HierarchyError
from shoal.hierarchy.dates import PARTS, DateParts, Part

from . import plain
from .checks import assert_sound, path

HERE = Path()
ALL: tuple[Part, ...] = ("month", "quarter", "year", "decade")


def paths(parts: tuple[Part, ...], values: pa.Array) -> list[tuple[str, ...] | None]:
    hierarchy, codes = DateParts(parts).build(values, "birth", HERE)
    assert_sound(hierarchy)
    return [path(hierarchy, code) if code >= 0 else None for code in codes.tolist()]


DAY = datetime.date(1964, 3, 7)
GOLDEN = ("1964-03-07", "1964-03", "1964-Q1", "1964", "1960s", "*")


@pytest.mark.parametrize(
    "values",
    [
        pa.array([DAY]),
        pa.array([DAY], pa.date64()),
        pa.array([datetime.datetime(1964, 3, 7)], pa.timestamp("ns")),
        pa.array(["1964-03-07"]),
        pa.array(["1964-03-07"]).dictionary_encode(),
    ],
)
def test_every_kind_of_date(values: pa.Array) -> None:
    assert paths(ALL, values) == [GOLDEN]
    assert paths(("day", *ALL), values) == [GOLDEN], "a day above days would be no level"


def test_slashes() -> None:
    assert paths(("month",), pa.array(["1964/03/07"])) == [("1964/03/07", "1964-03", "*")]


def test_times_may_have_a_level_of_days() -> None:
    moments = [datetime.datetime(1964, 3, 7, 12, 30), datetime.datetime(1964, 3, 7)]
    assert paths(("day", "year"), pa.array(moments, pa.timestamp("us"))) == [
        ("1964-03-07T12:30:00", "1964-03-07", "1964", "*"),
        ("1964-03-07", "1964-03-07", "1964", "*"),
    ]
    texts = ["1964-03-07 12:30", "1964-03-07T12:30:01.5Z", "1964-03-07 12:30:00+0100"]
    assert paths(("month",), pa.array(texts)) == [(text, "1964-03", "*") for text in texts]


def test_a_zone_keeps_its_own_day() -> None:
    moment = pa.array([datetime.datetime(1963, 12, 31, 23, 30)], pa.timestamp("s", "Europe/Paris"))
    assert paths(("year",), moment) == [("1964-01-01T00:30:00+01:00", "1964", "*")]


@pytest.mark.parametrize(
    "text",
    [
        "1964-02-30", "1963-02-29", "1964-13-01", "1964-00-10", "1964-01-00", "0000-01-01", "1964",
        "1964-3-7", "07.03.1964", "1964-03/07", "1964-03-07x", "19640307", "", "x",
    ],
)  # fmt: skip
def test_what_is_no_date_is_not_covered(text: str) -> None:
    assert paths(("year",), pa.array([text, "1964-03-07"])) == [None, ("1964-03-07", "1964", "*")]


def test_no_date_at_all() -> None:
    assert paths(("year",), pa.array(["x"])) == [None]
    assert paths(("day", "year"), pa.array([], pa.date32())) == []


def test_leaves_rise() -> None:
    hierarchy, codes = DateParts(("year",)).build(
        pa.array(["1964/03/08", "1964-03-09", "1964-03-07", "1963-12-31"]), "x", HERE
    )
    assert hierarchy.labels[0] == ("1963-12-31", "1964-03-07", "1964/03/08", "1964-03-09")
    assert codes.tolist() == [2, 3, 1, 0]


def test_moments_of_a_day_rise() -> None:
    texts = [f"1964-03-0{day} {hour:02}:00" for day in (2, 1) for hour in range(24)]
    hierarchy, _ = DateParts(("day",)).build(pa.array(texts[::-1]), "x", HERE)
    assert list(hierarchy.labels[0]) == sorted(texts)


@given(
    st.lists(st.dates(), unique=True),
    st.lists(st.sampled_from(ALL), unique=True, min_size=1),
)
def test_labels_are_those_of_the_plain_twin(days: list[datetime.date], parts: list[Part]) -> None:
    rising = tuple(sorted(parts, key=PARTS.index))
    for values in (
        pa.array(days, pa.date32()),
        pa.array([d.isoformat() for d in days], pa.string()),
    ):
        for day, found in zip(days, paths(rising, values), strict=True):
            assert found == (day.isoformat(), *(plain.part(day, p) for p in rising), "*")


@given(st.lists(st.datetimes(), unique=True))
def test_moments_by_day(moments: list[datetime.datetime]) -> None:
    found = paths(("day", "year"), pa.array(moments, pa.timestamp("us")))
    for moment, labels in zip(moments, found, strict=True):
        assert labels is not None
        assert labels[-2] == f"{moment.year:04}"
        if any(m.time() != datetime.time() for m in moments):
            assert labels[1] == moment.date().isoformat()


@pytest.mark.parametrize("parts", [(), ("year", "month"), ("year", "year")])
def test_parts_must_rise(parts: tuple[Part, ...]) -> None:
    with pytest.raises(HierarchyError, match=r"allowed are one or more of day, month, quarter"):
        DateParts(parts)
