"""The edges that every method must survive: tiny, uniform and very varied tables, extreme k."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.errors import Infeasible, InputError
from shoal.methods.bottom_up import BottomUp
from shoal.models.k import K
from shoal.models.requirement import Requirement
from tests import naive
from tests.coded import coded
from tests.releases import every_method, raw_text, shuffled, text_rows

pytestmark = pytest.mark.parametrize("method", every_method())

MANY = 50_000


def small(n: int) -> pa.Table:
    rng = np.random.default_rng(n)
    return pa.table(
        {
            "age": rng.integers(20, 40, n),
            "town": [f"t{i}" for i in rng.integers(0, 6, n)],
            "zip": [f"{i:03}" for i in rng.integers(0, 30, n)],
            "ill": [f"i{i}" for i in rng.integers(0, 4, n)],
        }
    )


def anonymize(table: pa.Table, method: dict[str, Any], **asked: Any) -> shoal.Release:
    masks = {"zip": {"mask": "right"}}
    quasi = ["age", "town", "zip"]
    return shoal.anonymize(
        table, quasi=quasi, sensitive="ill", hierarchies=masks, method=method, **asked
    )


def test_k_of_one_generalises_nothing(method: dict[str, Any]) -> None:
    if method.get("median") == "below":
        pytest.skip(
            "as published, rows are not cut apart where their median is their largest value"
        )
    table = small(90)
    release = anonymize(table, method, k=1, order="kept")
    for name in ("age", "town", "zip"):
        assert release.table[name].to_pylist() == [raw_text(v) for v in table[name].to_pylist()]
    assert release.metrics["ncp"] == 0
    assert release.groups >= release.published_classes == len(set(text_rows(table.drop("ill"))))


def test_k_of_all_rows_makes_one_class(method: dict[str, Any]) -> None:
    release = anonymize(small(31), method, k=31)
    assert release.published_classes == release.groups == 1
    assert len(set(text_rows(release.table.drop("ill")))) == 1
    assert release.metrics["mean-group"] == 31


def test_more_than_all_rows_is_infeasible(method: dict[str, Any]) -> None:
    with pytest.raises(
        Infeasible, match=r"The table has 31 rows, but k = 32 .* allows is 31"
    ) as no:
        anonymize(small(31), method, k=32)
    assert no.value.exit_code == 3


def test_more_values_than_there_are_is_infeasible(method: dict[str, Any]) -> None:
    with pytest.raises(Infeasible, match=r"4 distinct values of ill, but l = 5 .* allows is 4"):
        anonymize(small(60), method, l=5)


def test_missing_values_never_count_towards_l(method: dict[str, Any]) -> None:
    table = small(60).drop("ill").append_column("ill", pa.array(["flu", None, "gout"] * 20))
    with pytest.raises(Infeasible, match="2 distinct values of ill"):
        anonymize(table, method, l=3)
    release = anonymize(table, method, l=2)
    rows = text_rows(release.table)
    assert min(naive.distinct_by_class(rows, [0, 1, 2], of=3).values()) == 2


def test_one_row(method: dict[str, Any]) -> None:
    release = anonymize(small(1), method, k=1)
    assert (release.rows, release.groups, release.published_classes) == (1, 1, 1)
    with pytest.raises(Infeasible, match="The table has 1 rows, but k = 2"):
        anonymize(small(1), method, k=2)


def test_no_row(method: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="no rows"):
        anonymize(small(5).slice(0, 0), method, k=1)


def test_all_rows_equal(method: dict[str, Any]) -> None:
    table = small(1).take(pa.array([0] * 23))
    release = anonymize(table, method, k=5)
    assert release.published_classes == 1
    assert release.metrics["ncp"] == 0
    assert set(text_rows(release.table)) == set(text_rows(table))
    assert release.published_rows == 23


def test_all_rows_distinct(method: dict[str, Any]) -> None:
    n = 120
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "age": rng.permutation(n),
            "town": [f"t{i}" for i in rng.permutation(n)],
            "zip": [f"{i:04}" for i in rng.permutation(n)],
            "ill": [f"i{i % 7}" for i in range(n)],
        }
    )
    release = anonymize(table, method, k=4, l=2)
    rows = text_rows(release.table)
    assert min(naive.counts_by_class(rows, [0, 1, 2]).values()) >= 4
    assert min(naive.distinct_by_class(rows, [0, 1, 2], of=3).values()) >= 2
    assert release.groups > n // 20


@pytest.mark.parametrize("kind", ["ordered", "unordered"])
def test_300_values_in_a_column(method: dict[str, Any], kind: str) -> None:
    check_wide(varied(300, 900), method, kind, step=1)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ordered", "unordered"])
def test_50_000_values_in_a_column(
    method: dict[str, Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if method["name"] == "bottom-up":
        # Quadratic: 50,000 distinct rows would take minutes, so a few rows over the same domain.
        print("bottom-up is quadratic in distinct rows: 1,500 rows over a domain of 50,000 values")
        few_rows_of_many_values(kind)
        return
    values = MANY
    if method["name"] == "k-clustering":
        print("k-clustering takes time with rows times values of a column: 2,000 values")
        values = 2_000
    elif method["name"] == "top-down":
        print("top-down takes seconds for 50,000 values: 20,000 values")
        values = 20_000
    table = varied(values, values + 2000)
    monkeypatch.setenv("SHOAL_THREADS", "1")
    release = check_wide(table, method, kind, step=50)
    monkeypatch.setenv("SHOAL_THREADS", "2")
    again = shoal.anonymize(shuffled(table, 9), wide_policy(method, kind))
    assert again.table.equals(release.table)


def varied(values: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(values)
    wide = np.concatenate([np.arange(values), rng.integers(0, values, rows - values)])
    rng.shuffle(wide)
    return pa.table({"wide": wide, "few": rng.integers(0, 5, rows)})


def wide_policy(method: dict[str, Any], kind: str) -> dict[str, Any]:
    columns = {"wide": {"role": "quasi", "kind": kind}, "few": "quasi"}
    return {"columns": columns, "constraints": [{"k": 5}], "method": method}


def check_wide(table: pa.Table, method: dict[str, Any], kind: str, step: int) -> shoal.Release:
    """k holds, both orders hold the same rows, and every step-th value lies inside its label."""
    release = shoal.anonymize(table, wide_policy(method, kind))
    kept = shoal.anonymize(table, wide_policy(method, kind), order="kept")
    classes = Counter(zip(*(column.to_pylist() for column in release.table.columns), strict=True))
    assert min(classes.values()) >= 5
    assert Counter(zip(*(c.to_pylist() for c in kept.table.columns), strict=True)) == classes
    for name in ("wide", "few"):
        labels, raws = kept.table[name].to_pylist()[::step], table[name].to_pylist()[::step]
        assert all(naive.inside(lab, str(raw)) for lab, raw in zip(labels, raws, strict=True))
    return release


def few_rows_of_many_values(kind: str) -> None:
    rng = np.random.default_rng(8)
    texts = pa.array([f"v{i}" for i in range(MANY)], pa.string())
    if kind == "ordered":
        places = np.arange(MANY) * UNIT // (MANY - 1)
        domain = Domain("wide", Kind.RANGE, texts, -1, places)
        column = naive.range_column(places.tolist())
    else:
        domain, column = Domain("wide", Kind.SET, texts, -1), naive.set_column(MANY)
    rows: list[naive.Row] = sorted((int(c),) for c in rng.choice(MANY, 1500, replace=False))
    table = coded(rows, [(domain, column)])
    (grouping,) = BottomUp().group(table.cells, Requirement((K(5),)), 0, lambda _: None)
    groups = table.groups(grouping)
    assert min(map(len, groups)) >= 5
    assert max(map(len, groups)) < 10, "what has twice k rows is split"


def test_threads_change_nothing(method: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    # below this much work a single thread does it all, so let everything be shared
    monkeypatch.setattr("shoal.threads.SMALL", 1)
    table, found = small(400), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        found.append(anonymize(table, method, k=4, l=2).table)
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])
