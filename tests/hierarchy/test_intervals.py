import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import HierarchyError
from shoal.hierarchy.intervals import Intervals

from . import plain
from .checks import assert_sound, path

HERE = Path()


def paths(spec: Intervals, values: pa.Array) -> list[tuple[str, ...] | None]:
    hierarchy, codes = spec.build(values, "x", HERE)
    assert_sound(hierarchy)
    return [path(hierarchy, code) if code >= 0 else None for code in codes.tolist()]


def test_hours() -> None:
    found = paths(Intervals((5, 10, 20), start=20), pa.array([44, 30, 34, 35, 59]))
    assert found == [
        ("44", "[40-45)", "[40-50)", "[40-60)", "*"),
        ("30", "[30-35)", "[30-40)", "[20-40)", "*"),
        ("34", "[30-35)", "[30-40)", "[20-40)", "*"),
        ("35", "[35-40)", "[30-40)", "[20-40)", "*"),
        ("59", "[55-60)", "[50-60)", "[40-60)", "*"),
    ]


def test_leaves_rise_by_number() -> None:
    hierarchy, codes = Intervals((10,)).build(pa.array(["10", "9", "-3", "9.0"]), "x", HERE)
    assert hierarchy.labels == (("-3", "9", "9.0", "10"), ("[-10-0)", "[0-10)", "[10-20)"), ("*",))
    assert codes.tolist() == [3, 1, 0, 2]


def test_tenths_fall_where_they_are_written() -> None:
    values = [i / 10 for i in range(-20, 21)]
    for value, found in zip(values, paths(Intervals((0.1, 0.2)), pa.array(values)), strict=True):
        assert found is not None
        assert found[1] == plain.interval(repr(value), "0.1", "0")
    assert paths(Intervals((0.1,)), pa.array(["0.3", "0.30", "0.29999999999999999999"])) == [
        ("0.3", "[0.3-0.4)", "*"),
        ("0.30", "[0.3-0.4)", "*"),
        ("0.29999999999999999999", "[0.2-0.3)", "*"),
    ]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([7, 12], pa.int8()),
        pa.array([7, 12], pa.uint64()),
        pa.array([7, 12], pa.float32()),
        pa.array([Decimal(7), Decimal(12)]),
        pa.array(["7", " 12 "]),
        pa.array(["+7", "1.2e1"]),
        pa.array(["7.", "12"]),
        pa.array(["7", "12"]).dictionary_encode(),
    ],
)
def test_every_kind_of_number(values: pa.Array) -> None:
    found = [p[1] for p in paths(Intervals((5,)), values) if p]
    assert found == ["[5-10)", "[10-15)"]


def test_what_is_no_number_is_not_covered() -> None:
    texts = ["x", "", "nan", "inf", "1_000", "1e9999", "٣", "1e99999", "0" * 500, "0x1f", "1,5"]
    assert paths(Intervals((5,)), pa.array(texts)) == [None] * len(texts)
    assert paths(Intervals((5,)), pa.array([float("nan"), float("inf")])) == [None, None]
    assert paths(Intervals((5,)), pa.array([], pa.int64())) == []


def test_very_large_and_very_small_numbers() -> None:
    texts = ["9" * 30, "-" + "9" * 40, "1e-300", "-1e-300", "5e300"]
    found = paths(Intervals((5,)), pa.array(texts))
    for text, labels in zip(texts, found, strict=True):
        assert labels == (text, plain.interval(text, "5", "0"), "*")
    huge = 10**25
    assert paths(Intervals((huge,), start=1), pa.array([1, 0]))[0] == ("1", f"[1-{huge + 1})", "*")
    assert paths(Intervals((5,)), pa.array([2**63 - 1, -(2**63)]))[0] == (
        "9223372036854775807",
        "[9223372036854775805-9223372036854775810)",
        "*",
    )


TENTHS = st.integers(-3000, 3000).map(lambda n: str(Decimal(n) / 100))
FLOATS = st.floats(-1e6, 1e6, allow_nan=False).map(repr)


@given(
    st.lists(st.one_of(TENTHS, FLOATS, st.integers(-(10**20), 10**20).map(str)), unique=True),
    st.sampled_from([("5", "10", "20"), ("0.1", "0.5"), ("0.25", "1"), ("7",), ("1e3", "2e3")]),
    st.sampled_from(["0", "20", "-0.3", "0.125"]),
)
def test_labels_are_those_of_the_plain_twin(
    texts: list[str], widths: tuple[str, ...], start: str
) -> None:
    spec = Intervals(tuple(float(w) for w in widths), start=float(start))
    for text, found in zip(texts, paths(spec, pa.array(texts, pa.string())), strict=True):
        assert found == (text, *(plain.interval(text, w, start) for w in widths), "*")


@given(st.lists(st.integers(-1000, 1000), unique=True), st.randoms())
def test_the_order_of_the_values_does_not_matter(values: list[int], random: Any) -> None:
    shuffled = random.sample(values, len(values))
    spec = Intervals((5, 10))
    built = [spec.build(pa.array(v, pa.int64()), "x", HERE)[0] for v in (values, shuffled)]
    assert built[0].labels == built[1].labels


def test_widths_that_do_not_fit_name_the_torn_interval() -> None:
    text = (
        "intervals: width 12 is not a multiple of width 5, so '[30-35)' has two parents, '[20-32)' "
        "and '[32-44)'. Let each width be a multiple of the one before, such as 5 and 15."
    )
    with pytest.raises(HierarchyError, match=re.escape(text)):
        Intervals((5, 12), start=20)
    with pytest.raises(
        HierarchyError, match=re.escape("width 0.25 is not a multiple of width 0.1")
    ):
        Intervals((0.1, 0.25))


def test_tenths_of_tenths_fit() -> None:
    # 0.3 / 0.1 is not 3 in binary
    assert Intervals((0.1, 0.3, 0.9)).widths == (0.1, 0.3, 0.9)


@pytest.mark.parametrize("widths", [(), (0,), (-5,), (5, -5)])
def test_widths_must_be_positive(widths: tuple[int, ...]) -> None:
    with pytest.raises(HierarchyError, match="allowed is a list of widths above 0"):
        Intervals(widths)


@pytest.mark.parametrize("widths", [(5, 5), (10, 5)])
def test_widths_must_rise(widths: tuple[int, ...]) -> None:
    with pytest.raises(HierarchyError, match=r"width 5 comes after \d+; widths must increase"):
        Intervals(widths)


def test_null_starts_at_zero() -> None:
    assert paths(Intervals((5,), start=None), pa.array([3])) == [("3", "[0-5)", "*")]
