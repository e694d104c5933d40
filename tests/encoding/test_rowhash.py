"""The hash of a row: the same for equal rows of any Arrow type, however they lie in memory."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding import cells
from shoal.encoding.cells import hash_rows, spelled, words_of
from shoal.hierarchy.text import text_of
from shoal.seeds import LARGE

D = Decimal
COLUMNS: list[pa.Array] = [
    pa.array([1, 2, None, 1], pa.int8()),
    pa.array([1, 2, None, 1], pa.uint16()),
    pa.array([-1, 2**63 - 1, None, -1], pa.int64()),
    pa.array([2**64 - 1, 7, None, 2**64 - 1], pa.uint64()),
    pa.array(np.array([1.5, 2, 3, 1.5], np.float16)),
    pa.array([1.5, 2, None, 1.5], pa.float32()),
    pa.array([1.5, 2, None, 1.5], pa.float64()),
    pa.array([True, False, None, True]),
    pa.array([D("1.10"), D("2.20"), None, D("1.10")], pa.decimal128(9, 2)),
    pa.array([D("1.10"), D("2.20"), None, D("1.10")], pa.decimal32(5, 2)),
    pa.array([D("1.10"), D("2.20"), None, D("1.10")], pa.decimal256(60, 2)),
    pa.array([dt.date(2020, 1, 1), dt.date(1950, 1, 1), None, dt.date(2020, 1, 1)]),
    pa.array([dt.date(2020, 1, 1), dt.date(1950, 1, 1), None, dt.date(2020, 1, 1)], pa.date64()),
    pa.array([dt.time(1), dt.time(2), None, dt.time(1)], pa.time32("ms")),
    pa.array([dt.time(1), dt.time(2), None, dt.time(1)], pa.time64("ns")),
    pa.array([dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1), None, dt.datetime(2020, 1, 1)]),
    pa.array([1, 2, None, 1], pa.timestamp("s", "Europe/Paris")),
    pa.array([1, 2, None, 1], pa.duration("s")),
    pa.array(
        [pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([0, 2, 3]), None, pa.MonthDayNano([1, 2, 3])]
    ),
    pa.array(["a", "b", None, "a"], pa.string()),
    pa.array(["", "北京", None, ""], pa.large_string()),
    pa.array(["a", "b", None, "a"], pa.string_view()),
    pa.array([b"a", b"\xff", None, b"a"], pa.binary()),
    pa.array([b"a", b"b", None, b"a"], pa.large_binary()),
    pa.array([b"a", b"b", None, b"a"], pa.binary_view()),
    pa.array([b"aa", b"bb", None, b"aa"], pa.binary(2)),
    pa.array([[1], [2, 3], None, [1]]),
    pa.array([{"a": 1}, {"a": 2}, None, {"a": 1}]),
    pa.array([[("a", 1)], [("b", 1)], None, [("a", 1)]], pa.map_(pa.string(), pa.int64())),
    pa.array(["a", "b", None, "a"]).dictionary_encode(),
    pa.array([5, 6, None, 5]).dictionary_encode(),
    pa.array([b"a" * 16, b"b" * 16, None, b"a" * 16], pa.uuid()),
]
any_type = pytest.mark.parametrize("column", COLUMNS, ids=[str(c.type) for c in COLUMNS])


@any_type
def test_equal_values_have_equal_words_and_others_do_not(column: pa.Array) -> None:
    words = words_of(column).tolist()
    assert words[0] == words[3]
    assert len(set(words)) == 3


@any_type
def test_words_do_not_depend_on_where_a_value_lies(column: pa.Array) -> None:
    words = words_of(column).tolist()
    assert words_of(column.slice(1, 2)).tolist() == words[1:3]
    assert words_of(column.slice(3)).tolist() == words[3:]
    turned = pa.concat_arrays([column.slice(i, 1) for i in (3, 2, 1, 0)])
    assert words_of(turned).tolist() == words[::-1]
    longer = pa.concat_arrays([column, column])
    assert words_of(longer.slice(2, 4)).tolist() == words[2:] + words[:2]


def test_columns_without_any_value() -> None:
    gone = words_of(pa.array([None, 1])).tolist()[0]
    empty = pa.DictionaryArray.from_arrays(
        pa.array([None, None], pa.int32()), pa.array([], pa.string())
    )
    for column in (pa.nulls(2), pa.nulls(2, pa.string()), pa.nulls(2, pa.int64()), empty):
        assert words_of(column).tolist() == [gone, gone]


def test_a_missing_value_is_not_an_empty_one() -> None:
    assert len(set(words_of(pa.array([None, "", "0"])).tolist())) == 3
    assert len(set(words_of(pa.array([None, 0])).tolist())) == 2


def test_the_same_text_has_one_word_in_every_kind_of_column() -> None:
    texts = pa.array(["a", "longer than eight bytes", None])
    words = words_of(texts).tolist()
    for other in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        assert words_of(texts.cast(other)).tolist() == words


texts = st.lists(st.text(max_size=20), min_size=1, max_size=20)


@given(texts, st.integers(0, 2**63 - 1))
def test_rows_hash_alike_in_any_order(column: list[str], seed: int) -> None:
    codes = np.array([len(text) for text in column], np.int32)
    hashes = hash_rows(len(column), [codes], [pa.array(column)], seed).tolist()
    back = hash_rows(len(column), [codes[::-1]], [pa.array(column[::-1])], seed).tolist()
    assert back == hashes[::-1]
    assert len(set(hashes)) == len(set(column))


@pytest.mark.parametrize("seed", [5, LARGE + 5])
def test_rows_hash_alike_however_many_at_a_time(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    codes = np.array([7, 3, 7, 1], np.int32)
    texts = pa.array(["x", "a", "é", None, "a"]).slice(1)
    columns = [*(one for one in COLUMNS if len(one) == 4), texts, texts.dictionary_encode()]

    def hashed(rows: slice) -> list[int]:
        some = [one.slice(rows.start, rows.stop - rows.start) for one in columns]
        return hash_rows(len(codes[rows]), [codes[rows]], some, seed).tolist()

    one_by_one = [word for i in range(4) for word in hashed(slice(i, i + 1))]
    for at_once in (1, 3, 4, 5):
        monkeypatch.setattr(cells, "AT_ONCE", at_once)
        assert hashed(slice(0, 4)) == one_by_one


def test_every_part_of_a_row_and_the_seed_count() -> None:
    one, two = np.array([1], np.int32), np.array([2], np.int32)
    a, b = pa.array(["a"]), pa.array(["b"])
    found = [
        hash_rows(1, [one], [a], 0),
        hash_rows(1, [two], [a], 0),
        hash_rows(1, [one], [b], 0),
        hash_rows(1, [one], [a], 1),
        hash_rows(1, [one], [a, b], 0),
        hash_rows(1, [one], [b, a], 0),
        hash_rows(1, [], [], 0),
        hash_rows(1, [one], [a], 2**63 - 1),
    ]
    assert len({int(words[0]) for words in found}) == len(found)


def test_texts_that_share_bytes_at_a_border_differ() -> None:
    same = ["a", "a\0", "a\0\0", "12345678", "12345678\0", "123456781"]
    assert len(set(words_of(pa.array(same)).tolist())) == len(same)


@any_type
def test_spelled_values_have_the_words_of_their_texts(column: pa.Array) -> None:
    """A table has the same hashes whether its values have types or are texts, as in a CSV file."""
    words = words_of(spelled(column)).tolist()
    assert words[0] == words[3]
    assert len(set(words)) == 3
    kind, types = column.type, pa.types
    if not (types.is_nested(kind) or types.is_interval(kind) or kind == pa.binary()):
        assert words == words_of(text_of(column)).tolist()


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_spelled_floats_that_differ_stay_different(kind: pa.DataType) -> None:
    values = np.array([0.0, -0.0, np.nan, 1.0, 0.1], kind.to_pandas_dtype())
    column = pa.concat_arrays([pa.array(values), pa.nulls(1, kind)])
    assert len(set(words_of(spelled(column)).tolist())) == 6
    assert words_of(spelled(column))[4] == words_of(pa.array(["0.1"]))[0] or kind == pa.float16()
