"""Uniform labels: they never overlap, by plain code, on every method."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.truth import overlapping
from shoal.errors import InputError, PolicyError, VerificationFailed
from shoal.policy import Policy
from tests.examples import examples
from tests.labels.naive import classes, members
from tests.labels.test_statistics import METHODS, ONLY_K, policy_for, read, tables

LEAVES = {
    "west": ["a", "b, c"],
    "east": ["{d}", "e*", "\\"],
    "all": ["a", "b, c", "{d}", "e*", "\\"],
}
INTERVALS = {
    f"[{low}-{low + width})": [str(value) for value in range(low, low + width)]
    for width in (5, 20)
    for low in range(-20, 60, width)
}


def require_apart(rows: list[Any], name: str, values: list[str | None], quasi: list[str]) -> None:
    """Every value is under one label of those that are published."""
    labels = {row[name] for row in rows if any(row[other] != "*" for other in quasi)}
    seen: set[str] = set()
    for label in labels:
        mine = members(label, values, LEAVES if name == "town" else INTERVALS)
        assert not mine & seen
        seen |= mine


@pytest.mark.parametrize("method", METHODS)
@examples(4)
@given(table=tables(), both=st.booleans(), may=st.sampled_from([None, 0.3]))
def test_labels_never_overlap_on_any_method(
    method: str,
    table: pa.Table,
    both: bool,
    may: float | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("uniform") / "out.csv"
    policy = policy_for(method, "uniform", suppression=may)
    policy["columns"]["town"]["labels"] = "uniform" if both else "range"
    try:
        release = shoal.anonymize(table, policy)
    except shoal.Infeasible:
        return
    release.write(path)
    rows = read(path)
    raw = {row["id"]: row for row in table.to_pylist()}
    values = {
        "age": [str(age) for age in table["age"].unique().to_pylist()],
        "town": table["town"].unique().to_pylist(),
    }
    for name in ("age", "town") if both else ("age",):
        require_apart(rows, name, values[name], ["age", "town"])
    for (age, _), mine in classes(rows, ["age", "town"]).items():
        assert len(mine) >= 2
        for row in mine:
            before = raw[str(row["id"])]
            assert str(before["age"]) in members(age, values["age"], INTERVALS)
            assert before["town"] in members(row["town"], values["town"], LEAVES)
        if method not in ONLY_K:
            assert len({row["ill"] for row in mine}) >= 2


def people(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "age": rng.integers(18, 90, n),
            "weight": np.round(rng.normal(70, 10, n), 1),
            "born": [f"{1950 + int(x)}-{1 + int(x) % 12:02}-05" for x in rng.integers(0, 40, n)],
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["Ath", "Mons", "Huy"], n, p=[0.6, 0.39, 0.01]),
        }
    )


def release_of(
    quasi: list[str], uniform: list[str], table: pa.Table | None = None, **more: Any
) -> Any:
    table = people() if table is None else table
    forms = dict.fromkeys(uniform, "uniform")
    more = {"method": "least-loss-partition", **more}
    return shoal.anonymize(table.select(quasi), quasi=quasi, k=5, labels=forms, seed=1, **more)


def test_numbers_decimals_dates_and_texts_have_whole_intervals_and_sets() -> None:
    found = {
        name: sorted(set(release_of([name, "sex"], [name]).table[name].to_pylist()))
        for name in ("age", "weight", "born", "town")
    }
    assert all(text.startswith("[") and "~" in text for text in found["born"])
    assert all(
        text[-7:-1] in ("-12-31", "-06-30", "-01-31") or "~" in text for text in found["born"]
    )
    assert all(text.endswith(")") for text in found["weight"] if text.startswith("["))
    assert found["town"] == ["Ath", "{Huy, Mons}"]
    assert len(found["age"]) > 10


def test_the_cut_with_the_least_total_loss_is_chosen() -> None:
    """Every cut that is tried, run by hand, loses no less."""
    from shoal.encoding.cells import encode
    from shoal.methods.uniform import cuts_of

    table = people(60)
    release = release_of(["age", "sex", "town"], ["age"], table)
    policy = release.policy
    specs = {name: policy.column_spec(name) for name in policy.quasi}
    cells = encode(lambda name: table[name].combine_chunks(), specs, {}, [], 1)
    losses = []
    for cut in cuts_of(cells.domains[0], specs["age"], cells.rows_of_values[0], 5):
        block = cut.block[
            np.searchsorted(np.unique(table["age"].to_numpy()), table["age"].to_numpy())
        ]
        total, column = 0.0, np.array(cut.texts.to_pylist())[block]
        possible = True
        for label in set(column.tolist()):
            part = table.filter(pa.array(column == label)).select(["sex", "town"])
            if part.num_rows < 5:
                possible = False
                break
            whole = 0.0 if cut.widths is None else float(cut.widths[block[column == label][0]])
            try:
                inside = shoal.anonymize(
                    part, quasi=["sex", "town"], k=5, method="least-loss-partition", seed=1
                )
            except shoal.Infeasible:
                possible = False
                break
            for name, size in (("sex", 2), ("town", 3)):
                for text in inside.table[name].to_pylist():
                    if text.startswith("{"):
                        total += (text.count(",") + 1) / size
            total += whole * part.num_rows
        if possible:
            losses.append(total / (3 * table.num_rows))
    assert release.metrics["mean-ncp"] == pytest.approx(min(losses), abs=1e-9)


@examples(6)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 7), st.sampled_from("fm")),
        min_size=12,
        max_size=30,
    )
)
def test_no_level_of_a_hierarchy_loses_less(rows: list[tuple[int, str]]) -> None:
    """Every level for the whole column, with the other column cut inside of each of its nodes, which
    has one way alone as it has two values."""
    table = pa.table({name: [row[j] for row in rows] for j, name in enumerate(("age", "sex"))})
    policy: dict[str, Any] = {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [2, 4]}, "labels": "uniform"},
            "sex": {"role": "quasi", "kind": "unordered"},
        },
        "constraints": [{"k": 3}],
        "method": "mondrian",
        "seed": 1,
    }
    found = shoal.anonymize(table, policy).metrics["mean-ncp"]
    ages = len({age for age, _ in rows})
    for width in (1, 2, 4, 8):
        total = 0.0
        for node in {age // width for age, _ in rows}:
            mine = [row for row in rows if row[0] // width == node]
            if len(mine) < 3:
                break
            under, sexes = ({row[j] for row in mine} for j in range(2))
            fewest = min(sum(row[1] == sex for row in mine) for sex in sexes)
            total += len(mine) * (len(sexes) == 2 and fewest < 3)
            total += len(mine) * (len(under) / ages if len(under) > 1 else 0.0)
        else:
            assert found <= total / (2 * len(rows)) + 1e-9


def test_columns_with_a_long_tail_are_not_given_up() -> None:
    """The coarsest grids put everything into one interval, more of them than steps look ahead."""
    rng = np.random.default_rng(3)
    names = ["size", "length", "depth", "sex"]
    tails = {name: 3 + rng.gamma(2.5, 12, 400).astype(int) for name in names[:3]}
    table = pa.table({**tails, "sex": people()["sex"]})
    release = release_of(names, names, table, method="mondrian", suppression=0.05)
    assert sum(len(release.table[name].unique()) > 1 for name in names[:3]) >= 2
    assert release.metrics["mean-ncp"] < 0.5  # all three as `*` lose 0.75


def test_a_wide_label_over_one_value_is_not_free() -> None:
    table = pa.table({"age": [23] * 5 + [31, 35, 38] * 3 + [67] * 5, "sex": ["f", "m"] * 9 + ["f"]})
    release = release_of(["age", "sex"], ["age"], table)
    lost = 0.0
    for text in release.table["age"].to_pylist():
        ends = [float(end) for end in text.strip("[]").split("~")]
        lost += (ends[-1] - ends[0]) / (67 - 23)
    assert lost > 0
    assert release.column_loss["age"] == pytest.approx(lost / 19)
    assert release.detail.columns["age"].exact < 1


def test_the_order_of_rows_and_refinement_change_no_label() -> None:
    table = people(80).select(["age", "sex", "town"])
    shuffled = table.take(np.random.default_rng(1).permutation(80))
    first, second = (
        release_of(["age", "sex", "town"], ["age"], one, method="k-clustering", refine="quick")
        for one in (table, shuffled)
    )
    assert first.table.equals(second.table)
    require_apart(
        first.table.to_pylist(),
        "age",
        [str(age) for age in set(table["age"].to_pylist())],
        ["age", "sex", "town"],
    )


def test_missing_values_are_a_label_of_their_own_or_suppressed() -> None:
    ages = [None] * 2 + [20, 21, 22, 23, 24] * 8
    table = pa.table({"age": ages, "sex": ["f", "m"] * 21})
    whole = release_of(["age", "sex"], ["age"], table)
    assert set(whole.table["age"].to_pylist()) == {"*"}
    fewer = release_of(["age", "sex"], ["age"], table, suppression=0.05)
    assert "*" not in fewer.table["age"].to_pylist()
    assert fewer.suppressed_rows == 2
    many = pa.table({"age": [None] * 6 + ages[2:], "sex": ["f", "m"] * 23})
    assert None in release_of(["age", "sex"], ["age"], many).table["age"].to_pylist()


def test_people_with_several_rows_are_counted() -> None:
    rng = np.random.default_rng(2)
    table = pa.table({"who": [f"p{i // 3}" for i in range(180)], "age": rng.integers(20, 60, 180)})
    release = shoal.anonymize(
        table, quasi="age", person="who", k=5, labels={"age": "uniform"}, seed=1
    )
    assert release.findings[0].counted == "people"
    assert release.findings[0].reached >= 5


def test_what_cannot_be_uniform_is_refused() -> None:
    times = pa.table({"at": ["2020-01-01 10:00", "2020-01-02 11:30"] * 5})
    with pytest.raises(InputError, match="time of day"):
        shoal.anonymize(times, quasi="at", k=2, labels={"at": "uniform"})
    columns = {
        "who": {"role": "person", "together": True},
        "age": {"role": "quasi", "labels": "uniform"},
    }
    with pytest.raises(PolicyError, match="together"):
        Policy.load({"columns": columns, "constraints": [{"k": 2}]})


@pytest.mark.parametrize(
    ("labels", "apart"),
    [
        (["[1~3]", "[4~6]"], True),
        (["[1~4]", "[4~6]"], False),
        (["[1~6]", "5"], False),
        (["[0-4)", "[4-7)"], True),
        (["*", "[4~6]"], False),
        (["[1~2]", None], True),
    ],
)
def test_planted_overlaps_are_found(labels: list[str | None], apart: bool) -> None:
    spec = Policy.load({"columns": {"n": "quasi"}, "constraints": [{"k": 2}]}).column_spec("n")
    values = pa.array([str(i) for i in range(1, 7)])
    none = np.zeros(len(labels), np.bool_)
    found = overlapping("n", pa.array(labels, pa.string()), values, spec, Path(), none)
    assert (found is None) == apart


def test_a_planted_group_over_two_labels_is_never_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from shoal.publish import microaggregation

    def spoilt(cut: Any, low: Any) -> Any:
        labels = original(cut, low)
        texts = [text if i else "[0~200]" for i, text in enumerate(labels.texts.to_pylist())]
        return type(labels)(pa.array(texts), labels.of_group)

    original = microaggregation.cut_labels
    monkeypatch.setattr(microaggregation, "cut_labels", spoilt)
    with pytest.raises(VerificationFailed, match="or another one covers it too"):
        release_of(["age", "sex"], ["age"])
