"""What others can do with all published columns: against plain counting, and by hand."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.evidence import disclosure
from tests.evidence import naive_disclosure as naive
from tests.examples import examples

SENSITIVE = ("ill", "pay")
ROLES = {"a": "quasi", "b": "quasi", "p": "plain", "q": "plain", "r": "plain"}
ROLES |= dict.fromkeys(SENSITIVE, "sensitive")


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Small tables in which values repeat, and some are missing."""
    n = draw(st.integers(4, 40))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return pa.table(
        {
            "a": pa.array(column([1, 2, 3, 4, 5, 6]), pa.int64()),
            "b": pa.array(column(["x", "y", "z"]), pa.string()),
            "p": pa.array(column([None, "u", "v", " v", "w"]), pa.string()),
            "q": pa.array(
                column([None, 0.0, -0.0, 1.5, float("nan"), *range(2, 20)]), pa.float64()
            ),
            "r": pa.array(column([None, *range(draw(st.sampled_from([2, 30])))]), pa.int64()),
            "ill": pa.array(column(["flu", "cold"]), pa.string()),
            "pay": pa.array(column([None, *range(draw(st.sampled_from([2, 20])))]), pa.int64()),
        }
    )


def texts(table: pa.Table) -> list[naive.Row]:
    """Rows with NaN as missing and one zero."""

    def clean(value: Any) -> Any:
        return None if value != value else value + 0 if isinstance(value, float) else value

    return [{name: clean(value) for name, value in row.items()} for row in table.to_pylist()]


@examples(60)
@given(tables(), st.sampled_from(["least-loss-partition", "k-clustering"]), st.booleans())
def test_counts_are_those_of_plain_loops(table: pa.Table, method: str, starred: bool) -> None:
    suppressed = "starred" if starred else "withheld"
    policy = {
        "columns": ROLES,
        "constraints": [{"k": 2}],
        "method": method,
        "suppressed": suppressed,
    }
    release = shoal.anonymize(table, policy)
    found = release.disclosure
    require_same_as_loops(found, release.table)


def require_same_as_loops(found: shoal.Disclosure, published: pa.Table) -> None:
    quasi, plain = ["a", "b"], ["p", "q", "r"]
    rows = [row for row in texts(published) if any(row[n] != "*" for n in (*quasi, *plain))]
    assert (found.unit, found.published, found.plain) == ("row", len(rows), tuple(plain))
    assert found.alone == naive.alone(rows, [*quasi, *plain])
    assert found.alone_with_sensitive == naive.alone(rows, [*quasi, *plain, *SENSITIVE])
    assert found.alone_by_sensitive == {n: naive.alone(rows, [*quasi, n]) for n in SENSITIVE}
    assert found.plain_alone == naive.alone(rows, plain)
    assert {one.column for one in found.nearly_unique} == {
        name for name in plain if naive.nearly_unique(rows, name)
    }
    assert not found.bounded
    enough = disclosure.ALARMING * len(rows)
    for size in (1, 2, 3):
        most = naive.worst(rows, plain, size)
        mine = [one for one in found.sets if len(one.columns) == size]
        if mine:
            assert mine[0].alone == most == naive.alone(rows, mine[0].columns)
        elif most and most >= enough:  # a smaller set is bad enough
            assert any(one.share > disclosure.MOST for one in found.sets)


@examples(40)
@given(tables(), st.data())
def test_people_are_those_of_plain_loops(table: pa.Table, data: st.DataObject) -> None:
    n = table.num_rows
    who = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=n, max_size=n))
    if len(set(who)) < 2:
        return
    table = table.append_column(
        "who", pa.array([one.upper() if i % 2 else one for i, one in enumerate(who)])
    )
    columns = ROLES | {"who": "person"}
    policy = {"columns": columns, "constraints": [{"k": 2}], "order": "kept", "suppression": 0}
    try:
        release = shoal.anonymize(table, policy)
    except shoal.Infeasible:
        return
    rows, found = texts(release.table), release.disclosure
    assert release.suppressed_rows == 0  # the rows are those of the input, in its order
    quasi, plain = ["a", "b"], ["p", "q", "r"]
    assert (found.unit, found.published) == ("person", len(set(who)))
    assert found.alone == naive.lone_people(rows, [*quasi, *plain], who)
    everything = [*quasi, *plain, *SENSITIVE]
    assert found.alone_with_sensitive == naive.lone_people(rows, everything, who)
    assert found.alone_by_sensitive == {
        name: naive.lone_people(rows, [*quasi, name], who) for name in SENSITIVE
    }
    assert found.plain_alone == naive.lone_people(rows, plain, who)
    for one in found.sets:
        assert one.alone == naive.lone_people(rows, one.columns, who)
    for one in found.nearly_unique:
        kept = [(row, w) for row, w in zip(rows, who, strict=True) if row[one.column] is not None]
        known, owners = [row for row, _ in kept], [w for _, w in kept]
        assert one.alone == naive.lone_people(known, [one.column], owners)
        assert one.share == one.alone / len(set(owners)) >= 0.5
        values = {w: {row[one.column] for row, v in kept if v == w} for w in owners}
        constant = all(len(seen) == 1 for seen in values.values())
        assert one.links == (constant and len(kept) > len(values))


@examples(80)
@given(st.data())
def test_columns_that_give_others_away_are_those_of_every_pair(data: st.DataObject) -> None:
    n = data.draw(st.integers(12, 40))
    draw = st.lists(st.sampled_from([None, *range(12)]), min_size=n, max_size=n)
    other = data.draw(draw)
    shift = data.draw(st.sampled_from(["square", "minus", "halves", "code", "own"]))
    values = {
        "square": lambda v: v * v,
        "minus": lambda v: -v,
        "halves": lambda v: v // 2,
        "code": lambda v: (v * 5) % 13,
    }
    plain: list[Any] = data.draw(draw)
    if shift != "own":
        plain = [None if v is None else values[shift](v) for v in other]
    if data.draw(st.booleans()):  # one row that does not fit
        plain[data.draw(st.integers(0, n - 1))] = 99
    table = pa.table(
        {"age": pa.array(other, pa.int64()), "town": ["x", "y"] * (n // 2) + ["y"] * (n % 2)}
        | {"p": pa.array(plain, pa.int64())}
    )
    if table["age"].null_count == n:
        return
    columns = {"age": {"role": "quasi", "kind": "ordered"}, "town": "quasi", "p": "plain"}
    release = shoal.anonymize(table, {"columns": columns, "constraints": [{"k": n}]})
    found = {one.column for one in release.disclosure.determined}
    expected = {"age"} if naive.gives_away(plain, other, ordered=True) else set()
    if naive.gives_away(plain, table["town"].to_pylist(), ordered=False):
        expected.add("town")
    losses = release.column_loss
    assert found == {name for name in expected if losses[name] > 0}


@examples(60)
@given(st.randoms(use_true_random=False), st.integers(8, 90))
def test_many_columns_that_give_others_away_are_those_of_every_pair(
    draw: random.Random, n: int
) -> None:
    def column(values: int, gaps: float) -> list[int | None]:
        return [None if draw.random() < gaps else draw.randrange(values) for _ in range(n)]

    ways: list[Callable[[int], int]] = [
        lambda v: v * v,
        lambda v: 40 - v,
        lambda v: v // 2,
        lambda v: (v * 5) % 13,
        lambda v: v * 3 + draw.randrange(3),
        lambda v: (v * draw.randrange(9)) % 9,
    ]
    quasi = {f"q{i}": column(draw.choice([3, 12]), draw.choice([0, 0.1])) for i in range(4)}
    plain: dict[str, list[Any]] = {}
    for i in range(6):
        way, of = draw.choice(ways), draw.choice([*quasi.values()])
        plain[f"p{i}"] = [None if v is None else way(v) for v in of]
        if draw.random() < 0.4:  # rows that do not fit, or say nothing
            plain[f"p{i}"][draw.randrange(n)] = draw.choice([None, 99])
    every = {
        name: pa.array(values, pa.int64())
        for name, values in {**quasi, **plain}.items()
        if any(value is not None for value in values)
    }
    kind = {name: draw.choice(["ordered", "unordered"]) for name in quasi}
    columns: dict[str, Any] = {
        name: {"role": "quasi", "kind": kind[name]} if name in quasi else "plain" for name in every
    }
    release = shoal.anonymize(
        pa.table(every), {"columns": columns, "constraints": [{"k": n}], "metrics": []}
    )
    found = {(one.plain, one.column) for one in release.disclosure.determined}
    assert found == {
        (p, q)
        for p in plain
        for q in quasi
        if {p, q} <= {*every}
        and release.column_loss[q] > 0
        and naive.gives_away(plain[p], quasi[q], ordered=kind[q] == "ordered")
    }


@pytest.mark.parametrize("sampled", [4_096, 40])
@pytest.mark.parametrize("memory", [None, "400MB"])
def test_a_plain_column_from_which_a_coarsened_one_follows(
    tmp_path: Path, memory: str | None, sampled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where values have so few rows that a sample has no two of one."""
    monkeypatch.setattr("shoal.engines.published_counts.SAMPLED", sampled)
    rng, n = np.random.default_rng(1), 400
    town = np.repeat(np.arange(n // 2), 2)
    table = pa.table(
        {
            "region": [f"r{one % 7}" for one in town],
            "age": rng.integers(0, 2, n),
            "town": town,
            "street": np.arange(n),  # of one row each: they say nothing of regions
            "ward": (town + (np.arange(n) == 7)) % 28,  # but for one row
            "half": np.where(np.arange(n) < 9, town, -1),  # too few to be no coincidence
        }
    )
    source = tmp_path / "t.parquet"
    pq.write_table(table.take(rng.permutation(n)), source)
    roles = dict.fromkeys(["town", "street", "ward", "half"], "plain")
    policy = {"columns": {"region": "quasi", "age": "quasi", **roles}, "constraints": [{"k": n}]}
    release = shoal.run(source, policy, tmp_path / "out.csv", memory=memory)
    found = [(one.plain, one.column, one.how) for one in release.disclosure.determined]
    assert found == [("town", "region", "function")]
    assert any(
        "town is plain and published as it is, but each of its values goes with one value of region"
        in warning
        for warning in release.warnings
    )


@pytest.mark.parametrize("method", ["least-loss-partition", "datafly"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_out_of_core_counts_the_same(
    tmp_path: Path, method: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if method == "datafly":  # as if the table were large
        monkeypatch.setattr("shoal.engines.published_counts.HASHED", 0)
        monkeypatch.setattr(disclosure, "MOST_SETS", 20)
    source, rng = tmp_path / f"people{ending}", np.random.default_rng(3)
    table = survey(rng, 400)
    if ending == ".csv":
        pacsv.write_csv(table, source)
    else:
        pq.write_table(table, source)
    mask = {"role": "quasi", "hierarchy": {"mask": "right"}}
    roles = (
        {"age": mask, "wage": mask} if method == "datafly" else {"age": "quasi", "wage": "quasi"}
    )
    columns = {name: roles.get(name, "plain") for name in table.column_names}
    policy = {"columns": columns, "constraints": [{"k": 5}], "method": method}
    found = [
        shoal.run(source, policy, tmp_path / f"{i}{ending}", **how).disclosure
        for i, how in enumerate([{}, {"memory": "1GB"}])
    ]
    assert found[0].to_dict() == found[1].to_dict()
    assert found[0].alone > 300
    assert {(one.plain, one.column) for one in found[0].determined} == {("lwage", "wage")}


@pytest.mark.parametrize("hashed", [0, 8_000_000])
def test_people_are_the_same_out_of_core(
    tmp_path: Path, hashed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.published_counts.HASHED", hashed)
    monkeypatch.setattr(disclosure, "MOST_SETS", 12)
    rng = np.random.default_rng(4)
    table = survey(rng, 300)
    who = rng.integers(0, 90, 300)
    table = table.append_column("who", pa.array([f"P{i}" for i in who]))
    table = table.append_column("chart", pa.array([f"c{i}" for i in who]))
    pacsv.write_csv(table, tmp_path / "visits.csv")
    roles = {"age": "quasi", "wage": "quasi", "who": "person"}
    columns = {name: roles.get(name, "plain") for name in table.column_names}
    policy = {"columns": columns, "constraints": [{"k": 5}]}
    found = [
        shoal.run(tmp_path / "visits.csv", policy, tmp_path / f"{i}.csv", **how).disclosure
        for i, how in enumerate([{}, {"memory": "1GB"}])
    ]
    assert found[0].to_dict() == found[1].to_dict()
    assert (found[0].unit, found[0].published) == ("person", len(set(who)))
    chart = next(one for one in found[0].nearly_unique if one.column == "chart")
    assert (chart.alone, chart.links) == (len(set(who)), True)
    assert any("It also tells which rows are one person's" in text for text in found[0].warnings)


def survey(rng: np.random.Generator, n: int) -> pa.Table:
    wage = rng.integers(1000, 1300, n)
    columns = {"age": rng.integers(20, 60, n), "wage": wage, "lwage": np.round(np.log(wage), 3)}
    missing = rng.random(n) < 0.1
    floats = np.where(missing, np.nan, np.round(rng.random(n), 2))
    answers = {f"q{i}": rng.integers(0, 4, n) for i in range(9)}
    return pa.table(columns | {"share": pa.array(floats, from_pandas=True)} | answers)


def test_a_bounded_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disclosure, "MOST_SETS", 12)
    table = survey(np.random.default_rng(1), 300)
    columns = {name: "quasi" if name == "age" else "plain" for name in table.column_names}
    found = shoal.anonymize(table, {"columns": columns, "constraints": [{"k": 5}]}).disclosure
    assert found.bounded
    assert found.tried < found.possible


def test_nothing_is_alone_without_plain_columns() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "ill": list("abab")})
    release = shoal.anonymize(table, quasi="age", sensitive="ill", k=2)
    assert (release.disclosure.alone, release.disclosure.published) == (0, 4)
    assert not release.disclosure.warnings
    assert release.to_dict()["disclosure"]["alone"] == 0


def test_the_result_speaks_for_itself() -> None:
    table = pa.table({"age": [1, 1, 2, 2] * 5, "mail": [f"m{i}" for i in range(20)]})
    with pytest.warns(shoal.ShoalWarning, match="to know the value is to know the row"):
        release = shoal.anonymize(table, quasi="age", plain="mail", k=2)
    found = release.disclosure
    assert (
        repr(found) == "<Disclosure: 20 of 20 rows (100.0 %) are alone on quasi and plain columns>"
    )
    assert [tuple(one) for one in found.to_frame()[["columns", "alone"]].to_numpy()] == [
        ("quasi and plain columns", 20),
        ("mail", 20),
    ]
    assert any("mail alone singles out 20" in text for text in release.warnings)
