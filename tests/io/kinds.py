"""Tables of every kind of column, for round trips."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa

UTC = dt.UTC


def arrow_table() -> pa.Table:
    """Five rows of every type that a file or a frame may hold, with nulls among them."""
    return pa.table(
        {
            "int": pa.array([1, None, -(2**63), 2**63 - 1, 0], pa.int64()),
            "small": pa.array([1, None, -128, 127, 0], pa.int8()),
            "uint64": pa.array([2**64 - 1, None, 0, 2**63, 1], pa.uint64()),
            "decimal": pa.array([Decimal("1.10"), None, Decimal("-9.99"), Decimal(0), Decimal(7)]),
            "wide": pa.array([Decimal(10**37), None, Decimal(-(10**37)), Decimal(0), Decimal(1)]),
            "float": pa.array([1.5, None, float("nan"), float("inf"), -0.0]),
            "bool": pa.array([True, None, False, True, None]),
            "text": pa.array(["ä", None, "", " x ", 'a"b,\n']),
            "large": pa.array(["日本", None, "", "*", "NULL"], pa.large_string()),
            "date": pa.array(
                [dt.date(1964, 3, 7), None, dt.date(1, 1, 1), dt.date.max, dt.date.min]
            ),
            "time": pa.array([dt.time(23, 59, 59, 999999), None, dt.time(0), None, dt.time(1)]),
            "stamp": pa.array([dt.datetime(2020, 1, 1, 1, 2, 3, 4), None, None, None, None]),
            "zoned": pa.array(
                [
                    dt.datetime(2020, 7, 1, tzinfo=UTC),
                    None,
                    None,
                    dt.datetime(1969, 1, 1, tzinfo=UTC),
                    dt.datetime(2020, 1, 1, tzinfo=UTC),
                ],
                pa.timestamp("us", "Europe/Paris"),
            ),
            "span": pa.array([dt.timedelta(1), None, dt.timedelta(-1), None, dt.timedelta(0)]),
            "bytes": pa.array([b"\x00\xff", None, b"", b"a", b"b"]),
            "category": pa.DictionaryArray.from_arrays(
                pa.array([0, None, 1, 0, 1], pa.int8()), pa.array(["b", "a", "never used"])
            ),
            "ordered": pa.DictionaryArray.from_arrays(
                pa.array([2, None, 0, 1, 2], pa.int8()),
                pa.array(["low", "mid", "high"]),
                ordered=True,
            ),
            "list": pa.array([[1, None], None, [], [3], [4]], pa.list_(pa.int32())),
            "struct": pa.array([{"a": 1}, None, {"a": None}, {"a": 2}, {"a": 3}]),
            "nothing": pa.nulls(5),
        }
    )


SHUFFLED = [3, 0, 4, 1, 2]
