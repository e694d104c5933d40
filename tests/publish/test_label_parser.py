"""Labels are read back: they cover their own values, and no others where they name one."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.columns import ColumnSpec
from shoal.hierarchy import parse_hierarchy
from shoal.policy import Policy
from shoal.publish.covering import Covering, distinct_texts, population_of
from shoal.publish.label_parser import (
    Axis,
    Range,
    date_part,
    enclosed,
    foreign_range,
    half_open,
    joined_intervals,
    our_range,
    parse_labels,
    pieces,
    place_of,
    read_nodes,
    stars,
    value_axis,
)
from tests import naive
from tests.examples import examples
from tests.publish.test_any_table import COLUMNS, METHODS, arrow, release_of, tables
from tests.releases import every_method

ASKED = Policy.load({"columns": COLUMNS, "constraints": [{"k": 1}]})

PLAIN = ColumnSpec()


def how_of(policy: Policy) -> dict[str, ColumnSpec]:
    return {name: policy.column_spec(name) for name in policy.quasi}


def covered(label: str | None, values: list[str], how: ColumnSpec = PLAIN) -> list[str | None]:
    """The values that a label covers; None where it covers the missing one too."""
    found = parse_labels("c", [label], values, how).covers()[:, 0]
    return [v for v, yes in zip([*values, None], found, strict=True) if yes]


@examples(20)
@given(raw=tables, method=st.sampled_from(METHODS), k=st.integers(1, 5))
def test_a_label_covers_its_own_value_and_one_for_one_value_nothing_else(
    raw: dict[str, Any], method: Any, k: int
) -> None:
    table = arrow(raw)
    release = release_of(raw, method, min(k, table.num_rows), "kept")
    for name, how in how_of(ASKED).items():
        labels, values = distinct_texts(name, release[name]), distinct_texts(name, table[name])
        found = parse_labels(name, [*labels.texts, None], values.texts, how)
        assert not found.unread.any()
        matrix = found.covers()
        assert matrix[values.codes, labels.codes].all()
        for i, text in enumerate([*labels.texts, None]):
            marks = [] if text is None else naive.pieces(text)
            single = not marks or (marks[0] not in [("[", False), ("{", False)])
            if text != "*" and single and ("*", False) not in marks and name != "visit":
                under = set(values.codes[labels.codes == i].tolist())
                assert set(np.flatnonzero(matrix[:, i]).tolist()) == under or text is None


@examples(15)
@given(raw=tables, method=st.sampled_from(METHODS), k=st.integers(1, 4))
def test_the_rows_under_each_class_as_counted_plainly(
    raw: dict[str, Any], method: Any, k: int
) -> None:
    table = arrow(raw)
    release = release_of(raw, method, min(k, table.num_rows), "kept")
    names = ["words", "code", "number", "step"]
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    classes = sorted(set(zip(*(release[name].to_pylist() for name in names), strict=True)), key=str)
    plain = [sum(all(map(naive.inside, labels, row)) for row in rows) for labels in classes]
    columns = {n: pa.array([c[i] for c in classes], pa.string()) for i, n in enumerate(names)}
    found = population_of(columns, {n: table[n] for n in names}, how_of(ASKED))
    assert found.tolist() == plain


HOSPITAL = Policy.load(
    {
        "columns": {
            "a": {"role": "quasi", "kind": "ordered"},
            "b": {"role": "quasi", "hierarchy": {"tree": {"any": {"x": ["1", "x"], "y": ["*"]}}}},
            "c": {"role": "quasi", "hierarchy": {"mask": "left"}},
            "d": {"role": "quasi", "order": ["low", "~", "[high]"]},
        },
        "constraints": [{"k": 2}],
    }
)


@pytest.mark.parametrize("method", every_method())
@examples(8)
@given(data=st.data())
def test_every_method_is_read_back(method: Any, data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 15))

    def column(values: list[str]) -> list[str | None]:
        some = st.lists(st.none() | st.sampled_from(values), min_size=n, max_size=n)
        return data.draw(some.filter(lambda found: any(v is not None for v in found)))

    raw = pa.table(
        {
            "a": column(["1", "1.0", "+2", "3e0", "-4.5"]),
            "b": column(["1", "x", "*"]),
            "c": column(["aab", "ab", "b", "*b", "{c"]),
            "d": column(["low", "~", "[high]"]),
        }
    )
    made = shoal.anonymize(raw, HOSPITAL.replace_keys(method=method, order="kept")).table
    found = Covering(
        {name: made[name] for name in made.column_names},
        {name: raw[name] for name in raw.column_names},
        how_of(HOSPITAL),
    )
    over = {}
    for part in found.matches():
        for i in range(len(part.starts) - 1):
            over[part.rows.start + i] = part.classes[part.starts[i] : part.starts[i + 1]]
    assert not any(found.unread.values())
    for row in range(n):
        assert row in over[int(found.row_of[row])]


NUMBERS = ["19", "20", "25", "30", "65"]


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("[20~30]", ["20", "25", "30"]),
        ("[20, 30)", ["20", "25"]),
        ("(20,30]", ["25", "30"]),
        ("20-30", ["20", "25", "30"]),
        ("20 – 30", ["20", "25", "30"]),
        ("20..30", ["20", "25", "30"]),
        ("[20-30)", ["20", "25"]),
        (">=30", ["30", "65"]),
        ("< 20", ["19"]),
        ("65+", ["65"]),
        ("{19, 65}", ["19", "65"]),
        ("{19,65}", ["19", "65"]),
        ("25.0", ["25"]),
        ("2*", ["20", "25"]),
        ("*", [*NUMBERS, None]),
        (None, [None]),
        ("{19, <missing>}", ["19", None]),
        ("about 30", []),
        ("30-20", []),
    ],
)
def test_labels_of_any_tool(label: str | None, values: list[str]) -> None:
    assert covered(label, NUMBERS, ColumnSpec("ordered")) == values
    assert covered(label, NUMBERS) == values


def test_what_cannot_be_read_is_counted() -> None:
    found = parse_labels("age", ["about 30", "[1~2]", "40"], ["1"], ColumnSpec("ordered"))
    assert found.unread.tolist() == [True, False, False]
    tree = ColumnSpec(hierarchy=parse_hierarchy({"tree": {"any": ["a", "b"]}}))
    found = parse_labels("t", ["any", "a", "c", "{a, b}"], ["a"], tree)
    assert found.unread.tolist() == [False, False, True, False]
    assert covered("any", ["a", "b", "c"], tree) == ["a", "b", None]


def test_masks_end_where_the_longest_value_does() -> None:
    mask = ColumnSpec(hierarchy=parse_hierarchy({"mask": "right"}))
    assert covered("02***", ["02138", "02", "021", "0", "021389", "12138"], mask) == [
        "02138",
        "02",
        "021",
    ]
    assert covered("\\*b*", ["*b", "*bc", "ab"], mask) == ["*b", "*bc"]


@pytest.mark.parametrize(
    ("label", "n"),
    [("1964-03", 2), ("1964-Q1", 3), ("1964", 4), ("1960s", 5), ("1964-03-07", 1), ("1965", 0)],
)
def test_parts_of_dates(label: str, n: int) -> None:
    days = ["1964-03-07", "1964/03/31", "1964-01-01", "1964-12-31", "1969-12-31", "1970-01-01"]
    parts = ColumnSpec(hierarchy=parse_hierarchy({"date": ["month", "quarter", "year", "decade"]}))
    assert len(covered(label, days, parts)) == n


@pytest.mark.parametrize(
    ("label", "n"),
    [("9999-12", 1), ("9999-Q4", 2), ("9999", 3), ("9990s", 4), ("0001-01", 1), ("0001", 2)],
)  # fmt: skip
def test_parts_at_the_ends_of_the_calendar(label: str, n: int) -> None:
    days = ["9999-12-31", "9999-11-30", "9999-01-01", "9998-12-31", "0001-01-01", "0001-12-31"]
    parts = ColumnSpec(hierarchy=parse_hierarchy({"date": ["month", "quarter", "year", "decade"]}))
    assert len(covered(label, days, parts)) == n


def test_numbers_that_differ_far_behind_are_told_apart() -> None:
    large = ["9007199254740992", "9007199254740993"]
    assert covered(large[0], large, ColumnSpec("ordered")) == [large[0]]


def test_many_classes_and_rows_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    low = rng.integers(0, 90, (70, 2))
    high = low + rng.integers(0, 30, (70, 2))
    known = rng.integers(0, 120, (300, 2))
    expected = (
        ((known[None] >= low[:, None]) & (known[None] <= high[:, None])).all(axis=2).sum(axis=1)
    )
    labels = {
        f"c{j}": pa.array([f"[{a}~{b}]" for a, b in zip(low[:, j], high[:, j], strict=True)])
        for j in range(2)
    }
    rows = {f"c{j}": pa.array(known[:, j]) for j in range(2)}
    for most in (1, 5000, 1 << 26):
        monkeypatch.setattr("shoal.publish.covering.MOST_BYTES", most)
        assert population_of(labels, rows, {}, Path()).tolist() == expected.tolist()


CLIMBING = Policy.load(
    {
        "columns": {
            "a": {"role": "quasi", "hierarchy": {"intervals": [2, 4], "from": 1}},
            "b": {"role": "quasi", "hierarchy": {"tree": {"any": {"x": ["1", "x"], "y": ["*"]}}}},
            "c": {"role": "quasi", "hierarchy": {"mask": "left"}},
            "d": {"role": "quasi", "hierarchy": {"date": ["day", "month", "year"]}},
        },
        "constraints": [{"k": 2, "on": ["a", "b"]}, {"k": 2, "on": ["c", "d"]}],
        "suppressed": "starred",
        "order": "kept",
    }
)


@pytest.mark.parametrize("method", every_method(climbing=True))
@examples(6)
@given(data=st.data())
def test_methods_that_climb_are_read_back(method: Any, data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 15))

    def column(values: list[str]) -> list[str | None]:
        some = st.lists(st.none() | st.sampled_from(values), min_size=n, max_size=n)
        return data.draw(some.filter(lambda found: any(v is not None for v in found)))

    raw = pa.table(
        {
            "a": column(["1", "1.0", "+2", "3e0", "-4.5"]),
            "b": column(["1", "x", "*"]),
            "c": column(["aab", "ab", "b", "*b", "{c"]),
            "d": column(["1964-03-07", "1964-03-07T10:00", "1964-03-09", "1970-01-01"]),
        }
    )
    # those that search the lattice take constraints on all columns alone
    apart = method["name"] not in ("incognito", "optimal")
    asked = CLIMBING if apart else CLIMBING.replace_keys(constraints=[{"k": 2}], suppression=0.5)
    try:
        made = shoal.anonymize(raw, asked.replace_keys(method=method)).table
    except shoal.Infeasible:
        return
    for name, how in how_of(CLIMBING).items():
        labels, values = distinct_texts(name, made[name]), distinct_texts(name, raw[name])
        found = parse_labels(name, [*labels.texts, None], values.texts, how)
        assert not found.unread.any()
        assert found.covers()[values.codes, labels.codes].all()


def test_numbers_that_were_read_as_floats() -> None:
    long = ["0.12345678901234567891", "1e0"]
    table = pa.table({"n": [*long, *long]})
    made = shoal.anonymize(
        table,
        {
            "columns": {"n": {"role": "quasi", "kind": "ordered"}},
            "constraints": [{"k": 2}],
            "order": "kept",
        },
    )
    labels = made.table["n"].to_pylist()
    found = parse_labels("n", labels[:2], long, ColumnSpec("ordered")).covers()[:2]
    assert found.tolist() == [[True, False], [False, True]]


def test_durations_and_intervals_of_categories() -> None:
    spans = ["0 days", "1 days", "1 days 12:00:00", "-1 days"]
    assert covered("[0 days~1 days]", spans) == ["0 days", "1 days"]
    assert covered("[-1 days~0 days]", spans) == ["0 days", "-1 days"]
    bins = ("(-inf, 3]", "(3, 6]", "(6, inf]")
    cut = ColumnSpec("ordered", bins, from_categories=True)
    assert covered("(-inf, 6]", list(bins), cut) == ["(-inf, 3]", "(3, 6]"]
    assert covered("(3, 6]", list(bins), cut) == ["(3, 6]"]
    # raw numbers are found in the intervals of a release too
    assert covered("(0, 6]", ["0", "3", "6", "7"]) == ["3", "6"]


NANO = 10**9
PLACES = Axis("places")


def ordinal(year: int, month: int, day: int) -> int:
    return date(year, month, day).toordinal()


def moment(*parts: int) -> int:
    """Nanoseconds from the day before year 1."""
    since = datetime(*parts) - datetime(1, 1, 1)  # type: ignore[arg-type]
    return ((since.days + 1) * 86_400 + since.seconds) * NANO + since.microseconds * 1000


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("-1.50", (0, Decimal("-1.5"))),
        (" 3e2 ", (0, Decimal(300))),
        ("1964-03-07", (1, moment(1964, 3, 7))),
        ("1964/3/7", (1, moment(1964, 3, 7))),
        ("7.3.1964", (1, moment(1964, 3, 7))),
        ("1964-13-07", None),
        ("13:45", (2, (13 * 3600 + 45 * 60) * NANO)),
        ("13:45:07", (2, (13 * 3600 + 45 * 60 + 7) * NANO)),
        ("13:45:07.25", (2, (13 * 3600 + 45 * 60 + 7) * NANO + 250_000_000)),
        ("13:45:07.123456789", (2, (13 * 3600 + 45 * 60 + 7) * NANO + 123_456_789)),
        ("3 days", (3, 3 * 86_400 * NANO)),
        ("2 days 01:02:03", (3, (2 * 86_400 + 3723) * NANO)),
        ("-2 days 01:02:03", (3, -(2 * 86_400 + 3723) * NANO)),
        ("1964-03-07 10:20", (1, moment(1964, 3, 7, 10, 20))),
        ("1964-03-07T10:20:30.5Z", (1, moment(1964, 3, 7, 10, 20, 30, 500_000))),
        ("1964-03-07T10:20:30+02:30", (1, moment(1964, 3, 7, 7, 50, 30))),
        ("1964-03-07T10:20:30-0115", (1, moment(1964, 3, 7, 11, 35, 30))),
        ("1964-02-30T10:20", None),
        ("soon", None),
    ],
)
def test_places_of_numbers_and_times(text: str, place: Any) -> None:
    assert place_of(text) == place


def test_texts_that_floats_would_round() -> None:
    assert not PLACES.rounds(["1e0", "1" * 15])
    assert PLACES.rounds(["1e0", "1" * 16])
    assert not PLACES.rounds(["1", "1" * 16])
    assert not Axis("numbers").rounds(["1e0", "1" * 16])
    assert PLACES.rounded("soon") is None
    assert PLACES.rounded("1964-03-07") == (1, moment(1964, 3, 7))
    assert PLACES.rounded("0.1000000000000000055") == (0, Decimal("0.1"))
    assert PLACES.rounded("1e400") == (0, Decimal("1e400"))


@pytest.mark.parametrize(
    ("labels", "values", "spec", "of"),
    [
        ([], ["1", "2"], ColumnSpec(), "places"),
        ([], ["01", "02"], ColumnSpec(), None),
        ([], ["a", "b"], ColumnSpec(), None),
        ([], [], ColumnSpec(), None),
        ([], ["1", "2"], ColumnSpec("unordered"), None),
        (["[1~2]"], ["1"], ColumnSpec("unordered"), None),
        (["[1~2]", "{a}"], ["a"], ColumnSpec(), "places"),
        (["[ab]"], ["a"], ColumnSpec(), None),
        (["[a~b~c]"], ["a"], ColumnSpec(), None),
        (["{1, 2}"], ["1", "2"], ColumnSpec(), None),
        ([], ["1"], ColumnSpec("ordered", ("(0, 3]", "(3, 6]"), from_categories=True), "intervals"),
        ([], ["1"], ColumnSpec("ordered", ("(0, 3]", "(3, 6]")), "list"),
        ([], ["1"], ColumnSpec("ordered", ("low", "high"), from_categories=True), "list"),
        ([], ["1"], ColumnSpec(hierarchy=parse_hierarchy({"mask": "left"})), None),
        ([], ["1"], ColumnSpec(hierarchy=parse_hierarchy({"date": ["year"]})), "days"),
        ([], ["1"], ColumnSpec(hierarchy=parse_hierarchy({"intervals": [5]})), "numbers"),
    ],
)
def test_what_orders_a_column(
    labels: list[str], values: list[str], spec: ColumnSpec, of: str | None
) -> None:
    axis = value_axis(labels, values, spec)
    assert (axis and axis.of) == of


def test_truth_values_are_ordered() -> None:
    assert value_axis([], ["true"], ColumnSpec("ordered")) == Axis("places", ("false", "true"))
    assert value_axis([], ["true", "1"], ColumnSpec("ordered")) == PLACES
    assert value_axis([], [], ColumnSpec("ordered")) == PLACES


def test_places_of_values_in_a_column() -> None:
    found = parse_labels("c", ["[1~2]"], ["2", "x", "1"], ColumnSpec("ordered"))
    assert found.axis.tolist() == [1, -1, 0, -1]
    assert found.rounded is None
    long = "0.1000000000000000055"
    found = parse_labels("c", ["[0.1~1]"], ["1e0", "x", long], ColumnSpec("ordered"))
    assert found.axis.tolist() == [2, -1, 1, -1]
    assert found.rounded is not None
    assert found.rounded.tolist() == [2, -1, 0, -1]
    assert found.n_values == 4


def test_a_part_of_the_values_and_pairs_of_them() -> None:
    labels = ["[1~2]", "{x, 3}", "*", None]
    values = ["1", "2", "3", "x"]
    plain = np.array(
        [
            [True, False, True, False],
            [True, False, True, False],
            [False, True, True, False],
            [False, True, True, False],
            [False, False, True, True],
        ]
    )
    found = parse_labels("c", labels, values, ColumnSpec("ordered"))
    for begin in range(6):
        for end in range(begin, 6):
            assert found.covers(begin, end).tolist() == plain[begin:end].tolist()
    value, label = (each.ravel() for each in np.indices(plain.shape))
    assert found.covers_pairs(value, label).tolist() == plain.ravel().tolist()


def test_words_that_are_no_values() -> None:
    def unread(label: str, values: list[str], spec: ColumnSpec) -> bool:
        return bool(parse_labels("c", [label], values, spec).unread[0])

    ordered, intervals = ColumnSpec("ordered"), parse_hierarchy({"intervals": [5]})
    assert not unread("x", ["x", "1"], ordered)
    assert unread("y", ["x", "1"], ordered)
    assert not unread("2", ["x", "1"], ordered)
    assert not unread("2*", ["20", "1"], ordered)
    assert not unread("y", ["x"], ColumnSpec("unordered"))
    assert covered("y", ["x"], ColumnSpec("unordered")) == []
    # a number of a hierarchy of intervals is itself, however else it may be written
    assert covered("1.0", ["1", "1.0"], ColumnSpec(hierarchy=intervals)) == ["1.0"]
    assert covered("[20-30)", ["20", "29.5", "30"], ColumnSpec(hierarchy=intervals)) == [
        "20",
        "29.5",
    ]


MASKS = ["12", "2", "22", "*2", "2*", "*2*", "123"]


@pytest.mark.parametrize(
    ("label", "side", "values"),
    [
        ("*2", None, ["12", "2", "22", "*2"]),
        ("*2", "right", ["12", "2", "22", "*2"]),
        ("2*", None, ["2", "22", "2*"]),
        ("2*", "left", ["2", "22", "2*"]),
        ("*2*", None, ["*2*"]),
        ("*2*", "right", ["*2", "*2*"]),
        ("*2*", "left", ["2*", "*2*"]),
        ("**", "left", ["12", "2", "22", "*2", "2*"]),
        ("**", None, ["12", "2", "22", "*2", "2*"]),
        ("\\*2", None, ["*2"]),
    ],
)
def test_stars_at_either_end(label: str, side: str | None, values: list[str]) -> None:
    mask = parse_hierarchy({"mask": side}) if side else None
    assert covered(label, MASKS, ColumnSpec("unordered", hierarchy=mask)) == values


@pytest.mark.parametrize(
    ("label", "ends"),
    [("*a*", (1, 1)), ("**", (0, 2)), ("*", (0, 1)), ("***a", (3, 0)), ("*a", (1, 0)),
     ("a**", (0, 2)), ("\\*a", (0, 0)), ("a", (0, 0)), ("", (0, 0))],
)  # fmt: skip
def test_stars_are_counted(label: str, ends: tuple[int, int]) -> None:
    assert stars(pieces(label)) == ends


def test_pieces_of_labels() -> None:
    assert pieces("a\\") == [("a", True), ("\\", True)]
    assert pieces("\\a\\\\b") == [("a", False), ("\\", False), ("b", True)]
    assert enclosed(pieces("{}"), "{", "}")
    assert not enclosed(pieces("{"), "{", "{")
    assert not enclosed(pieces("{\\}"), "{", "}")
    assert not enclosed([], "{", "}")


def test_ranges_of_one_form_alone() -> None:
    def number(text: str) -> tuple[int, Decimal]:
        return 0, Decimal(text)

    assert our_range("[1~2]", PLACES) == Range(number("1"), number("2"))
    for label in ("[x~5]", "[5~x]", "[1]", "1~2", "[1~2~3]"):
        assert our_range(label, PLACES) is None
    assert half_open("[20-30)") == Range(number("20"), number("30"), True, False)
    assert half_open("[-3--1.5)") == Range(number("-3"), number("-1.5"), True, False)
    assert half_open("[20-30]") is None
    bins = Axis("intervals", ("(0, 3]", "(3, 6]"))
    assert joined_intervals("(0, 6]", bins) == Range((0, 0), (0, 1))
    for label in ("(0, 9]", "(1, 6]", "0"):
        assert joined_intervals(label, bins) is None
    assert joined_intervals("(0, 3]", Axis("list", ("(0, 3]", "x"))) is None
    assert foreign_range("20-20", PLACES) == Range(number("20"), number("20"))
    assert foreign_range("1...5", PLACES) == Range(number("1"), number("5"))
    assert foreign_range("-5--3", PLACES) == Range(number("-5"), number("-3"))
    for label in ("10-x", "x-10", "10 to 12:00", "12:00 to 10", "30-20"):
        assert foreign_range(label, PLACES) is None
    mixed = ["1", "65", "70", "1964-03-07", "12:00"]
    assert covered(">=65", mixed, ColumnSpec("ordered")) == ["65", "70"]
    assert covered("≤65", mixed, ColumnSpec("ordered")) == ["1", "65"]
    assert covered("<1970-01-01", mixed, ColumnSpec("ordered")) == ["1964-03-07"]
    assert covered(">1", mixed, ColumnSpec("ordered")) == ["65", "70"]


@pytest.mark.parametrize(
    ("label", "first", "last"),
    [
        ("1964-03", ordinal(1964, 3, 1), ordinal(1964, 3, 31)),
        ("1964-12", ordinal(1964, 12, 1), ordinal(1964, 12, 31)),
        ("1964-Q2", ordinal(1964, 4, 1), ordinal(1964, 6, 30)),
        ("1964", ordinal(1964, 1, 1), ordinal(1964, 12, 31)),
        ("1960s", ordinal(1960, 1, 1), ordinal(1969, 12, 31)),
        ("1964-03-07", ordinal(1964, 3, 7), ordinal(1964, 3, 7)),
        ("0000s", 0, ordinal(9, 12, 31)),
    ],
)
def test_first_and_last_days(label: str, first: int, last: int) -> None:
    assert date_part(label, days=True) == Range((0, first), (0, last))


@pytest.mark.parametrize("label", ["1964-13", "1964-00", "1964-02-30", "64", "1964-Q5", "x"])
def test_no_parts_of_dates(label: str) -> None:
    assert date_part(label, days=True) is None
    assert date_part("1964-03-07", days=False) is None


def test_a_node_with_the_text_of_a_leaf() -> None:
    tree = {"any": {"a": ["a"], "c": ["b", "c"], "e": ["f"]}}
    hierarchy = parse_hierarchy({"tree": tree})
    values = pa.array(["a", "b", "c", "f", "z"], pa.string())
    nodes = read_nodes("t", values, hierarchy, Path())
    assert nodes.texts == ("a", "b", "c", "f")
    assert nodes.root == "any"
    assert nodes.codes.tolist() == [0, 1, 2, 3, -1]
    assert nodes.nodes == {"c": (1, 2), "e": (3, 3), "any": (0, 3)}
    assert nodes.leaves == {"a": (0, 0), "b": (1, 1), "\\c": (2, 2), "f": (3, 3)}
