import itertools
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchy.mask import Mask
from shoal.hierarchy.tree import HierarchyTree

from . import plain
from .checks import assert_sound, path

HERE = Path()


def built(values: list[str], side: str = "right") -> HierarchyTree:
    hierarchy, _ = Mask(side=side).build(pa.array(values, pa.string()), "zip", HERE)  # type: ignore[arg-type]
    assert_sound(hierarchy)
    return hierarchy


def test_zip_codes() -> None:
    hierarchy = built(["02138", "02139", "02141"])
    assert path(hierarchy, 0) == ("02138", "0213*", "021**", "02***", "0****", "*")
    assert [len(level) for level in hierarchy.labels] == [3, 2, 1, 1, 1, 1]


def test_from_the_left() -> None:
    hierarchy = built(["138", "938", "139"], "left")
    assert hierarchy.labels == (("138", "938", "139"), ("*38", "*39"), ("**8", "**9"), ("*",))


def test_a_short_text_meets_the_longer_ones_it_begins() -> None:
    hierarchy = built(["123", "12345", "12"])
    assert path(hierarchy, 0) == ("12", "12", "12", "12***", "1****", "*")
    assert path(hierarchy, 1) == ("123", "123", "123**", "12***", "1****", "*")
    assert path(hierarchy, 2) == ("12345", "1234*", "123**", "12***", "1****", "*")


def test_raw_stars_are_escaped_above_the_leaves() -> None:
    assert path(built(["a*b"]), 0) == ("a*b", "a\\**", "a**", "*")
    assert path(built(["\\ab"]), 0) == ("\\ab", "\\\\a*", "\\\\**", "*")
    assert path(built(["ab*"], "left"), 0) == ("ab*", "*b\\*", "**\\*", "*")


def test_numbers_are_masked_by_their_text() -> None:
    hierarchy, codes = Mask(side="right").build(pa.array([75, 7, 71]), "x", HERE)
    assert hierarchy.labels == (("7", "71", "75"), ("7*",), ("*",))
    assert codes.tolist() == [2, 0, 1]


def test_equal_texts_are_one_leaf() -> None:
    hierarchy, codes = Mask(side="right").build(pa.array([0.0, -0.0, 1.0]), "x", HERE)
    assert hierarchy.labels[0] == ("0", "1")
    assert codes.tolist() == [0, 0, 1]


def test_nothing_and_empty_texts() -> None:
    assert built([]).labels == ((), ("*",))
    assert built([""]).labels == (("",), ("*",))
    assert path(built(["", "ab"]), 0) == ("", "", "*")


@given(
    st.lists(st.text("012*\\é", max_size=5), unique=True),
    st.sampled_from(["right", "left"]),
)
def test_labels_are_those_of_the_plain_twin(values: list[str], side: str) -> None:
    longest = max(map(len, values), default=0)
    hierarchy, codes = Mask(side=side).build(pa.array(values, pa.string()), "x", HERE)  # type: ignore[arg-type]
    assert_sound(hierarchy)
    assert hierarchy.height == max(longest, 1)
    for value, code in zip(values, codes.tolist(), strict=True):
        levels = range(hierarchy.height + 1)
        assert path(hierarchy, code) == tuple(
            plain.masked(value, longest, level, side) for level in levels
        )


@given(st.lists(st.text("012*\\", max_size=4), unique=True), st.randoms())
def test_the_order_of_the_values_does_not_matter(values: list[str], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert built(values).labels == built(shuffled).labels


@given(st.lists(st.text("0*\\", max_size=4), unique=True), st.sampled_from(["right", "left"]))
def test_no_two_nodes_above_the_leaves_share_a_label_unless_one_holds_the_other(
    values: list[str], side: str
) -> None:
    hierarchy = built(values, side)
    ranges: dict[str, list[tuple[int, int]]] = {}
    for level in range(1, hierarchy.height + 1):
        first, last = hierarchy.spans(level)
        for node, label in enumerate(hierarchy.labels[level]):
            ranges.setdefault(label, []).append((first[node], last[node]))
    for found in ranges.values():
        for (a, b), (c, d) in itertools.pairwise(found):
            assert c <= a
            assert b <= d


def test_only_two_sides() -> None:
    with pytest.raises(ValueError, match="right"):
        Mask(side="up")  # type: ignore[arg-type]
