"""Mappings: exported, read, and applied to another table."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.label_mapping import read_mapping
from shoal.errors import Infeasible, InputError, PolicyError, VerificationFailed
from tests.examples import examples
from tests.labels.naive import members

TOWNS = ["Ath", "Mons", "Huy", "Spa"]


def people(seed: int, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "town": rng.choice(TOWNS, n, p=[0.5, 0.3, 0.19, 0.01]),
            "ill": rng.choice(["flu", "cold", "hiv"], n),
        }
    )


POLICY: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "labels": "uniform"},
        "town": {"role": "quasi", "labels": "uniform"},
        "ill": "sensitive",
    },
    "constraints": [{"k": 4}],
    "method": "least-loss-partition",
    "seed": 1,
}


@pytest.fixture(scope="module")
def may() -> Any:
    return shoal.anonymize(people(1), POLICY)


def test_a_mapping_is_written_read_and_applied(may: Any, tmp_path: Path) -> None:
    path = may.mapping.write(tmp_path / "m.json")
    assert read_mapping(path) == may.mapping
    june = people(2)
    release = shoal.apply(path, june, suppression=0.2)
    assert release.policy.seed is None
    values = [str(age) for age in june["age"]]
    for (age, town), rows in Counter(
        zip(release.table["age"], release.table["town"], strict=True)
    ).items():
        assert rows >= 4
        assert age in set(may.table["age"])
        assert town in set(may.table["town"])
        assert members(age, values, {})
    assert release.published_rows + release.suppressed_rows <= len(june)


@examples(10)
@given(st.lists(st.tuples(st.integers(18, 62), st.sampled_from(TOWNS)), min_size=8, max_size=30))
def test_what_is_applied_holds_by_plain_code(may: Any, rows: list[tuple[int, str]]) -> None:
    table = pd.DataFrame(rows, columns=["age", "town"]).assign(ill="flu")
    labels = {name: set(may.table[name]) for name in ("age", "town")}
    try:
        release = shoal.apply(may.mapping, table, suppression=1.0)
    except Infeasible:
        release = None
    expected: Counter[tuple[str, str]] = Counter()
    for age, town in rows:
        mine = [label for label in labels["age"] if members(label, [str(age)], {})]
        its = [label for label in labels["town"] if members(label, [town], {})]
        assert len(mine) <= 1
        assert len(its) <= 1
        if mine and its:
            expected[mine[0], its[0]] += 1
    kept = {key: many for key, many in expected.items() if many >= 4}
    if release is None:
        assert not kept
    else:
        assert Counter(zip(release.table["age"], release.table["town"], strict=True)) == kept


def test_rare_values_are_left_out_and_numbers_are_intervals(may: Any, tmp_path: Path) -> None:
    data = json.loads(may.mapping.write(tmp_path / "m.json").read_text())
    assert all({"from", "to"} <= set(one) for one in data["columns"]["age"]["labels"])
    assert not any("values" in one for one in data["columns"]["age"]["labels"])
    rows = people(1)["town"].value_counts()
    named = {value for one in data["columns"]["town"]["labels"] for value in one.get("values", [])}
    assert named == {town for town in TOWNS if rows[town] >= 4}
    assert data["columns"]["town"]["left_out"] == sum(rows[town] < 4 for town in TOWNS)
    assert "seed" not in data["policy"]


def test_full_domain_releases_have_a_mapping_with_their_levels(tmp_path: Path) -> None:
    hierarchy = tmp_path / "towns.csv"
    hierarchy.write_text("Ath;west;*\nMons;west;*\nHuy;east;*\nSpa;east;*\nDinant;east;*\n")
    policy = {
        **POLICY,
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [10, 40]}},
            "town": {"role": "quasi", "hierarchy": str(hierarchy)},
            "ill": "sensitive",
        },
        "method": "optimal",
    }
    release = shoal.anonymize(people(1), policy)
    (tmp_path / "there").mkdir()
    mapping = read_mapping(release.mapping.write(tmp_path / "there" / "m.json"))
    june = people(2)
    june.loc[june["town"] == "Huy", "town"] = "Dinant"  # unknown in May, known to the hierarchy
    applied = shoal.apply(mapping, june, suppression=0.2)
    assert set(applied.table["town"]) <= {"west", "east", "*", *TOWNS, "Dinant"}
    assert {one.level for one in mapping.columns.values()} != {None}
    for one in mapping.columns["age"].labels:
        if one.label != "*":
            assert one.label == f"[{one.low}-{one.below})"
    assert any(one.low is not None for one in mapping.columns["age"].labels)


def test_a_mapping_is_shown_in_short(may: Any) -> None:
    ages = len(may.mapping.columns["age"].labels)
    assert repr(may.mapping).startswith(f"<LabelMapping: age {ages} labels; town ")
    assert len(repr(may.mapping)) < 80


def test_a_column_that_missing_values_make_a_star_is_reported() -> None:
    table = people(1).assign(age=people(1)["age"].astype(float))
    table.loc[0, "age"] = None
    with pytest.warns(
        shoal.ShoalWarning, match=r"'age' is published as \* throughout.*`suppression`"
    ):
        release = shoal.anonymize(table, POLICY)
    assert set(release.table["age"]) == {"*"}
    assert not any("throughout" in text for text in shoal.anonymize(people(1), POLICY).run.warnings)


def test_a_mapping_and_a_certificate_cannot_have_one_name(tmp_path: Path) -> None:
    people(1).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(
        InputError, match=r"m\.json is named .*the certificate of the report .*m\.html"
    ):
        shoal.run(
            tmp_path / "t.csv",
            POLICY,
            tmp_path / "r.csv",
            report=tmp_path / "m.html",
            mapping=tmp_path / "m.json",
        )


def test_old_and_new_are_verified_together(may: Any, tmp_path: Path) -> None:
    old = tmp_path / "may.csv"
    may.write(old)
    release = shoal.apply(may.mapping, people(2), suppression=0.2, together_with=old)
    (note,) = (text for text in release.run.notes if "together" in text)
    both = pd.concat([may.table, release.table])
    least = both.groupby(["age", "town"]).size().min()
    assert f"{len(both):,} rows: k = {least}" in note
    local = shoal.anonymize(people(1), quasi=["age", "town"], sensitive="ill", k=4, seed=1)
    with pytest.raises(InputError, match="not made by this mapping"):
        shoal.apply(may.mapping, people(2), suppression=0.2, together_with=local)


def test_values_without_a_label_are_counted_and_never_named(may: Any) -> None:
    june = people(2)
    june.loc[[3, 7], "town"] = "Oostduinkerke"
    june.loc[5, "age"] = 177
    with pytest.raises(InputError) as error:
        shoal.apply(may.mapping, june)
    words = str(error.value)
    assert "in 3 rows of 300" in words
    assert "town: 2 rows (data rows 4, 8)" in words
    assert "age: 1 row (data row 6)" in words
    assert "Oostduinkerke" not in words
    assert "177" not in words
    with pytest.warns(shoal.ShoalWarning, match="no label for a value: 3 of 300"):
        shoal.apply(may.mapping, june, suppression=0.2)
    with pytest.raises(Infeasible, match=r"more than may be suppressed \(0\.1%\)"):
        shoal.apply(may.mapping, june, suppression=0.001)


@pytest.mark.parametrize("suppressed", ["withheld", "starred"])
@pytest.mark.parametrize("kind", ["object", "category"])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_rows_without_a_label_count_as_suppressed(suppressed: str, kind: str) -> None:
    """Every row of the table is counted, by plain code: as published, or as suppressed."""
    may = shoal.anonymize(people(1), POLICY | {"suppressed": suppressed, "order": "kept"})
    june = people(2)
    june.loc[[3, 7], "town"] = "Oostduinkerke"
    june.loc[5, "age"] = 177
    june["town"] = june["town"].astype(kind)
    labels = {name: set(may.table[name]) - {"*"} for name in ("age", "town")}
    pairs = []
    for age, town in zip(june["age"], june["town"], strict=True):
        mine = [label for label in labels["age"] if members(label, [str(age)], {})]
        its = [label for label in labels["town"] if members(label, [town], {})]
        pairs.append((*mine, *its) if mine and its else None)
    classes = Counter(pairs)
    kept = [pair is not None and classes[pair] >= 4 for pair in pairs]
    assert not any(kept[row] for row in (3, 5, 7))
    release = shoal.apply(may.mapping, june, suppression=0.5)
    assert release.rows == 300
    assert release.suppressed_rows == 300 - sum(kept)
    assert release.published_rows == (300 if suppressed == "starred" else sum(kept))
    shown = [
        pair for pair, stays in zip(pairs, kept, strict=True) if stays or suppressed == "starred"
    ]
    expected = [("*", "*") if pair is None or classes[pair] < 4 else pair for pair in shown]
    assert list(zip(release.table["age"], release.table["town"], strict=True)) == expected


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_limit_counts_rows_without_a_label_and_rows_of_small_classes_together(may: Any) -> None:
    june = people(2).iloc[:60].reset_index(drop=True)
    june.loc[:2, "age"] = 177
    without = 3 / 60
    release = shoal.apply(may.mapping, june, suppression=0.9)
    share = release.suppressed_rows / 60
    assert share > without
    assert shoal.apply(may.mapping, june, suppression=share).suppressed_rows == share * 60
    with pytest.raises(Infeasible, match=r"of 60 rows .*Raise --suppression SHARE"):
        shoal.apply(may.mapping, june, suppression=share - 0.001)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_people_without_a_labelled_row_count_as_suppressed() -> None:
    policy = POLICY | {"columns": POLICY["columns"] | {"id": "person"}}
    table = people(1).assign(id=[str(i // 2) for i in range(300)])
    may = shoal.anonymize(table, policy | {"suppression": 0.5})
    table.loc[[0, 1, 2], "age"] = 177  # both rows of one person, one of another
    release = shoal.apply(may.mapping, table, suppression=0.6)
    assert (release.rows, release.people) == (300, 150)
    left = release.published_people
    assert left is not None
    assert release.suppressed_people == 150 - left
    assert release.suppressed_people >= 1


def test_exactly_the_limit_may_be_suppressed(may: Any) -> None:
    june = people(2).iloc[:100]
    june = pd.concat([june] * 4, ignore_index=True)  # no class is too small
    june.loc[:19, "age"] = 177
    with pytest.warns(shoal.ShoalWarning, match="no label"):
        release = shoal.apply(may.mapping, june, suppression=0.5)
    most = release.suppressed_rows / 400
    with pytest.warns(shoal.ShoalWarning, match="no label"):
        assert shoal.apply(may.mapping, june, suppression=most).suppressed_rows == 400 * most


def test_classes_that_are_too_small_are_an_error_unless_suppressed(may: Any) -> None:
    few = people(3, 20)
    with pytest.raises(Infeasible, match="do not satisfy the constraints"):
        shoal.apply(may.mapping, few)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text.replace("[20~", "[10~", 1), "was changed after it was written"),
        (lambda text: text[:-40], "not JSON"),
        (lambda _: "{}", "no mapping of this version"),
    ],
)
def test_damaged_and_edited_mappings_are_refused(
    may: Any, tmp_path: Path, spoil: Any, words: str
) -> None:
    path = may.mapping.write(tmp_path / "m.json")
    path.write_text(spoil(path.read_text()))
    with pytest.raises(InputError, match=words):
        shoal.apply(path, people(2))


def test_other_columns_local_columns_and_missing_mappings_are_refused(
    may: Any, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="for other columns: the table has no 'town'"):
        shoal.apply(may.mapping, people(2)[["age", "ill"]])
    with pytest.raises(InputError, match="cannot be read"):
        shoal.apply(tmp_path / "none.json", people(2))
    some = shoal.anonymize(
        people(1), quasi=["age", "town"], sensitive="ill", k=4, seed=1, labels={"age": "uniform"}
    )
    with pytest.raises(InputError, match="no labels for 'town'"):
        shoal.apply(some.mapping, people(2))
    local = shoal.anonymize(people(1), quasi=["age", "town"], sensitive="ill", k=4, seed=1)
    with pytest.raises(InputError, match="has no mapping"):
        assert local.mapping
    source, policy = tmp_path / "in.csv", {**POLICY, "columns": {**POLICY["columns"]}}
    people(1).to_csv(source, index=False)
    plain = dict.fromkeys(("age", "town"), "quasi") | {"ill": "sensitive"}
    with pytest.raises(InputError, match="has no mapping"):
        shoal.run(
            source, {**POLICY, "columns": plain}, tmp_path / "o.csv", mapping=tmp_path / "m.json"
        )
    with pytest.raises(InputError, match=r"ends in \.json"):
        shoal.run(source, policy, tmp_path / "o.csv", mapping=tmp_path / "m.yaml")
    with pytest.raises((InputError, PolicyError), match=r"larger than memory|in memory"):
        shoal.run(source, policy, tmp_path / "o.csv", mapping=tmp_path / "m.json", memory="1GB")
    assert not (tmp_path / "o.csv").exists()


def test_a_mapping_appears_with_the_release(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    people(1).to_csv(source, index=False)
    shoal.run(source, POLICY, tmp_path / "out.csv", mapping=tmp_path / "m.json")
    june = tmp_path / "june.csv"
    people(2).to_csv(june, index=False)
    release = shoal.apply(tmp_path / "m.json", june, suppression=0.2)
    assert isinstance(release.table, pa.Table)
    assert all(finding.holds for finding in shoal.verify(release).findings)


def test_a_wrong_label_of_a_mapping_is_never_published(
    may: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.publish.cut import Cut

    def shifted(self: Any, domain: Any, spec: Any) -> Cut:
        cut: Cut = original(self, domain, spec)
        return Cut(cut.block, pa.array(cut.texts.to_pylist()[::-1]), cut.levels)

    original = type(may.mapping).cut_of
    monkeypatch.setattr(type(may.mapping), "cut_of", shifted)
    with pytest.raises(VerificationFailed, match="does not cover the row's own value"):
        shoal.apply(may.mapping, people(2), suppression=0.2)
