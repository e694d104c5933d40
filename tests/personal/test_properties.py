"""What must hold for every release in which people's wishes count, counted anew in plain Python."""

from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.files import wrap
from shoal.engines.release_table import MemoryRelease
from tests.examples import examples
from tests.personal import naive
from tests.personal.table6 import DISEASE, PATHS, SID
from tests.releases import shuffled

MOOD = {
    "role": "sensitive",
    "levels": {"glad": 1, "sad": 2, "mad": 2},
    "hierarchy": {"tree": {"any mood": ["glad", "sad", "mad"]}},
    "preference": "wish",
}
MOOD_SID = {"glad": 1, "sad": 2, "mad": 2}
row = st.tuples(
    st.integers(20, 60),
    st.sampled_from(["m", "f"]),
    st.sampled_from(sorted(SID)),
    st.sampled_from(sorted(MOOD_SID)),
    st.none() | st.integers(1, 4),
    st.none() | st.integers(1, 2),
)


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    names = ["age", "sex", "disease", "mood", "ppl", "wish"]
    kinds = [pa.int64(), pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64()]
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=names).append_column("id", pa.array(range(len(rows))))


def policy(**keys: Any) -> dict[str, Any]:
    return {
        "columns": {
            "age": "quasi",
            "sex": "quasi",
            "disease": DISEASE,
            "mood": MOOD,
            "ppl": "preference",
            "wish": "preference",
            "id": "plain",
        },
        "constraints": [
            {"k": 3},
            {"l": 2, "of": "disease"},
            {"alpha": 0.6, "of": "disease"},
            {"l": 2, "of": "mood"},
            {"alpha": 0.8, "of": "mood"},
        ],
        **keys,
    }


def expected(value: str, wish: int | None, sid: dict[str, int], path: tuple[str, ...]) -> str:
    return path[wish - 1] if wish is not None and wish > sid[value] else value


@examples(30)
@given(
    rows=st.lists(row, min_size=6, max_size=60),
    method=st.sampled_from(["top-down", "least-loss-partition"]),
    seed=st.integers(0, 99),
)
def test_every_group_holds_on_the_originals(
    rows: list[tuple[Any, ...]], method: str, seed: int
) -> None:
    table = table_of(rows)
    try:
        release = shoal.anonymize(table, policy(method=method, seed=seed))
    except shoal.Infeasible:
        return
    made = release.table.to_pylist()
    assert len(made) + release.suppressed_rows == len(rows)
    groups = defaultdict(list)
    for one in made:
        own = rows[one["id"]]
        assert one["disease"] == expected(own[2], own[4], SID, PATHS[own[2]])
        assert one["mood"] == expected(own[3], own[5], MOOD_SID, (own[3], "any mood"))
        groups[one["age"], one["sex"]].append(own)
    for group in groups.values():
        assert len(group) >= 3
        for place, sid, diverse, alpha in ((2, SID, 2, 0.6), (3, MOOD_SID, 2, 0.8)):
            assert len({own[place] for own in group}) >= diverse
            levels = Counter(sid[own[place]] for own in group)
            assert max(levels.values()) / len(group) <= alpha
    assert {"ppl", "wish"}.isdisjoint(release.table.column_names)


@examples(25)
@given(rows=st.lists(row, min_size=12, max_size=40), turn=st.integers(0, 9))
def test_the_release_does_not_depend_on_the_order_of_rows(
    rows: list[tuple[Any, ...]], turn: int
) -> None:
    table = table_of(rows).drop_columns("id")
    asked = policy(method="top-down", constraints=[{"k": 3}])
    asked["columns"] = {name: how for name, how in asked["columns"].items() if name != "id"}
    first = shoal.anonymize(table, asked).table
    assert shoal.anonymize(shuffled(table, turn), asked).table.equals(first)


@examples(30)
@given(rows=st.lists(row, min_size=1, max_size=7))
def test_a_release_alone_is_taken_at_its_worst(rows: list[tuple[Any, ...]]) -> None:
    shown, possible = [], []
    for own in rows:
        label = expected(own[2], own[4], SID, PATHS[own[2]])
        level = PATHS[own[2]].index(label) + 1
        shown.append(label)
        leaves = {leaf for leaf, path in PATHS.items() if level > 1 and path[level - 1] == label}
        possible.append({leaf for leaf in leaves if SID[leaf] < level} or {label})
    columns = {"age": "quasi", "disease": DISEASE, "ppl": "preference"}
    constraints = [{"l": 1, "of": "disease"}, {"alpha": 1, "of": "disease"}]
    asked = shoal.Policy.load({"columns": columns, "constraints": constraints})
    table = pa.table({"age": ["x"] * len(rows), "disease": shown})
    distinct, share = MemoryRelease(wrap(table)).verify(asked).findings
    assert distinct.reached == naive.fewest_values(possible)
    worst = naive.most_of_a_level(possible, SID) / len(rows)
    assert worst <= share.reached < worst + 1e-4  # rounded up, so that what is stated holds


@pytest.mark.parametrize("changed", ["Cancer", "chest disease", "any disease", None])
def test_a_method_that_raises_wrongly_is_found_out(changed: str | None) -> None:
    from shoal.engines.originals import Originals
    from shoal.errors import VerificationFailed

    columns = {"age": "quasi", "disease": DISEASE, "ppl": "preference"}
    asked = shoal.Policy.load({"columns": columns, "constraints": [{"k": 2}]})
    originals = Originals({"disease": pa.array(["Flu", "HIV"])}, {"disease": pa.array(["2", None])})
    good = pa.table({"age": ["x", "x"], "disease": ["respiratory infection", "HIV"]})
    assert MemoryRelease(wrap(good), originals=originals).verify(asked).findings[0].holds
    bad = pa.table({"age": ["x", "x"], "disease": pa.array([changed, "HIV"], pa.string())})
    with pytest.raises(VerificationFailed, match="personal rule"):
        MemoryRelease(wrap(bad), originals=originals).verify(asked)
