"""Hostile values: decoding reads exactly what a plain parser reads, and what was there before."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import shoal
from tests.decoding.plain import parse
from tests.examples import examples

TRICKY = [
    *(
        "*",
        "**",
        "1*",
        "\\",
        "\\*",
        "a\\",
        "\\\\",
        "[1~2]",
        "[a",
        "]",
        "~",
        "1~2",
        "{a, b}",
        "{",
        "}",
    ),
    *(
        ", ",
        ",",
        "a,b",
        "a, b",
        "<missing>",
        "<",
        "",
        " ",
        "\n",
        "a\nb",
        '"',
        '""',
        "'",
        "007",
        "7",
    ),
    *(
        "7.0",
        "-9",
        "NA",
        "nan",
        "true",
        "1e5",
        "[30-35)",
        "(0, 5]",
        ">=65",
        "20-30",
        "Ж",
        "e\u0301",
    ),
]
hostile = st.sampled_from(TRICKY) | st.text(alphabet="*\\[]{},~<>\"'\n 07ab", max_size=5)
POLICY: dict[str, Any] = {
    "columns": {"word": {"role": "quasi", "kind": "unordered"}, "note": "plain"},
    "order": "kept",
    "seed": 5,
}


def columns_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | values, min_size=4, max_size=14).filter(
        lambda found: any(value is not None for value in found)
    )


@examples(25)
@given(words=columns_of(hostile), k=st.integers(2, 4))
def test_sets_are_read_as_a_plain_parser_reads_them(words: list[str | None], k: int) -> None:
    table = pa.table({"word": pa.array(words, pa.string()), "note": pa.array(words, pa.string())})
    policy = {**POLICY, "constraints": [{"k": k}], "columns": {**POLICY["columns"]}}
    policy["columns"]["word"] = {"role": "quasi", "kind": "unordered", "type": "text"}
    release = shoal.anonymize(table, policy)
    labels = release.table["word"].to_pylist()
    lists = release.decode(categories="list")["word"].to_pylist()
    for label, found, raw in zip(labels, lists, words, strict=True):
        kind, said = parse(label)
        assert (found is None) == (kind == "any")
        if found is not None:
            assert found == ([None] if kind == "missing" else list(said))
            assert raw in found
    assert release.decode()["note"].to_pylist() == words  # a typed table keeps its texts
    flags = release.decode(categories="indicators")
    for i, raw in enumerate(words):
        shown = "<missing>" if raw is None else "\\<missing>" if raw == "<missing>" else raw
        assert flags[f"word={shown}"][i].as_py() == 1


@examples(15)
@given(words=columns_of(hostile))
def test_columns_that_lost_nothing_come_back(words: list[str | None]) -> None:
    table = pa.table({"word": pa.array(words, pa.string()), "note": pa.array(words, pa.string())})
    columns = {"word": {"role": "quasi", "kind": "unordered", "type": "text"}, "note": "plain"}
    release = shoal.anonymize(table, {**POLICY, "columns": columns, "constraints": [{"k": 1}]})
    assert release.decode()["word"].to_pylist() == words
    assert release.decode(categories="sample")["word_sampled"].to_pylist() == words


@examples(15)
@given(words=columns_of(hostile.filter(lambda text: bool(text.strip()))), k=st.integers(2, 4))
def test_ranges_of_a_hostile_order(words: list[str | None], k: int) -> None:
    order = sorted({word for word in words if word is not None})
    table = pa.table({"word": pa.array(words, pa.string())})
    columns = {"word": {"role": "quasi", "order": order}}
    release = (
        shoal.anonymize(table, {**POLICY, "columns": columns, "constraints": [{"k": k}]})
        if len(words) >= k
        else None
    )
    if release is None:
        return
    labels = release.table["word"].to_pylist()
    lists = release.decode(categories="list")["word"].cast(pa.list_(pa.string())).to_pylist()
    for label, found, raw in zip(labels, lists, words, strict=True):
        kind, said = parse(label)
        if kind == "range":
            first, last = (order.index(str(end)) for end in said)
            assert found == order[first : last + 1]
        elif kind == "value":
            assert found == list(said)
        assert found is None or raw in found
