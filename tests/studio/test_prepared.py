"""A prepared table gives the releases that a run gives, and encodes only when it must."""

from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import api
from shoal.errors import InputError, PolicyError


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> "api.SamplePaths":
    return api.write_sample(tmp_path_factory.mktemp("sample"), rows=400)


def policy_of(sample: "api.SamplePaths", name: str = "policy") -> "api.Policy":
    path = getattr(sample, name)
    return api.read_policy(path.read_text(encoding="utf-8"), folder=path.parent)


def test_releases_are_those_of_a_run(sample: "api.SamplePaths", tmp_path: Path) -> None:
    prepared = api.prepare(sample.table)
    policy = policy_of(sample).with_changes(method="least-loss-partition")
    for number, changes in enumerate(
        ({}, {"k": 8}, {"method": "mondrian"}, {"suppression": 0.1}, {"seed": 1})
    ):
        changed = policy.with_changes(**changes)
        found = prepared.release(changed)
        target = tmp_path / f"{number}.csv"
        other = shoal.run(sample.table, changed, target)
        assert (found.warnings, found.disclosure) == (other.warnings, other.disclosure)
        found.write(tmp_path / "own.csv", force=True)
        assert (tmp_path / "own.csv").read_bytes() == target.read_bytes()
    # another seed orders the rows of a cell otherwise
    assert prepared.encodings == 2


def test_a_person_column_and_preferences(sample: "api.SamplePaths") -> None:
    personal = policy_of(sample, "personal")
    prepared = api.prepare(sample.table)
    for k in (5, 6):
        expected = shoal.anonymize(sample.table, personal, k=k).table
        assert prepared.release(personal.with_changes(k=k)).table.equals(expected)
    assert prepared.encodings == 1
    visits = pa.table({"who": [1, 1, 2, 3, 4, 4], "age": [30, 31, 32, 40, 41, 41]})
    twice = api.read_policy("columns: {who: person, age: quasi}\nconstraints: [{k: 2}]\nseed: 0\n")
    found = api.prepare(visits).release(twice)
    assert found.table.equals(shoal.anonymize(visits, twice).table)
    change = api.risk_change(found)
    assert change.counted == "people"
    assert change.below(2) == (4, 0)


def test_a_sample_is_always_the_same(sample: "api.SamplePaths") -> None:
    prepared = api.prepare(sample.table)
    prepared.table()
    first, second = prepared.sample(100), prepared.sample(100)
    assert first.table().num_rows == 100
    assert first.table().equals(second.table())
    assert prepared.sample(1_000).table().num_rows == 400


def test_other_columns_are_encoded_again(sample: "api.SamplePaths") -> None:
    prepared, policy = api.prepare(sample.table), policy_of(sample)
    prepared.release(policy, read_back=False)
    other = policy.with_changes(plain="sex")
    expected = shoal.anonymize(sample.table, other).table
    assert prepared.release(other, read_back=False).table.equals(expected)
    assert prepared.encodings == 2


def test_a_hierarchy_file_that_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("Ath,west\nMons,west\nHuy,east\n")
    text = "columns: {town: {role: quasi, hierarchy: towns.csv}}\nconstraints: [{k: 2}]\nseed: 0\n"
    prepared = api.prepare(pa.table({"town": ["Ath", "Mons", "Huy", "Huy"]}))
    found = prepared.release(api.read_policy(text, folder=tmp_path)).table["town"].to_pylist()
    assert set(found) == {"west", "Huy"}
    (tmp_path / "towns.csv").write_text("Ath,north sea\nMons,north sea\nHuy,east\n")
    found = prepared.release(api.read_policy(text, folder=tmp_path)).table["town"].to_pylist()
    assert set(found) == {"north sea", "Huy"}


def test_what_no_release_can_hold_is_known_before(sample: "api.SamplePaths") -> None:
    prepared, policy = api.prepare(sample.table), policy_of(sample)
    assert prepared.impossible(policy) == ""
    assert "400" in prepared.impossible(policy.with_changes(k=401))
    prepared.release(policy)
    assert prepared.encodings == 1


def test_mistakes(sample: "api.SamplePaths", tmp_path: Path) -> None:
    with pytest.raises(InputError):
        api.prepare(tmp_path / "none.csv").release(policy_of(sample))
    with pytest.raises(InputError):
        api.check_source(tmp_path / "none.csv")
    with pytest.raises(PolicyError, match=r"my\.yaml:1"):
        api.read_policy("columns: {a: quasy}\nconstraints: [{k: 2}]\n", name="my.yaml")
    with pytest.raises(PolicyError, match="another table"):
        api.read_policy("columns: {a: quasi}\nconstraints: [{k: 2}]\n", columns=["age"])


def test_risks_before_and_after() -> None:
    ages = pa.table({"age": [31, 31, 36, 61]})
    change = api.risk_change(shoal.anonymize(ages, quasi="age", k=2))
    raw = api.assess(ages, "age").reidentification
    assert change.raw == raw
    assert [change.below(size) for size in (2, 3, 5)] == [(2, 0), (4, 4), (4, 4)]
