"""Labels of sets are the same whether equal sets are labelled once or one by one."""

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.domain import Domain, Kind
from shoal.publish import labels
from tests.examples import examples


@examples(30)
@given(st.lists(st.sampled_from("abcd,{\\*"), min_size=6, max_size=40), st.integers(2, 4))
def test_sets_as_numbers(values: list[str], k: int) -> None:
    table = pa.table({"town": values, "age": list(range(len(values)))})
    asked: dict[str, Any] = {"quasi": ["town", "age"], "k": k, "seed": 1, "method": "mondrian"}
    found = shoal.anonymize(table, **asked).table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "MOST_BITS", 0)
        assert shoal.anonymize(table, **asked).table.equals(found)


def test_each_set_once() -> None:
    starts, codes = np.array([0, 2, 3, 5, 6]), np.array([1, 63, 0, 1, 63, 0], np.int32)
    begins, once, of_set = labels._once(starts, codes)
    sets = [set(once[a:b].tolist()) for a, b in itertools.pairwise(begins)]
    assert [sets[i] for i in of_set] == [{1, 63}, {0}, {1, 63}, {0}]
    assert len(sets) == 2


MEMBERS = st.none() | st.text("ab,<{}[*\\é ", max_size=3)


@examples(100)
@given(st.lists(MEMBERS, min_size=1, max_size=8, unique=True), st.data())
def test_sets_by_the_ranks_of_their_members(texts: list[str | None], data: st.DataObject) -> None:
    some = st.lists(st.integers(0, len(texts) - 1), min_size=1, unique=True).map(sorted)
    sets = data.draw(st.lists(some, min_size=1, max_size=20))
    domain = Domain("x", Kind.SET, pa.array(texts, pa.string()), missing=-1)
    codes = np.array([code for one in sets for code in one], np.int32)
    starts = np.cumsum([0, *map(len, sets)])
    plain = [plain_label([texts[code] for code in one]) for one in sets]
    inside = sorted(plain_member(text).encode() for text in texts)
    begins = any(b.startswith(a) for a, b in itertools.pairwise(inside))
    for bits, many in ((64, 1 << 30), (0, 1 << 30), (0, 0), (64, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(labels, "MOST_BITS", bits)
            patch.setattr(labels, "MANY_SETS", many)
            found = labels._sets(domain, starts, codes)
            by_ranks = labels._by_ranks(pa.array(texts, pa.string()), starts, codes)
        wanted = sorted(set(plain) - {None}, key=str.encode) + [None] * (None in plain)
        assert found.texts.to_pylist() == wanted
        assert [wanted[i] for i in found.of_group] == plain
        if begins:
            assert by_ranks is None


def plain_label(members: list[str | None]) -> str | None:
    """A set of values as the documentation says it is written."""
    if len(members) > 1:
        in_order = sorted(members, key=lambda one: (one is None, (one or "").encode()))
        return "{" + ", ".join(map(plain_member, in_order)) + "}"
    (only,) = members
    if only is None:
        return None
    escaped = "".join("\\" + c if c in "\\*" else c for c in only)
    return "\\" + escaped if escaped[:1] in ("[", "{") else escaped


def plain_member(text: str | None) -> str:
    """One of its members."""
    if text is None:
        return "<missing>"
    escaped = "".join("\\" + c if c in "\\*,{}" else c for c in text)
    return "\\" + escaped if escaped[:1] in ("[", "<") else escaped
