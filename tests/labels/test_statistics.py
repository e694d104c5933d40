"""Labels that are a statistic of their group: every form on every method, by plain code."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import plugins
from shoal.engines.statistics_truth import StatisticsCheck
from shoal.errors import InputError, PolicyError, VerificationFailed
from shoal.policy import Policy
from tests.examples import examples
from tests.labels.naive import classes, mean_of_people, modes, whole_statistic
from tests.truth.naive import unescaped

TREE = {"tree": {"all": {"west": ["a", "b, c"], "east": ["{d}", "e*", "\\"]}}}
FORMS = ("midpoint", "mean", "median", "mode")
METHODS = sorted(set(plugins.methods()) - {"auto"})
ONLY_K = ("datafly", "classfly", "classfly-plus")

words = st.sampled_from(["a", "b, c", "{d}", "e*", "\\"])


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    n = draw(st.integers(6, 14))
    ages = draw(st.lists(st.integers(-5, 40), min_size=n, max_size=n))
    towns = draw(st.lists(words, min_size=n, max_size=n))
    ills = [("flu", "cold", "hiv")[i % 3] for i in range(n)]
    return pa.table({"age": ages, "town": towns, "ill": ills, "id": [f"r{i}" for i in range(n)]})


def policy_for(method: str, form: str, **more: Any) -> dict[str, Any]:
    constraints: list[dict[str, Any]] = [{"k": 2}]
    if method not in ONLY_K:
        constraints.append({"l": 2, "of": "ill"})
    return {
        "columns": {
            "age": {
                "role": "quasi",
                "kind": "ordered",
                "hierarchy": {"intervals": [5, 20]},
                "labels": form,
            },
            "town": {"role": "quasi", "kind": "unordered", "hierarchy": TREE, "labels": "mode"},
            "ill": "sensitive",
            "id": "plain",
        },
        "constraints": constraints,
        "method": method,
        "seed": 3,
        **more,
    }


def read(path: Path) -> list[dict[str, str | None]]:
    options = pa_csv.ConvertOptions(
        column_types={name: pa.string() for name in ("age", "town", "ill", "id")},
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    rows: list[dict[str, str | None]] = pa_csv.read_csv(path, convert_options=options).to_pylist()
    return rows


@pytest.mark.parametrize("method", METHODS)
@examples(4)
@given(table=tables(), form=st.sampled_from(FORMS))
def test_every_form_on_every_method_by_plain_code(
    method: str, table: pa.Table, form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("forms") / "out.csv"
    try:
        release = shoal.anonymize(table, policy_for(method, form))
    except shoal.Infeasible:
        return
    release.write(path)
    raw = {row["id"]: row for row in table.to_pylist()}
    for (age, town), rows in classes(read(path), ["age", "town"]).items():
        assert len(rows) >= 2
        mine = [raw[str(row["id"])] for row in rows]
        if method not in ONLY_K:
            assert len({row["ill"] for row in mine}) >= 2
        ages = [row["age"] for row in mine]
        if age != "*":
            found = modes([str(one) for one in ages])
            assert age in found if form == "mode" else age == whole_statistic(form, ages)
        if town != "*":
            assert town is not None
            assert unescaped(town) in modes([row["town"] for row in mine])


@examples(15)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.integers(0, 30)), min_size=8, max_size=16
    ).filter(lambda rows: len({person for person, _ in rows}) >= 4)
)
def test_everybody_counts_once_where_people_are_counted(rows: list[tuple[str, int]]) -> None:
    table = pa.table(
        {
            "who": [person for person, _ in rows],
            "age": [age for _, age in rows],
            "row": [str(i) for i in range(len(rows))],
        }
    )
    release = shoal.anonymize(
        table, quasi="age", person="who", plain="row", k=2, labels={"age": "mean"}, seed=1
    )
    by_label: dict[str, list[tuple[str, int]]] = {}
    for row in release.table.to_pylist():
        by_label.setdefault(row["age"], []).append(rows[int(row["row"])])
    for label, mine in by_label.items():
        assert len({person for person, _ in mine}) >= 2
        if label != "*":
            assert label == mean_of_people(mine)


BY_PEOPLE: list[dict[str, Any]] = [
    {"l": 2, "of": "ill"},
    {"alpha": 0.7, "of": "ill"},
    {"entropy-l": 1.5, "of": "ill"},
    {"t": 0.4, "of": "ill"},
]


@pytest.mark.parametrize("method", sorted(set(METHODS) - set(ONLY_K)))
@examples(6)
@given(data=st.data())
def test_groups_that_read_alike_hold_together(method: str, data: st.DataObject) -> None:
    """Where people are counted, two groups may hold and not the class that a reader makes of them."""
    n = data.draw(st.integers(10, 24), label="rows")
    cell = st.tuples(
        st.sampled_from("abcdef"), st.integers(0, 6), st.sampled_from(["flu", "gout", "hiv"])
    )
    tables = st.lists(cell, min_size=n, max_size=n)
    rows = data.draw(tables.filter(lambda rows: len({row[0] for row in rows}) > 1), label="table")
    model = data.draw(st.sampled_from(BY_PEOPLE), label="model")
    form = data.draw(st.sampled_from(FORMS), label="form")
    together = method not in ("optimal", "incognito") and data.draw(st.booleans())
    if method == "l-clustering":
        model = BY_PEOPLE[0]
    policy = {
        "columns": {
            "who": {"role": "person", "together": together},
            "age": {"role": "quasi", "hierarchy": {"intervals": [2, 4]}, "labels": form},
            "ill": "sensitive",
            "row": "plain",
        },
        "constraints": [model] if method == "l-clustering" else [{"k": 2}, model],
        "method": method,
        "seed": 1,
    }
    table = pa.table(
        {
            "who": [row[0] for row in rows],
            "age": [row[1] for row in rows],
            "ill": [row[2] for row in rows],
            "row": [str(i) for i in range(n)],
        }
    )
    try:
        release = shoal.anonymize(table, policy)
    except shoal.Infeasible:
        return
    published = release.table.to_pylist()
    mine = [rows[int(row["row"])] for row in published]
    for label in {row["age"] for row in published}:
        inside = [one for one, row in zip(mine, published, strict=True) if row["age"] == label]
        people = {who for who, _, _ in inside}
        having = {
            ill: {who for who, _, one in inside if one == ill} for ill in {row[2] for row in inside}
        }
        assert len(people) >= 2
        if "l" in model:
            assert len(having) >= 2
            assert all(len(people - some) >= 1 for some in having.values())
        elif "alpha" in model:
            assert all(len(some) <= 0.7 * len(people) for some in having.values())


def test_statistics_of_dates_decimals_and_lists() -> None:
    table = pa.table(
        {
            "born": ["1990-01-01", "1990-01-04", "2001-05-01", "2001-05-02"],
            "weight": ["70.25", "71.5", "80", "80"],
            "size": ["S", "L", "M", "L"],
        }
    )
    policy = {
        "columns": {
            "born": {"role": "quasi", "labels": "mean"},
            "weight": {"role": "quasi", "labels": "midpoint"},
            "size": {"role": "quasi", "order": ["S", "M", "L"], "labels": "median"},
        },
        "constraints": [{"k": 2}],
        "seed": 1,
    }
    release = shoal.anonymize(table, policy)
    assert release.table.to_pylist() == [
        {"born": "1990-01-03", "weight": "70.88", "size": "S"},
        {"born": "1990-01-03", "weight": "70.88", "size": "S"},
        {"born": "2001-05-02", "weight": "80", "size": "M"},
        {"born": "2001-05-02", "weight": "80", "size": "M"},
    ]


def test_a_statistic_costs_what_its_range_costs_and_is_not_exact() -> None:
    table = pa.table({"age": [20, 30, 50, 70], "town": ["a", "a", "b", "b"]})
    ranges, means = (
        shoal.anonymize(table, quasi=["age", "town"], k=2, seed=1, labels={"age": form})
        for form in ("range", "mean")
    )
    assert ranges.table["age"].to_pylist() == ["[20~30]", "[20~30]", "[50~70]", "[50~70]"]
    assert means.table["age"].to_pylist() == ["25", "25", "60", "60"]
    assert means.metrics["mean-ncp"] == ranges.metrics["mean-ncp"]
    assert means.detail.columns["age"] == ranges.detail.columns["age"]
    assert means.detail.columns["age"].exact == 0


def test_missing_and_known_values_have_no_mean() -> None:
    table = pa.table({"age": [20, None, 50, 70], "town": ["a", "a", "b", "b"]})
    release = shoal.anonymize(table, quasi=["town", "age"], k=2, seed=1, labels={"age": "mean"})
    assert sorted(release.table["age"].to_pylist()) == ["*", "*", "60", "60"]


def test_decimals_end_where_the_span_has_enough_steps() -> None:
    table = pa.table({"x": [0.123456, 100.654321, 0.2, 100.1]})
    release = shoal.anonymize(table, quasi="x", k=2, seed=1, labels={"x": "mean"})
    assert release.table["x"].to_pylist() == ["0.16", "0.16", "100.38", "100.38"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kind": "unordered", "labels": "mean"}, "`mean` is for numbers and dates"),
        ({"type": "text", "labels": "midpoint"}, "allowed here: range, mode"),
        ({"top": 90, "labels": "median"}, "cannot be combined with `top`"),
        ({"order": ["a"], "labels": "mean"}, "`mean` is for numbers and dates"),
        ({"labels": "average"}, "labels: found 'average'"),
        ({"role": "sensitive", "labels": "mean"}, "only a quasi column has them"),
    ],
)
def test_forms_that_a_column_cannot_have(settings: dict[str, Any], words: str) -> None:
    columns = {"age": {"role": "quasi", **settings}, "town": "quasi"}
    with pytest.raises(PolicyError, match=r"age\.labels") as error:
        Policy.load({"columns": columns, "constraints": [{"k": 2}]})
    assert words in str(error.value)


def test_what_only_the_table_shows() -> None:
    table = pa.table({"town": ["Ath", "Mons", "Ath", "Mons"]})
    with pytest.raises(InputError, match="texts without an order") as error:
        shoal.anonymize(table, quasi="town", k=2, labels={"town": "mean"})
    assert "Mons" not in str(error.value)


def test_anatomy_populations_and_large_tables_are_refused(tmp_path: Path) -> None:
    columns = {"age": {"role": "quasi", "labels": "mean"}, "ill": "sensitive"}
    base = {"columns": columns, "constraints": [{"l": 2, "of": "ill"}]}
    with pytest.raises(PolicyError, match="anatomy"):
        Policy.load({**base, "publish": "anatomy"})
    with pytest.raises(PolicyError, match="k-map"):
        Policy.load({**base, "constraints": [{"k-map": 5}], "population": "all.csv"})
    source = tmp_path / "in.csv"
    source.write_text("age,ill\n1,a\n2,b\n")
    with pytest.raises(
        PolicyError, match="`labels: mean`, which is not supported for tables larger"
    ):
        shoal.run(source, base, tmp_path / "out.csv", memory="1GB")
    assert not (tmp_path / "out.csv").exists()


def test_a_planted_statistic_is_found() -> None:
    policy = Policy.load(
        {"columns": {"age": {"role": "quasi", "labels": "mean"}}, "constraints": [{"k": 2}]}
    )
    published = pa.array(["25", "25", "60", "60"])
    values = ["20", "30", "50", "70"]
    for texts, faults in ((values, None), (["20", "31.1", "50", "70"], [0, 1])):
        check = StatisticsCheck(policy, [("age",)], lambda _: published, None)
        codes = pa.array([0, 1, 2, 3])
        wrong = check.untrue("age", codes, texts, policy.column_spec("age"))
        assert (None if wrong is None else wrong.nonzero()[0].tolist()) == faults


def test_a_wrong_mean_is_never_published(monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.publish.scale import Scale

    write = Scale.write
    monkeypatch.setattr(Scale, "write", lambda self, place: write(self, place + self.step))
    table = pa.table({"age": [20, 30, 50, 70]})
    with pytest.raises(VerificationFailed, match="is not the mean of its class in 4 of 4 rows"):
        shoal.anonymize(table, quasi="age", k=2, labels={"age": "mean"}, seed=1)


def test_an_attacker_is_not_linked_by_a_mean() -> None:
    table = pa.table({"age": [20, 30, 50, 70], "town": ["a", "a", "b", "b"]})
    release = shoal.anonymize(table, quasi=["age", "town"], k=2, labels={"age": "mean"}, seed=1)
    found = shoal.attack(release, known=table)
    assert found.release.linked == 4
    assert found.release.smallest == 2
    assert any("Nobody was linked by age" in text for text in found.warnings)
