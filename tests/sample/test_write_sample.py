"""The sample's files: shipped with the package, written whole, and in step with the table."""

import csv
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
import yaml

from shoal.errors import InputError
from shoal.policy.policy import Policy
from shoal.sample import people, write_sample
from shoal.sample.hospital import hospital
from shoal.sample.people import LEVELS

SHIPPED = files("shoal.sample")


@pytest.fixture(scope="module")
def policy() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((SHIPPED / "policy.yaml").read_text("utf-8"))
    return read


def role(column: str | dict[str, Any]) -> str:
    return column if isinstance(column, str) else str(column["role"])


def test_policy_lists_every_column_once(policy: dict[str, Any]) -> None:
    assert sorted(policy["columns"]) == sorted(hospital(1).column_names)


def test_policy_says_what_it_should(policy: dict[str, Any]) -> None:
    roles = {name: role(column) for name, column in policy["columns"].items()}
    assert roles["name"] == roles["birth_date"] == "identifier"
    assert roles["disease"] == roles["salary"] == "sensitive"
    assert roles["protection_level"] == "identifier"
    guarded = [{"l": 3, "of": "disease"}, {"l": 2, "of": "salary"}]
    assert policy["constraints"] == [{"k": 5}, *guarded]
    assert (policy["suppression"], policy["seed"]) == (0.05, 7)


def test_levels_are_those_the_table_is_made_by() -> None:
    with as_file(SHIPPED) as folder:
        policy = Policy.load(folder / "personal.yaml")
    assert policy.column_spec("disease").levels == LEVELS
    assert policy.preferences == {"disease": "protection_level"}


def test_policy_shows_every_kind_of_hierarchy() -> None:
    text = (SHIPPED / "policy.yaml").read_text("utf-8")
    for shown in ("mask: right", "intervals:", "date: [month, year, decade]", "tree:", ".csv"):
        assert shown in text


@pytest.mark.parametrize("name", ["policy.yaml", "personal.yaml"])
def test_policy_loads_and_fits_the_table(name: str) -> None:
    table = hospital()
    with as_file(SHIPPED) as folder:
        policy = Policy.load(folder / name)
        assert policy.warnings() == []
        policy.check(table.column_names)
        for name, column in policy.columns.items():
            if column.hierarchy is not None:
                values = table[name].combine_chunks().unique().drop_null()
                hierarchy, leaves = column.hierarchy.build(values, name, policy.folder)
                assert leaves.min() >= 0, name
                assert hierarchy.height >= 2, name


def test_the_other_way_that_the_policy_offers_works_too(tmp_path: Path) -> None:
    lines = write_sample(tmp_path, rows=5).policy.read_text("utf-8").splitlines()
    offered = [line.lstrip(" #") for line in lines if line.startswith("  #   ")]
    swapped = [f"  {line}" for line in offered]
    assert [line.split(":")[0] for line in offered] == ["birth_date", "age"]
    kept = [line for line in lines if not line.startswith(("  birth_date:", "  age:"))]
    at = kept.index("columns:") + 1
    other = tmp_path / "other.yaml"
    other.write_text("\n".join([*kept[:at], *swapped, *kept[at:]]), "utf-8")
    policy = Policy.load(other)
    policy.check(hospital(5).column_names)
    assert policy.columns["age"].role == "identifier"
    assert policy.columns["birth_date"].role == "quasi"


def test_hierarchies_name_what_the_table_can_hold(policy: dict[str, Any]) -> None:
    file = SHIPPED / policy["columns"]["education"]["hierarchy"]
    lines = list(csv.reader(file.read_text("utf-8").splitlines(), delimiter=";"))
    assert [line[0] for line in lines] == list(people.EDUCATION)
    tree = policy["columns"]["race"]["hierarchy"]["tree"]
    leaves = [
        leaf
        for item in tree
        for below in (item.values() if isinstance(item, dict) else [[item]])
        for leaf in below
    ]
    assert sorted(leaves) == sorted(people.RACES)


def test_every_file_the_policy_names_is_written(tmp_path: Path, policy: dict[str, Any]) -> None:
    paths = write_sample(tmp_path / "new" / "place", rows=20)
    named = policy["columns"]["education"]["hierarchy"]
    assert paths.hierarchies == (paths.policy.parent / named,)
    assert sorted(p for p in (tmp_path / "new" / "place").rglob("*") if p.is_file()) == sorted(
        paths
    )
    for path in (paths.policy, paths.personal, *paths.hierarchies):
        original = SHIPPED / str(path.relative_to(paths.policy.parent))
        assert path.read_bytes() == original.read_bytes()


def test_the_written_table_is_the_table(tmp_path: Path) -> None:
    path = write_sample(tmp_path, rows=300, seed=1).table
    table = hospital(300, 1)
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == table.column_names
    for line, row in zip(lines, table.to_pylist(), strict=True):
        assert line == ["" if value is None else str(value) for value in row.values()]
    assert b"\r" not in path.read_bytes()


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    first = write_sample(tmp_path / "a", rows=50).table.read_bytes()
    assert write_sample(tmp_path / "b", rows=50).table.read_bytes() == first


def test_an_earlier_sample_is_kept_unless_forced(tmp_path: Path) -> None:
    paths = write_sample(tmp_path, rows=5)
    paths.policy.write_text("mine", "utf-8")
    with pytest.raises(InputError, match=r"hospital\.csv, policy\.yaml, personal\.yaml"):
        write_sample(tmp_path, rows=5)
    assert paths.policy.read_text("utf-8") == "mine"
    write_sample(tmp_path, rows=6, force=True)
    assert paths.policy.read_text("utf-8") != "mine"
    assert len(paths.table.read_text("utf-8").splitlines()) == 7


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_sample(tmp_path, rows=-1)
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InputError, match="is a file"):
        write_sample(file)
