"""Suppressed rows: withheld or starred, counted, limited and warned of."""

from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import Infeasible
from tests.releases import Fixed, text_rows

TABLE = pa.table(
    {
        "age": [1, 2, 3, 4, 5, 6, 7],
        "town": list("uuvvwwx"),
        "ill": list("ABCDEFG"),
        "cost": [1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
    }
)
COLUMNS = {"age": "quasi", "town": "quasi", "ill": "sensitive", "cost": "plain"}
LAST_OUT = Fixed(((0, 0, 1, 1, 2, 2, -1),))
PARTED = ((0,), (1,))
EACH = [{"k": 2, "on": ["age"]}, {"k": 2, "on": ["town"]}]


def release_of(method: Fixed, **keys: Any) -> shoal.Release:
    asked = {"columns": COLUMNS, "constraints": [{"k": 2}], "method": method, **keys}
    return shoal.anonymize(TABLE, asked)


def test_a_suppressed_row_is_withheld_and_counted() -> None:
    release = release_of(LAST_OUT, order="kept")
    assert text_rows(release.table) == [
        ("[1~2]", "u", "A", "1.5"),
        ("[1~2]", "u", "B", "2"),
        ("[3~4]", "v", "C", "3"),
        ("[3~4]", "v", "D", "4"),
        ("[5~6]", "w", "E", "5"),
        ("[5~6]", "w", "F", "6"),
    ]
    assert (release.rows, release.published_rows, release.suppressed_rows) == (7, 6, 1)
    assert release.metrics["suppressed-rows"] == 1
    assert release.groups == release.published_classes == 3
    assert release.table["cost"].type == pa.float64()
    # the withheld row loses both cells, and costs the table's size in DM
    assert release.metrics["ncp"] == pytest.approx(6 * 1 / 6 + 2, abs=1e-6)
    assert release.metrics["dm"] == 3 * 2**2 + 7


def test_a_starred_row_shows_nothing() -> None:
    release = release_of(LAST_OUT, suppressed="starred")
    rows = text_rows(release.table)
    assert rows[-1] == ("*", "*", "*", "*")
    assert sorted(rows[:-1]) == sorted(text_rows(release_of(LAST_OUT).table))
    assert (release.rows, release.published_rows, release.suppressed_rows) == (7, 7, 1)
    assert release.verified
    assert set(release.table.schema.types) == {pa.string()}


def test_starred_rows_stay_in_place_when_the_order_is_kept() -> None:
    method = Fixed(((0, -1, 1, 1, -1, 0, 0),))
    rows = text_rows(release_of(method, suppressed="starred", order="kept").table)
    assert [i for i, row in enumerate(rows) if row == ("*",) * 4] == [1, 4]
    assert [row[2] for row in rows] == ["A", "*", "C", "D", "*", "F", "G"]


def test_without_a_suppressed_row_starring_changes_nothing() -> None:
    method = Fixed(((0, 0, 1, 1, 2, 2, 2),))
    starred, withheld = (release_of(method, suppressed=s).table for s in ("starred", "withheld"))
    assert starred.equals(withheld)
    assert starred["cost"].type == pa.float64()


def test_starred_rows_are_not_told_apart_by_the_order_of_the_input() -> None:
    method = Fixed(((0, 0, -1, 1, -1, 1, 1),))
    turned = Fixed((tuple(reversed(method.groups[0])),))
    asked = {"columns": COLUMNS, "constraints": [{"k": 2}], "suppressed": "starred"}
    first = shoal.anonymize(TABLE, {**asked, "method": method}).table
    second = shoal.anonymize(
        TABLE.take(pa.array(range(7)[::-1])), {**asked, "method": turned}
    ).table
    assert first.equals(second)


def test_the_limit_is_kept_with_the_figure_to_raise_it_to() -> None:
    with pytest.raises(
        Infeasible, match=r"1 of 7 rows \(14.3%\).*allows 10.0%.*at least 0.143"
    ) as no:
        release_of(LAST_OUT, suppression=0.1)
    assert no.value.exit_code == 3
    assert release_of(LAST_OUT, suppression=0.143).suppressed_rows == 1


def test_no_row_may_be_suppressed_under_a_limit_of_nought() -> None:
    with pytest.raises(Infeasible, match="1 of 7 rows"):
        release_of(LAST_OUT, suppression=0)
    assert release_of(Fixed(((0,) * 7,)), suppression=0).suppressed_rows == 0


@pytest.mark.parametrize(("out", "warned"), [(0, False), (5, False), (6, True)])
def test_more_than_a_twentieth_is_warned_of(out: int, warned: bool) -> None:
    table = pa.table({"age": list(range(100))})
    method = Fixed((tuple(-1 if i < out else 0 for i in range(100)),))
    release = shoal.anonymize(table, quasi="age", k=2, method=method)
    assert any("are suppressed" in warning for warning in release.warnings) == warned
    assert release.suppressed_rows == out
    limited = shoal.anonymize(table, quasi="age", k=2, method=method, suppression=0.5)
    assert not any("are suppressed" in warning for warning in limited.warnings)


@pytest.mark.parametrize("suppressed", ["withheld", "starred"])
def test_everything_suppressed_publishes_no_one(suppressed: str) -> None:
    with pytest.raises(Infeasible, match="All 7 rows would have to be suppressed"):
        release_of(Fixed(((-1,) * 7,)), suppressed=suppressed)


def test_a_row_starred_in_some_columns_stays() -> None:
    # D, E and F lose their age, F, G and A their town: only F loses both
    method = Fixed(((0, 0, 0, -1, -1, -1, 0), (-1, 0, 0, 1, 1, -1, -1)), PARTED)
    release = release_of(method, constraints=EACH, order="kept")
    assert text_rows(release.table.select(["age", "town", "ill"])) == [
        ("[1~7]", "*", "A"),
        ("[1~7]", "{u, v}", "B"),
        ("[1~7]", "{u, v}", "C"),
        ("*", "{v, w}", "D"),
        ("*", "{v, w}", "E"),
        ("[1~7]", "*", "G"),
    ]
    assert (release.suppressed_rows, release.published_rows) == (1, 6)
    assert release.groups == 3


def test_the_starred_rows_of_some_columns_are_a_group_like_any_other() -> None:
    method = Fixed(((0, 0, 0, 0, 0, -1, -1), (0, 0, 1, 1, 1, 1, 1)), PARTED, least=2)
    release = release_of(method, constraints=EACH, order="kept")
    assert release.table["age"].to_pylist() == ["[1~5]"] * 5 + ["*"] * 2
    assert release.table["ill"].to_pylist() == list("ABCDEFG")
    assert (release.suppressed_rows, release.published_rows) == (0, 7)
    assert release.metrics["ncp"] == pytest.approx(5 * 4 / 6 + 2 + 5 * 3 / 4, abs=1e-6)


def test_too_few_starred_rows_of_some_columns_lose_the_rest_too() -> None:
    """One row alone is starred in its age: it shows its town, and no illness and no cost."""
    method = Fixed(((0, 0, 0, 0, 0, 0, -1), (0, 0, 1, 1, 1, 1, 1)), PARTED, least=2)
    release = release_of(method, constraints=EACH, order="kept")
    assert text_rows(release.table)[-1] == ("*", "{v, w, x}", "*", "*")
    assert text_rows(release.table)[0] == ("[1~6]", "u", "A", "1.5")
    assert release.verified
