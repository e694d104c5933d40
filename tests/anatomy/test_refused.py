"""What an Anatomy release cannot keep to is refused before any work, and names never collide."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import Infeasible, PolicyError
from shoal.io.output_names import sensitive_paths
from tests.anatomy.plain import people, policy
from tests.releases import Fixed, every_method


def refused(**keys: Any) -> str:
    with pytest.raises(PolicyError) as found:
        shoal.Policy.load(policy(**keys))
    return str(found.value)


def test_k_is_refused_with_what_can_stand_there() -> None:
    said = refused(constraints=[{"l": 2, "of": "ill"}, {"k": 3}])
    assert said.startswith("constraints[1]: k is about quasi-identifiers")
    assert "models of a sensitive column: " in said
    assert "l" in said.partition("models of a sensitive column: ")[2].split(", ")


def test_without_a_sensitive_column() -> None:
    columns = {"age": "quasi", "ward": "plain"}
    said = refused(columns=columns, constraints=[{"k": 2}])
    assert "publish: anatomy separates sensitive values" in said
    assert "no column has the role sensitive" in said


@pytest.mark.parametrize(("key", "value"), [("suppressed", "starred"), ("order", "kept")])
def test_what_would_link_rows_again(key: str, value: str) -> None:
    said = refused(**{key: value})
    assert said.startswith(f"{key}: found '{value}'")


def test_a_spelling() -> None:
    assert "Did you mean 'anatomy'?" in refused(publish="anatomie")


@pytest.mark.parametrize("method", every_method(climbing=True))
def test_methods_that_take_k_alone_say_so(method: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        shoal.anonymize(people(20), policy(method=method))


def test_a_method_that_treats_columns_apart_is_refused() -> None:
    apart = Fixed(((0,) * 8, (0,) * 8), ((0,), (1,)))
    with pytest.raises(PolicyError, match="publish: anatomy needs groups of rows"):
        shoal.anonymize(people(8), policy(method=apart))


def test_nobody_left() -> None:
    with pytest.raises(Infeasible, match="All 8 rows"):
        shoal.anonymize(people(8), policy(method=Fixed(((-1,) * 8,))))


def test_more_values_than_there_are() -> None:
    with pytest.raises(Infeasible, match="The largest l it allows is 3"):
        shoal.anonymize(people(60), policy(constraints=[{"l": 4, "of": "ill"}]))


def test_a_method_that_lies_is_found_out() -> None:
    table = people(6).set_column(1, "ill", pa.array(["SECRET"] * 3 + ["a", "b", "c"]))
    with pytest.raises(shoal.VerificationFailed) as failed:
        shoal.anonymize(table, policy(method=Fixed(((0, 0, 0, 1, 1, 1),))))
    assert "l = 2 of ill was promised on group, but 1 of 2 published classes" in str(failed.value)
    assert "SECRET" not in str(failed.value)


@pytest.mark.parametrize(
    ("quasi", "secret", "group", "count"),
    [
        ("group", "ill", "group_2", "count"),
        ("Group", "count", "group_2", "count_2"),
        ("group_2", "group", "group_3", "count"),
        ("age", "Count", "group", "count_2"),
    ],
)
def test_names_that_are_taken(quasi: str, secret: str, group: str, count: str) -> None:
    table = pa.table({quasi: [1, 2, 3, 4], secret: list("abab")})
    release = shoal.anonymize(table, quasi=quasi, sensitive=secret, l=2, publish="anatomy")
    assert release.table.column_names == [quasi, group]
    assert release.sensitive_tables[secret].column_names == [group, secret, count]
    words = f"The added columns are called {group}, {count}."
    told = any(words in note for note in release.notes)
    assert told == ((group, count) != ("group", "count"))


def test_files_that_belong_together() -> None:
    path = Path("some.where/out.csv.gz")
    assert sensitive_paths(path, ["ill"]) == {"ill": Path("some.where/out.sensitive.csv.gz")}
    several = sensitive_paths(Path("out.PARQUET"), ["ill", "../x", ".._x", "ILL", "ж" * 99])
    assert [p.name for p in several.values()] == [
        "out.ill-2.PARQUET",
        "out.___x.PARQUET",
        "out.___x-2.PARQUET",
        "out.ILL.PARQUET",
        f"out.{'ж' * 60}.PARQUET",
    ]
    assert len(set(several.values())) == 5
