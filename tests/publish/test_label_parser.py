"""Labels are read back: they cover their own values, and no others where they name one."""

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
from shoal.publish.label_parser import parse_labels
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
