"""What a unit is: one for whole numbers, a day for dates, a rank for everything else."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from shoal.encoding.columns import ColumnSpec, encode_quasi
from shoal.encoding.domain import Domain

DAY = datetime.date


def domain(values: Any, **how: Any) -> Domain:
    column = values if isinstance(values, pa.Array) else pa.array(values)
    return encode_quasi("c", column, ColumnSpec(**how))[0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([30, 20, 45], [0, 10, 25]),
        (["30", "20", "45"], [0, 10, 25]),
        ([30.0, 20.0, None, 45.0], [0, 10, 25, 25]),
        ([0.5, 20.0, 45.0], [0, 1, 2]),
        ([Decimal(3), Decimal(9)], [0, 6]),
        ([Decimal("3.5"), Decimal("9.0")], [0, 1]),
        ([DAY(2020, 2, 28), DAY(2020, 3, 1)], [0, 2]),
        (["28.02.2020", "01.03.2020"], [0, 2]),
        (pa.array([DAY(2020, 2, 28), DAY(2020, 3, 1)], pa.date64()), [0, 2]),
        ([datetime.datetime(2020, 2, 28), datetime.datetime(2020, 3, 1)], [0, 2]),
        ([datetime.datetime(2020, 2, 28, 7), datetime.datetime(2020, 3, 1)], [0, 1]),
        ([-(2**62), 2**62, 3], [0, 1, 2]),
        ([2**62, 2**62 + 3], [0, 3]),
        (pa.array([0, 2**64 - 1], pa.uint64()), [0, 1]),
        ([str(10**30), str(10**30 + 1)], [0, 1]),
        ([1e300, 1.0], [0, 1]),
        ([7], [0]),
        ([7, None], [0, 0]),
    ],
)
def test_units(values: Any, expected: list[int]) -> None:
    found = domain(values)
    assert found.places.tolist() == expected
    assert found.width == expected[-1] + 1


def test_labels_are_measured_on_their_rank_in_the_whole_list() -> None:
    found = domain(["low", "high"], order=("none", "low", "mid", "high"))
    assert found.places.tolist() == [0, 1, 2, 3]
    assert domain(["low", None], order=("none", "low", "mid", "high")).width == 4


def test_values_without_an_order_count_one_each() -> None:
    assert domain(["a", "b", "c", "c", None]).width == 4
