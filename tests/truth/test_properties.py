"""Over random tables: what is published is true by plain code, and what is made false is found."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.columns import ColumnSpec
from shoal.engines import truth
from shoal.engines.truth import Claim, coded_texts, different, require_truth, uncovered
from shoal.errors import VerificationFailed
from shoal.policy import Policy
from tests.examples import examples
from tests.truth.naive import Row, covers, is_true

numbers = st.one_of(st.none(), st.integers(-20, 20).map(str))
words = st.one_of(st.none(), st.text("ab,{}[]~*\\<", min_size=1, max_size=4).filter(str.strip))
COLUMNS = {
    "n": {"role": "quasi", "kind": "ordered"},
    "w": {"role": "quasi", "kind": "unordered"},
    "p": "plain",
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    size = draw(st.integers(4, 12))
    columns = {"n": numbers, "w": words, "p": words}
    found = {
        name: draw(st.lists(each, min_size=size, max_size=size)) for name, each in columns.items()
    }
    found["n"][0], found["w"][0] = "1", "a"
    return pa.table({name: pa.array(values, pa.string()) for name, values in found.items()})


@examples(30)
@given(table=tables(), method=st.sampled_from(["least-loss-partition", "k-clustering"]))
def test_a_release_is_true_by_plain_code(table: pa.Table, method: str) -> None:
    policy = {"columns": COLUMNS, "constraints": [{"k": 2}], "method": method, "seed": 3}
    release = shoal.anonymize(table, policy)
    rows: list[Row] = release.table.to_pylist()
    assert is_true(rows, table.to_pylist(), ["n", "w"])


LABELS = st.one_of(
    st.none(),
    st.just("*"),
    numbers,
    st.tuples(st.integers(-20, 20), st.integers(-20, 20)).map(lambda e: f"[{e[0]}~{e[1]}]"),
)
SETS = st.lists(st.sampled_from(["a", "b", "ab", r"\,", r"a\*", r"\{", "<missing>"]), min_size=2)
"""As they are written: what has a meaning in a label is escaped."""


@examples(60)
@given(st.lists(st.tuples(LABELS, numbers), min_size=1, max_size=8))
def test_ranges_cover_what_the_plain_reader_says(pairs: list[tuple[Any, Any]]) -> None:
    check(pairs, ColumnSpec(kind="ordered"))


@examples(60)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.just("*"), st.none(), SETS.map(lambda s: "{" + ", ".join(s) + "}")),
            st.sampled_from(["a", "b", "ab", ",", "a*", "{", "c", None]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_sets_cover_what_the_plain_reader_says(pairs: list[tuple[Any, Any]]) -> None:
    check(pairs, ColumnSpec(kind="unordered"))


def check(pairs: list[tuple[Any, Any]], spec: ColumnSpec) -> None:
    labels = pa.array([label for label, _ in pairs], pa.string())
    values = coded_texts(pa.array([value for _, value in pairs], pa.string()))
    # pairs of large tables are found by compiled code, or all are looked at; and maybe label by label
    for many, bits, through in ((truth.MANY, 0, 0), (0, truth.MOST_BITS, 8), (0, 0, 8), (0, 0, -1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(truth, "MANY", many)
            patch.setattr(truth, "BITS_EACH", bits)
            patch.setattr(truth, "LOOKED_THROUGH", through)
            found = uncovered("x", labels, values, spec)
        wrong = np.zeros(len(pairs), np.bool_) if found is None else found
        assert wrong.tolist() == [not covers(label, value) for label, value in pairs]


@examples(40)
@given(table=tables(), data=st.data())
def test_a_change_of_one_cell_is_judged_as_by_the_twin(
    table: pa.Table, data: st.DataObject
) -> None:
    """With the claim of which row is which, which the twin does without: it is at least as strict."""
    policy = Policy.load({"columns": COLUMNS, "constraints": [{"k": 2}]})
    release = shoal.anonymize(table, policy, seed=3)
    rows: list[Row] = release.table.to_pylist()
    at = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from(["n", "w", "p"]))
    rows[at][name] = data.draw(st.sampled_from(["[1~2]", "{a, b}", "zz", "7", "*", None]))
    published = pa.Table.from_pylist(rows, release.table.schema)
    claim = Claim(claimed(release.table.to_pylist(), table.to_pylist()), len(table), NOBODY)

    def of(rows: pa.Table) -> Any:
        return lambda column: rows.column(column).combine_chunks()

    require_truth(policy, claim, of(release.table), of(table))
    try:
        require_truth(policy, claim, of(published), of(table))
    except VerificationFailed:
        return
    assert is_true(rows, table.to_pylist(), ["n", "w"])


NOBODY = np.zeros(0, np.int64)


def claimed(release: list[Row], table: list[Row]) -> Any:
    """Which row of the table each row of the release may be: a matching by brute force."""
    left, found = list(range(len(table))), []
    fits = [[i for i in left if is_true([row], [table[i]], ["n", "w"])] for row in release]

    def place(at: int, used: set[int]) -> list[int] | None:
        if at == len(release):
            return []
        for i in fits[at]:
            if i not in used and (rest := place(at + 1, used | {i})) is not None:
                return [i, *rest]
        return None

    found = place(0, set())
    assert found is not None
    return np.array(found, np.int64)


CELLS = st.lists(st.none() | st.sampled_from(["a", "b", "", "1", "1.0", "*"]), max_size=8)


@examples(200)
@given(CELLS, CELLS, st.lists(st.integers(0, 7), max_size=8), st.booleans())
def test_codes_are_compared_as_their_texts(
    first: list[str | None], second: list[str | None], rows: list[int], twice: bool
) -> None:
    chosen = [i for i in rows if i < len(second)][: len(first)]
    published = pa.array(first[: len(chosen)], pa.string())
    raw, at = pa.array(second, pa.string()), np.array(chosen, np.int64)
    coded = raw.dictionary_encode()
    if twice:  # a dictionary that has every text two times
        n = len(coded.dictionary)
        codes = [
            None if c is None else c + n * (i % 2) for i, c in enumerate(coded.indices.to_pylist())
        ]
        texts = pa.concat_arrays([coded.dictionary, coded.dictionary])
        coded = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), texts)
    expected, found = (
        different(published, raw, at),
        different(published.dictionary_encode(), coded, at),
    )
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("published", "raw", "wrong"),
    [
        (pa.array(["1.50", "2"]), pa.array([1.5, 2.0]), None),
        (pa.array([None, "2"]), pa.array([float("nan"), 2.0]), None),
        (pa.array([1, 2]), pa.array([1, 3]), [False, True]),
        (pa.array(["a", None]), pa.array(["a", "b"]), [False, True]),
        (pa.array(["a", ""]), pa.array(["a", None], pa.large_string()), None),
        (pa.array(["1964-03-07"]), pa.array([-2126], pa.date32()), None),
    ],
)
def test_cells_are_compared_by_what_they_mean(
    published: pa.Array, raw: pa.Array, wrong: list[bool] | None
) -> None:
    found = different(published, raw, np.arange(len(raw)))
    assert (None if found is None else found.tolist()) == wrong
