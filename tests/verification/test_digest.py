"""The digest of rows: the same in any order and anywhere, another for any other rows."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.duckdb.session import DuckSession
from shoal.engines.session_release import SessionRelease
from shoal.hierarchy.text import text_of
from shoal.verification import digest
from shoal.verification.digest import Fingerprint, canonical, content_of, digest_of, fingerprint
from tests.examples import examples

TEXTS = st.sampled_from(
    ["", "a", "b", "ab", "*", "1.5", "1.50", "2020-01-01 00:00:00", "ü", "\x00"]
)
CELLS = st.one_of(st.none(), TEXTS)
ROWS = st.lists(
    st.tuples(CELLS, CELLS, st.sampled_from([None, 1.0, 1.5, -0.0, 2e300])), max_size=30
)
NAMES = ["one", "two", "three"]
KINDS = [pa.string(), pa.string(), pa.float64()]
Row = tuple[Any, ...]


def table_of(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    return pa.table([pa.array(c, k) for c, k in zip(columns, KINDS, strict=True)], NAMES)


def plain(rows: list[Row]) -> Counter[Row]:
    """What of rows counts, told plainly."""
    same = {"": None, "1.50": "1.5", "2020-01-01 00:00:00": "2020-01-01", None: None}
    return Counter(
        (same.get(a, a), same.get(b, b), None if c is None else c + 0) for a, b, c in rows
    )


PARTS = st.tuples(
    st.sampled_from(["", "-", "+"]),
    st.sampled_from(["", "0", "7", "10", "100", "007"]),
    st.sampled_from(["", ".", ".0", ".5", ".50", ".000", ".0070"]),
    st.sampled_from(["", "", "", "e0", "E2", "e-3", "x"]),
)


def as_one_number(text: str) -> str:
    """One text for all ways to write a number, by decimal arithmetic."""
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", text):
        return text
    if not set(text) & set(".eE"):
        return text
    written = format(Decimal(text), "f")
    written = written.rstrip("0").rstrip(".") if "." in written else written
    return "0" if written == "-0" else written


@examples(60)
@given(texts=st.lists(PARTS.map("".join).filter(bool), max_size=12))
def test_numbers_are_one_text_each(texts: list[str]) -> None:
    found = canonical(pa.array(texts, pa.string()))
    assert found.to_pylist() == [as_one_number(text) for text in texts]
    assert len(set(found.dictionary.to_pylist())) == len(found.dictionary)


@examples(60)
@given(
    numbers=st.lists(
        st.none() | st.sampled_from([0.0, -0.0, 1e300, 1e-9, 5.0, -2.50, 617.66]) | st.floats(),
        max_size=8,
    ),
    kind=st.sampled_from([pa.float64(), pa.float32()]),
)
def test_floats_are_the_texts_of_their_numbers(
    numbers: list[float | None], kind: pa.DataType
) -> None:
    with np.errstate(over="ignore"):
        column = pa.array(np.array([n or 0.0 for n in numbers], kind.to_pandas_dtype()), kind)
    column = pc.if_else(pa.array([n is not None for n in numbers], pa.bool_()), column, None)
    found = canonical(column)
    texts = text_of(column).to_pylist()
    assert found.to_pylist() == [None if one is None else as_one_number(one) for one in texts]
    assert len(set(found.dictionary.to_pylist())) == len(found.dictionary)


@pytest.fixture(scope="module")
def session() -> Iterator[DuckSession]:
    made = DuckSession("1GB")
    yield made
    made.close()


def in_session(session: DuckSession, table: pa.Table) -> Fingerprint:
    held = table.rename_columns(["p0", "p1", "p2"])
    whole = held.combine_chunks().to_batches()
    empty = pa.RecordBatch.from_pylist([], held.schema)
    session.keep("numbers", f"SELECT * FROM range({len(table)}) AS found(i)")

    def rows(batch: pa.RecordBatch) -> pa.RecordBatch:
        return (whole[0] if whole else empty).take(batch.column("i"))

    session.map("release", "SELECT i FROM numbers", rows, held.schema)
    return SessionRelease(session, "release", NAMES, held.schema).fingerprint


@examples(30)
@given(rows=ROWS, other=ROWS, seed=st.integers(0, 99))
def test_equal_for_the_same_rows_alone(rows: list[Row], other: list[Row], seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    found = digest_of(table_of(rows))
    assert digest_of(table_of(shuffled)) == found
    assert (digest_of(table_of(other)) == found) == (plain(other) == plain(rows))
    for i, (a, b, c) in enumerate(rows):
        changed = [*rows[:i], (a, "z", c) if b != "z" else (a, b, 7.0), *rows[i + 1 :]]
        assert digest_of(table_of(changed)) != found


@examples(20)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_any_order_also_where_all_hashes_are_one(rows: list[Row], seed: int) -> None:
    def one(n: int, *_: object) -> Any:
        return np.zeros(n, np.uint64)

    shuffled = random.Random(seed).sample(rows, len(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digest, "hash_rows", one)
        first, second = digest_of(table_of(rows)), digest_of(table_of(shuffled))
        assert first == second
        assert digest_of(table_of([*rows, ("z", "z", None)])) != first


def test_rows_of_one_hash_come_by_their_texts_and_missing_ones_last() -> None:
    texts = pa.array(["b", None, "a", ""]).dictionary_encode()
    found = digest.piece_of([texts], np.zeros(4, np.uint64), np.ones(4, np.int64))
    assert found.some[0].to_pylist() == ["", "a", "b", None]


@examples(15)
@given(rows=ROWS, seed=st.integers(0, 99), piece=st.sampled_from([1, 7, 250_000]))
def test_the_same_in_a_session(
    session: DuckSession, rows: list[Row], seed: int, piece: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digest, "PIECE", piece)
        here = fingerprint(table_of(rows))
        there = in_session(session, table_of(random.Random(seed).sample(rows, len(rows))))
    assert there.digest == here.digest
    assert there.some.to_pylist() == here.some.to_pylist()
    assert [c.tolist() for c in there.times] == [c.tolist() for c in here.times]


@given(rows=ROWS)
def test_some_rows_with_how_often_their_cells_occur(rows: list[Row]) -> None:
    found = fingerprint(table_of(rows))
    counted = plain(rows)
    shown = [tuple(row.values()) for row in found.some.to_pylist()]
    texts = {
        (a, b, None if c is None else f"{c:.0f}" if c == int(c) and c < 1e9 else c)
        for a, b, c in counted
    }
    assert len(shown) == len(set(shown)) == min(10, len(counted))
    for i, row in enumerate(shown):
        assert row[:2] in {each[:2] for each in texts}
        for j in (0, 1):
            times = sum(n for each, n in counted.items() if each[j] == row[j])
            assert found.times[j][i] == times


def test_names_and_their_order_count() -> None:
    table = table_of([("a", "a", 1.0)])
    assert digest_of(table) != digest_of(table.rename_columns(["one", "two", "3"]))
    assert digest_of(table.select(["two", "one", "three"])) != digest_of(table)


def test_bytes_read_as_a_file_tells_them() -> None:
    held, told = [b"abc", b"\xff", None, b"a\\"], ["abc", "\\xFF", None, "a\\x5C"]
    assert digest_of(pa.table({"x": held})) == digest_of(pa.table({"x": told}))


def test_counts_and_texts_do_not_run_into_each_other() -> None:
    one = "\x01" + "\0" * 7
    told = [([one + one + "ab"], [1]), (["a", "b"], [1, 18])]
    found = {
        digest.piece_of(
            [pa.array(texts).dictionary_encode()],
            np.arange(len(texts), dtype=np.uint64),
            np.array(counts, np.int64),
        ).digest
        for texts, counts in told
    }
    assert len(found) == 2


def test_minus_nothing_is_nothing() -> None:
    for told in ("-0.0", "0.0", "-0e5", "0"):
        held = pa.table({"x": [1.5, -0.0, 0.0]})
        assert digest_of(held) == digest_of(pa.table({"x": ["1.5", told, "0.0"]})), told


def test_the_digest_of_a_certificate_holds_for_good() -> None:
    """Certificates state it: another way to compute it would make all of them fail."""
    texts = pa.array(["a", None, "b c", "a", "1.50", "2020-01-01 00:00:00"])
    table = pa.table({"x": texts, "y": [1.5, 2, None, 1.5, -0.0, 3e20], "z": [1, 2, 3, 1, 5, 6]})
    assert digest_of(table) == ("fbcceab2cbab95102f8701be97176d31605253766dcb28cf201fb0aed0518ff9")
    assert digest_of(table.slice(0, 0)) == (
        "beff0bd334e07e901ee3ca4271266c94a029c2fa714c0a77f8d711eade0cc31a"
    )


def test_rows_are_parted_by_their_number() -> None:
    assert [digest.n_pieces(n) for n in (0, 249_999, 250_000, 1_000_000)] == [1, 1, 2, 5]


def test_moments_are_one_text_each() -> None:
    told = ["2020-01-01 00:00:00", "2020-01-01T00:00:00.000", "2020-01-01", "2020-01-01T06:00+00"]
    found = canonical(pa.array(told))
    assert found.to_pylist() == ["2020-01-01"] * 3 + ["2020-01-01T06:00Z"]
    assert sorted(found.dictionary.to_pylist()) == ["2020-01-01", "2020-01-01T06:00Z"]


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (pa.array([[1], [2, 3], None]), ["[1]", "[2, 3]", None]),
        (pa.array([Decimal("1.50"), Decimal("2.00")]), ["1.5", "2"]),
        (pa.array(["b", "a", "b"]).dictionary_encode(), ["b", "a", "b"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([b" ~", b"\x7f\x1f", b"'"]), [" ~", "\\x7F\\x1F", "\\x27"]),
    ],
)
def test_values_of_other_types_are_their_texts(held: pa.Array, told: list[str | None]) -> None:
    assert canonical(held).to_pylist() == told


def test_how_often_texts_occur() -> None:
    held = pa.array(["a", None, "b", "a", None, "a"]).dictionary_encode()
    some = pa.array(["b", None, "a", "z"], pa.large_string())
    assert digest.times_of(held, some).tolist() == [1, 2, 3, 0]
    assert digest.times_of(held.filter(held.is_valid()), some).tolist() == [1, 0, 3, 0]


@examples(60)
@given(st.lists(CELLS, max_size=20))
def test_codes_make_no_difference(texts: list[str | None]) -> None:
    plain = pa.array(texts, pa.string())
    coded = canonical(plain.dictionary_encode())
    assert coded.to_pylist() == canonical(plain).to_pylist()
    assert len(set(coded.dictionary.to_pylist())) == len(coded.dictionary)


@examples(60)
@given(ROWS, ROWS, st.randoms())
def test_contents_differ_where_digests_do(
    first: list[Any], second: list[Any], draws: random.Random
) -> None:
    def table(rows: list[Any]) -> pa.Table:
        kinds = (pa.string(), pa.string(), pa.float64())
        return pa.table(
            [pa.array([row[j] for row in rows], kind) for j, kind in enumerate(kinds)],
            ["a", "b", "c"],
        )

    mixed = draws.sample(first, len(first))
    assert content_of(table(mixed)) == content_of(table(first))
    same = digest_of(table(first)) == digest_of(table(second))
    assert (content_of(table(first)) == content_of(table(second))) == same
