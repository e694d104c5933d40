"""Texts as numbers and dates: recognised where they are certain, asked where they are not."""

import datetime
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.encoding.date_format import DateFormat
from shoal.encoding.reading import AmbiguousError, StrayError, ValueReading, read_ordered
from shoal.encoding.values import parse_dates

DAY = datetime.date(1999, 12, 31)
FILLED = ["10", "11", "12", "13", "14", "15", "16", "17", "18", "19"]


@pytest.mark.parametrize(
    ("texts", "values", "words"),
    [
        (["1", "2.5"], [1, 2.5], ""),
        (["1,5", "2"], [1.5, 2], "numbers with a decimal comma"),
        (["1,234,567", "2"], [1234567, 2], "numbers with a comma between thousands"),
        (["1.234.567", "2"], [1234567, 2], "numbers with a point between thousands"),
        (
            ["1.234,5", "7"],
            [1234.5, 7],
            "numbers with a decimal comma and a point between thousands",
        ),
        (["1 234", "2"], [1234, 2], "numbers with a blank between thousands"),
        (
            ["1\u202f234,5", "2"],
            [1234.5, 2],
            "numbers with a decimal comma and a narrow no-break blank between thousands",
        ),
        (["1'234.5", "1"], [1234.5, 1], "numbers with an apostrophe between thousands"),
        (["0,123", "1,5"], [0.123, 1.5], "numbers with a decimal comma"),
        (["12 %", "3%"], [12, 3], "numbers with a percent sign"),
        (["12,5 %", "3 %"], [12.5, 3], "numbers with a decimal comma and a percent sign"),
        (["1999-12-31"], [DAY], ""),
        (["31/12/1999", "1/2/2000"], [DAY, datetime.date(2000, 2, 1)], "dates written as %d/%m/%Y"),
        (["12/31/1999"], [DAY], "dates written as %m/%d/%Y"),
        (["31.12.1999"], [DAY], "dates written as %d.%m.%Y"),
        (["31-12-1999"], [DAY], "dates written as %d-%m-%Y"),
        (["1999/12/31"], [DAY], "dates written as %Y/%m/%d"),
        (
            ["31-Dec-1999", "01-JAN-2000"],
            [DAY, datetime.date(2000, 1, 1)],
            "dates written as %d-%b-%Y",
        ),
        (["31DEC1999"], [DAY], "dates written as %d%b%Y"),
        (["December 31, 1999"], [DAY], "dates written as %B %d, %Y"),
        (
            ["31/12/1999 23:59"],
            [datetime.datetime(1999, 12, 31, 23, 59)],
            "dates written as %d/%m/%Y %H:%M",
        ),
    ],
)
def test_what_is_certain_is_recognised(texts: list[str], values: list[Any], words: str) -> None:
    found = read_ordered(pa.array(texts), guess=True)
    assert found is not None
    assert found.values.to_pylist() == values
    assert found.words == words


@pytest.mark.parametrize(
    "texts",
    [
        ["02138", "01000"],
        ["00123", "4"],
        ["a", "b"],
        ["192.168.1.1"],
        ["555-1234", "555-2345"],
        ["30/02/2000"],
        ["1,5", "2.5"],
        ["12 %", "3"],
        ["1,23,456"],
    ],
)
def test_other_texts_stay_texts(texts: list[str]) -> None:
    assert read_ordered(pa.array(texts), guess=True) is None


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        (["03/04/2000", "01/02/2001"], ['read: {dates: "%d/%m/%Y"}', 'read: {dates: "%m/%d/%Y"}']),
        (["03-04-2000"], ['read: {dates: "%d-%m-%Y"}', 'read: {dates: "%m-%d-%Y"}']),
        (["31/12/99"], ['read: {dates: "%d/%m/%y"}']),
        (["1,234", "5,678"], ['read: {decimal: ".", thousands: ","}', 'read: {decimal: ","}']),
        (["12.500", "3.250"], ['read: {decimal: "."}', 'read: {decimal: ",", thousands: "."}']),
    ],
)
def test_what_is_ambiguous_is_a_question(texts: list[str], lines: list[str]) -> None:
    with pytest.raises(AmbiguousError) as asked:
        read_ordered(pa.array(texts), guess=True)
    assert asked.value.lines == lines
    for answer in asked.value.answers:
        found = read_ordered(pa.array(texts), guess=True, reading=answer)
        assert found is not None
        assert not found.values.null_count


def test_equal_days_and_months_are_no_question() -> None:
    found = read_ordered(pa.array(["03/03/2000", "05/05/2001"]), guess=True)
    assert found is not None
    assert found.values.to_pylist() == [datetime.date(2000, 3, 3), datetime.date(2001, 5, 5)]


@pytest.mark.parametrize("stray", ["n. d.", "12a", "31/02/2000"])
def test_a_few_strays_among_numbers_are_a_question(stray: str) -> None:
    with pytest.raises(StrayError) as found:
        read_ordered(pa.array([*FILLED, stray]), guess=True)
    assert found.value.nearly.values.null_count == 1


def test_one_impossible_date_does_not_make_birthdays_texts() -> None:
    days = [f"{day:02}/01/1990" for day in range(10, 31)]
    with pytest.raises(StrayError) as found:
        read_ordered(pa.array([*days, "31/02/1990"]), guess=True)
    assert found.value.nearly.words == "dates written as %d/%m/%Y"


def test_what_the_policy_says_decides() -> None:
    texts = pa.array(["1.234", "5"])
    as_comma = read_ordered(texts, True, ValueReading(decimal=","))
    as_point = read_ordered(texts, True, ValueReading(decimal="."))
    assert as_comma is not None
    assert as_point is not None
    assert as_comma.values.to_pylist() == [1234, 5]
    assert as_point.values.to_pylist() == [1.234, 5]
    assert read_ordered(texts, True, ValueReading("text")) is None
    numbers = read_ordered(pa.array(["007", "x"]), True, ValueReading("number"))
    assert numbers is not None
    assert numbers.values.to_pylist() == [7, None]


@pytest.mark.parametrize(
    "form", ["%d/%m", "%d/%m/%Y/%d", "%q/%d/%m/%Y", "%d/%m/%Y %M", "", "%d %m %b %Y"]
)
def test_formats_that_cannot_be(form: str) -> None:
    assert DateFormat(form).problem


FORMS = [
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y.%m.%d",
    "%d-%b-%Y",
    "%d %B %Y",
    "%d.%m.%y",
    "%d/%m/%Y %H:%M:%S",
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2060, 1, 1)).map(
            lambda moment: moment.replace(microsecond=0)
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(FORMS),
)
def test_dates_are_those_of_the_standard_library(
    moments: list[datetime.datetime], form: str
) -> None:
    texts = [moment.strftime(form) for moment in moments]
    plain = [datetime.datetime.strptime(text, form) for text in texts]
    found = parse_dates(pa.array(texts), form).to_pylist()
    assert found == (plain if "%H" in form else [one.date() for one in plain])


@settings(max_examples=100, deadline=None)
@given(st.from_regex(r"\A[0-3]?[0-9]/[01]?[0-9]/[0-9]{4}\Z"))
def test_days_that_the_calendar_lacks_are_no_dates(text: str) -> None:
    try:
        plain = datetime.datetime.strptime(text, "%d/%m/%Y").date()
    except ValueError:
        plain = None
    assert parse_dates(pa.array([text]), "%d/%m/%Y").to_pylist() == [plain]


def slow_number(text: str, decimal: str, thousands: str) -> Decimal | None:
    """A plain twin: one text at a time, with Python's numbers."""
    whole, mark, places = text.lstrip("+-").partition(decimal)
    if mark and places and not places.isdecimal():
        return None
    groups = whole.split(thousands)
    if len(groups) > 1 and (
        [len(one) for one in groups[1:]] != [3] * (len(groups) - 1) or not 0 < len(groups[0]) < 4
    ):
        return None
    digits = "".join(groups)
    if not digits.isdecimal() or not re.fullmatch("[0-9]+", digits):
        return None
    sign = -1 if text.startswith("-") else 1
    return sign * Decimal(f"{digits}.{places or 0}")


@settings(max_examples=150, deadline=None)
@given(
    st.from_regex(r"\A[+-]?[0-9]{1,4}([., ][0-9]{1,3}){0,3}\Z"),
    st.sampled_from([(",", "."), (".", ","), (",", " "), (".", " ")]),
)
def test_numbers_are_those_of_the_plain_twin(text: str, marks: tuple[str, str]) -> None:
    reading = ValueReading("number", decimal=marks[0], thousands=marks[1])
    found = read_ordered(pa.array([text]), False, reading)
    assert found is not None
    value = found.values.to_pylist()[0]
    plain = slow_number(text, *marks)
    assert (None if value is None else Decimal(repr(value))) == plain
