"""What screens say in sentences follows from the figures."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from shoal import api
from shoal.analysis.prediction import ModelUtility, PredictionUtility
from shoal.errors import InputError
from shoal.progress import ignore_event
from shoal.studio import tasks
from shoal.studio.charts import (
    GAP,
    LETTER,
    TALL,
    _shaded,
    cost_chart,
    frontier_chart,
    pairs_chart,
)
from shoal.studio.constraints import ConstraintText
from shoal.studio.figures import ColumnFigures, Figures, PresetFigures
from shoal.studio.live_panel import in_short, limits_words, preset_words
from shoal.studio.page import tell
from shoal.studio.prices import _change, is_better
from shoal.studio.screens.attack import warning_words
from shoal.studio.screens.coarsen import in_years, outcome_words
from shoal.studio.screens.compare import (
    called,
    measured_words,
    prediction_words,
    verdict,
    worst_pair,
)
from shoal.studio.screens.open_table import codes_words, evidence_words, sheets_in, text_now
from shoal.studio.screens.protect import _other_guarantee
from shoal.studio.screens.release import _taken_words
from shoal.studio.session import Live
from shoal.studio.tasks import Candidate, CurvePoint, PolicyText, Price, RowsOfPeople
from shoal.studio.words import (
    LABELS,
    at_most,
    percent,
    plain_error,
    read_labels,
    screen_words,
    words_for,
)
from shoal.studio.worker import Tables

POLICY = "columns: {age: quasi}\nconstraints: [{k: 3}]\nmethod: least-loss-partition\nseed: 1\n"


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    file = tmp_path_factory.mktemp("ages") / "ages.csv"
    file.write_text("age\n" + "".join(f"{20 + i % 9}\n" for i in range(60)))
    tables = Tables()
    tasks.open_table(tables, ignore_event, str(file))
    policy = PolicyText(POLICY, "policy.yaml", str(Path.cwd()))
    return tasks.whole_figures(tables, ignore_event, policy)


def test_hidden_values_are_not_called_coarser() -> None:
    found = ColumnFigures(0.9, 0.0, 0.91, "16 wide")
    words = "In the release: 0 % exact; 9 % coarser, typically 16 wide; 91 % hidden (*)"
    assert outcome_words(found) == words
    assert outcome_words(ColumnFigures(0, 1, 0, "")) == "In the release: 100 % exact"


def test_many_days_are_years() -> None:
    assert in_years("3,650 days wide, one of 3") == "10 years wide, one of 3"
    assert in_years("366 days wide") == "366 days wide"
    assert in_years("one of 3") == "one of 3"


def test_a_candidate_that_beats_the_policy_is_named(figures: Figures) -> None:
    one = Candidate("mondrian", 5, replace(figures, lost=0.3))
    chance = figures.now.prosecutor
    assert verdict([one], (0.3, chance)).startswith("Yours is among the best")
    said = verdict([one], (0.5, chance))
    assert said.startswith("At least 5 alike by mondrian loses less, 30 % in place of 50 %")
    assert verdict([one], (0.5, chance / 2)).startswith("Yours is among the best")
    sampled = replace(one, figures=replace(figures, lost=0.1, sampled=20))
    assert verdict([sampled], (0.5, 1.0)) == ""  # a sample's figure is not compared with the whole
    assert verdict([], (0.5, 1.0)) == ""


def test_candidates_are_called_the_same_everywhere() -> None:
    assert called(Candidate("mondrian", 5, None).name) == "at least 5 alike, by mondrian"
    assert called("the policy now") == "the policy now"
    assert measured_words(0) != measured_words(1) != measured_words(2)


def test_sizes_stand_clear_of_points_lines_and_the_ring(figures: Figures) -> None:
    found = [
        Candidate("mondrian", k, replace(figures, lost=lost)) for k, lost in ((3, 0.3), (5, 0.4))
    ]
    chart = frontier_chart(found, (0.3, figures.now.prosecutor), dark=False)
    points, ring = chart["series"][1], chart["series"][2]
    now, other = (each["label"]["distance"] for each in points["data"])
    # at left, a label starts at the edge of its point: the ring reaches further out
    assert now > (ring["symbolSize"] - points["symbolSize"]) / 2 + ring["itemStyle"]["borderWidth"]
    assert other < now
    # where there is a layout, the offset of a label is not looked at
    assert points["labelLayout"]["dy"] > 0
    assert "offset" not in points["label"]


@pytest.mark.parametrize("dark", [False, True])
def test_figures_of_pairs_are_read_on_any_blue(dark: bool) -> None:
    """At least 4.5 to 1 between a figure and its cell, however much the pair changed."""

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        lit = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * lit[0] + 0.7152 * lit[1] + 0.0722 * lit[2]

    for change in (i / 100 for i in range(101)):
        pair: Any = SimpleNamespace(first="a", second="b", raw=0.0, release=change, change=change)
        chart = pairs_chart((pair,), dark)
        ends = chart["visualMap"]["inRange"]["color"]
        share = min(1.0, change / chart["visualMap"]["max"])
        parts = [[int(one[i : i + 2], 16) for i in (1, 3, 5)] for one in ends]
        mixed = [round(a + (b - a) * share) for a, b in zip(*parts, strict=True)]
        cell = light("#" + "".join(f"{part:02x}" for part in mixed))
        figure = light(chart["series"][0]["label"]["color"])
        high, low = max(cell, figure), min(cell, figure)
        assert (high + 0.05) / (low + 0.05) >= 4.5, change


def test_pairs_have_no_empty_row() -> None:
    pairs: Any = tuple(
        SimpleNamespace(first=a, second=b, raw=0.5, release=0.5 + c, change=c)
        for a, b, c in (("age", "sex", 0.1), ("age", "zip", -0.2), ("sex", "zip", 0.0))
    )
    assert worst_pair(pairs) == "Most changed: age and zip (0.20)."
    chart = pairs_chart(pairs, dark=True)
    assert chart["xAxis"]["data"] == ["age", "sex"]
    assert chart["yAxis"]["data"] == ["sex", "zip"]


def test_a_step_that_is_better_in_both_is_marked() -> None:
    base = Price(0.5, 0.2, 0.1, 0, None)
    assert is_better(base, Price(0.4, 0.2, 0.09, 0, None))
    assert not is_better(base, Price(0.6, 0.1, 0.05, 0, None))
    assert not is_better(base, Price(0.4, 0.3, 0.05, 0, None))


def test_a_guarantee_is_not_blamed_for_another() -> None:
    reason = (
        "The table has 8 distinct values of disease, but l = 10 was required. The largest l it "
        "allows is 8: lower l or add rows."
    )
    barred = tuple(CurvePoint(figure, None, reason, for_certain=True) for figure in (2.0, 5.0))
    k, l = ConstraintText(0, "k", None, 5), ConstraintText(1, "l", "disease", 10)  # noqa: E741
    assert _other_guarantee(barred, k) == "Not computed while “disease” cannot be met."
    assert _other_guarantee(barred, l) == ""
    assert _other_guarantee((CurvePoint(2, 0.1), *barred), k) == ""


def test_a_name_that_is_taken_says_what_to_press() -> None:
    error = "/a/b/t-release.csv exists already. Pass --force (in Python force=True) to replace it."
    assert _taken_words(error) == (
        "t-release.csv exists already; nothing was written. Tick “Replace what exists”, or choose "
        "another name."
    )
    assert _taken_words("Something else.") == "Something else."


def test_a_promise_is_never_rounded_down() -> None:
    for k in range(2, 51):
        assert float(at_most(1 / k).removesuffix(" %")) >= 100 / k - 1e-9
    assert "one time in 8 (12.5 %)" in words_for("k").sentence(8, None, "people")


def test_limits_are_kept_or_exceeded() -> None:
    assert limits_words(0.2) == "keeps 2 of 4 limits, exceeds 2"
    assert limits_words(1.0) == "keeps 0 of 4 limits, exceeds 4"


def test_figures_that_look_the_same_are_the_same() -> None:
    assert _change(0.1644, 0.1638) == "same"
    assert _change(0.1644, 0.171) == "▲ 17.1 %"


def test_how_many_rows_people_have() -> None:
    words = "4,020 rows, 3,600 different Client_No"
    one = RowsOfPeople("Client_No", 4020, 3600, ((2, 420),))
    assert evidence_words(one) == f"{words}; 420 of them have two rows."
    more = replace(one, several=((2, 200), (7, 3)))
    assert evidence_words(more) == f"{words}; 203 of them have several rows, at most 7."
    assert evidence_words(replace(one, several=())) == f"{words}: each has one row."
    everyone = replace(one, several=((2, one.people),))
    assert evidence_words(everyone) == f"{words}: each has two rows."


def test_mistakes_of_controls_name_no_line() -> None:
    said = plain_error("clients.policy.yaml:34: quasi columns need a hierarchy.")
    assert said == "Columns that others may know need a hierarchy."


def test_mistakes_of_columns_name_the_column_alone() -> None:
    said = plain_error("p.yaml:3: columns.age.hierarchy: intervals: found 'abc'")
    assert said == "age: intervals: found 'abc'"
    assert plain_error("p.yaml:3: columns.my.col: found 'x'") == "my.col: found 'x'"


def test_a_mistake_stays_until_something_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[str, Any] = {}
    monkeypatch.setattr("nicegui.ui.notify", lambda words, **more: shown.update(more, words=words))
    tell("p.yaml:3: columns.age: found 'x'")
    assert shown["words"] == "age: found 'x'"
    assert shown["timeout"] == 0
    assert shown["close_button"]


def test_a_preset_holds_as_far_as_it_can_be_checked() -> None:
    found = PresetFigures("Cells of 11", True, True, ())
    assert preset_words(found) == "Cells of 11: holds"
    points = ("Every column has the role quasi.", "Small cells are not published elsewhere.")
    assert preset_words(replace(found, to_judge=points)) == (
        "Cells of 11: what can be checked holds; 2 points are yours to judge"
    )
    nothing = replace(found, checked=False, to_judge=points[:1])
    assert preset_words(nothing) == (
        "Cells of 11: nothing of it could be checked; one point is yours to judge"
    )
    assert preset_words(replace(found, holds=False)) == "Cells of 11: does not hold"
    assert "quasi" not in screen_words(points[0])


@pytest.mark.parametrize("rising", [True, False])
@pytest.mark.parametrize("figure", [2, 8, 20, 30, 50])
def test_no_curve_goes_through_its_label(rising: bool, figure: float) -> None:
    for top in (5, 30, 60, 95):
        pairs = [(k, top * (k if rising else 52 - k) / 5000) for k in (2, 8, 20, 30, 50)]
        points = tuple(CurvePoint(k, lost) for k, lost in pairs)
        options = cost_chart(points, figure, "k", False, "")
        dot = options["series"][1]
        (x, y), label = dot["data"][0], dot["label"]
        width = LETTER * len(label["formatter"]) * 48
        left = {"left": x, "right": x - width, "center": x - width / 2}[label["align"]]
        foot = y + GAP if label["position"] == "top" else y - GAP - TALL
        # by plain steps, on the straight line that the points are on
        steps = [left + width * i / 50 for i in range(51) if 2 <= left + width * i / 50 <= 50]
        crossed = [s for s in steps if foot < top * (s if rising else 52 - s) / 50 < foot + TALL]
        assert not crossed, (top, label)
        assert foot >= -1
        assert foot + TALL <= 113


def test_messages_take_the_words_of_the_screens() -> None:
    said = screen_words("9 rows are suppressed; list fewer quasi columns.")
    assert said == "9 rows are left out; list fewer columns that others may know."


def test_labels_are_read_by_those_of_the_column() -> None:
    found = read_labels(["[20~34]", "[35~60]", "Paris", "{Ath, Huy}", "021**", "*", "90+", "≤18"])
    assert found == (
        ("[20~34]", "20 to 34, both included"),
        ("{Ath, Huy}", "one of these"),
        ("021**", "begins with 021; the other characters are hidden"),
        ("90+", "90 or more"),
        ("≤18", "18 or less"),
        ("*", "hidden"),
    )
    assert read_labels(["[-10--5)"]) == (("[-10--5)", "-10 up to, but not including, -5"),)
    assert read_labels(["[-5-10)"]) == (("[-5-10)", "-5 up to, but not including, 10"),)
    assert read_labels(["1964-03-07"]) == read_labels([]) == LABELS


def test_codes_for_missing_are_told_once() -> None:
    given = {"age": ["999"], "school": ["99", "NA"], "sex": [], "town": None}
    assert codes_words(given) == (
        "Read as missing: 999 in age; 99 and NA in school. Clear the field of a column where that is a "
        "real value."
    )
    assert codes_words({"sex": []}) == ""


def test_a_wrong_decimal_mark_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    rows = "".join(f"{i},5;{('Ath', 'Huy')[i % 2]};{20 + i % 30}\n" for i in range(60))
    file.write_text(f"dose;town;age\n{rows}")
    right, wrong = (api.inspect(file, read={"separator": ";", "decimal": mark}) for mark in ",.")
    assert text_now(right, wrong) == ("dose",)
    assert text_now(wrong, right) == text_now(right, right) == ()


def test_the_sheets_of_a_workbook_are_offered(tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    with pd.ExcelWriter(book) as writer:
        for name in ("people", "my notes"):
            pd.DataFrame({"age": [30, 31]}).to_excel(writer, sheet_name=name, index=False)
    with pytest.raises(InputError) as error:
        api.prepare(book).table()
    assert sheets_in(str(error.value)) == ("people", "my notes")
    assert api.prepare(f"{book}#my notes").table().num_rows == 2
    assert sheets_in("t.xlsx has 2 sheets with data: a, b, c. Choose one with #NAME.") == ()
    assert sheets_in("Something else.") == ()


def test_models_stand_beside_a_guess_that_knows_nothing() -> None:
    models = (
        ModelUtility("forest", "accuracy", 0.76, 0.755),
        ModelUtility("line", "accuracy", 0.7, 0.9),
    )
    found = PredictionUtility("hlth", "classification", 80, 20, 0.773, models, False)
    assert prediction_words(found) == ("77.3 % right", "76 % right", "75.5 % right")
    numbers = (ModelUtility("forest", "r2", 0.5, 0.25),)
    found = PredictionUtility("pay", "regression", 80, 20, 0.0, numbers, False)
    assert prediction_words(found) == ("R² 0.00", "R² 0.50", "R² 0.25")
    assert prediction_words(None) == ("–", "–", "–")


def test_a_stranger_who_knows_more_is_told_in_plain_words() -> None:
    said = warning_words(
        "4,406 of 4,406 people have fewer than 5 candidates, the k that the policy promises on its "
        "quasi-identifiers: the attack also knows faminc, of which no guarantee speaks."
    )
    assert said == (
        "4,406 of 4,406 people are hidden among fewer than 5, because the stranger knows faminc too: no "
        "guarantee covers that."
    )
    assert warning_words("Nobody is suppressed.") == "Nobody is left out."


def test_what_can_be_met_is_not_shaded() -> None:
    points = (CurvePoint(8, 0.5), CurvePoint(10, None, "no", for_certain=True))
    assert _shaded(points, 1, 10, True, None) == [[{"xAxis": 8}, {"xAxis": 10}]]
    assert _shaded(points, 1, 10, True, 9) == [[{"xAxis": 9}, {"xAxis": 10}]]
    assert _shaded(points[:1], 1, 10, True, 9) == []
    low = (CurvePoint(0.1, None, "no", for_certain=True), CurvePoint(0.3, 0.5))
    assert _shaded(low, 0.0, 1, False, 0.2) == [[{"xAxis": 0.0}, {"xAxis": 0.2}]]


def test_the_line_at_the_bottom_says_what_is_known(figures: Figures) -> None:
    said = in_short(Live("verified", figures))
    assert (
        said
        == f"at least {figures.guarantees[0].found:.0f} alike · {percent(figures.lost or 0)} lost"
    )
    assert in_short(Live("opening")) == ""
    assert in_short(Live("verified", replace(figures, guarantees=()))).startswith("found at most ")
    assert in_short(Live("failed", figures, error="Something else.")) == ""
