"""Raw texts survive being put into a label, and are never taken for one."""

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.publish import labels as escape
from tests import naive

LOOKALIKES = ["*", "**", "\\", "\\*", "[1~2]", "[", "]", "{a, b}", "{", "}", "a, b", ",", ", ", ""]
LOOKALIKES += [
    "<missing>",
    "\\<missing>",
    "~",
    "a~b",
    "1253*",
    " ",
    " a",
    "a ",
    "[30-35)",
    "<",
    "é",
]
texts = st.sampled_from(LOOKALIKES) | st.text(alphabet="*\\[]{}, ~<>ab\n", max_size=6) | st.text()
many = st.lists(texts, min_size=1, max_size=8, unique=True)


def strings(raw: list[str]) -> pa.Array:
    return pa.array(raw, pa.string())


def is_label(text: str) -> bool:
    """Whether a reader would take the text for a range, a set or something masked."""
    found = naive.pieces(text)
    return ("*", False) in found or found[:1] in ([("[", False)], [("{", False)])


@given(many)
@example(LOOKALIKES)
def test_alone_reads_back_and_is_never_a_label(raw: list[str]) -> None:
    published = escape.escape_alone(strings(raw)).to_pylist()
    assert [naive.plain(naive.pieces(text)) for text in published] == raw
    assert len(set(published)) == len(raw)
    assert not any(map(is_label, published))


@given(many)
@example(LOOKALIKES)
def test_members_of_a_set_read_back(raw: list[str]) -> None:
    label = "{" + ", ".join(escape.escape_in_set(strings(raw)).to_pylist()) + "}"
    found = naive.pieces(label)
    assert found[0] == ("{", False)
    assert found[-1] == ("}", False)
    assert naive.members(found[1:-1]) == set(raw)


@given(many)
def test_the_missing_member_is_told_from_its_name(raw: list[str]) -> None:
    label = (
        "{" + ", ".join(escape.escape_in_set(pa.array([*raw, None], pa.string())).to_pylist()) + "}"
    )
    assert naive.members(naive.pieces(label)[1:-1]) == {*raw, None}


@given(texts, texts)
@example("~", "]")
@example("*", "[1~2]")
def test_ends_of_a_range_read_back(low: str, high: str) -> None:
    first, last = escape.escape_in_range(strings([low, high])).to_pylist()
    found = naive.pieces(f"[{first}~{last}]")
    ends = [naive.plain(end) for end in naive.split_at(found[1:-1], "~")]
    assert ends == [low, high]


@pytest.mark.parametrize(
    ("raw", "published"),
    [
        ("plain", "plain"),
        ("*", "\\*"),
        ("1253*", "1253\\*"),
        ("[50~52]", "\\[50~52]"),
        ("{China, India}", "\\{China, India}"),
        ("back\\slash", "back\\\\slash"),
        ("a, b", "a, b"),
        ("a [b]", "a [b]"),
        ("", ""),
    ],
)
def test_only_what_could_mislead_is_escaped(raw: str, published: str) -> None:
    assert escape.escape_alone(strings([raw])).to_pylist() == [published]


def test_a_missing_value_alone_stays_missing() -> None:
    assert escape.escape_alone(pa.array([None, "a"], pa.string())).to_pylist() == [None, "a"]
