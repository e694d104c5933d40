"""The check that a release is true, on rows, labels and claims that are written out."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding.columns import ColumnSpec
from shoal.encoding.reading import ValueReading
from shoal.engines import truth
from shoal.engines.truth import (
    Claim,
    coded_texts,
    different,
    overlapping,
    require_anatomy,
    require_truth,
    uncovered,
    without_nan,
)
from shoal.errors import VerificationFailed
from shoal.hierarchy.mask import Mask
from shoal.policy import Policy

RAW = {
    "age": ["21", "34", "35", "48"],
    "town": ["Ath", "Huy", "Ath", "Mons"],
    "note": ["n0", "n1", "n2", "n3"],
    "ill": ["flu", "cold", None, "flu"],
}
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "ordered"},
    "town": {"role": "quasi", "kind": "unordered"},
    "note": "plain",
    "ill": "sensitive",
}
PUBLISHED = {
    "age": ["[21~34]", "[21~34]", "*", "*"],
    "town": ["{Ath, Huy}", "{Ath, Huy}", "*", "*"],
    "note": ["n0", "n1", "n2", "n3"],
    "ill": ["flu", "cold", None, "flu"],
}
Cells = dict[str, list[str | None]]


def fault(
    changed: dict[str, Any] | None = None,
    rows: list[int] | None = None,
    gone: list[int] | None = None,
    n_rows: int = 4,
    columns: dict[str, Any] = COLUMNS,
    grouped: tuple[tuple[str, ...], ...] = (("age", "town"),),
    **more: Any,
) -> str:
    """What is found to be untrue, after the words that all messages begin with; empty if nothing is."""
    policy = Policy.load({"columns": columns, "constraints": [{"k": 2}], **more})
    cells: dict[str, Any] = PUBLISHED | (changed or {})
    claim = Claim(
        np.array(range(4) if rows is None else rows, np.int64),
        n_rows,
        np.array(gone or [], np.int64),
        grouped,
    )
    try:
        require_truth(
            policy,
            claim,
            lambda name: pa.array(cells[name], pa.string()),
            lambda name: pa.array(RAW[name], pa.string()),
        )
    except VerificationFailed as error:
        before, _, after = str(error).partition("The release would not be true: ")
        return before + after
    return ""


def test_a_true_release() -> None:
    assert fault() == ""
    assert fault(gone=[], suppression=0.5) == ""


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        (
            "age",
            ["[22~34]", "[22~34]", "*", "*"],
            "in column 'age' the label does not cover the row's own value in 1 of 4 rows, the first "
            "of them row 1 of the release.",
        ),
        (
            "town",
            ["{Ath, Huy}", "{Ath, Huy}", "Huy", "Huy"],
            "in column 'town' the label does not cover the row's own value in 2 of 4 rows, the first "
            "of them row 3 of the release.",
        ),
        (
            "note",
            ["n0", "n1", "n2", "n2"],
            "in column 'note' the value is not that of the row in 1 of 4 rows, the first of them row "
            "4 of the release.",
        ),
        (
            "ill",
            ["flu", "flu", None, "flu"],
            "in column 'ill' the value is not that of the row in 1 of 4 rows, the first of them row "
            "2 of the release.",
        ),
        (
            "ill",
            ["flu", "cold", "*", "flu"],
            "in column 'ill' the value is not that of the row in 1 of 4 rows, the first of them row "
            "3 of the release.",
        ),
    ],
)
def test_a_false_cell(name: str, cells: list[str | None], words: str) -> None:
    assert fault({name: cells}) == words


def test_rows_that_are_not_in_the_table() -> None:
    outside = "it has rows that are not in the table."
    assert fault(rows=[0, 1, 2, 4]) == outside
    assert fault(rows=[0, 1, 2, -1]) == outside


def test_rows_that_are_published_twice() -> None:
    assert fault(rows=[0, 0, 2, 2]) == "2 rows of the table are published more than once."
    assert fault(rows=[0, 0, 2, 3]) == "1 rows of the table are published more than once."


def first(n: int) -> dict[str, Any]:
    return {name: cells[:n] for name, cells in PUBLISHED.items()}


def test_rows_that_are_lost() -> None:
    assert fault(first(2), rows=[0, 1]) == "2 rows of the table were lost."
    assert fault(first(2), rows=[0, 1], gone=[2]) == "1 rows of the table were lost."
    assert fault(first(2), rows=[0, 1], gone=[2, 3]) == ""
    assert fault({name: [] for name in PUBLISHED}, rows=[], gone=[0, 1, 2, 3]) == ""
    assert fault(first(2), rows=[0, 1], gone=[2, 3], n_rows=5) == ("1 rows of the table were lost.")


def test_suppressed_rows_that_are_published() -> None:
    assert fault(gone=[1]) == "1 suppressed rows are published."
    assert fault(gone=[1, 3]) == "2 suppressed rows are published."


STARRED: dict[str, Any] = {"suppressed": "starred", "suppression": 0.5}
ALL_STARS = {name: [*cells[:2], "*", "*"] for name, cells in PUBLISHED.items()}


def test_suppressed_rows_read_stars_everywhere() -> None:
    assert fault(ALL_STARS, gone=[2, 3], **STARRED) == ""
    for name in PUBLISHED:
        shown = ALL_STARS | {name: [*PUBLISHED[name][:2], "*", RAW[name][3]]}
        assert fault(shown, gone=[2, 3], **STARRED) == (
            f"suppressed rows are published in column '{name}'."
        )
    missing = ALL_STARS | {"ill": ["flu", "cold", None, "*"]}
    assert fault(missing, gone=[2, 3], **STARRED) == (
        "suppressed rows are published in column 'ill'."
    ), "nothing in place of a star says that there is nothing"
    assert fault(first(2), rows=[0, 1], gone=[2, 3], **STARRED) == (
        "2 rows of the table were lost."
    )


def test_stars_of_other_columns_need_stars_in_all_quasi_identifiers() -> None:
    assert fault(ALL_STARS, **STARRED) == "", "rows at the top read like suppressed ones"
    half = ALL_STARS | {"town": ["{Ath, Huy}", "{Ath, Huy}", "{Ath, Mons}", "{Ath, Mons}"]}
    assert fault(half, **STARRED).startswith(
        "in column 'note' the value is not that of the row in 2"
    )
    other = ALL_STARS | {"note": ["n0", "n1", "*", "n0"]}
    assert fault(other, **STARRED).startswith(
        "in column 'note' the value is not that of the row in 1"
    )
    assert fault(ALL_STARS, gone=[]).startswith("in column 'note'"), "nothing is starred there"


def test_values_that_people_want_hidden_are_checked_elsewhere() -> None:
    tree = {"tree": {"any": {"common": ["flu", "cold"]}}}
    ill = {
        "role": "sensitive",
        "hierarchy": tree,
        "preference": "wish",
        "levels": {1: ["flu", "cold"]},
    }
    wishes: dict[str, Any] = {"columns": COLUMNS | {"ill": ill, "wish": "preference"}}
    assert fault({"ill": ["common", "cold", None, "*"]}, **wishes) == ""


def test_columns_of_one_cell_too_few() -> None:
    assert fault({"age": ["[21~34]"] * 3}) == "column 'age' has 3 cells for 4 rows."
    assert fault({"note": ["n0"] * 3}) == "it has 3 cells for 4 rows."


UNIFORM = COLUMNS | {
    "age": {"role": "quasi", "kind": "ordered", "labels": "uniform"},
    "town": {"role": "quasi", "kind": "unordered"},
}


def test_uniform_labels_do_not_overlap() -> None:
    plain = {"town": ["*"] * 4}
    apart = ["[21~34]", "[21~34]", "[35~48]", "[35~48]"]
    assert fault(plain | {"age": apart}, columns=UNIFORM) == ""
    shared = ["[21~35]", "[21~35]", "[35~48]", "[35~48]"]
    assert fault(plain | {"age": shared}, columns=UNIFORM) == (
        "in column 'age' the label does not cover the row's own value, or another one covers it too, "
        "in 4 of 4 rows, the first of them row 1 of the release."
    )
    assert fault(plain | {"age": shared}) == "", "others may"
    beside = {"age": ["*", "*", "[35~48]", "[35~48]"]}
    assert fault(beside, columns=UNIFORM).startswith("in column 'age'"), "only its age is a star"
    hidden = {"town": ["*", "*", "Ath", "Mons"]}
    assert fault(beside | hidden, columns=UNIFORM) == "", "all that was grouped with it is"


STATISTICS = COLUMNS | {"age": {"role": "quasi", "kind": "ordered", "labels": "midpoint"}}


def test_statistics_are_those_of_their_class() -> None:
    """(21 + 34) / 2 = 27.5, rounded up; (35 + 48) / 2 = 41.5."""
    good = {"age": ["28", "28", "42", "42"], "town": ["*"] * 4}
    assert fault(good, columns=STATISTICS) == ""
    assert fault(good | {"age": ["28", "28", "41", "41"]}, columns=STATISTICS) == (
        "in column 'age' the value is not the midpoint of its class in 2 of 4 rows, the first of them "
        "row 3 of the release."
    )


def test_statistics_of_columns_that_were_grouped_apart() -> None:
    apart: dict[str, Any] = {"columns": STATISTICS, "grouped": (("age",), ("town",))}
    assert fault({"age": ["28", "28", "42", "42"]}, **apart) == ""
    assert fault({"age": ["28", "28", "41", "41"]}, **apart).startswith("in column 'age'")


def test_statistics_of_codes_for_a_missing_value() -> None:
    """The ages 34 and 35 stand for missing ones: there is nothing between them."""
    column = {"role": "quasi", "kind": "ordered", "labels": "midpoint", "missing": ["34", "35"]}
    coded: dict[str, Any] = {"columns": COLUMNS | {"age": column}}
    towns = ["Ath", "*", "*", "Mons"]
    assert fault({"age": ["21", None, None, "48"], "town": towns}, **coded) == ""
    assert fault({"age": ["21", "35", "35", "48"], "town": towns}, **coded).startswith(
        "in column 'age' the value is not the midpoint of its class in 2 of 4 rows"
    )


def covered(labels: list[str | None], values: list[str | None], spec: ColumnSpec) -> list[bool]:
    found = uncovered("x", pa.array(labels, pa.string()), coded_texts(pa.array(values)), spec)
    coded = pa.array(labels, pa.string()).dictionary_encode()
    again = uncovered("x", coded, coded_texts(pa.array(values)), spec)
    assert (found is None) == (again is None)
    if found is None:
        return [True] * len(labels)
    assert again is not None
    assert found.tolist() == again.tolist()
    return (~found).tolist()


ORDERED, UNORDERED = ColumnSpec(kind="ordered"), ColumnSpec(kind="unordered")
LISTED = ColumnSpec(kind="ordered", order=("1", "10", "2"))
MASKED = ColumnSpec(hierarchy=Mask("right"))


@pytest.mark.parametrize(
    ("label", "value", "spec", "covers"),
    [
        ("*", "7", ORDERED, True),
        ("*", None, ORDERED, True),
        (None, None, ORDERED, True),
        (None, "", ORDERED, True),
        (None, "7", ORDERED, False),
        ("7", None, ORDERED, False),
        ("7", "7", ORDERED, True),
        ("7", "7.0", ORDERED, True),
        ("7", "8", ORDERED, False),
        ("[7~9]", "7", ORDERED, True),
        ("[7~9]", "9", ORDERED, True),
        ("[7~9]", "6", ORDERED, False),
        ("[7~9]", "10", ORDERED, False),
        ("[7~9]", None, ORDERED, False),
        ("[-9~-7]", "-8", ORDERED, True),
        ("[7.25~9]", "7.2", ORDERED, False),
        ("[7.25~9]", "7.25", ORDERED, True),
        ("[2020-01-01~2020-12-31]", "2020-05-05", ORDERED, True),
        ("[2020-01-01~2020-12-31]", "2021-05-05", ORDERED, False),
        ("{a, b}", "a", UNORDERED, True),
        ("{a, b}", "b", UNORDERED, True),
        ("{a, b}", "c", UNORDERED, False),
        ("{a, b}", None, UNORDERED, False),
        ("{a, <missing>}", None, UNORDERED, True),
        ("{a, <missing>}", "", UNORDERED, True),
        ("{a, <missing>}", "b", UNORDERED, False),
        (r"{a\, b, c}", "a, b", UNORDERED, True),
        (r"{a\, b, c}", "b", UNORDERED, False),
        ("{ab, c}", "b", UNORDERED, False),
        ("{a, bc}", "b", UNORDERED, False),
        ("[7~9]", "8", UNORDERED, False),
        ("[1~10]", "10", LISTED, True),
        ("[1~10]", "2", LISTED, False),
        ("[1~2]", "10", LISTED, True),
        ("5*", "51", MASKED, True),
        ("[1~9]", "5", MASKED, False),
        (r"a\*", "a*", UNORDERED, True),
        ("a", "b", UNORDERED, False),
    ],
)
def test_a_label_and_a_value(label: str, value: str, spec: ColumnSpec, covers: bool) -> None:
    assert covered([label], [value], spec) == [covers]
    assert covered(["*", label, "*"], ["1", value, None], spec) == [True, covers, True]


def test_members_of_one_set_are_not_those_of_another() -> None:
    labels: list[str | None] = ["{a, b}", "{a, b}", "{c, d}", "{c, d}", "{a, b}"]
    values: list[str | None] = ["a", "b", "c", "d", "d"]
    assert covered(labels, values, UNORDERED) == [True, True, True, True, False]


def test_a_missing_label_among_the_codes() -> None:
    """A dictionary may have an entry for it: it is no star."""
    labels = pa.DictionaryArray.from_arrays(
        pa.array([0, 0, 1], pa.int32()), pa.array([None, "*"], pa.string())
    )
    found = uncovered("x", labels, coded_texts(pa.array(["7", None, "7"])), ORDERED)
    assert found is not None
    assert found.tolist() == [True, False, False]


def test_codes_of_missing_values_do_not_decide_how_labels_are_read() -> None:
    """Without them all values are numbers, and the labels are ranges as others write them."""
    spec = ColumnSpec(missing=("?",))
    assert covered(["30-39", "30-39", None], ["35", "45", "?"], spec) == [True, False, True]


def test_codes_of_missing_values() -> None:
    spec = ColumnSpec(kind="ordered", missing=("-9",))
    assert covered([None, "[-10~5]", "*"], ["-9", "-9", "-9"], spec) == [True, True, True]
    assert covered([None], ["-8"], spec) == [False]
    sets = ColumnSpec(kind="unordered", missing=("?",))
    assert covered(["{a, <missing>}", "{a, b}"], ["?", "?"], sets) == [True, False]


def test_how_the_policy_reads_values() -> None:
    comma = ColumnSpec(kind="ordered", reading=ValueReading(decimal=","))
    assert covered(["[1.5~2]", "[1.5~2]"], ["1,5", "1,4"], comma) == [True, False]
    thousands = ColumnSpec(kind="ordered", reading=ValueReading(thousands="'"))
    assert covered(["[1000~2000]", "[1000~2000]"], ["1'500", "2'500"], thousands) == [True, False]
    percent = ColumnSpec(kind="ordered", reading=ValueReading(percent=True))
    assert covered(["[5~6]", "[5~6]"], ["5 %", "7%"], percent) == [True, False]
    dates = ColumnSpec(kind="ordered", reading=ValueReading(dates="%d.%m.%Y"))
    label = "[2020-01-01~2020-12-31]"
    assert covered([label, label], ["05.06.2020", "05.06.2021"], dates) == [True, False]
    months: list[str | None] = ["[2020-05-01~2020-05-31]", "[2020-06-01~2020-06-30]"]
    for form, expected in (("%d/%m/%Y", [False, True]), ("%m/%d/%Y", [True, False])):
        spec = ColumnSpec(kind="ordered", reading=ValueReading(dates=form))
        assert covered(months, ["05/06/2020"] * 2, spec) == expected


def overlap(labels: list[str | None], values: list[str], spec: ColumnSpec, *hidden: int) -> Any:
    from pathlib import Path

    found = overlapping(
        "x",
        pa.array(labels, pa.string()),
        pa.array(values, pa.string()),
        spec,
        Path(),
        np.isin(np.arange(len(labels)), hidden),
    )
    return None if found is None else np.flatnonzero(found).tolist()


def test_labels_over_the_same_value() -> None:
    values = ["1", "2", "3", "4"]
    assert overlap(["[1~2]", "[3~4]"], values, ORDERED) is None
    assert overlap(["[1~2]", "[2~4]"], values, ORDERED) == [0, 1]
    assert overlap(["[1~2]", "[2~4]", "[1~2]"], values, ORDERED, 2) == [0, 1]
    assert overlap(["[1~2]", "[2~4]"], values, ORDERED, 0) is None
    assert overlap(["[1~1]", "[2~3]", "[3~4]"], values, ORDERED) == [1, 2]
    assert overlap(["[1~2]", "[1.5~4]"], ["1", "4"], ORDERED) is None, "no value is under both"
    assert overlap(["[3~4]", "4"], values, ORDERED) == [0, 1]
    assert overlap(["[1~3]", "4"], values, ORDERED) is None
    assert overlap(["{1, 2}", "{3, 4}"], values, UNORDERED) is None
    assert overlap(["{1, 2}", "{2, 4}", "3"], values, UNORDERED) == [0, 1]
    assert overlap(["{1, <missing>}", None], values, UNORDERED) == [0, 1]
    assert overlap(["{1, 2}", None], values, UNORDERED) is None


def test_a_star_is_over_everything() -> None:
    assert overlap(["*", "*"], ["1"], ORDERED) is None
    assert overlap(["*", "[1~2]"], ["1"], ORDERED) == [0]
    assert overlap(["*", "[1~2]"], ["1"], ORDERED, 0) is None
    assert overlap(["*", "[1~2]", "*"], ["1"], ORDERED, 0) == [2]


def test_texts_of_values() -> None:
    assert coded_texts(pa.array([1, 2, 1])).to_pylist() == ["1", "2", "1"]
    twice = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2], pa.int8()), pa.array(["a", "b", "a"])
    )
    found = coded_texts(twice)
    assert found.to_pylist() == ["a", "b", "a"]
    assert len(found.dictionary) == 2
    assert coded_texts(pa.array(["a", None])).to_pylist() == ["a", None]


def test_not_a_number_is_missing() -> None:
    nan = float("nan")
    assert without_nan(pa.array([1.5, nan, None])).to_pylist() == [1.5, None, None]
    assert without_nan(pa.array([1.5, nan], pa.float32())).to_pylist() == [1.5, None]
    assert without_nan(pa.array([1, None])).to_pylist() == [1, None]
    assert without_nan(pa.array(["a", "a"]).dictionary_encode()).to_pylist() == ["a", "a"]


@pytest.mark.parametrize(
    ("published", "raw"),
    [
        (pa.array(["a", "b", None]), pa.array(["b", None, "a"])),
        (pa.array(["a", "b", None]).dictionary_encode(), pa.array(["b", None, "a"])),
        (
            pa.array(["a", "b", None]).dictionary_encode(),
            pa.array(["b", None, "a"]).dictionary_encode(),
        ),
        (pa.array([1, 2, None]), pa.array([2, None, 1])),
        (pa.array(["a", "b", None], pa.large_string()), pa.array(["b", None, "a"])),
        (pa.array([b"a", b"b", None]), pa.array([b"b", None, b"a"])),
    ],
)
def test_cells_of_rows_in_another_order(published: pa.Array, raw: pa.Array) -> None:
    assert different(published, raw, np.array([2, 0, 1])) is None
    found = different(published, raw, np.array([2, 1, 0]))
    assert found is not None
    assert found.tolist() == [False, True, True]


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.duration("us")])
def test_numbers_are_no_times(kind: pa.DataType) -> None:
    """They are the same inside."""
    found = different(pa.array([5, None]), pa.array([5, None], kind), np.arange(2))
    assert found is not None
    assert found.tolist() == [True, False]


def test_codes_of_other_types() -> None:
    def coded(codes: list[int | None]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.uint8()), pa.array(["a", "b"]))

    published, raw = coded([0, 1, None]), coded([1, 0, None])
    assert different(published, raw, np.array([1, 0, 2])) is None
    found = different(published, raw, np.arange(3))
    assert found is not None
    assert found.tolist() == [True, True, False]
    whole, floats = pa.array([1, 2]).dictionary_encode(), pa.array([1.0, 2.0]).dictionary_encode()
    assert different(whole, floats, np.arange(2)) is None


def test_pairs_are_found_in_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """By flags, by hashes and by bits."""
    labels, values = ["[1~2]", "[1~2]", "{1, 5}", "{3, 4}"], ["1", "3", "5", "4"]
    expected = [True, False, True, True]
    assert covered(labels, values, ORDERED) == expected
    monkeypatch.setattr(truth, "FLAGS_EACH", 0)
    assert covered(labels, values, ORDERED) == expected
    monkeypatch.setattr(truth, "MANY", 0)
    monkeypatch.setattr(truth, "BITS_EACH", truth.MOST_BITS)
    assert covered(labels, values, ORDERED) == expected


TABLE = {"group": [1, 1, 2, 2], "values": ["cold", "flu", "flu", None], "count": [1, 1, 1, 1]}


def anatomy_holds(groups: list[int], rows: list[int] | None = None, **changed: Any) -> bool:
    """Groups of the four rows: flu, cold | nothing, flu."""
    policy = Policy.load(
        {"columns": COLUMNS, "constraints": [{"l": 2, "of": "ill"}], "publish": "anatomy"}
    )
    table = TABLE | changed
    claim = Claim(np.array(rows or [0, 1, 2, 3], np.int64), 4, np.zeros(0, np.int64))
    try:
        require_anatomy(
            policy,
            claim,
            np.array(groups, np.int64),
            lambda _: (
                np.array(table["group"], np.int64),
                pa.array(table["values"], pa.string()),
                np.array(table["count"], np.int64),
            ),
            lambda name: pa.array(RAW[name], pa.string()),
        )
    except VerificationFailed as error:
        return "the table of ill does not count the values of the groups" not in str(error)
    return True


def test_tables_of_anatomy() -> None:
    assert anatomy_holds([1, 1, 2, 2])
    assert anatomy_holds([2, 1, 1, 2], [3, 1, 0, 2])
    assert not anatomy_holds([1, 2, 1, 2])
    assert not anatomy_holds([1, 1, 2, 2], count=[2, 1, 1, 1])
    assert not anatomy_holds([1, 1, 2, 2], values=["cold", "flu", "flu", "flu"])
    assert not anatomy_holds([1, 1, 2, 2], group=[1, 2, 2, 2])
    assert not anatomy_holds(
        [1, 1, 2, 2], group=[1, 1, 2], values=["cold", "flu", "flu"], count=[1] * 3
    )
    for count in ([2, 1, 1], [1, 2, 1]):  # what is missing in one group as a value of another
        lie: dict[str, Any] = {"group": [1, 1, 2], "values": ["cold", "flu", "flu"], "count": count}
        assert not anatomy_holds([1, 1, 2, 2], **lie)
    both = {"group": [1, 1, 2, 2, 2], "values": ["cold", "flu", "flu", None, ""]}
    assert anatomy_holds([1, 1, 2, 2], **both, count=[1, 1, 1, 1, 0])
    assert not anatomy_holds([1, 1, 2, 2], **both, count=[1, 1, 1, 1, 1])


def test_tables_of_anatomy_beside_a_text_of_two_gigabytes() -> None:
    """Of a row that is suppressed. It is all zeros that nobody reads, so it takes no memory."""
    ends = np.append([0], 2**31 + np.array([0, 3, 7]))
    texts = np.zeros(2**31 + 7, np.uint8)
    texts[2**31 :] = np.frombuffer(b"flucold", np.uint8)
    raw = pa.LargeStringArray.from_buffers(3, pa.py_buffer(ends), pa.py_buffer(texts))
    policy = Policy.load(
        {"columns": COLUMNS, "constraints": [{"l": 2, "of": "ill"}], "publish": "anatomy"}
    )
    claim, groups = Claim(np.array([1, 2]), 3, np.array([0])), np.array([1, 1])
    counted = np.array([1, 1]), pa.array(["cold", "flu"]), np.array([1, 1])
    require_anatomy(policy, claim, groups, lambda _: counted, lambda _: raw)
    doubled = np.array([1, 1]), pa.array(["cold", "flu"]), np.array([1, 2])
    with pytest.raises(VerificationFailed):
        require_anatomy(policy, claim, groups, lambda _: doubled, lambda _: raw)
