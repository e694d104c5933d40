"""What the studio shows of columns: histograms with round edges, masks, and steps with a price."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import api
from shoal.evidence.value_counts import ValueCounts
from shoal.progress import ignore_event
from shoal.studio.columns_text import missing_in
from shoal.studio.policy_text import changed
from shoal.studio.prices import masked_columns, offers
from shoal.studio.tasks import (
    ColumnValues,
    Histogram,
    PolicyText,
    Price,
    histogram_of,
    longest_texts,
    price,
    round_width,
)
from shoal.studio.ways import (
    WAYS,
    beyond,
    example,
    fitting,
    masked,
    parts_of_dates,
    widths_in,
    written,
)
from shoal.studio.worker import Tables
from tests.examples import examples


@examples(100)
@given(st.lists(st.tuples(st.integers(-500, 500), st.integers(1, 40)), min_size=2, max_size=60))
def test_bins_hold_what_they_say_and_hide_what_is_rare(drawn: list[tuple[int, int]]) -> None:
    rows = dict(drawn)
    found = histogram_of([str(number) for number in rows], list(rows.values()))
    if len(rows) < 2:
        assert found is None
        return
    assert isinstance(found, Histogram)
    assert len(found.rows) <= 42
    for place, shown in enumerate(found.rows):
        low = found.low + place * found.width
        there = sum(n for number, n in rows.items() if low <= number < low + found.width)
        assert shown == (there if there >= 10 else 0)
    assert found.low <= min(rows) < found.low + found.width
    assert max(rows) < found.high


def test_codes_are_no_numbers_and_dates_are_years() -> None:
    assert histogram_of(["02138", "02139", "10001"], [20, 20, 20]) is None
    assert histogram_of(["a", "b"], [20, 20]) is None
    assert histogram_of(["5"], [20]) is None
    found = histogram_of(["1964-03-01", "1966-01-01"], [20, 30])
    assert found == Histogram(1964, 1, (20, 0, 30), of_years=True)
    assert histogram_of(["01/03/1964", "1.1.1966"], [20, 30]) == found
    assert histogram_of(["4,5", "5,5"], [20, 30]) == histogram_of(["4.5", "5.5"], [20, 30])
    assert [round_width(width) for width in (0.03, 1, 1.1, 3, 7, 0)] == [0.05, 1, 2, 5, 10, 1]


def values_of(rows: dict[str, int]) -> ColumnValues:
    bars = ValueCounts((), False, len(rows), 0, 0, 0)
    return ColumnValues(bars, rows, histogram_of(list(rows), list(rows.values())))


def test_examples_are_common_values_of_the_column_and_ways_fit_it() -> None:
    ways = {way.key: way for way in WAYS}
    codes = values_of({"71258": 3, "70222": 40, "70223": 30})
    assert example(ways["right"], codes) == "70222 → 7022* → 702**"  # not the one of three rows
    assert set(fitting(codes, "right")) == {"sets", "right", "left"}
    words = values_of({"Paris": 30, "Huy": 20, "Ath": 2})
    assert example(ways["sets"], words) == "Paris → {Huy, Paris}"
    assert set(fitting(words, "")) == {"sets"}  # hiding letters of words leaves the words
    assert example(ways["steps"], words) == "for numbers"
    places = values_of({"FR-75": 30, "BE-10": 20})
    assert set(fitting(places, "")) == {"sets", "right", "left"}
    money = values_of({str(1000 * i): 12 if i != 7 else 90 for i in range(1, 200)})
    assert example(ways["steps"], money) == "5000 → [0-10000) → [0-20000)"
    assert example(ways["steps"], money, None, [2000.0]) == "5000 → [4000-6000)"
    assert widths_in({"hierarchy": {"intervals": ["5", "10"]}}) == [5.0, 10.0]
    for other in ({}, {"hierarchy": {"mask": "left"}}, {"hierarchy": {"intervals": ["x"]}}):
        assert widths_in(other) is None
    assert set(fitting(money, "")) == {"ranges", "steps"}
    assert money.histogram is not None
    assert beyond(money.histogram) == "195000+"
    dates = values_of({"2023-01-05": 20, "2024-03-01": 50})
    assert example(ways["dates"], dates).endswith("→ 2024-03 → 2024 → 2020s")
    assert set(fitting(dates, "")) == {"ranges", "dates"}
    assert example(ways["sets"], None) == ways["sets"].example
    assert [written(one) for one in (400000.0, 0.25, 1e6)] == ["400000", "0.25", "1000000"]


def test_masks_hide_one_more_character_each() -> None:
    assert masked("0213", "right") == ["0213", "021*", "02**", "0***", "*"]
    assert masked("abc", "left") == ["abc", "*bc", "**c", "*"]


def test_levels_that_can_be_given_up_have_a_price() -> None:
    text = (
        "columns:\n  born: {role: quasi, hierarchy: {date: [month, year, decade]}}\n"
        "  hours: {role: quasi, hierarchy: {intervals: [5, 10]}}\n"
        "  income: {role: quasi, kind: ordered, round: 500}\nconstraints: [{k: 5}]\n"
    )
    found = {one.name: one.change for one in offers(text, api.read_policy(text))}
    assert "date: [year, decade]" in changed(text, found["born: year at the finest"])
    assert "intervals: [10]" in changed(text, found["hours: steps from 10"])
    assert "round: 1000" in changed(text, found["income: rounded to 500 → 1000"])


def test_a_code_that_is_one_character_coarser_has_a_price() -> None:
    text = (
        "columns:\n  zip: {role: quasi, hierarchy: {mask: right}}\n"
        "  code: {role: quasi, characters: 3, hierarchy: {mask: right}}\n"
        "  phone: {role: quasi, hierarchy: {mask: left}}\nconstraints: [{k: 5}]\n"
    )
    policy = api.read_policy(text)
    assert masked_columns(text, policy) == ("zip", "code")
    found = {one.name: one.change for one in offers(text, policy, {"zip": 5, "code": 6})}
    coarser = changed(text, found["zip: one character coarser, 4 left"])
    assert "zip: {role: quasi, hierarchy: {mask: right}, characters: 4}" in coarser
    assert api.read_policy(coarser).columns["zip"].characters == 4
    assert "characters: 2" in changed(text, found["code: one character coarser, 2 left"])
    assert not [name for name in found if name.startswith("phone: one")]


def test_what_a_rule_takes_away_counts_as_lost(tmp_path: Path) -> None:
    rows = "".join(f"{i % 100:03d}\n" for i in range(400))
    (tmp_path / "t.csv").write_text(f"code\n{rows}")
    text = "columns:\n  code: {role: quasi, hierarchy: {mask: right}}\nconstraints: [{k: 2}]\nseed: 1\n"
    shorter = text.replace("role: quasi", "role: quasi, characters: 2")
    tables = Tables(str(tmp_path / "t.csv"))
    whole, cut = (
        price(tables, ignore_event, PolicyText(one, "p", str(tmp_path)), one, ("code",))
        for one in (text, shorter)
    )
    assert isinstance(whole, Price)
    assert isinstance(cut, Price)
    assert whole.lost == 0
    assert cut.lost == pytest.approx(0.5)  # of two digits that differ, one is left
    assert longest_texts(tables, ignore_event, ("code",)) == {"code": 3}


def test_the_codes_of_a_column_go_before_those_of_all() -> None:
    text = """
columns:
  a: {role: quasi, missing: [NA, -9]}
  b: quasi
  c: {role: quasi, missing: []}
read: {missing: ["?"]}
"""
    assert missing_in(text, "a") == ["NA", "-9"]
    assert missing_in(text, "b") == ["?"]
    assert missing_in(text, "c") == []
    assert missing_in("columns: [", "a") == []


def test_dates_within_one_year_are_not_made_coarser_by_decades() -> None:
    """Months and quarters tell them apart; of several years, years and decades do."""
    one = histogram_of(["2023-01-05", "2023-11-30"], [20, 20])
    several = histogram_of(["2022-01-05", "2023-11-30"], [20, 20])
    assert parts_of_dates(one) == ["month", "quarter", "year"]
    assert parts_of_dates(several) == ["month", "year", "decade"]
