"""The labels a reader sees, for every kind of column."""

from typing import Any

import pyarrow as pa

import shoal
from tests.releases import Fixed

HALVES = Fixed(((0, 0, 1, 1),))


def labels(
    values: list[Any], how: Any, groups: tuple[int, ...] = (0, 0, 1, 1), **keys: Any
) -> list[str | None]:
    """The labels of a column whose rows are grouped so, in the order of the rows."""
    asked = {
        "columns": {"c": how},
        "constraints": [{"k": 1}],
        "method": Fixed((groups,)),
        "order": "kept",
        **keys,
    }
    found: list[str | None] = shoal.anonymize(pa.table({"c": values}), asked).table["c"].to_pylist()
    return found


ORDERED = {"role": "quasi", "kind": "ordered"}
UNORDERED = {"role": "quasi", "kind": "unordered"}


def test_ranges() -> None:
    assert labels([50, 52, 7, 7], ORDERED) == ["[50~52]", "[50~52]", "7", "7"]
    assert labels([-1.5, 2.0, 3.25, 3.25], ORDERED) == ["[-1.5~2]", "[-1.5~2]", "3.25", "3.25"]
    assert labels(["9", "10", "100", "11"], ORDERED) == ["[9~10]", "[9~10]", "[11~100]", "[11~100]"]


def test_a_range_with_a_missing_value_is_anything() -> None:
    assert labels([50, None, 7, 8], ORDERED) == ["*", "*", "[7~8]", "[7~8]"]
    assert labels([50, 51, None, None], ORDERED) == ["[50~51]", "[50~51]", None, None]


def test_ranges_of_dates_and_of_words() -> None:
    days = ["1964-03-07", "1964-03-09", "2001-12-31", "2001-12-31"]
    assert labels(days, "quasi") == ["[1964-03-07~1964-03-09]"] * 2 + ["2001-12-31"] * 2
    words = {"role": "quasi", "order": ["low", "mid~dle", "high"]}
    assert (
        labels(["high", "mid~dle", "low", "low"], words) == ["[mid\\~dle~high]"] * 2 + ["low"] * 2
    )


def test_booleans_keep_their_words_when_ordered() -> None:
    assert labels([True, False, True, True], ORDERED) == ["[false~true]"] * 2 + ["true"] * 2


def test_sets_list_their_members_by_text() -> None:
    assert (
        labels(["India", "China", "Peru", "Peru"], UNORDERED)
        == ["{China, India}"] * 2 + ["Peru"] * 2
    )
    assert labels([10, 9, 1, 2], UNORDERED) == ["{10, 9}"] * 2 + ["{1, 2}"] * 2


def test_sets_with_missing_and_misleading_members() -> None:
    assert (
        labels(["a, b", None, "*", "{x}"], UNORDERED)
        == ["{a\\, b, <missing>}"] * 2 + ["{\\*, \\{x\\}}"] * 2
    )
    assert labels(["<missing>", None, None, None], UNORDERED) == [
        "{\\<missing>, <missing>}",
        "{\\<missing>, <missing>}",
        None,
        None,
    ]


def test_masks() -> None:
    right = {"role": "quasi", "hierarchy": {"mask": "right"}}
    left = {"role": "quasi", "hierarchy": {"mask": "left"}}
    assert labels(["02138", "02139", "12", "99"], right) == ["0213*"] * 2 + ["*"] * 2
    assert labels(["02138", "99138", "5", "5"], left) == ["**138"] * 2 + ["5"] * 2
    assert labels(["a*", "ab", "*c", "*d"], right) == ["a*", "a*", "\\**", "\\**"]


def test_intervals_and_dates() -> None:
    steps = {"role": "quasi", "hierarchy": {"intervals": [5, 10], "from": 0}}
    assert labels([31, 34, 36, 44], steps) == ["[30-35)"] * 2 + ["*"] * 2
    assert labels([31, 38, 36, 36], steps) == ["[30-40)"] * 2 + ["36"] * 2
    parts = {"role": "quasi", "hierarchy": {"date": ["month", "year", "decade"]}}
    days = ["1964-03-07", "1964-03-09", "1964-03-07", "1964-12-01"]
    assert labels(days, parts) == ["1964-03"] * 2 + ["1964"] * 2
    assert labels(["1964-03-07", "1969-03-09", *days[2:]], parts)[:2] == ["1960s"] * 2


def test_a_hierarchy_keeps_missing_values_apart() -> None:
    tree = {
        "role": "quasi",
        "hierarchy": {"tree": {"any": {"fruit": ["apple", "pear"], "nut": ["almond"]}}},
    }
    assert labels(["apple", "pear", None, None], tree) == ["fruit", "fruit", None, None]
    assert labels(["apple", None, "almond", "pear"], tree) == ["any"] * 4
    # as seen by someone who cannot tell the two `any`: one class
    release = shoal.anonymize(
        pa.table({"c": ["apple", None, "almond", "pear"]}),
        {"columns": {"c": tree}, "constraints": [{"k": 4}], "method": HALVES},
    )
    assert (release.groups, release.published_classes) == (2, 1)


def test_a_leaf_that_reads_like_the_node_above_it_is_marked() -> None:
    tree = {"role": "quasi", "hierarchy": {"tree": {"any": [{"a": ["a", "b"]}, "c"]}}}
    assert labels(["a", "a", "a", "b"], tree) == ["\\a", "\\a", "a", "a"]


def test_a_mask_of_very_long_texts() -> None:
    right = {"role": "quasi", "hierarchy": {"mask": "right"}}
    texts = ["a" * 299 + "b", "a" * 299 + "c", "b" + "a" * 299, "bc" + "a" * 298]
    assert labels(texts, right) == ["a" * 299 + "*"] * 2 + ["b" + "*" * 299] * 2


def test_a_leaf_alone_under_a_node_of_its_name_needs_no_mark() -> None:
    tree = {"role": "quasi", "hierarchy": {"tree": ["White", {"Asian": ["East", "South"]}]}}
    assert labels(["White", "White", "East", "South"], tree) == ["White", "White", "Asian", "Asian"]


def test_a_date_that_reads_like_the_day_of_others_is_marked() -> None:
    parts = {"role": "quasi", "hierarchy": {"date": ["day", "year"]}}
    times = ["1964-03-07", "1964-03-07", "1964-03-07T10:00", "1964-03-07T11:00"]
    assert labels(times, parts) == ["\\1964-03-07"] * 2 + ["1964-03-07"] * 2


def test_labels_of_a_group_over_many_values_hold_them_all() -> None:
    values = [f"v{i:04}" for i in range(3000)]
    (label,) = set(labels(values, UNORDERED, (0,) * 3000))
    assert label == "{" + ", ".join(values) + "}"


def test_empty_text_is_not_missing() -> None:
    assert labels(["", "", None, None], UNORDERED) == ["", "", None, None]
    assert labels(["", None, "a", ""], UNORDERED) == ["{, <missing>}"] * 2 + ["{, a}"] * 2
