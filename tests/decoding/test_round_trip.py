"""Whatever is decoded contains the raw value, for every method and every kind of column."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import plugins
from tests.decoding.plain import parse
from tests.examples import examples
from tests.methods.everyone import COLUMNS, SIZES, everyone, policy, write_hierarchies

HIERARCHIES = {
    "age": {"intervals": [5, 20]},
    "income": {"intervals": [100, 1000]},
    "born": {"date": ["month", "year"]},
    "size": {"tree": {"any": SIZES}},
    "smoker": {"tree": {"any": ["true", "false"]}},
}


def released(folder: Path, method: str, rows: int = 40) -> tuple[pa.Table, shoal.Release[Any]]:
    """A table of every kind of column and its release, row by row beside it."""
    write_hierarchies(folder)
    table = everyone(rows, seed=3)
    keys: dict[str, Any] = {"order": "kept", "suppressed": "starred", "seed": 1}
    keys["constraints"] = [{"k": 3}]
    asked = policy(folder, {"name": method}, **keys)
    if plugins.find("methods", method).along_hierarchies:
        columns = dict(COLUMNS)
        for name, hierarchy in HIERARCHIES.items():
            columns[name] = {"role": "quasi", "hierarchy": hierarchy}
        asked = {**asked, "columns": columns | {"town": "identifier"}}  # no tree has an empty name
    if method == "l-clustering":
        asked["constraints"] = [{"l": 2, "of": "ill"}]
    return table, shoal.anonymize(table, asked)


@pytest.mark.parametrize("method", sorted(plugins.methods()))
def test_every_method(method: str, tmp_path: Path) -> None:
    table, release = released(tmp_path, method)
    bounds = release.decode(numbers="bounds", categories="list")
    intervals = release.decode(numbers="interval", categories="indicators")
    drawn = release.decode(numbers="sample", categories="sample")
    middle, mean = release.decode(), release.decode(numbers="expected")
    for name in release.policy.quasi:
        raw = [day(v) for v in table[name].to_pylist()]
        labels = release.table[name].to_pylist()
        if f"{name}_low" in bounds.column_names:
            low, high = (bounds[f"{name}_{end}"].to_pylist() for end in ("low", "high"))
            pairs = intervals[name].to_pylist()
            for i, value in enumerate(raw):
                if value is None:
                    assert low[i] is None
                    continue
                assert low[i] is None or low[i] <= value <= high[i]
                assert (low[i] is None) == (labels[i] == "*")
                assert pairs[i] is None or pairs[i] == {"low": low[i], "high": high[i]}
                for inside in (middle[name], mean[name], drawn[f"{name}_sampled"]):
                    found = inside[i].as_py()
                    assert low[i] is None or low[i] <= found <= high[i]
        elif pa.types.is_list(bounds[name].type):
            texts = [text(value) for value in raw]
            lists = bounds[name].to_pylist()
            for i, value in enumerate(texts):
                known = None if lists[i] is None else [text(each) for each in lists[i]]
                assert known is None or value in known
                shown = {None: "<missing>", "<missing>": "\\<missing>"}.get(value, value)
                flag = f"{name}={shown}"
                assert flag not in intervals.column_names or intervals[flag][i].as_py() == 1
                sampled = text(drawn[f"{name}_sampled"][i].as_py())
                assert known is None or sampled in known
        else:
            assert any("*" in str(label) for label in labels)  # masked, which nobody can list
    ward = [None if each == "*" else int(each) for each in release.table["ward"].to_pylist()]
    assert bounds["ward"].to_pylist() == ward
    check_ends_and_members(table, release)


def day(value: Any) -> Any:
    """A date for a text that is one."""
    is_date = isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value)
    return date.fromisoformat(value) if is_date else value


def text(value: Any) -> str | None:
    return str(value).lower() if isinstance(value, bool) else None if value is None else str(value)


def check_ends_and_members(table: pa.Table, release: shoal.Release[Any]) -> None:
    """What the estimates rely on, counted without any code of the package: the ends of a range and the
    members of a set are values of the class."""
    rows = release.table.select(release.policy.quasi).to_pylist()
    classes: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        classes.setdefault(repr(row), []).append(i)
    for name in release.policy.quasi:
        raw = [text(value) for value in table[name].to_pylist()]
        for members in classes.values():
            kind, said = parse(rows[members[0]][name])
            if kind == "set" or (kind == "range" and name in ("age", "income", "born", "size")):
                assert {bare(end) for end in said} <= {bare(raw[i]) for i in members}


def bare(number: str | None) -> str | None:
    return number if number is None else re.sub(r"\.0$", "", number)


DAY = date(2020, 1, 1)
KINDS: dict[str, tuple[st.SearchStrategy[Any], pa.DataType]] = {
    "integer": (st.integers(-5, 9), pa.int64()),
    "large": (st.integers(-(2**70), 2**70), pa.decimal128(38, 0)),
    "float": (
        st.floats(-1e6, 1e6, allow_nan=False) | st.sampled_from([0.1, 0.3, 1e-300]),
        pa.float64(),
    ),
    "decimal": (st.decimals(-99, 99, places=3), pa.decimal128(12, 3)),
    "date": (st.integers(-900, 900).map(lambda d: DAY + timedelta(days=d)), pa.date32()),
    "time": (st.integers(-(10**13), 10**13).map(lambda n: n * 1000), pa.timestamp("us")),
    "zoned": (st.integers(-(10**13), 10**13), pa.timestamp("us", "UTC")),
    "clock": (st.integers(0, 86_399_999_999), pa.time64("us")),
    "duration": (st.integers(-(10**12), 10**12), pa.duration("us")),
}


@pytest.mark.parametrize("kind", KINDS)
@examples(5)
@given(data=st.data(), k=st.integers(1, 4))
def test_bounds_of_every_type(kind: str, data: st.DataObject, k: int) -> None:
    values, arrow = KINDS[kind]
    raw = data.draw(st.lists(values | st.none(), min_size=4, max_size=12).filter(any_known))
    table = pa.table({"x": pa.array(raw, arrow)})
    release = shoal.anonymize(table, quasi="x", kinds={"x": "ordered"}, k=k, order="kept", seed=2)
    bounds = release.decode(numbers="bounds")
    for i, value in enumerate(table["x"].to_pylist()):
        low, high = bounds["x_low"][i].as_py(), bounds["x_high"][i].as_py()
        if value is None:
            assert low is high is None
        elif low is not None:
            assert as_exact(low) <= as_exact(value) <= as_exact(high)
    if k == 1:
        back = release.decode()["x"]
        assert [as_exact(v) for v in back.to_pylist()] == [
            as_exact(v) for v in table["x"].to_pylist()
        ]


def any_known(values: list[Any]) -> bool:
    return any(value is not None for value in values)


def as_exact(value: Any) -> Any:
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # a midnight is written as its date
    return value


@examples(12)
@given(
    ages=st.lists(st.integers(0, 110), min_size=6, max_size=20),
    base=st.sampled_from([None, 1, 5, 2.5]),
    top=st.sampled_from([None, 60, 90]),
    bottom=st.sampled_from([None, 18]),
)
def test_rules_widen_what_is_decoded(
    ages: list[int], base: float | None, top: int | None, bottom: int | None
) -> None:
    rule = {"round": base, "top": top, "bottom": bottom}
    column = {"role": "quasi", **{key: one for key, one in rule.items() if one is not None}}
    table = pa.table({"age": ages})
    policy = {"columns": {"age": column}, "constraints": [{"k": 2}], "order": "kept", "seed": 1}
    release = shoal.anonymize(table, policy)
    bounds = release.decode(numbers="bounds")
    for raw, low, high in zip(
        ages, bounds["age_low"].to_pylist(), bounds["age_high"].to_pylist(), strict=True
    ):
        assert low is None or low <= raw
        assert high is None or raw <= high
        assert low is not None or bottom is not None
        assert high is not None or top is not None


def test_rows_keep_their_order_and_the_seed_decides_the_sample(tmp_path: Path) -> None:
    _, release = released(tmp_path, "mondrian")
    one, same, other = (
        release.decode(numbers="sample", categories="sample", seed=seed) for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert not one.equals(other)
    assert np.array_equal(one["ward"], release.table["ward"])


@pytest.mark.parametrize("form", ["uniform", "mean", "mode"])
def test_other_forms_of_labels(form: str) -> None:
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": pa.array(rng.integers(18, 90, 120)),
            "town": pa.array(rng.choice(["a, b", "{x}", "*", "Mons"], 120)),
            "hours": pa.array(rng.integers(1, 60, 120)),
        }
    )
    labels: Any = {"age": form, "town": "mode" if form == "mean" else form}
    release = shoal.anonymize(
        table, quasi=["age", "town", "hours"], k=5, labels=labels, order="kept", seed=1
    )
    if form != "uniform":
        kept = release.decode(forms={"hours": "bounds"})
        assert pa.types.is_integer(kept["age"].type)
        assert set(kept["town"].to_pylist()) <= {"a, b", "{x}", "*", "Mons"}
        return
    found = release.decode(numbers="bounds", categories="list")
    towns = table["town"].to_pylist()
    for i, age in enumerate(table["age"].to_pylist()):
        low = found["age_low"][i].as_py()
        assert low is None or low <= age <= found["age_high"][i].as_py()
        members = found["town"][i].as_py()
        assert members is None or towns[i] in members
    pairs = zip(found["age_low"].to_pylist(), found["age_high"].to_pylist(), strict=True)
    spans = sorted({span for span in pairs if span[0] is not None})
    assert all(one[1] < two[0] for one, two in pairwise(spans))
