import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchy.text import text_of

NOON = datetime.datetime(1964, 3, 7, 12, 30)
MIDNIGHT = datetime.datetime(1964, 3, 7)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([39, -1, None]), ["39", "-1", None]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([39.0, 0.1, -0.0, 1e15, None]), ["39", "0.1", "0", "1000000000000000", None]),
        (pa.array([1e300, float("nan")]), ["1e+300", "nan"]),
        (pa.array([0.1, 1e10], pa.float32()), ["0.1", "10000000000"]),
        (pa.array(np.array([39, 0.5], np.float16)), ["39", "0.5"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([datetime.date(1964, 3, 7), None]), ["1964-03-07", None]),
        (pa.array([NOON, MIDNIGHT], pa.timestamp("s")), ["1964-03-07T12:30:00", "1964-03-07"]),
        (pa.array([NOON, MIDNIGHT], pa.timestamp("ns")), ["1964-03-07T12:30:00", "1964-03-07"]),
        (
            pa.array([NOON + datetime.timedelta(microseconds=120_000)], pa.timestamp("us")),
            ["1964-03-07T12:30:00.12"],
        ),
        (pa.array([MIDNIGHT], pa.timestamp("us", "UTC")), ["1964-03-07T00:00:00Z"]),
        (pa.array([NOON], pa.timestamp("us", "Europe/Paris")), ["1964-03-07T13:30:00+01:00"]),
        (pa.array([datetime.time(12, 30)]), ["12:30:00"]),
        (pa.array([datetime.time(0, 0)]), ["00:00:00"]),
        (pa.array([Decimal("39.50"), None]), ["39.50", None]),
        (pa.array([Decimal("0.0000000012")]), ["0.0000000012"]),
        (pa.array([Decimal("1200")], pa.decimal128(10, -2)), ["1200"]),
        (pa.array(["a", None, ""]).dictionary_encode(), ["a", None, ""]),
        (pa.array([1.0, 2.5]).dictionary_encode(), ["1", "2.5"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
        (pa.array(["a"], pa.string_view()), ["a"]),
        (pa.array([b"a"]), ["a"]),
        (pa.array([b"\xff"]), ["b'\\xff'"]),
        (pa.array([b"a", b"\xff", None, "é".encode(), b""]), ["a", "b'\\xff'", None, "é", ""]),
        (pa.array([b"b'a'", b'b"', b"b"]), ["b\"b'a'\"", "b'b\"'", "b"]),
        (pa.array([b"aa", b"\xff\xff"], pa.binary(2)), ["aa", "b'\\xff\\xff'"]),
        (pa.array([b"aa", b"\xff"], pa.binary_view()), ["aa", "b'\\xff'"]),
        (pa.array([b"aa", b"\xff"], pa.large_binary()), ["aa", "b'\\xff'"]),
        (pa.array([None, None]), [None, None]),
        (pa.array([[1, 2], None]), ["[1, 2]", None]),
        (pa.chunked_array([["a"], ["b"]]), ["a", "b"]),
        (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None], pa.int8())), ["1", None]),
        (pa.array([], pa.float64()), []),
    ],
)
def test_texts(values: Any, texts: list[str | None]) -> None:
    found = text_of(values)
    assert found.type == pa.string()
    assert found.to_pylist() == texts


@given(st.lists(st.floats(allow_nan=False)))
def test_a_float_comes_back_from_its_text(values: list[float]) -> None:
    assert [float(t) for t in text_of(pa.array(values, pa.float64())).to_pylist()] == values


LETTERS = st.text("b'\"\\xf*", max_size=5).map(str.encode)


@given(
    st.lists(st.binary(max_size=3) | LETTERS | st.binary(max_size=3).map(lambda v: str(v).encode()))
)
def test_bytes_read_alike_wherever_they_stand(values: list[bytes]) -> None:
    texts = text_of(pa.array(values, pa.binary())).to_pylist()
    assert texts == [text_of(pa.array([value]))[0].as_py() for value in values]
    assert len(set(texts)) == len(set(values))


@given(st.lists(st.datetimes()))
def test_a_moment_comes_back_from_its_text(values: list[datetime.datetime]) -> None:
    texts = text_of(pa.array(values, pa.timestamp("us"))).to_pylist()
    assert [datetime.datetime.fromisoformat(text) for text in texts] == values


@given(st.lists(st.text()))
def test_text_stays_as_it_is(values: list[str]) -> None:
    assert text_of(pa.array(values, pa.string())).to_pylist() == values
